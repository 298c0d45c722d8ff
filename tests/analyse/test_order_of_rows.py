"""The options on the order of rows, and the column of groups: what they do, and what is refused in one line."""

import numpy as np
import pandas as pd
import pytest

from figures.analyse.command import main
from figures.analyse.finished import NOTHING
from figures.analyse.matrix.command import STEPS
from figures.analyse.matrix.groups_column import groups_of, reading_of
from figures.analyse.options import parsed
from figures.analyse.reading.matrix import read_matrix
from figures.core.table import read_csv
from simulate.core import stream
from simulate.masked import sample
from theory.models import AR1, AR1Rows, SubjectRows

D = 6


NAMED_TWICE = "--groups who,x1 names 2 columns; one says which rows belong together"
ALL_UNLIKE = "--groups x1: the column must have a label that occurs twice, got 24 different ones"
ALL_ALIKE = "--groups one: the column must have at least two different labels, got 'same' for"


def in_time(number, n=120):
    return sample(AR1(D, 0.6), n, stream(0, "order", number), row_dependence=AR1Rows(n, 0.8))


def lines(X, labels=None, name="who"):
    """A table with a header, and with a first column of labels."""
    head = ",".join(([name] if labels else []) + [f"x{k}" for k in range(X.shape[1])])
    rows = [",".join(([labels[i]] if labels else []) + [f"{v:.8g}" for v in row]) for i, row in enumerate(X)]
    return "\n".join([head, *rows, ""])


def run(path, tmp_path, *options):
    return main([str(path), "--output", str(tmp_path / "out"), "--jobs", "1", "--repeats", "2", *options])


def said(path, *options):
    """The report of an analysis, and of what was read, without the figures."""
    typed, _ = parsed([str(path), "--jobs", "1", "--repeats", "2", *options])
    return STEPS.report(STEPS.analyse(STEPS.read(typed), typed, "test", NOTHING), "title").replace("\n  ", " ")


def groups(path, *options):
    typed, _ = parsed([str(path), *options])
    return groups_of(typed, read_matrix(path, reading_of(typed)))


def test_a_series_is_found_and_its_tables_are_written(write, tmp_path, capsys):
    path = write("series.csv", lines(in_time(0)))
    assert run(path, tmp_path) == 0
    text = capsys.readouterr().out.replace("\n  ", " ")
    assert "Successive rows resemble each other" in text
    assert "by corrected GCV" in text
    rows = pd.read_csv(tmp_path / "out" / "analyse_series_rows.csv")
    value = dict(zip(rows["number"], rows["value"], strict=True))
    assert value["GCV"] < value["corrected GCV"]
    lags = pd.read_csv(tmp_path / "out" / "analyse_series_lags.csv")
    assert list(lags.columns) == ["lag", "correlation", "stderr", "fitted"]
    assert lags["correlation"][0] == pytest.approx(0.8, abs=0.15)
    curves = set(read_csv(tmp_path / "out" / "analyse_series.csv")["curve"])
    assert {"corrected GCV", "held-out blocks", "best by corrected GCV", r"$\lambda$ by corrected GCV"} <= curves
    assert (tmp_path / "out" / "analyse_series.png").stat().st_size > 10_000


def test_order_none_asks_for_no_test(write):
    found = said(write("series.csv", lines(in_time(0))), "--order", "none")
    assert "was not tested, as was asked for" in found
    assert "a mean over 2 random splits" in found


def test_a_gap_is_that_of_the_user(write):
    found = said(write("plain.csv", lines(stream(0, "plain").standard_normal((60, 4)))), "--gap", "3")
    assert "2 blocks of later rows" in found
    assert "do not resemble each other" in found


def test_whitened_rows_are_analyzed_as_independent_ones(write):
    found = said(write("series.csv", lines(in_time(0))), "--whiten-rows")
    assert "rows were whitened: each was predicted from the one before it" in found
    assert "After whitening they do not" in found


def test_groups_are_a_column_of_words_that_is_not_analyzed(write):
    X = sample(AR1(D, 0.6), 80, stream(0, "people"), row_dependence=SubjectRows([4], 0.7, n=80))
    found = said(write("people.csv", lines(X, [f"person {i // 4}" for i in range(80)])), "--groups", "who")
    assert f"80 rows and {D} columns" in found
    assert "Rows of one group resemble each other" in found
    assert "In the table of errors whole groups are held out." in found


@pytest.mark.parametrize("chosen", ["who", "1"])
def test_labels_are_read_by_name_and_by_number(write, chosen):
    labels = ["a", "b", "a", "c, d", "c, d"]
    text = lines(np.arange(15.0).reshape(5, 3) ** 2, [f'"{label}"' for label in labels])
    np.testing.assert_array_equal(groups(write("x.csv", text), "--groups", chosen), [0, 1, 0, 2, 2])


def test_labels_follow_the_rows_that_are_kept(write):
    text = lines(np.arange(18.0).reshape(6, 3) ** 2, list("aabbcc")).replace("144,169,196", "144,,196")
    path = write("x.csv", text.replace("a,9,16,25", "a,9,NA,25"))
    np.testing.assert_array_equal(groups(path, "--groups", "who", "--drop-rows"), [0, 1, 1, 2])


def test_numbers_are_labels_too(tmp_path):
    X = stream(0, "numbers").standard_normal((6, 4))
    X[:, 2] = [7, 7, 3, 3, 5, 5]
    np.save(tmp_path / "x.npy", X)
    np.testing.assert_array_equal(groups(tmp_path / "x.npy", "--groups", "3"), [2, 2, 0, 0, 1, 1])
    X[4, 0] = np.nan
    np.save(tmp_path / "x.npy", X)
    np.testing.assert_array_equal(groups(tmp_path / "x.npy", "--groups", "3", "--drop-rows"), [2, 2, 0, 0, 1])


def test_without_the_option_there_are_no_groups(write):
    assert groups(write("x.csv", lines(np.arange(12.0).reshape(4, 3)))) is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--groups", "whom"], "has no column 'whom'; did you mean 'who'?"),
        (["--groups", "who,x1", "--skip-columns", "2,3"], NAMED_TWICE),
        (["--groups", "x1", "--skip-columns", "1-3"], ALL_UNLIKE),
        (["--groups", "one", "--skip-columns", "1-2"], ALL_ALIKE),
        (["--groups", "holed", "--skip-columns", "1,3"], "row 4, column 2 ('holed'): no label of a group"),
        (["--groups", "who", "--gap", "2"], "--groups holds out whole groups, for which --gap has no effect"),
        (["--groups", "who", "--order", "time"], "for which --order has no effect"),
        (["--order", "none", "--gap", "2"], "--gap is between rows in order, and --order none says"),
        (["--order", "none", "--whiten-rows"], "--whiten-rows needs an order of the rows"),
        (["--order", "space"], "--order invalid choice: 'space'"),
        (["--gap", "-1"], "--gap must be an integer of at least 0, got -1"),
        (["--skip-columns", "1-3", "--gap", "23"], "--gap must be at most"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(write, tmp_path, capsys, options, message):
    X = stream(0, "refused").standard_normal((24, 4))
    rows = lines(X).splitlines()
    labels = [f"{'abcdef'[i % 6]},{'' if i == 2 else 'zy'[i % 2]},same" for i in range(24)]
    text = "\n".join([f"who,holed,one,{rows[0]}", *(f"{a},{b}" for a, b in zip(labels, rows[1:], strict=True)), ""])
    assert run(write("x.csv", text), tmp_path, *options) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_options_on_the_order_are_for_matrices(write, tmp_path, capsys):
    path = write("x.fasta", ">a\nACDE\n>b\nACDF\n")
    assert main([str(path), "--groups", "1", "--output", str(tmp_path)]) == 2
    assert "--groups is for matrices" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "is_said"),
    [
        (["--drop-rows"], True),
        (["--drop-rows", "--order", "none"], False),
        (["--drop-rows", "--skip-columns", "3"], False),
    ],
)
def test_rows_left_out_of_a_series_are_said_to_tear_it(write, options, is_said):
    X = in_time(1, 40)
    rows = lines(X).splitlines()
    rows[20] = ",".join(["1", "2", "NA", "4", "5", "6"])
    typed, _ = parsed([str(write("torn.csv", "\n".join(rows) + "\n")), *options])
    assert any("rows were left out in between" in note for note in STEPS.notes(STEPS.read(typed), typed)) == is_said
