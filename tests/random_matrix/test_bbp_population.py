"""With very many samples outliers and their overlaps are those of the population's own matrices, from dense algebra."""

import math

import numpy as np
import pytest

from theory.models import AR1, Blocks, Diagonal, Isotropic, SpikedData, TwoLevel
from theory.random_matrix import optimal_ridge, outlier, spike_outliers, threshold
from theory.random_matrix.bbp.spiked_bulk import SpikedBulk
from theory.random_matrix.bbp.spiked_noise import spiked_noise

MANY = 1e9  # alpha: what is left of the sample is of order alpha^-1/2 in eigenvalues beside the bulk


def unit(entries, d):
    u = np.zeros(d)
    u[: len(entries)] = entries
    return u / np.linalg.norm(u)


def population(noise, directions, strengths, method, lam):
    """Eigenvalues (ascending), and unit right and left eigenvectors in columns, of the matrix that a method forms."""
    sigma = noise.matrix + (directions.T * strengths) @ directions
    d = len(sigma)
    if method == "ssr":
        Q = np.linalg.inv(sigma + lam * np.eye(d))
        matrix = np.eye(d) - Q / np.diagonal(Q)[:, None]
    elif method == "correlation_pca":  # carried back to the coordinates of the data
        matrix = sigma / np.diagonal(sigma)[:, None]
        matrix = matrix.T
    else:
        matrix = sigma - (np.diag(np.diagonal(sigma)) if method == "diagonal_deleted_pca" else 0)
    values, right = np.linalg.eig(matrix)
    order = np.argsort(values.real)
    right = right[:, order].real
    left = np.linalg.inv(right).T
    return values[order].real, right, left / np.linalg.norm(left, axis=0)


CASES = [("ssr", 0.3), ("ssr", 3.0), ("pca", None), ("correlation_pca", None), ("diagonal_deleted_pca", None)]


@pytest.mark.parametrize(("method", "lam"), CASES)
@pytest.mark.parametrize("noise", [Isotropic(12), Isotropic(12, 2.5)])
@pytest.mark.parametrize("side", ["right", "left"])
def test_two_spikes_of_unequal_entries(method, lam, noise, side):
    directions = np.stack([unit([3.0, -1.0, 2.0, 0.5], 12), unit([0.0, 2.0, 1.0, -1.0, 2.0], 12)])
    strengths = np.array([7.0, 3.0]) * noise.variance
    found = spike_outliers(
        noise, directions, strengths=strengths, alpha=MANY, method=method, lam=lam and lam * noise.variance, side=side
    )
    values, right, left = population(noise, directions, strengths, method, lam and lam * noise.variance)
    bulk = np.median(values)  # most coordinates carry no spike
    assert found.detected == np.sum(values > bulk + 1e-6 if side == "right" else values < bulk - 1e-6)
    taken = list(reversed(range(12)))[: found.detected] if side == "right" else range(found.detected)
    for i, k in enumerate(taken):
        assert found.eigenvalues[i] == pytest.approx(values[k], abs=1e-6)
        np.testing.assert_allclose(found.overlaps[i], (directions @ right[:, k]) ** 2, atol=1e-6)
        np.testing.assert_allclose(found.left_overlaps[i], (directions @ left[:, k]) ** 2, atol=1e-6)
        basis = np.linalg.qr(directions.T)[0]
        assert found.span_overlaps[i] == pytest.approx(np.sum((basis.T @ right[:, k]) ** 2), abs=1e-6)
        assert found.left_span_overlaps[i] == pytest.approx(np.sum((basis.T @ left[:, k]) ** 2), abs=1e-6)


def test_both_sides_of_the_eigenvectors_differ():
    """Else the test above could not tell them apart."""
    directions, strengths = unit([3.0, -1.0, 2.0, 0.5], 12)[None], np.array([7.0])
    for side, count in (("right", 1), ("left", 3)):
        found = spike_outliers(Isotropic(12), directions, strengths=strengths, alpha=MANY, lam=0.3, side=side)
        assert found.detected == count
        assert np.all(abs(found.overlaps - found.left_overlaps) > 1e-3)
        assert np.all(abs(found.span_overlaps - found.left_span_overlaps) > 1e-3)


@pytest.mark.parametrize(("method", "lam"), CASES)
def test_one_spike_in_noise_of_several_levels(method, lam):
    """The outlier right of everything, with the scales of heteroscedastic noise."""
    noise, u = Diagonal([0.5, 0.5, 1.0, 1.0, 2.0, 2.0, 1.5, 0.7]), unit([2.0, 1.0, -1.0, 1.5, 1.0, -1.0, 0.5, 2.0], 8)
    found = outlier(SpikedData(noise, u, strength=20.0, alpha=MANY, method=method, lam=lam))
    values, right, left = population(noise, u[None], np.array([20.0]), method, lam)
    assert found.detected
    assert found.eigenvalue == pytest.approx(values[-1], abs=1e-6)
    assert found.overlap == pytest.approx((u @ right[:, -1]) ** 2, abs=1e-6)
    assert found.left_overlap == pytest.approx((u @ left[:, -1]) ** 2, abs=1e-6)


@pytest.mark.parametrize("strength", [None, 1.0])
def test_the_bracket_certifies_the_best_ridge(strength):
    """Both its ends are ridges that are worse, one step of the grid apart from the best on either side."""
    u = np.zeros(1000)
    u[[0, 1, -1, -2]] = 0.5
    best = optimal_ridge(SpikedData(TwoLevel(1000), u, alpha=1.0, strength=strength))
    assert 0 < best.bracket[0] < best.lam < best.bracket[1] < math.inf
    assert best.bracket[1] / best.bracket[0] == pytest.approx(10 ** (20 / 22), rel=1e-9)
    assert best.iterations == best.evaluations > 25  # those of the grid, and those that refine
    for lam in best.bracket:
        if strength is None:
            assert threshold(SpikedData(TwoLevel(1000), u, alpha=1.0, lam=lam)).value > best.value
        else:
            assert outlier(SpikedData(TwoLevel(1000), u, strength=strength, alpha=1.0, lam=lam)).overlap < best.value


def test_the_bracket_at_an_end():
    best = optimal_ridge(SpikedData(TwoLevel(math.inf), None, alpha=2.0))
    scale = TwoLevel(math.inf).spectrum.mean(TwoLevel(math.inf).spectrum.eigenvalues)
    assert best.lam == best.bracket[0] == 0
    assert best.bracket[1] == pytest.approx(1e-5 * scale)
    assert threshold(SpikedData(TwoLevel(math.inf), None, alpha=2.0, lam=best.bracket[1])).value >= best.value


@pytest.mark.parametrize("strength", [None, 3.0])
@pytest.mark.parametrize("noise", [Isotropic(math.inf), AR1(math.inf, 0.5), Blocks(math.inf, 4, 0.3)])
def test_where_every_ridge_is_alike_rounding_chooses_none(noise, strength):
    """Regression in stationary noise sees a spike like PCA, whatever the ridge: the least one is returned."""
    best = optimal_ridge(SpikedData(noise, None, alpha=2.0, strength=strength))
    if strength is None:
        pca = threshold(SpikedData(noise, None, alpha=2.0, method="pca")).value
    else:
        pca = outlier(SpikedData(noise, None, strength=strength, alpha=2.0, method="pca")).overlap
    assert best.value == pytest.approx(pca, rel=1e-9)
    assert (best.lam, best.evaluations, best.residual) == (0.0, 25, 0.0)


@pytest.mark.parametrize(("method", "lam"), [("correlation_pca", None), ("diagonal_deleted_pca", None), ("ssr", 0.5)])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_needed_strength_grows_in_the_end_as_said(method, lam, count):
    u = unit(np.ones(count), 8)
    bulk = SpikedBulk(spiked_noise(Isotropic(8, 2.0), u[None], 1.0, method, lam))
    grown = bulk.needed_strength(1e9)[0] / 1e9
    assert bulk.slope_at_infinity() == pytest.approx(grown, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize(("method", "lam"), CASES)
@pytest.mark.parametrize("noise", [Diagonal([0.5, 0.5, 1.0, 1.0, 2.0, 2.0, 1.5, 0.7]), AR1(8, 0.6)])
def test_the_slope_of_the_needed_strength(method, lam, noise):
    bulk = SpikedBulk(spiked_noise(noise, unit([2.0, 1.0, -1.0, 1.5], 8)[None], 1.5, method, lam))
    for strength in (0.1, 3.0):
        step = 1e-5 * strength
        rise = bulk.needed_strength(strength + step)[0] - bulk.needed_strength(strength - step)[0]
        assert bulk.needed_strength(strength)[1] == pytest.approx(rise / (2 * step), rel=1e-6, abs=1e-8)
