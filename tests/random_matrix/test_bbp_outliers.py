"""Outliers and overlaps: closed forms, continuity at the threshold, several spikes, and the matrices themselves."""

import math

import numpy as np
import pytest

from theory.models import AR1, Diagonal, Empirical, Isotropic, Scaled, SpikedData, TwoLevel
from theory.random_matrix import effective_ridge, outlier, spike_outliers, threshold

INF = math.inf
PCAS = ("pca", "correlation_pca", "diagonal_deleted_pca")
ALL = [("ssr", 0.05), ("ssr", 1.0), ("ssr", 0.0), *((method, None) for method in PCAS)]


@pytest.mark.parametrize(
    ("method", "lam", "expected"), [("ssr", 0.05, 0.6561), ("ssr", 1.0, 0.5807), ("pca", None, 0.0)]
)
def test_two_level_overlaps(method, lam, expected):
    found = outlier(SpikedData(TwoLevel(INF), None, strength=2.5, alpha=1.0, method=method, lam=lam))
    assert found.overlap == pytest.approx(expected, abs=5e-5)
    assert found.detected == (expected > 0)


@pytest.mark.parametrize(("strength", "at_one"), [(1.5, 1 / 3), (2.5, 0.6), (4, 0.75), (8, 0.875)])
@pytest.mark.parametrize("alpha", [0.5, 1, 3])
def test_isotropic_closed_forms(alpha, strength, at_one):
    """Overlap and position are those of PCA for every ridge; left and right agree, for D is constant."""
    gamma = 1 / alpha
    overlap = max(1 - gamma / strength**2, 0) / (1 + gamma / strength)
    x = (1 + strength) * (1 + gamma / strength)
    for method, lam in ALL:
        found = outlier(SpikedData(Isotropic(INF), None, strength=strength, alpha=alpha, method=method, lam=lam))
        assert found.overlap == pytest.approx(overlap, rel=1e-9, abs=1e-12)
        assert found.left_overlap == pytest.approx(overlap, rel=1e-9, abs=1e-12)
        assert found.residual < 1e-12
        if alpha == 1:
            assert found.overlap == pytest.approx(at_one, rel=1e-9)
        if method in ("pca", "correlation_pca"):
            assert found.eigenvalue == pytest.approx(x, rel=1e-10)
        elif method == "diagonal_deleted_pca":
            assert found.eigenvalue == pytest.approx(x - 1, rel=1e-10)
        elif lam:
            kappa = (gamma + lam - 1 + math.sqrt((gamma + lam - 1) ** 2 + 4 * lam)) / 2
            assert found.nu == pytest.approx(kappa / lam / (1 + kappa) * (x + lam), rel=1e-9)
            assert found.eigenvalue == pytest.approx(1 - 1 / found.nu, rel=1e-9)


@pytest.mark.parametrize(("method", "lam"), ALL)
def test_continuous_at_the_threshold(method, lam):
    """Eigenvalue to the edge with a square, overlap to 0 linearly; at it and below: the edge, 0, not detected."""
    noise = TwoLevel(INF)
    critical = threshold(SpikedData(noise, None, alpha=1.5, method=method, lam=lam))
    at = {
        step: outlier(SpikedData(noise, None, strength=critical.value * (1 + step), alpha=1.5, method=method, lam=lam))
        for step in (-0.5, -1e-9, 0.0, 1e-8, 1e-4, 2e-4)
    }
    for step in (-0.5, -1e-9, 0.0):
        assert not at[step].detected
        assert (at[step].overlap, at[step].left_overlap) == (0, 0)
        assert at[step].eigenvalue == at[step].edge == pytest.approx(critical.edge)
    assert 0 < at[1e-8].overlap < 1e-6
    assert at[2e-4].overlap / at[1e-4].overlap == pytest.approx(2, rel=1e-2)
    assert at[2e-4].left_overlap / at[1e-4].left_overlap == pytest.approx(2, rel=1e-2)
    rise = [at[step].eigenvalue - at[step].edge for step in (1e-4, 2e-4)]
    assert rise[1] / rise[0] == pytest.approx(4, rel=0.02)


@pytest.mark.parametrize(("method", "lam"), ALL)
def test_position_is_the_top_of_the_deterministic_matrix(method, lam):
    """The largest eigenvalue of D^1/2 (h Sigma + Lam) D^1/2 with the full Sigma, at the h of the bulk."""
    d, alpha, strength = 60, 2.0, 8.0
    rng = np.random.default_rng(3)
    noise = Scaled(AR1(d, 0.5), rng.uniform(0.7, 1.3, d))
    u = np.zeros(d)
    u[::10] = 1 / math.sqrt(6)
    found = outlier(SpikedData(noise, u, strength=strength, alpha=alpha, method=method, lam=lam))
    assert found.detected
    sigma = noise.matrix + strength * np.outer(u, u)
    shift, scale = 0.0, np.ones(d)
    if method == "correlation_pca":
        scale = np.diagonal(sigma)
    elif method == "diagonal_deleted_pca":
        shift = -np.diagonal(sigma)
    elif method == "ssr":
        kappa = effective_ridge(noise, alpha, lam).value
        shift, scale = lam, 1 / np.diagonal(np.linalg.inv(sigma + kappa * np.eye(d)))
    root = 1 / np.sqrt(scale)
    values = np.linalg.eigvalsh(root[:, None] * (found.effective_h * sigma + shift * np.eye(d)) * root)
    x = found.nu if method != "ssr" else found.nu * (lam / kappa if lam else 1 - 1 / alpha)
    assert values[-1] == pytest.approx(x, rel=1e-9)


@pytest.mark.parametrize(("method", "lam"), ALL)
def test_dense_and_commuting_paths_agree(method, lam):
    variances = np.where(np.arange(40) < 10, 2.0, 0.5)
    u = np.where(np.arange(40) % 4 == 1, 1 / math.sqrt(10), 0)
    for direction in (u, None):
        plain, dense = (
            outlier(SpikedData(noise, direction, strength=4.0, alpha=1.3, method=method, lam=lam))
            for noise in (Diagonal(variances), Empirical(np.diag(variances)))
        )
        assert dense.detected
        for name in ("eigenvalue", "overlap", "left_overlap", "threshold", "edge"):
            assert getattr(dense, name) == pytest.approx(getattr(plain, name), rel=1e-8)


def test_several_spikes_in_isotropic_noise_are_separate():
    """Delocalized and orthogonal: each as if alone, those below sqrt(gamma) unseen."""
    d = 4000
    directions = np.linalg.qr(np.random.default_rng(0).standard_normal((d, 3)))[0].T
    found = spike_outliers(Isotropic(d), directions, strengths=[3.0, 0.8, 6.0], alpha=1.0, method="pca")
    assert found.detected == 2
    assert found.eigenvalues == pytest.approx([7 * (1 + 1 / 6), 4 * (1 + 1 / 3)])
    expected = np.zeros((2, 3))
    expected[0, 2], expected[1, 0] = (1 - 1 / 36) / (1 + 1 / 6), (1 - 1 / 9) / (1 + 1 / 3)
    assert found.overlaps == pytest.approx(expected, abs=1e-9)
    assert found.span_overlaps == pytest.approx(expected.sum(axis=1))
    masked = spike_outliers(Isotropic(d), directions, strengths=[3.0, 0.8, 6.0], alpha=1.0, lam=0.1)
    assert masked.overlaps == pytest.approx(expected, abs=0.01)


def test_spikes_that_are_not_orthogonal_are_one_matrix():
    """Two copies of one direction are one spike of the summed strength; a basis of a plane can be turned."""
    noise, rng = Diagonal(np.linspace(0.5, 2, 50)), np.random.default_rng(2)
    u, v = np.linalg.qr(rng.standard_normal((50, 2)))[0].T
    single = outlier(SpikedData(noise, u, strength=6.0, alpha=2.0, lam=0.2))
    double = spike_outliers(noise, np.array([u, u]), strengths=[2.0, 4.0], alpha=2.0, lam=0.2)
    assert double.detected == 1
    assert double.eigenvalues[0] == pytest.approx(single.eigenvalue, rel=1e-10)
    assert double.overlaps[0] == pytest.approx(2 * [single.overlap], rel=1e-9)
    assert double.span_overlaps[0] == pytest.approx(single.overlap, rel=1e-9)
    turned = np.array([u + v, u - v]) / math.sqrt(2)
    plane = [spike_outliers(noise, basis, strengths=[6.0, 6.0], alpha=2.0, lam=0.2) for basis in ([u, v], turned)]
    assert plane[0].eigenvalues == pytest.approx(plane[1].eigenvalues, rel=1e-10)
    assert plane[0].span_overlaps == pytest.approx(plane[1].span_overlaps, rel=1e-9)
    assert plane[0].left_span_overlaps == pytest.approx(plane[1].left_span_overlaps, rel=1e-9)


def test_no_outliers_is_an_empty_record():
    found = spike_outliers(Isotropic(30), np.eye(30)[:2], strengths=[0.1, 0.2], alpha=1.0, method="pca")
    assert found.detected == 0
    assert found.overlaps.shape == found.left_overlaps.shape == (0, 2)
    assert found.edge == pytest.approx(4)


def test_strong_spikes_are_found_whole():
    for method, lam in ALL:
        found = outlier(SpikedData(TwoLevel(INF), None, strength=1e8, alpha=1.0, method=method, lam=lam))
        assert found.detected
        assert found.overlap == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("strength", [0.0, -1.0, math.nan, [1.0, 2.0]])
def test_bad_strength(strength):
    with pytest.raises(ValueError, match="strength"):
        outlier(SpikedData(Isotropic(10), np.eye(10)[0], strength=strength, alpha=1.0, lam=0.1))
