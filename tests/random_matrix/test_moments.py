"""Traces and minors against dense linear algebra, and no digit lost at either end of the ridge."""

import numpy as np
import pytest

from tests.families import FINITE, REGULAR, D
from theory.models import AR1
from theory.random_matrix import CoordinateDiagonal, minor_moments, ridge_moments, shrinkage
from theory.random_matrix.interpolated_moments import interpolated_moments


@pytest.mark.parametrize("name", FINITE)
@pytest.mark.parametrize("kappa", [1e-2, 3.0])
def test_traces_by_dense_algebra(name, kappa):
    smoother = FINITE[name].matrix @ np.linalg.inv(FINITE[name].matrix + kappa * np.eye(D))
    at = ridge_moments(FINITE[name].spectrum, np.array([kappa]))
    rank = np.count_nonzero(FINITE[name].eigenvalues) / D
    df1, df2 = np.trace(smoother) / D, np.trace(smoother @ smoother) / D
    expected = [df1, df2, rank - df1, df1 - df2, rank]
    np.testing.assert_allclose([at.df1[0], at.df2[0], at.left[0], at.spread[0], at.rank], expected, rtol=1e-9)


@pytest.mark.parametrize("name", REGULAR)
def test_minors_without_taking_them(name):
    """Every trace of Sigma without row and column k, from the spectrum of Sigma."""
    covariance, kappa = REGULAR[name], np.linspace(0.1, 2, D)
    classes = len(covariance.spectrum.coordinate_weights)
    kappa = kappa[:classes]
    at = minor_moments(covariance.spectrum, D, kappa)
    for k in range(classes):
        others = np.delete(np.arange(D), k)
        minor = covariance.matrix[np.ix_(others, others)]
        smoother = minor @ np.linalg.inv(minor + kappa[k] * np.eye(D - 1))
        df1, df2 = np.trace(smoother) / (D - 1), np.trace(smoother @ smoother) / (D - 1)
        np.testing.assert_allclose(
            [at.df1[k], at.df2[k], at.left[k], at.spread[k]], [df1, df2, 1 - df1, df1 - df2], rtol=1e-9
        )


def test_small_and_large_ridges_lose_no_digits():
    spectrum = REGULAR["AR1"].spectrum
    s, w = spectrum.eigenvalues, spectrum.weights
    at = ridge_moments(spectrum, np.array([1e-18, 1e18]))
    assert at.left[0] == pytest.approx(1e-18 * (w @ (1 / s)), rel=1e-14)
    assert at.spread[0] == pytest.approx(1e-18 * (w @ (1 / s)), rel=1e-14)
    assert at.df1[1] == pytest.approx(1e-18 * (w @ s), rel=1e-14)
    assert at.df2[1] == pytest.approx(1e-36 * (w @ s**2), rel=1e-14)


def test_blocks_of_points_do_not_change_the_numbers():
    spectrum, kappa = REGULAR["AR1"].spectrum, np.geomspace(1e-3, 1e3, 50)
    whole, pieces = ridge_moments(spectrum, kappa), ridge_moments(spectrum, kappa, budget=100)
    for name in ("df1", "df2", "left", "spread"):
        np.testing.assert_allclose(getattr(pieces, name), getattr(whole, name), rtol=1e-14)


def test_a_zero_mode_is_wholly_shrunk():
    p, t = shrinkage(FINITE["singular Wishart"].spectrum, np.array([0.0, 1.0]))
    assert np.all(p[:, :18] == 0)
    assert np.all(t[:, :18] == 1)
    assert np.all(p[0, 18:] == 1)


@pytest.mark.parametrize("name", ["AR1", "diagonal", "blocks"])
def test_a_function_of_its_own_for_every_coordinate(name):
    spectrum = FINITE[name].spectrum
    classes, modes = len(spectrum.coordinate_weights), len(spectrum.weights)
    values = np.random.default_rng(0).uniform(size=(classes, modes))
    expected = [spectrum.diagonal(values[k])[k] for k in range(classes)]
    np.testing.assert_allclose(CoordinateDiagonal(spectrum)(values), expected, rtol=1e-13)


@pytest.mark.parametrize(("low", "high"), [(0.01, 0.011), (1e-4, 10.0), (1e-9, 1e6)])
def test_interpolated_moments_are_those_of_the_spectrum(low, high):
    spectrum = AR1(40, 0.6).spectrum
    found = interpolated_moments(lambda kappa: ridge_moments(spectrum, kappa), low, high)
    kappa = np.geomspace(low, high, 37)
    expected = ridge_moments(spectrum, kappa)
    for name in ("df1", "df2", "left", "spread"):
        np.testing.assert_allclose(getattr(found(kappa), name), getattr(expected, name), rtol=1e-10, err_msg=name)
    np.testing.assert_array_equal(found(np.array([low / 7])).df1, found(np.array([low])).df1)
