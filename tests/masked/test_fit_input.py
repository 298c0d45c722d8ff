"""What a user may hand in by mistake, and what he is told."""

import numpy as np
import pytest

from simulate.masked import fit, fit_path
from theory.models import AR1

GOOD = np.random.default_rng(0).standard_normal((6, 4))


def with_cell(value):
    X = GOOD.copy()
    X[2, 3] = value
    return X


@pytest.mark.parametrize("function", [lambda X: fit(X, 0.1), lambda X: fit_path(X, [0.1])], ids=["fit", "fit_path"])
@pytest.mark.parametrize(
    ("X", "message"),
    [
        (GOOD[0], r"X must have shape \(samples, coordinates\).*got \(4,\)"),
        (GOOD[None], r"X must have shape.*got \(1, 6, 4\)"),
        (np.empty((0, 4)), r"at least one of each, got \(0, 4\)"),
        (np.empty((4, 0)), r"at least one of each, got \(4, 0\)"),
        (3.0, r"X must have shape.*got \(\)"),
        ([[1.0, 2.0], [3.0]], "X must be a rectangular array"),
        ([["a", "b"]], "X must contain real numbers, got dtype <U1"),
        ([[None, 1.0]], "X must contain real numbers, got dtype object"),
        (GOOD + 0j, "X must contain real numbers, got dtype complex128"),
        (with_cell(np.nan), "X must be finite, got nan at row 2, column 3"),
        (with_cell(-np.inf), "X must be finite, got -inf at row 2, column 3"),
        (with_cell(1e200), r"X must have entries whose squares are representable, got size 1e\+200: rescale it"),
        (1e-200 * GOOD, "X must have entries whose squares are representable"),
    ],
)
def test_data_that_cannot_be_fitted(function, X, message):
    with pytest.raises(ValueError, match=message):
        function(X)


@pytest.mark.parametrize("lam", [-0.1, np.nan, np.inf, -np.inf, 1j, "much", None, [0.1, 0.2]])
def test_ridges_that_are_none(lam):
    with pytest.raises(ValueError, match="lam must be"):
        fit(GOOD, lam)
    with pytest.raises(ValueError, match=r"lams\[1\] must be|lams must be"):
        fit_path(GOOD, np.array([0.1, lam], dtype=object))


@pytest.mark.parametrize("lams", [[], 0.1, [[0.1]]])
def test_paths_that_are_no_list(lams):
    with pytest.raises(ValueError, match="lams must be a non-empty list of numbers"):
        fit_path(GOOD, lams)


def test_populations_and_test_rows_of_another_size():
    result = fit(GOOD, 0.1)
    with pytest.raises(ValueError, match="covariance must have d = 4 as the data that were fitted, got d = 5"):
        result.test_error(AR1(5, 0.5))
    with pytest.raises(ValueError, match="got d = inf"):
        result.test_error(AR1(np.inf, 0.5))
    with pytest.raises(ValueError, match="X_test must have 4 columns, one for each coordinate, got 3"):
        result.test_error(GOOD[:, :3])
    with pytest.raises(ValueError, match="X_test must be finite, got nan at row 2, column 3"):
        result.mean_test_error(with_cell(np.nan))


def test_a_negative_zero_is_zero():
    np.testing.assert_array_equal(fit(GOOD, -0.0).predictor, fit(GOOD, 0.0).predictor)
