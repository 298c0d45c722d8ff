"""Analyses called from Python: the same as the program's, of files, arrays, frames, sequences and documents."""

import json
from dataclasses import replace
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


@pytest.mark.usefixtures("undrawn")
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


def test_files_that_options_name_are_written_by_save_alone(tmp_path, capsys):
    target = tmp_path / "model.npz"
    found = analyse(sequences(), kind="sequences", jobs=1, write_model=target)
    assert not target.exists()
    capsys.readouterr()
    found.save(tmp_path / "out")
    assert target.exists()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("data", "options", "said"),
    [
        (sequences(), {}, "kind must say what a list of texts holds"),
        ("no such.csv", {}, "no such file"),
        (matrix(), {"lams": [-1.0]}, "--lams must be numbers above 0"),
        (matrix(), {"color": 3}, "color is no option of analyse"),
        (matrix(), {"output": "x"}, r"call save\(folder\)"),
        (matrix(), {"estimate": True}, "the command"),
        (matrix(), {"min_separation": 2}, "is for sequences"),
        (np.zeros((5, 3)), {}, r"^data\.npy: 3 constant columns"),
        (np.full((5, 3), "a"), {}, "must be numbers"),
        ([1, 2, 3], {}, "data must be a path, a matrix of numbers"),
        (None, {}, "data must be a path, a matrix of numbers"),
        (scipy.sparse.eye_array(5).tocsr(), {}, r"\.toarray\(\) makes it dense"),
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


FAMILY = ["".join("ACDE"[color] for color in row) for row in np.random.default_rng(3).integers(4, size=(40, 6))]


@pytest.mark.parametrize("given", [tuple(FAMILY), np.array(FAMILY), [list(row) for row in FAMILY]])
def test_sequences_in_every_form_are_those_of_a_list(given):
    found = analyse(given, kind="sequences", jobs=1)
    assert found.to_json() == analyse(FAMILY, kind="sequences", jobs=1).to_json()


def test_integers_are_sequences_where_the_kind_says_so():
    found = analyse(np.array([["ACDE".index(letter) for letter in row] for row in FAMILY]), kind="sequences", jobs=1)
    assert found.analysis.n_sequences == 40
    with pytest.raises(ValueError, match=r"data must be integers or strings .*, got the type float64"):
        analyse(np.ones((4, 3)), kind="sequences")


def test_truth_values_and_nullable_columns_of_a_frame_are_numbers():
    rows = np.random.default_rng(4).standard_normal((40, 3)).round(1)
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    plain = analyse(frame.assign(d=[1, 0] * 20), repeats=2, jobs=1)
    nullable = frame.convert_dtypes().assign(d=pd.array([True, False] * 20, dtype="boolean"))
    assert analyse(nullable, repeats=2, jobs=1).to_json() == plain.to_json()


def test_columns_that_are_no_numbers_are_named_with_their_cure_unless_an_option_takes_them_out():
    frame = pd.DataFrame(np.random.default_rng(5).standard_normal((40, 3)), columns=["a", "b", "c"])
    frame["day"], frame["sex"] = pd.date_range("2020", periods=40), pd.Categorical(["m", "f"] * 20)
    with pytest.raises(ValueError, match=r"dates in column 'day': .*total_seconds.*; so it is with 1 more: 'sex'$"):
        analyse(frame)
    left = analyse(frame, skip_columns=["day", "sex"], repeats=2, jobs=1)
    assert left.conclusions == analyse(frame[["a", "b", "c"]], repeats=2, jobs=1).conclusions


@pytest.mark.parametrize(
    ("data", "options", "match"),
    [
        (scipy.sparse.csr_array(np.eye(3)), {}, "data must be a dense array of real numbers, got a sparse csr_array"),
        (np.eye(3), {"repeat": 2}, "^repeat is no option of analyse: repeats is one$"),
        (np.eye(3), {"zzz": 2}, "^zzz is no option of analyse$"),
        (np.eye(3), {"kind": "matrx"}, "kind must be one of 'matrix', 'sequences', 'text', got 'matrx'"),
        (np.eye(3), {"kind": "text"}, "data must be a list of texts, or a path, with kind='text'"),
        ([[1, 2], [3]], {}, "data must have rows of one length"),
    ],
)
def test_what_cannot_be_analyzed_is_refused_in_words_of_python(data, options, match):
    with pytest.raises(ValueError, match=match):
        analyse(data, **options)


def test_a_notebook_shows_few_words_and_no_code_of_the_data():
    found = analyse(np.random.default_rng(6).standard_normal((40, 3)), repeats=2, jobs=1)
    shown = replace(found, title="<b>a & b</b>")._repr_html_()
    assert "&lt;b&gt;a &amp; b&lt;/b&gt;" in shown
    assert len(shown) < 4000
