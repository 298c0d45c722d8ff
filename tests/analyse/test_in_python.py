"""Analyses called from Python: the same as the program's, of files, arrays, frames, sequences and documents."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from figures.analyse import analyse
from figures.analyse.command import main
from theory import masked
from theory.models import AR1, MaskedRidge

LETTERS = list("ACGU")


def matrix(n=60, d=4):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, 1)) + rng.standard_normal((n, d))


def sequences():
    rng = np.random.default_rng(1)
    return ["".join(rng.choice(LETTERS, 8)) for _ in range(40)]


def test_an_array_gives_the_numbers_of_the_program(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("data.npy", matrix())
    assert main(["data.npy", "--output", "out", "--repeats", "2", "--jobs", "1", "--json"]) == 0
    printed = capsys.readouterr().out
    before = sorted(tmp_path.rglob("*"))
    found = analyse(matrix(), repeats=2, jobs=1)
    assert capsys.readouterr().out == ""
    assert sorted(tmp_path.rglob("*")) == before  # nothing was written
    assert found.report() in printed
    assert found.to_json() == Path("out/analyse_data.npy.json").read_text(encoding="utf-8")
    assert analyse("data.npy", repeats=2, jobs=1).to_json() == found.to_json()
    assert found.converged
    assert len(found.to_frame()) == len(found.rows)


def test_json_holds_conclusions_and_numbers():
    found = analyse(matrix(12), repeats=2, jobs=1)
    held = json.loads(found.to_json(), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert (held["schema"], held["version"], held["kind"]) == ("masked-ssl-analysis", 1, "matrix")
    assert held["conclusions"] == found.conclusions
    assert held["numbers"]["n"] == 12
    np.testing.assert_array_equal(held["numbers"]["column_error"], found.analysis.column_error)
    assert any(row["theory"] is None for row in held["table"])  # where there is no theory, NaN in the table
    assert len(held["table"]) == len(found.rows)


def test_a_frame_keeps_the_names_of_its_columns_and_rows():
    frame = pd.DataFrame(matrix(), columns=list("abcd"), index=[f"row {i}" for i in range(60)])
    found = analyse(frame, repeats=2, jobs=1).analysis
    assert found.names == tuple("abcd")
    assert found.row_names[:2] == ("row 0", "row 1")
    np.testing.assert_array_equal(found.test_error, analyse(matrix(), repeats=2, jobs=1).analysis.test_error)
    assert analyse(frame.reset_index(drop=True), repeats=2, jobs=1).analysis.row_names == ()


def test_holes_sequences_and_documents():
    holed = matrix()
    holed[np.random.default_rng(2).random(holed.shape) < 0.1] = np.nan
    assert "missing" in analyse(holed, repeats=2, jobs=1).conclusions[0]
    found = analyse(sequences(), kind="sequences", jobs=1)
    assert found.analysis.n_sequences == 40
    assert json.loads(found.to_json())["kind"] == "sequences"
    rng = np.random.default_rng(3)
    words = [[f"{topic}{a}{b}" for a in "abcdefgh" for b in "klmno"] for topic in ("uu", "vv")]
    texts = [" ".join(rng.choice(topic, 80)) for topic in words for _ in range(30)]
    found = analyse(texts, kind="text", sweeps=10, permutations=100, topics=2, thresholds=[0.2])
    assert found.analysis.n_documents == 60


def test_results_are_written_where_asked(tmp_path):
    found = analyse(matrix(), repeats=2, jobs=1)
    written = found.save(tmp_path / "new", name="mine")
    assert (tmp_path / "new" / "analyse_mine.csv") in written
    assert all(path.is_file() for path in written)
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match=r"folder .* cannot be written to"):
        found.save(tmp_path / "file")


@pytest.mark.parametrize(
    ("data", "options", "said"),
    [
        (sequences(), {}, "kind must say what a list of texts holds"),
        ("no such.csv", {}, "no such file"),
        (matrix(), {"lams": [-1.0]}, "--lams must be numbers above 0"),
        (matrix(), {"color": 3}, "--color"),
        (matrix(), {"output": "x"}, r"call save\(folder\)"),
        (matrix(), {"estimate": True}, "the command"),
        (matrix(), {"min_separation": 2}, "is for sequences"),
        (np.zeros((5, 3)), {}, r"^data\.npy: 3 constant columns"),
        (np.full((5, 3), "a"), {}, "must be numbers"),
        ([1, 2, 3], {}, "data must be a path, a matrix of numbers"),
        (None, {}, "data must be a path, a matrix of numbers"),
        (scipy.sparse.eye_array(5).tocsr(), {}, r"by \.toarray\(\)"),
    ],
)
def test_what_cannot_be_analyzed_is_refused_in_the_words_of_the_program(data, options, said):
    with pytest.raises(ValueError, match=said) as refusal:
        analyse(data, **options)
    assert "/tmp" not in str(refusal.value)


def test_notebooks_show_results_as_tables():
    shown = masked.solve(MaskedRidge(AR1(d=40, correlation=0.7), alpha=2.0, lam=0.01))._repr_html_()
    assert shown.startswith("<table><caption>MaskedRidgeSolution</caption>")
    assert "<th scope='row'>effective_ridge</th><td>0.0" in shown
    assert len(shown) < 1500
    columns = pd.DataFrame(matrix(), columns=["<b>", "b", "c", "d"])
    assert "<b></" not in analyse(columns, repeats=2, jobs=1)._repr_html_().partition("</b>")[2]
