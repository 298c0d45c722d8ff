"""Eigenvalue and overlaps of fits on spiked data against the theory, for four methods; the measurement itself."""

import math
from functools import cache

import numpy as np
import pytest

from simulate.core import Estimate, extrapolate, stream
from simulate.masked import fit, sample
from simulate.masked.outliers import draw_spiked, symmetric_outlier, top_eigenvectors, top_outlier
from theory.models import AR1, Blocks, Empirical, PointScales, Scaled, SpikedData, TwoLevel
from theory.random_matrix import outlier

INF = math.inf
DELOCALIZED = [  # method, lam, strength, relative errors to be seen: eigenvalue, overlap, left overlap
    ("ssr", 0.05, 2.5, (0.02, 0.1, 0.1)),
    ("ssr", 1.0, 6.0, (0.05, 0.1, 0.1)),
    ("pca", None, 8.0, (0.15, 0.3, 0.3)),
    ("diagonal_deleted_pca", None, 8.0, (0.2, 0.1, 0.1)),
    ("correlation_pca", None, 2.5, (0.2, 0.1, 0.1)),
]


@cache
def measured(method, lam, strength, d, replicates=200):
    data = SpikedData(TwoLevel(INF), strength=strength, alpha=1.0, method=method, lam=lam)
    draws = [top_outlier(data, d, stream(0, "outlier", method, str(lam), strength, d, r)) for r in range(replicates)]
    return [Estimate.of(column) for column in np.array(draws).T]


@pytest.mark.parametrize(("method", "lam", "strength", "resolves"), DELOCALIZED)
def test_delocalized_spike_in_two_level_noise(agrees, method, lam, strength, resolves):
    """From d = 100 and 200: the correction is 1/d."""
    theory = outlier(SpikedData(TwoLevel(INF), None, strength=strength, alpha=1.0, method=method, lam=lam))
    predictions = (theory.eigenvalue, theory.overlap, theory.left_overlap)
    small, large = (measured(method, lam, strength, d) for d in (100, 200))
    for one, two, predicted, relative in zip(small, large, predictions, resolves, strict=True):
        agrees(extrapolate(one, two), predicted, resolves=relative)


@pytest.mark.parametrize("noise", [TwoLevel(10, 0.3, 4.0, 0.2), AR1(10, 0.5)])
def test_rows_that_stand_for_many_have_their_variance_along_the_spike(noise):
    """Each mean of (x.u)^2 over 4000 rows is that of a chi-square law; the mean over 150 directions to 1 percent."""
    data, n, ratios = SpikedData(noise, strength=6.0, alpha=400.0, method="pca"), 4000, []
    for r in range(150):
        u, X = draw_spiked(data, 10, stream(r, "along"), "gaussian")
        ratios.append(np.mean((X @ u) ** 2) / (6 + u @ noise.matrix @ u))
    assert np.mean(ratios) == pytest.approx(1, abs=5 * math.sqrt(2 / n / 150))
    assert np.var(ratios) == pytest.approx(2 / n, rel=0.6)  # five deviations


def test_a_wrong_overlap_would_be_seen(agrees):
    small, large = (measured("ssr", 0.05, 2.5, d)[1] for d in (100, 200))
    theory = outlier(SpikedData(TwoLevel(INF), None, strength=2.5, alpha=1.0, lam=0.05))
    with pytest.raises(AssertionError, match="off by"):
        agrees(extrapolate(small, large), 1.15 * theory.overlap, resolves=0.2)


@pytest.mark.parametrize(
    ("method", "lam"),
    [("ssr", 0.05), ("ssr", 1.0), ("pca", None), ("correlation_pca", None), ("diagonal_deleted_pca", None)],
)
def test_localized_spike_in_dense_noise(agrees, method, lam):
    """Ten coordinates of AR(1) noise with two scales at d = 160: D of the full covariance; relative bias below 3/d."""
    d, alpha = 160, 2.0
    rng = np.random.default_rng(5)
    noise = Scaled(AR1(d, 0.4), np.sqrt(TwoLevel(d, 0.5, 2.0).variances[rng.permutation(d)]))
    u = np.zeros(d)
    u[8::16] = 1 / math.sqrt(10)
    strength = 9.0
    theory = outlier(SpikedData(noise, u, strength=strength, alpha=alpha, method=method, lam=lam))
    assert theory.detected
    data = SpikedData(noise, u, strength=strength, alpha=alpha, method=method, lam=lam)
    draws = np.array([top_outlier(data, d, stream(0, "localized", method, str(lam), r)) for r in range(150)])
    for column, predicted in zip(draws.T, (theory.eigenvalue, theory.overlap, theory.left_overlap), strict=True):
        agrees(Estimate.of(column), predicted, resolves=0.12, bias=3 / d * predicted)


def test_masked_regression_sees_what_no_pca_does(agrees):
    """Equal variances, half the coordinates in pairs at .95, half in tens at .5: thresholds 1.98 against 4.36."""
    d, alpha, strength = 240, 2.0, 4.0
    pairs, tens = Blocks(d // 2, 2, 0.95).matrix, Blocks(d // 2, 10, 0.5).matrix
    noise = Empirical(np.block([[pairs, np.zeros((d // 2, d // 2))], [np.zeros((d // 2, d // 2)), tens]]))
    theory = outlier(SpikedData(noise, None, strength=strength, alpha=alpha, lam=0.01))
    draws = {
        method: np.array([top_outlier(data, d, stream(0, "pairs", method, r)) for r in range(60)])
        for method in ("ssr", "pca", "correlation_pca")
        for lam in [0.01 if method == "ssr" else None]
        for data in [SpikedData(noise, strength=strength, alpha=alpha, method=method, lam=lam)]
    }
    agrees(Estimate.of(draws["ssr"][:, 1]), theory.overlap, resolves=0.25, bias=4 / d)
    assert theory.overlap > 0.6
    for method in ("pca", "correlation_pca"):
        assert not outlier(SpikedData(noise, None, strength=strength, alpha=alpha, method=method)).detected
        assert draws[method][:, 1].mean() < 0.25


def test_a_direction_of_finite_d_changes_the_scales(agrees):
    """Correlations of few rows of two scales: each direction adds strength u_k^2 to its variances, the limit nothing.

    What is left at d = 200, 120 rows of which 30 are heavy, is below 14/d of the eigenvalue: 6 % at d = 200 and 1(2) %
    at d = 800.
    """
    d, noise, rows = 200, TwoLevel(200), PointScales([0.2, 3.4], [0.75, 0.25])

    def spiked(direction):
        return SpikedData(
            noise, direction, strength=14.0, alpha=0.6, method="correlation_pca", row_scales=rows
        )  # fmt: skip

    predicted, measured = [], []
    for r in range(80):
        rng = stream(0, "finite direction", r)
        direction = rng.standard_normal(d)
        data = spiked(direction / np.linalg.norm(direction))
        predicted.append(outlier(data).eigenvalue)
        measured.append(top_outlier(data, d, rng)[0])
    given = float(np.mean(predicted))
    agrees(Estimate.of(measured), given, resolves=0.25, bias=14 / d * given)
    for wrong in (spiked(None), spiked(np.full(d, d**-0.5))):  # the limit, and equal shares of all coordinates
        with pytest.raises(AssertionError, match="off by"):
            agrees(Estimate.of(measured), outlier(wrong).eigenvalue, resolves=0.25, bias=0.0)
    assert outlier(spiked(None)).eigenvalue == pytest.approx(44.11688, rel=1e-6)
    for size in (20_000, 200_000):  # the limit is approached as 1/d
        even = SpikedData(TwoLevel(size), np.full(size, size**-0.5), strength=14.0, alpha=0.6,
                          method="correlation_pca", row_scales=rows)  # fmt: skip
        assert (44.11688 - outlier(even).eigenvalue) * size == pytest.approx(1750, rel=0.1)


def test_below_the_threshold_nothing_is_left():
    """PCA of two-level noise at strength 2.5 < 3.89: an overlap of order 1/d, a top eigenvalue at the edge."""
    theory = outlier(SpikedData(TwoLevel(INF), None, strength=2.5, alpha=1.0, method="pca"))
    small, large = (measured("pca", None, 2.5, d) for d in (100, 200))
    assert small[1].mean > large[1].mean + 2 * large[1].stderr
    assert large[1].mean < 0.08
    assert large[0].mean == pytest.approx(theory.edge, rel=0.06)  # d^(-2/3) below it


@pytest.mark.parametrize("method", ["ssr", "pca", "correlation_pca", "diagonal_deleted_pca"])
def test_eigenvectors_are_those_of_the_matrix(method):
    lam = 0.3 if method == "ssr" else None
    X = sample(TwoLevel(12), 30, np.random.default_rng(0))
    covariance = X.T @ X / len(X)
    matrix = {
        "ssr": fit(X, 0.3).predictor,
        "pca": covariance,
        "correlation_pca": covariance / np.diagonal(covariance)[:, None],  # similar, with v = D^1/2 w on the left
        "diagonal_deleted_pca": covariance - np.diag(np.diagonal(covariance)),
    }[method]
    value, right, left = top_eigenvectors(X, method, lam)
    if method == "correlation_pca":
        matrix = matrix.T  # C D with D = 1/diag C: right eigenvectors D^-1/2 w
    assert matrix @ right == pytest.approx(value * right, abs=1e-12)
    assert left @ matrix == pytest.approx(value * left, abs=1e-12)
    assert value == pytest.approx(np.linalg.eigvals(matrix).real.max())


def test_symmetric_part_is_measured_as_it_is():
    data = SpikedData(TwoLevel(20), np.eye(20)[:4].sum(axis=0) / 2, strength=5.0, alpha=2.0, lam=0.1)
    value, overlap = symmetric_outlier(data, 20, np.random.default_rng(1))
    assert 0 < overlap <= 1
    assert value > 0


def test_a_simulation_needs_a_strength_and_a_ridge():
    for data, message in (
        (SpikedData(TwoLevel(20), alpha=2.0, lam=0.1), "strength must be a positive number"),
        (SpikedData(TwoLevel(20), strength=1.0, alpha=2.0, lam=0.0), "lam must be positive"),
        (SpikedData(TwoLevel(20), strength=1.0, alpha=1e-3, lam=0.1), "must round to at least 1 sample"),
    ):
        with pytest.raises(ValueError, match=message):
            top_outlier(data, 20, stream(0))


def test_the_symmetric_part_is_half_the_sum_of_the_predictor_and_its_transpose():
    """The predictor from the inverse of the second moments, its top eigenvector by a solver of its own."""
    data = SpikedData(TwoLevel(20), np.eye(20)[:4].sum(axis=0) / 2, strength=5.0, alpha=2.0, lam=0.1)
    u, X = draw_spiked(data, 20, np.random.default_rng(1), "gaussian")
    precision = np.linalg.inv(X.T @ X / len(X) + 0.1 * np.eye(20))
    predictor = np.eye(20) - precision / np.diag(precision)[:, None]
    values, vectors = np.linalg.eigh(predictor / 2 + predictor.T / 2)
    expected = [values[-1], (u @ vectors[:, -1]) ** 2]
    assert symmetric_outlier(data, 20, np.random.default_rng(1)) == pytest.approx(expected, rel=1e-10)
