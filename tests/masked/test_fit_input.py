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
        (with_cell(1e200), r"X must have columns of size 1e-50 to 1e\+50, or zero, got 1e\+200 in column 3"),
        (1e-200 * GOOD, "X must have columns of size .* in column 0: rescale it"),
        (GOOD * [1, 1e80, 1, 1], r"X must have columns of size .*e\+80 in column 1: rescale it"),
        (GOOD * [1, 1, 1e-100, 1], "X must have columns of size .*e-10[01] in column 2: rescale it"),
        (np.ma.masked_greater(GOOD, 0.0), "X must have no masked entries, got .* of them: fill or drop them"),
    ],
)
def test_data_that_cannot_be_fitted(function, X, message):
    with pytest.raises(ValueError, match=message):
        function(X)


@pytest.mark.parametrize(
    "lam", [-0.1, np.nan, np.inf, -np.inf, 1j, "much", "0.1", True, 1e160, 1e300, None, [0.1, 0.2]]
)
def test_ridges_that_are_none(lam):
    with pytest.raises(ValueError, match="lam must "):
        fit(GOOD, lam)
    with pytest.raises(ValueError, match=r"lams\[1\] must |lams must be"):
        fit_path(GOOD, np.array([0.1, lam], dtype=object))


@pytest.mark.parametrize("lams", [[], 0.1, [[0.1]]])
def test_paths_that_are_no_list(lams):
    with pytest.raises(ValueError, match="lams must be a non-empty list of numbers"):
        fit_path(GOOD, lams)


def test_populations_and_test_rows_of_another_size():
    result = fit(GOOD, 0.1)
    with pytest.raises(ValueError, match="target must have d = 4 as the data that were fitted, got d = 5"):
        result.test_error(AR1(5, 0.5))
    with pytest.raises(ValueError, match="got d = inf"):
        result.test_error(AR1(np.inf, 0.5))
    with pytest.raises(ValueError, match="target must have 4 columns, one for each coordinate, got 3"):
        result.test_error(GOOD[:, :3])
    with pytest.raises(ValueError, match="target must be finite, got nan at row 2, column 3"):
        result.mean_test_error(with_cell(np.nan))


def test_a_negative_zero_is_zero():
    np.testing.assert_array_equal(fit(GOOD, -0.0).predictor, fit(GOOD, 0.0).predictor)


@pytest.mark.parametrize("size", [1e-48, 1e48])
@pytest.mark.parametrize("lam", [0.0, 1e-300, 1e-100, 1.0, 1e100])
@pytest.mark.parametrize("n", [2, 3, 6])
def test_whatever_is_accepted_is_fitted(n, lam, size):
    """Every number finite without a warning, and the training error of a coordinate at most its mean square."""
    for scales in (size, [1, size, 1, 1]):
        X = GOOD[:n] * scales
        result, path, power = fit(X, lam), fit_path(X, [lam]), np.mean(X**2, axis=0)
        for array in (result.predictor, result.gcv_error, result.loo_error, result.effective_ridge, path.gcv_error):
            assert np.isfinite(array).all()
        for train in (result.train_error, path.train_error[0]):
            assert (train <= power + 1e-15 * power.max()).all()
            if lam == 1e100 and size < 1:
                np.testing.assert_allclose(train, power, rtol=1e-3, atol=1e-15 * power.max())
