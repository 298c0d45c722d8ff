"""What is said of a table before its analysis: scales, redundant columns, outliers; and of a spectrum that is not."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import beta, t

from figures.analyse.command import main
from figures.analyse.matrix.admissible import admitted, scale_choice
from figures.analyse.matrix.copied_rows import copied_rows
from figures.analyse.matrix.data_quality import (
    correlations,
    equal_columns,
    outlying_cells,
    outlying_rows,
    quality_notes,
    unit_columns,
)
from figures.analyse.matrix.spectrum import matrix_spectrum
from simulate.core import stream
from theory.numerics import ConvergenceError, Solution

NAMES = tuple("abcdefghijklmnop")


def gaussian(seed, n=60, d=5, shared=0.5):
    """Correlated Gaussian columns."""
    rng = stream(seed, "table")
    return rng.standard_normal((n, d)) + shared * rng.standard_normal((n, 1))


def units(X):
    return unit_columns(admitted(X))


def write(path, X):
    np.savetxt(path, X, delimiter=",", header=",".join(NAMES[: X.shape[1]]), comments="")
    return path


@pytest.mark.slow
def test_nothing_is_said_of_gaussian_tables():
    # Each of two kinds of sentence stands in at most 1 % of tables: 70 or more among 2 x 2000 in one of 10^5 runs.
    tables = [gaussian(seed, n=20, d=2) for seed in range(1000)] + [gaussian(seed, n=40) for seed in range(1000)]
    rows = sum(len(outlying_rows(units(X), units(X).triangle(), np.arange(X.shape[1]))) > 0 for X in tables)
    cells = sum(bool(outlying_cells(units(X))) for X in tables)
    assert rows + cells < 70
    assert rows > 2  # the level is used, 20 are expected
    assert not any(equal_columns(correlations(units(X)), len(X))[0] for X in tables[:200])


def test_redundant_columns_are_named():
    X = gaussian(0, n=60, d=6)
    X[:, 3] = 7 - 2 * X[:, 1]
    X[:, 5] = X[:, 0] + X[:, 2]
    said = quality_notes(admitted(X, NAMES[:6]))
    assert said[0].startswith("the columns b, d say the same")
    assert said[1].startswith("1 column follows exactly from the others")
    assert len(said) == 2


def test_few_rows_make_no_column_redundant():
    assert not quality_notes(admitted(gaussian(0, n=12, d=8), NAMES[:8]))
    near = np.column_stack([np.arange(4.0), np.arange(4) + 0.04 * np.array([1, -1, -1, 1])])
    assert np.corrcoef(near.T)[0, 1] > 0.999
    assert equal_columns(correlations(units(near)), len(near))[0] == [1]  # the chance of that is 1 in 1500 for one pair
    others = stream(0, "others").standard_normal((4, 8))
    assert (
        equal_columns(correlations(units(np.column_stack([near, others]))), len(np.column_stack([near, others])))[0]
        == []
    )  # and not small for 45


def test_outlying_rows_and_cells_are_named():
    X = gaussian(1, n=60, d=3, shared=3.0)
    X[41] += np.array([6.0, -6.0, 0.0])  # against the correlation: no cell of it is large
    said = quality_notes(admitted(X, NAMES[:3]))
    assert len(said) == 1
    assert said[0].startswith("1 row of the data lies further from the mean than Gaussian rows would")
    assert "the furthest first: 42)" in said[0]
    X[7, 2] = 1000.0
    said = quality_notes(admitted(X, NAMES[:3]))
    assert any(note.startswith("one cell, in row 8 of the data, makes ") and "of column c" in note for note in said)


def test_heavy_rows_are_no_single_mistakes():
    X = gaussian(2, n=400, d=10)
    X[::12] *= 12  # 34 rows, of which 33 are expected beyond the limit, and 21 are many
    assert any("so many are no single mistakes" in note for note in quality_notes(admitted(X, NAMES[:10])))


@pytest.mark.parametrize(
    ("factor", "wanted", "chosen", "words"),
    [
        (3.0, None, False, None),
        (3.0, True, True, None),
        (30.0, None, True, "--no-standardize keeps the units of the file"),
        (30.0, True, True, "in units of its standard deviation"),
        (30.0, False, False, "the mean error is that of the largest ones"),
    ],
)
def test_unequal_columns_are_standardized_unless_refused(factor, wanted, chosen, words):
    X = gaussian(0) * np.array([1, 1, 1, 1, factor])
    X = np.column_stack([X, np.ones(len(X))])  # a constant column has no scale
    found, said = scale_choice(admitted(X, drop_constant=True), wanted)
    assert found == chosen
    assert (said is None) if words is None else words in said


@pytest.mark.usefixtures("undrawn")
def test_scales_are_said_before_the_results(tmp_path, capsys):
    path = write(tmp_path / "t.csv", gaussian(0) * np.array([1, 1, 1, 1, 1000.0]))
    options = ["--jobs", "1", "--repeats", "2", "--output", str(tmp_path)]
    assert main([str(path), *options]) == 0
    said = capsys.readouterr().out
    assert said.index("the variances of the columns differ by a factor of ") < said.index("Masked regression")
    assert "columns are in units of their standard deviation over all rows" in " ".join(said.split())
    assert main([str(path), *options, "--no-standardize"]) == 0
    assert "they are kept (--no-standardize)" in capsys.readouterr().out


def anscombe():
    """Anscombe's four sets side by side (Am. Stat. 27, 17, 1973): columns 1, 3 and 5 are the same."""
    x = [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5]
    y = [
        [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68],
        [9.14, 8.14, 8.74, 8.77, 9.26, 8.10, 6.13, 3.10, 9.13, 7.26, 4.74],
        [7.46, 6.77, 12.74, 7.11, 7.81, 8.84, 6.08, 5.39, 8.15, 6.42, 5.73],
        [6.58, 5.76, 7.71, 8.84, 8.47, 7.04, 5.25, 12.50, 5.56, 7.91, 6.89],
    ]
    return np.array([x, y[0], x, y[1], x, y[2], [8] * 7 + [19] + [8] * 3, y[3]], float).T


@pytest.fixture
def no_law(monkeypatch):
    """Laws of eigenvalues that cannot be solved."""

    def refused(*_arguments):
        raise ConvergenceError("bulks of the law", Solution(None, "max_iter", np.inf, 1e-8, 6))

    for name in ("law_of", "predictor_law"):
        monkeypatch.setattr(f"figures.analyse.matrix.spectrum.analyse.{name}", refused)


@pytest.mark.usefixtures("no_law")
def test_a_spectrum_that_cannot_be_had_is_said_in_words(tmp_path, capsys):
    found = matrix_spectrum(anscombe(), NAMES[:8], 1.4)
    assert isinstance(found, str)
    assert "leave out c, e (--skip-columns), which repeat a; or take more rows, since 11 are few for 8 columns" in found
    for inner in ("residual", "tol ", "bulk", "law", "alpha", "max_iter", "unverified"):
        assert inner not in found
    assert main([str(write(tmp_path / "a.csv", anscombe())), "--jobs", "1", "--output", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "What may help: leave out c, e" in " ".join(said.split())
    assert max(map(len, said[said.index("There is no spectrum") :].split("/")[0].splitlines())) <= 110


def test_tables_in_unequal_units_have_a_spectrum():
    datasets = pytest.importorskip("sklearn.datasets")
    X = datasets.load_breast_cancer().data
    for ridge in (0.1, 1.0):
        assert not isinstance(matrix_spectrum(X, [f"c{k}" for k in range(30)], ridge), str)
    assert not isinstance(matrix_spectrum(X / X.std(axis=0), [f"c{k}" for k in range(30)], 1e-4), str)


@pytest.mark.usefixtures("no_law")
def test_unequal_units_are_the_first_thing_to_change():
    datasets = pytest.importorskip("sklearn.datasets")
    X = datasets.load_breast_cancer().data
    found = matrix_spectrum(X, [f"c{k}" for k in range(30)], 0.15)
    assert isinstance(found, str)
    assert "What may help: measure the columns in units of their standard deviations (--standardize)" in found


def test_a_row_lies_apart_from_the_distance_on_that_gaussian_rows_reach_once_in_a_hundred_tables():
    """The squared Mahalanobis distance times n/(n - 1)^2 has a beta law for Gaussian rows; the level is 0.01/n."""
    X = gaussian(3, n=30, d=3)

    def moved(distance):
        return X + distance * np.outer(np.arange(30) == 7, [1.0, -1.0, 0.5])

    def chance(table):
        gap = table[7] - table.mean(axis=0)
        square = gap @ np.linalg.solve(np.cov(table.T), gap)
        return beta.sf(square * 30 / 29**2, 3 / 2, (30 - 3 - 1) / 2)

    limit = brentq(lambda distance: np.log(chance(moved(distance)) * 30 / 0.01), 1, 20)
    for factor, found in ((0.999, []), (1.001, [7])):
        table = units(moved(factor * limit))
        assert outlying_rows(table, table.triangle(), np.arange(3)).tolist() == found


def test_a_cell_lies_apart_from_the_value_on_that_gaussian_columns_reach_once_in_a_hundred_tables():
    """Grubbs's test in its usual form, with the largest deviation in units of the standard deviation."""
    X = gaussian(4, n=12, d=3)

    def moved(distance):
        return X + distance * np.outer(np.arange(12) == 5, np.arange(3) == 1)

    def chance(table):
        G = abs(table[5, 1] - table[:, 1].mean()) / table[:, 1].std(ddof=1)
        return 2 * 12 * t.sf(np.sqrt(12 * 10 * G**2 / (11**2 - 12 * G**2)), 10)

    limit = brentq(lambda distance: np.log(chance(moved(distance)) * 3 / 0.01), 3, 50)
    assert outlying_cells(units(moved(0.999 * limit))) == []
    ((column, row, share),) = outlying_cells(units(moved(1.001 * limit)))
    assert (column, row) == (1, 5)
    deviations = moved(1.001 * limit)[:, 1] - moved(1.001 * limit)[:, 1].mean()
    assert share == pytest.approx(deviations[5] ** 2 / np.sum(deviations**2), rel=1e-12)


def test_rows_that_repeat_others_are_counted():
    """Pasted twice, with holes and without; neither whole numbers nor coarse ones of two columns are called copies."""
    X = np.random.default_rng(3).standard_normal((60, 4))
    assert len(copied_rows(np.vstack([X, X]))) == 60
    holed = np.where(np.random.default_rng(4).random(X.shape) < 0.2, np.nan, X)
    np.testing.assert_array_equal(
        copied_rows(np.vstack([holed, holed[:1]])), [60] if np.isfinite(holed[0]).sum() > 1 else []
    )
    assert not len(copied_rows(X))
    assert not len(copied_rows(np.round(np.vstack([X, X]))))
    assert not len(copied_rows(np.round(2 * X[:, :2]) / 2))
    assert not len(copied_rows(np.array([[0.5, np.nan], [0.5, np.nan], [1.5, 2.0]])))
