"""The machinery of `make bench SCALE=1`, and the page that it writes. Nothing is timed here."""

import contextlib
import importlib
import inspect
import os
import re
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.costs import JOBS, LARGE, Job, doubled
from tests.benchmarks.costs_exceptions import EXCEPTIONS, ROOMS
from tests.benchmarks.machinery.apart import PeerError
from tests.benchmarks.machinery.growth import (
    MIN_MEGABYTES,
    Growth,
    Kept,
    grown,
    in_a_copy,
    large_text_of,
    replaced,
    rows_of,
    text_of,
)

PAGE = Path(__file__).resolve().parents[1] / "docs" / "costs.md"
NAME = re.compile(r"\b((?:theory|simulate)(?:\.[a-z_]+)+)")


def measured(**changes):
    fields = {
        "subject": "trials",
        "call": "theory.trial.solve",
        "size": "sites L",
        "sizes": (10, 20, 40, 80),
        "seconds": (0.01, 0.04, 0.16, 1.28),
        "megabytes": (40.0, 160.0),
    }
    return Growth(**{**fields, **changes})


def test_powers_over_all_sizes_and_over_the_last_doubling():
    found = measured()
    # Least squares through logarithms 0, 2, 4, 7 of base 2 at 0, 1, 2, 3.
    assert found.time_power == pytest.approx(2.3)
    assert found.last_power == pytest.approx(3.0)
    assert found.memory_power == pytest.approx(2.0)


def test_a_row_says_what_was_measured():
    assert measured().row() == "| `theory.trial.solve` | sites L | 10 to 80 | 1.28 s | 2.3 | 3.0 | 160 MB | 2.0 |"
    small = measured(megabytes=(MIN_MEGABYTES / 2, MIN_MEGABYTES * 1.5))
    assert small.memory_power is None
    assert measured(call="a call, in words", megabytes=(1.0, 2.0)).row().endswith("| 3.0 | < 20 MB |  |")


def test_each_subject_has_one_table():
    text = text_of([measured(), measured(subject="others"), measured(call="another call")])
    assert re.findall(r"^### .*", text, re.M) == ["### Trials", "### Others"]
    assert text.count("| call |") == 2
    assert text.index("another call") < text.index("### Others")
    assert large_text_of({"a large call": (12.345, 1610.0, 3200.0)}).endswith("| 12.3 s | 1.61e+03 MB | 3.2e+03 MB |")


def test_a_part_of_a_page_is_replaced_and_the_rest_stays():
    page = "before\n<!-- measured: one -->\nold\n<!-- end of what was measured -->\nafter"
    found = replaced(page, "one", "new")
    assert found == "before\n<!-- measured: one -->\n\nnew\n\n<!-- end of what was measured -->\nafter"
    assert replaced(found, "one", "new") == found
    with pytest.raises(ValueError, match="page must have a part between '<!-- measured: two -->'"):
        replaced(page, "two", "new")


def test_a_copy_of_the_process_answers_or_says_why_not():
    assert in_a_copy(lambda: np.arange(3)).tolist() == [0, 1, 2]
    assert in_a_copy(os.getpid) != os.getpid()
    with pytest.raises(PeerError, match="ZeroDivisionError: "):
        in_a_copy(lambda: 1 // 0)
    with pytest.raises(PeerError, match="no answer in 60 s"):
        in_a_copy(lambda: os._exit(3), limit=60)


def test_a_job_is_measured_at_all_its_sizes():
    made = []

    def make(size):
        made.append(size)
        return lambda: np.ones((size, 4_000_000)).sum()

    found = grown(Job("trials", "theory.trial.solve", "rows", doubled(1), make))
    assert made == []  # all of it happened in copies
    assert found.sizes == (1, 2, 4, 8)
    assert len(found.seconds) == 4
    assert min(found.seconds) > 0
    low, high = found.megabytes
    assert 115 < low < 140 < 240 < high < 270  # arrays of 128 and 256 MB, too large for memory that is kept


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.call)
def test_jobs_double_their_size_three_times_and_name_public_calls(job):
    growths = [b / a for a, b in zip(job.sizes, job.sizes[1:], strict=False)]
    assert growths == ([2, 1.5, 4 / 3] if job.size == "classes K" else [2, 2, 2])
    for name in NAME.findall(job.call):
        module, _, function = name.rpartition(".")
        assert function in importlib.import_module(module).__all__


def test_the_page_has_every_job_and_no_other():
    text = PAGE.read_text(encoding="utf-8")
    rows = [row.split("|")[1].strip().strip("`") for row in text.splitlines() if row.startswith("| ")]
    assert sorted(row for row in rows if row != "call") == sorted([*(job.call for job in JOBS), *LARGE])
    assert re.search(r"^The machine: .*Python 3", text, re.M)


def public_functions():
    """The functions that each room of theory and of simulations exports, by their full names."""
    found = {}
    for wing in ("theory", "simulate"):
        for room in ROOMS:
            with contextlib.suppress(ModuleNotFoundError):
                face = importlib.import_module(f"{wing}.{room}")
                functions = {name: getattr(face, name) for name in face.__all__ if name.islower()}
                found |= {f"{wing}.{room}.{name}": one for name, one in functions.items() if inspect.isroutine(one)}
    return found


def test_every_public_function_has_a_row_or_a_reason_to_have_none():
    measured = {name for call in [*(job.call for job in JOBS), *LARGE] for name in NAME.findall(call)}
    functions = set(public_functions())
    assert not functions - measured - set(EXCEPTIONS), "neither a row on the page nor a reason to have none"
    assert not measured & set(EXCEPTIONS), "a reason to have no row, and a row"
    assert set(EXCEPTIONS) <= functions, "a reason for what is no public function"


def test_rows_that_are_not_measured_stay():
    page = text_of([measured(), measured(call="another call")])
    kept = {call: Kept("trials", call, row) for call, row in rows_of(page).items()}
    assert list(kept) == ["theory.trial.solve", "another call"]
    assert text_of([kept["theory.trial.solve"], measured(call="another call")]) == page


def test_every_subject_has_jobs_of_theory_and_of_simulation():
    for room in ("masked", "glm", "potts", "nets", "perceptron", "feedforward", "cumulants", "trees"):
        for wing in ("theory", "simulate"):
            calls = [job.call for job in JOBS if f"{wing}.{room}." in job.call]
            assert calls, f"no job of {wing}.{room}"
