"""Learning curves are the single points, each computed alone."""

import math

import numpy as np
import pytest

from tests.families import FINITE, LIMITS
from theory import masked
from theory.models import AR1, MaskedRidge, PowerLaw, TwoLevel

ALPHAS, LAMS = (0.3, 1.0, 4.0), (1e-6, 0.1)
EVERY = FINITE | {f"{name}, d = inf": limit for name, limit in LIMITS.items()}


@pytest.mark.parametrize("name", EVERY)
def test_curve_is_solve_point_by_point(name):
    covariance = EVERY[name]
    curve = masked.learning_curve(covariance, ALPHAS, LAMS)
    classes = covariance.size if covariance.is_finite else len(covariance.spectrum.coordinate_weights)
    assert curve.test_error.shape == curve.train_error.shape == (2, 3, classes)
    for i, lam in enumerate(LAMS):
        for j, alpha in enumerate(ALPHAS):
            point = masked.solve(MaskedRidge(covariance, alpha, lam))
            # relative to the variances: what is left of a coordinate known exactly is rounding
            scale = 1e-11 * np.max(covariance.variances)
            np.testing.assert_allclose(curve.test_error[i, j], point.test_error, rtol=1e-9, atol=scale)
            np.testing.assert_allclose(curve.train_error[i, j], point.train_error, rtol=1e-9, atol=scale)
            for quantity in ("effective_ridge", "df1", "df2", "mean_test_error", "mean_train_error"):
                expected = getattr(point, quantity)
                assert getattr(curve, quantity)[i, j] == pytest.approx(expected, rel=1e-9, abs=scale), quantity


def test_evidence_and_axes():
    curve = masked.learning_curve(AR1(20, 0.7), ALPHAS, LAMS)
    assert curve.converged
    assert curve.residual <= 1e-12
    assert curve.iterations <= 15
    assert curve.mean_test_error.shape == (2, 3)
    np.testing.assert_array_equal(curve.alphas, ALPHAS)
    np.testing.assert_array_equal(curve.lams, LAMS)


def test_a_long_curve_in_blocks_is_the_curve():
    """2001 points on 2000 modes go through the bounded temporaries in pieces."""
    alphas = np.linspace(0.2, 4, 2001)
    curve = masked.learning_curve(TwoLevel(2000), alphas, 0.1)
    limit = masked.learning_curve(TwoLevel(math.inf), alphas, 0.1)
    np.testing.assert_allclose(curve.mean_test_error, limit.mean_test_error, rtol=1e-10)


def test_table():
    frame = masked.learning_curve(AR1(20, 0.7), ALPHAS, LAMS).to_frame()
    assert list(frame.columns[:4]) == ["lam", "alpha", "effective_ridge", "df1"]
    assert len(frame) == 6
    row = frame[(frame.lam == 0.1) & (frame.alpha == 4.0)].iloc[0]
    expected = masked.solve(MaskedRidge(AR1(20, 0.7), 4.0, 0.1))
    assert row.mean_test_error == pytest.approx(expected.mean_test_error, rel=1e-12)


def test_numbers_are_one_point_grids():
    assert masked.learning_curve(AR1(20, 0.7), 1.0, 0.1).mean_test_error.shape == (1, 1)


@pytest.mark.parametrize(
    ("alphas", "lams", "message"),
    [
        ([0.0], [0.1], "alphas must be positive, got 0.0"),
        ([1.0], [0.0, 0.1], "lams must be positive, got 0.0; .*theory.masked.ridgeless"),
        ([1.0, np.nan], [0.1], r"alphas must be finite, got nan at index \(1,\)"),
        ([], [0.1], "alphas must be a non-empty array"),
        ([[1.0]], [0.1], "alphas must be a non-empty array with 1 axes"),
        (["x"], [0.1], "alphas must be an array of real numbers"),
    ],
)
def test_bad_grids_are_refused(alphas, lams, message):
    with pytest.raises(ValueError, match=message):
        masked.learning_curve(AR1(10, 0.7), alphas, lams)


def test_optimally_regularized_curve_is_below_every_other():
    covariance, alphas = PowerLaw(100, 1.2, rotation=0), (0.5, 1.0, 2.0)
    curve = masked.learning_curve(covariance, alphas, np.geomspace(1e-6, 10, 40))
    best = [masked.optimal_ridge(covariance, alpha).mean_test_error for alpha in alphas]
    assert np.all(curve.mean_test_error.min(axis=0) >= best)
    np.testing.assert_allclose(curve.mean_test_error.min(axis=0), best, rtol=1e-2)
