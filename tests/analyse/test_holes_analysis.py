"""What the analysis of a table with holes expects and finds, against the truth of made tables."""

import numpy as np
import pytest

from figures.analyse.command import main
from figures.analyse.matrix.holes import analyse_holes, holes_report
from figures.analyse.matrix.holes.check import judged
from figures.analyse.matrix.holes.figure import holes_experiment
from figures.analyse.matrix.holes.table import columns_frame, holes_frame
from simulate.core import Estimate, stream
from simulate.masked import sample
from theory.models import AR1


def factor_table(n, d, *names):
    """Rows of one factor with noise, whose columns have other units and means."""
    rng = stream(2, "factor table", *names)
    weights = np.linspace(0.3, 1.5, d)
    return rng.standard_normal((n, 1)) * weights + 0.5 * rng.standard_normal((n, d)), rng


def units(X):
    return 3 + X * 10.0 ** np.arange(X.shape[1])


@pytest.mark.parametrize(
    ("method", "draws", "resolves"),
    [
        pytest.param("own_rows", 50, 0.3, marks=pytest.mark.slow),
        ("pairwise", 50, 0.3),
        pytest.param("em", 20, 0.4, marks=pytest.mark.slow),
    ],
)
def test_expected_errors_are_those_at_the_holes(agrees, method, draws, resolves):
    """Of all holes, of the columns with most error and of those with least: found minus expected, over expected."""
    found, expected = np.zeros((draws, 3)), np.zeros((draws, 3))
    for draw in range(draws):
        X, rng = factor_table(120, 6, method, draw)
        X = units(X)
        holes = rng.random(X.shape) < 0.2
        one = analyse_holes(np.where(holes, np.nan, X), method=method, repeats=1)
        X, holes = X[one.table.rows], holes[one.table.rows]  # a row may have lost all numbers
        squares = np.where(holes, (one.imputed.table - X) ** 2 / one.imputed.variances, 0.0)
        for k, part in enumerate((slice(None), slice(0, 3), slice(3, 6))):
            counts = holes[:, part].sum(axis=0)
            found[draw, k] = squares[:, part].sum() / counts.sum()
            expected[draw, k] = one.by_column[part] @ counts / counts.sum()
    for k, within in enumerate((resolves, 1.5 * resolves, 1.5 * resolves)):
        agrees(Estimate.of(1 + (found - expected)[:, k] / expected[:, k].mean()), 1.0, resolves=within)


def test_the_check_finds_what_was_expected_and_sees_what_is_not():
    X, rng = factor_table(200, 8, "check")
    holed = np.where(rng.random(X.shape) < 0.15, np.nan, X)
    check = analyse_holes(holed, repeats=5).check
    assert check.draws == 5
    assert abs(int(check.hidden.sum()) - np.isfinite(holed).sum() / 2) <= 8 * 5
    assert abs(check.z) < 3
    assert abs(check.z_by_column).max() < 4
    assert check.measured.stderr / check.measured.mean < 0.1


def test_draws_are_put_together_entry_by_entry():
    parts = np.zeros((2, 3, 2), dtype=bool)
    parts[0, 0, 0] = parts[0, 1, 0] = parts[1, 2, 0] = parts[1, 2, 1] = True
    squares = np.zeros((2, 3, 2))
    squares[0, 0, 0], squares[0, 1, 0], squares[1, 2, 0], squares[1, 2, 1] = 1.0, 2.0, 6.0, 4.0
    expected = np.where(parts, [[[2.0, 5.0]], [[3.0, 7.0]]], 0.0)
    stderr = np.array([[[0.3, 0.1]], [[0.6, 0.5]]])
    found = judged(parts, np.concatenate([squares, expected, stderr], axis=1), 0.1)
    np.testing.assert_array_equal(found.hidden, [3, 1])
    np.testing.assert_allclose(found.measured_by_column, [3.0, 4.0])
    np.testing.assert_allclose(found.expected_by_column, [(2 + 2 + 3) / 3, 7.0])
    np.testing.assert_allclose(found.expected_stderr, [(0.3 * 2 + 0.6) / 3, 0.5])
    assert found.measured.mean == 13 / 4
    assert found.expected.mean == 14 / 4
    assert found.expected.stderr == pytest.approx(0.35)
    # rows with sums 1, 2, 10 of 1, 1, 2 entries: gaps from 13/4 of each are -2.25, -1.25, 3.5
    assert found.measured.stderr == pytest.approx(np.sqrt((2.25**2 + 1.25**2 + 3.5**2) * 3 / 2) / 4)
    assert found.measured_stderr[0] == pytest.approx(np.std([1.0, 2.0, 6.0], ddof=1) / np.sqrt(3))
    assert np.isnan(found.measured_stderr[1])


def said(found):
    return " ".join(holes_report(found, "a table").split())


def test_holes_that_depend_on_values_are_told_with_their_columns():
    X, rng = factor_table(300, 6, "dependence")
    holed = X.copy()
    holed[:, 4][rng.random(300) < 0.15] = np.nan
    plain = analyse_holes(holed, repeats=1)
    assert plain.dependence.p_value > 0.05
    assert plain.dependence.pairs == ()
    assert "does not depend on the values of other columns that are seen" in said(plain)
    X[:, 0] = rng.standard_normal(300)  # which goes with no other column
    holed[:, 0] = X[:, 0]
    holed[:, 2][(X[:, 0] < -0.5) & (rng.random(300) < 0.8)] = np.nan
    driven = analyse_holes(holed, repeats=1)
    assert driven.dependence.p_value < 0.01
    assert [pair[:2] for pair in driven.dependence.pairs] == [(0, 2)]
    text = said(driven)
    assert "cells of column 3 are missing more often where column 1 is small (correlation -0." in text
    assert "It does not hold here" in text
    for one in (plain, driven):
        assert "has nothing to do with its value. No test on these data can show that." in said(one)


def test_where_rows_end_early_entries_are_hidden_as_their_holes_lie():
    X, rng = factor_table(120, 6, "dropout")
    for row, length in enumerate(rng.integers(2, 7, 120)):
        X[row, length:] = np.nan
    found = analyse_holes(X, repeats=1)
    text = said(found)
    assert found.check.as_holes
    assert (found.check.hidden[:2] > 0).all()  # columns without a hole are hidden one entry at a time
    assert "everything is missing from some column on" in text
    assert "are therefore measured on entries that are hidden together, as the holes of such rows lie" in text
    assert "some were hidden together, as the holes of other rows lie, once, and filled in" in text
    assert "and may be too small" not in text


def test_holes_that_no_row_shows_are_said_to_be_unmeasured():
    X, _ = factor_table(80, 6, "two files")
    X[:40, :3] = X[40:, 3:] = np.nan  # no row shows what another one lacks, beside something that it has
    found = analyse_holes(X, method="em", repeats=1)
    assert found.imputed.matched == 0
    assert "That can be done for 0 % of the holes: no row shows" in said(found)


@pytest.mark.parametrize("method", ["em", "own_rows"])
def test_what_is_found_where_entries_are_hidden_together_is_what_was_expected(method):
    """With single entries hidden, own rows were found to err by 0.3."""
    X, rng = factor_table(240, 8, "blocks")
    holed = X.copy()
    holed[rng.random(240) < 0.3, 3:] = np.nan
    found = analyse_holes(holed, method=method, repeats=5)
    assert found.check.as_holes
    assert abs(found.check.z) < 3
    assert found.check.measured_by_column[3:].mean() == pytest.approx(found.by_column[3:].mean(), rel=0.15)
    if method == "own_rows":
        assert found.check.measured_by_column[3:].mean() > 0.5


def test_what_the_fits_had_to_assume_is_noted(monkeypatch):
    X, _ = factor_table(60, 4, "notes")
    X[:30, 0] = X[30:, 1] = np.nan
    X[5, 2:] = np.nan
    found = analyse_holes(X, repeats=1, lams=[0.5, 20.0])
    notes = " ".join(found.notes)
    assert "1 pair of columns never have a number in the same row" in notes
    assert "1 row has one number only" in notes
    monkeypatch.setattr("figures.analyse.matrix.holes.expected.MOST_SECONDS", 0.0)
    monkeypatch.setattr("figures.analyse.matrix.holes.analyse.MOST_SECONDS", 0.0)
    quick = analyse_holes(X, repeats=1)
    assert [one.method for one in quick.before] == ["own_rows"]
    assert quick.learning == ()
    assert "pairwise covariances were left out, to save time" in " ".join(quick.notes)
    assert [one.method for one in analyse_holes(X, repeats=1, method="pairwise").before] == ["pairwise"]


def test_ridges_below_the_least_one_are_left_out_or_refused(tmp_path, capsys):
    X, rng = factor_table(20, 12, "least")
    X[rng.random(X.shape) < 0.4] = np.nan
    found = analyse_holes(X, lams=[1e-3, 30.0], repeats=1)
    assert {one.method: list(one.lams) for one in found.before} == {"own_rows": [1e-3, 30.0], "pairwise": [30.0]}
    assert [one.method for one in analyse_holes(X, lams=[1e-3], repeats=1).before] == ["own_rows"]
    with pytest.raises(ValueError, match="lams must exceed the least ridge of the pairwise covariance"):
        analyse_holes(X, lams=[1e-3], method="pairwise", repeats=1)
    np.save(tmp_path / "x.npy", X)
    asked = ["--lams", "0.001", "--missing-as", "pairwise", "--output", str(tmp_path / "out"), "--jobs", "1"]
    assert main([str(tmp_path / "x.npy"), *asked]) == 2
    assert "--lams must exceed the least ridge" in capsys.readouterr().err


def test_a_column_counts_by_its_holes():
    X, _ = factor_table(80, 5, "weights")
    X[10:25, 3] = np.nan
    found = analyse_holes(X, lams=[0.4], repeats=1)
    for one in found.before:
        assert one.error.mean == pytest.approx(one.by_column[3])
    X[30:35, 0] = np.nan  # a third as many
    found = analyse_holes(X, lams=[0.4], repeats=1)
    for one in found.before:
        assert one.error.mean == pytest.approx(0.75 * one.by_column[3] + 0.25 * one.by_column[0])


def test_one_ridge_is_the_one_that_fills():
    X, rng = factor_table(80, 5, "one ridge")
    X[rng.random(X.shape) < 0.2] = np.nan
    for method in ("own_rows", "pairwise", "em"):
        found = analyse_holes(X, lams=[0.7], method=method, repeats=1)
        assert (found.imputed.lam, found.imputed.method) == (0.7, method)


def test_the_result_does_not_depend_on_units_order_or_processes():
    X, rng = factor_table(60, 4, "units")
    X[rng.random(X.shape) < 0.2] = np.nan
    plain = analyse_holes(X, lams=[0.2, 0.7], repeats=2)
    scaled = analyse_holes(units(X), lams=[0.2, 0.7], repeats=2, n_jobs=2)
    np.testing.assert_allclose(scaled.by_column, plain.by_column, rtol=1e-6)
    np.testing.assert_allclose(scaled.root_errors, plain.root_errors * 10.0 ** np.arange(4), rtol=1e-6)
    np.testing.assert_allclose(scaled.check.measured_by_column, plain.check.measured_by_column, rtol=1e-6)
    assert scaled.learning[0][1].mean == pytest.approx(plain.learning[0][1].mean, rel=1e-6)


def test_tables_of_the_result_hold_what_it_says():
    X, rng = factor_table(60, 4, "frames")
    X[rng.random(X.shape) < 0.2] = np.nan
    found = analyse_holes(X, ["a", "b", "c", "d"], lams=[0.3], repeats=1)
    columns, holes = columns_frame(found), holes_frame(found)
    np.testing.assert_allclose(columns["error"] / columns["variance"], columns["expected"])
    np.testing.assert_allclose(columns["root_error"] ** 2, columns["error"])
    np.testing.assert_allclose(columns["explained"], 1 - columns["expected"])
    np.testing.assert_array_equal(columns["missing"], np.isnan(X).sum(axis=0))
    assert columns["before"] @ columns["missing"] / columns["missing"].sum() == pytest.approx(
        min(one.error.mean for one in found.before)
    )
    np.testing.assert_array_equal(holes["row"] - 1, np.nonzero(np.isnan(X))[0])
    np.testing.assert_array_equal(holes["position"] - 1, np.nonzero(np.isnan(X))[1])
    by_column = (holes["root_error"] ** 2).groupby(holes["column"]).mean()
    np.testing.assert_allclose(by_column, columns["error"])  # the errors of the holes of a column have the mean of it
    np.testing.assert_allclose(
        holes["share_of_variance"], holes["root_error"] ** 2 / found.imputed.variances[holes["position"] - 1]
    )


def test_a_table_too_small_to_check_has_fewer_axes():
    X, _ = factor_table(7, 3, "tiny")
    X[0, 0] = X[1, 2] = np.nan
    found = analyse_holes(X, lams=[0.3])
    assert found.check is None
    assert "were not checked on hidden entries: too little is seen" in said(found)
    titles = [panel.title for panel in holes_experiment("tiny", found.rows).panels]
    assert titles == ["one entry left out, by the ridge", "one entry left out, by rows"]


def test_the_table_shows_what_was_expected_of_hidden_entries_beside_what_was_found():
    """Holes at the ends of rows stand in rows that show less than those in which entries are hidden."""
    X = sample(AR1(6, 0.8), 120, stream(0, "rows that end early"))
    X[:60, 3:] = np.nan
    found = analyse_holes(X, repeats=2)
    text = holes_report(found, "title").replace("\n  ", " ")
    k = 4
    (line,) = [line.split() for line in text.splitlines() if line.startswith(f"{found.names[k]} ")]
    measured, expected = (float(cell.partition("(")[0]) for cell in (line[-2], line[-3]))
    assert measured == pytest.approx(found.check.measured_by_column[k], abs=6e-3)
    assert expected == pytest.approx(found.check.expected_by_column[k], abs=6e-3)
    assert "z is the difference over its standard error" in text
    assert "depend on each other" in text.split("Not done", 1)[1]


def test_copied_rows_are_counted():
    X = sample(AR1(4, 0.8), 40, stream(0, "copied rows"))
    X[stream(1, "copied rows").random(X.shape) < 0.1] = np.nan
    assert any(
        "40 rows are copies of earlier ones" in note for note in analyse_holes(np.vstack([X, X]), repeats=1).notes
    )
