"""The explorer shows what the solvers answer: its Python twin and its JavaScript, its stored numbers, and its call."""

import json
import re
import shutil
import subprocess
from functools import cache

import numpy as np
import pytest

from tests.docs.test_parts import DOCS, extension
from theory.models import AR1, SpikedData
from theory.numerics.filters import Filter, unit_flow
from theory.random_matrix import threshold

explorer = extension("explorer")
STATIC = DOCS / "_static"
PARTS = ("explorer_chain.js", "explorer_data.js", "explorer.js", "explorer.css")
N_SETTINGS = 60
TOLERANCE = 1e-3  # relative; the page promises 1 %
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs node, which runs JavaScript")
SETTINGS = explorer.settings(N_SETTINGS, seed=20)
CORNERS = [
    {"alpha": 1.0, "lam": 1e-4, "correlation": 0.0, "strength": 100.0, "time": 1000.0},
    {"alpha": 1.0, "lam": 1e-4, "correlation": 0.9, "strength": 0.1, "time": 0.1},
    {"alpha": 0.1, "lam": 1e-4, "correlation": 0.9, "strength": 100.0, "time": 1000.0},
    {"alpha": 10.0, "lam": 10.0, "correlation": 0.0, "strength": 100.0, "time": 1000.0},
    {"alpha": 10.0, "lam": 1e-4, "correlation": 0.9, "strength": 100.0, "time": 1000.0},
]


@cache
def solved(number):
    return explorer.solved_values([*SETTINGS, *CORNERS][number])


def by_javascript(program, *given):
    """Return what a program answers that has the chain, the stored numbers and the page at hand."""
    loaded = "\n".join(f'const {name} = require("{STATIC / file}.js");' for name, file in MODULES.items())
    code = f"{loaded}\nglobal.ExplorerChain = Chain;\nconst given = {json.dumps(given)};\n"
    result = subprocess.run(
        ["node", "-"], input=f"{code}console.log(JSON.stringify({program}));", capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


MODULES = {"Chain": "explorer_chain", "Data": "explorer_data", "Page": "explorer"}


def assert_close(found, wanted, rel=TOLERANCE):
    assert set(found) == set(wanted)
    for name, value in wanted.items():
        # What vanishes, as an overlap below the threshold does, must vanish.
        assert np.asarray(found[name]) == pytest.approx(np.asarray(value), rel=rel, abs=1e-12), name


def twin(at, wanted):
    return explorer.chain_values(at, wanted["places"])


def scripted(ats, wanted):
    places = [one["places"] for one in wanted]
    return by_javascript("given[0].map((at, i) => Chain.values(at, Data.poles, given[1][i]))", ats, places)


@pytest.mark.parametrize("route", ["twin", pytest.param("javascript", marks=needs_node)])
@pytest.mark.parametrize("numbers", [range(32), range(32, N_SETTINGS + len(CORNERS))], ids=["first", "second"])
def test_everything_that_is_shown_is_what_the_solvers_answer(numbers, route):
    ats, wanted = [[*SETTINGS, *CORNERS][i] for i in numbers], [solved(i) for i in numbers]
    found = scripted(ats, wanted) if route == "javascript" else map(twin, ats, wanted)
    for one, other in zip(found, wanted, strict=True):
        assert_close(one, other)


def test_the_threshold_of_a_chain_is_that_of_principal_components_as_the_page_says():
    for at, wanted in ((SETTINGS[i], solved(i)) for i in range(5)):
        data = SpikedData(AR1(float("inf"), at["correlation"]), alpha=at["alpha"], method="pca")
        assert threshold(data).value == pytest.approx(wanted["threshold"], rel=1e-9)


def test_random_settings_reach_what_the_page_can_show():
    found = [solved(i) for i in range(N_SETTINGS)]
    assert 10 < sum(one["overlap"] > 0 for one in found) < N_SETTINGS - 10
    assert 10 < sum(at["alpha"] < 1 for at in SETTINGS) < N_SETTINGS - 10
    for name, (low, high, first, logarithmic) in explorer.SLIDERS.items():
        drawn = np.array([at[name] for at in SETTINGS]) / (1 if logarithmic else high)
        assert low <= first <= high
        assert np.ptp(np.log(drawn) if logarithmic else drawn) > 0.9 * (np.log(high / low) if logarithmic else 1)


def test_the_stored_numbers_are_what_the_script_makes():
    data = explorer.read()
    assert list(data) == ["sliders", "poles", "answers"]
    assert data["sliders"] == {name: list(of) for name, of in explorer.SLIDERS.items()}
    poles = unit_flow()
    stored = np.array(data["poles"])
    ridges, weights = stored[:, 0] + 1j * stored[:, 1], stored[:, 2] + 1j * stored[:, 3]
    # The rounding of a processor moves poles by 3e-6 and weights by 2e-5 of their size, and their sum by 1e-13.
    assert ridges == pytest.approx(poles.ridges, rel=1e-5)
    assert weights == pytest.approx(poles.weights, rel=1e-4)
    s = np.geomspace(1e-8, 1e4, 400)
    assert s * Filter(ridges, weights, 0.0)(s) == pytest.approx(-np.expm1(-s), abs=1e-12)
    assert [one["at"] for one in data["answers"]] == explorer.settings(explorer.N_STORED, seed=1)
    for one in data["answers"][::8]:
        assert_close(explorer.solved_values(one["at"]), one["values"], rel=1e-6)


def test_what_the_page_loads_is_small_and_all_there():
    page = (DOCS / "explorer.md").read_text(encoding="utf-8")
    assert set(re.findall(r'(?:src|href)="_static/([^"]+)"', page)) == set(PARTS)
    assert sum((STATIC / part).stat().st_size for part in PARTS) < 1.5e6
    script = (STATIC / "explorer.js").read_text(encoding="utf-8")
    wanted = set(re.findall(r'getElementById\("([\w-]+)"\)', script)) | set(re.findall(r'picture\("([\w-]+)"', script))
    assert wanted <= set(re.findall(r'id="([\w-]+)"', page))
    assert not re.search(r"https?://|fetch\(|XMLHttpRequest|import\(", script), "it must do without a network"


@needs_node
def test_the_page_agrees_with_the_stored_answers():
    assert by_javascript("Page.largestDifference(Data)") < 1e-3


@needs_node
def test_the_call_that_is_shown_runs_and_answers_what_stands_beside_it():
    at = {"alpha": 0.8, "lam": 0.01, "correlation": 0.7, "strength": 20.0, "time": 10.0}
    call = by_javascript("Page.pythonCall(given[0], Chain.values(given[0], Data.poles, []))", at)
    names = {"print": lambda *args, **kwargs: None}
    exec(call, names)
    said = {
        name: re.search(rf"^{name} = .*  # (.*)$", call, re.MULTILINE)[1]
        for name in ("fitted", "stopped", "law", "top")
    }
    numbers = {name: [float(one) for one in re.findall(r"-?\d[\d.]*(?:e-?\d+)?", text)] for name, text in said.items()}
    fitted, law, top = names["fitted"], names["law"], names["top"]
    assert fitted.covariance == AR1(float("inf"), 0.7)
    assert numbers["fitted"] == pytest.approx([fitted.mean_test_error, fitted.mean_train_error], rel=1e-3)
    assert numbers["stopped"] == pytest.approx([names["stopped"].mean_test_error], rel=1e-3)
    assert numbers["law"] == pytest.approx([*law.edges[-1], law.atoms[0, 1], law.atoms[0, 0]], rel=1e-3)
    assert numbers["top"] == pytest.approx([top.threshold, top.eigenvalue, top.overlap], rel=1e-3)
