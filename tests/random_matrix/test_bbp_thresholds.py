"""Thresholds against reference numbers, closed forms, 30-digit arithmetic and their own symmetries."""

import math

import mpmath
import numpy as np
import pytest

from theory import random_matrix
from theory.models import (
    AR1,
    Blocks,
    Diagonal,
    Empirical,
    GaussianFreeField,
    Isotropic,
    Scaled,
    SpikedData,
    Toeplitz,
    TwoLevel,
)
from theory.numerics import ConvergenceError
from theory.random_matrix import optimal_ridge
from theory.random_matrix.bbp import spiked_bulk

INF = math.inf
PCAS = ("pca", "correlation_pca", "diagonal_deleted_pca")


def threshold(noise, direction=None, alpha=1.0, method="ssr", lam=None):
    found = random_matrix.threshold(SpikedData(noise, direction, alpha=alpha, method=method, lam=lam))
    assert found.converged
    assert found.residual < 1e-9
    return float(found)


def chain_symbol(angle):
    return (1 - 0.88**2) / (1 + 0.88**2 - 2 * 0.88 * np.cos(angle))


def ring_modes(d):
    return chain_symbol(2 * np.pi * np.arange(d) / d)


def spread(d, where):
    """Unit vector with equal entries at the given coordinates."""
    u = np.zeros(d)
    u[list(where)] = 1 / math.sqrt(len(list(where)))
    return u


@pytest.mark.parametrize(
    ("method", "lam", "expected", "digits"),
    [
        ("pca", None, 3.8855634, 5e-8),
        ("ssr", 1.0, 1.2226413, 5e-8),
        ("ssr", 0.05, 0.4787627, 5e-8),
        ("correlation_pca", None, 0.3681, 5e-5),
        ("diagonal_deleted_pca", None, 2.687, 5e-4),
    ],
)
def test_two_level_noise(method, lam, expected, digits):
    assert threshold(TwoLevel(INF), method=method, lam=lam) == pytest.approx(expected, abs=digits)
    assert threshold(TwoLevel(1000), method=method, lam=lam) == pytest.approx(expected, abs=digits)


@pytest.mark.parametrize(
    ("alpha", "ssr", "correlation", "pca"),
    [(0.5, 0.988, 0.5206, 4.826), (1, 0.368, 0.3681, 3.886), (2, 0.260, 0.2603, 3.134), (4, 0.184, 0.1840, 2.515)],
)
def test_two_level_noise_without_ridge(alpha, ssr, correlation, pca):
    noise = TwoLevel(INF)
    assert threshold(noise, alpha=alpha, lam=0) == pytest.approx(ssr, abs=6e-4)
    assert threshold(noise, alpha=alpha, lam=1e-7) == pytest.approx(threshold(noise, alpha=alpha, lam=0), abs=1e-4)
    assert threshold(noise, alpha=alpha, method="correlation_pca") == pytest.approx(correlation, abs=5e-5)
    assert threshold(noise, alpha=alpha, method="pca") == pytest.approx(pca, abs=5e-4)


@pytest.mark.parametrize(("r", "values"), [(0.5, (3.03, 2.47, 2.05, 1.72)), (0.8, (9.00, 8.02, 7.22, 6.54))])
def test_stationary_noise_has_one_threshold_for_all(r, values):
    """At d = 200 the limits are 3.03, 2.46, 2.04, 1.72 and 8.93, 7.96, 7.18, 6.51: the ends of the chain count."""
    for alpha, value in zip((0.5, 1, 2, 4), values, strict=True):
        expected = threshold(AR1(INF, r), alpha=alpha, method="pca")
        assert expected == pytest.approx(value, abs=5e-3)
        for method, lam in [("ssr", 1e-3), ("ssr", 1.0), ("correlation_pca", None), ("diagonal_deleted_pca", None)]:
            assert threshold(AR1(INF, r), alpha=alpha, method=method, lam=lam) == pytest.approx(expected, rel=1e-10)
    finite = [threshold(AR1(200, 0.8), alpha=alpha, method="pca") for alpha in (0.5, 1, 2, 4)]
    assert finite == pytest.approx([8.93, 7.96, 7.18, 6.51], abs=5e-3)


def test_half_correlated_half_independent_noise():
    matrix = np.eye(200)
    matrix[:100, :100] = AR1(100, 0.8).matrix
    noise = Empirical(matrix)
    expected = {0.5: (10.5, 8.47), 1: (12.2, 7.82), 2: (11.3, 7.30), 4: (10.3, 6.84)}
    for alpha, (ssr, pca) in expected.items():
        assert threshold(noise, alpha=alpha, lam=1e-4) == pytest.approx(ssr, abs=0.05)
        assert threshold(noise, alpha=alpha, method="pca") == pytest.approx(pca, abs=5e-3)
        assert threshold(noise, alpha=alpha, method="correlation_pca") == pytest.approx(pca, abs=5e-3)


@pytest.mark.parametrize(("count", "expected"), [(2, 1.861), (3, 1.437), (5, 1.220), (10, 1.098), (40, 1.021)])
def test_localized_spike_in_isotropic_noise(count, expected):
    """The references carry an error of 1/d at d = 400, .2 %; what is computed is the limit, from any d."""
    values = [threshold(Isotropic(d), spread(d, range(count)), lam=0.05) for d in (100, 1000)]
    assert values[0] == pytest.approx(values[1], rel=1e-12)
    assert values[0] == pytest.approx(expected, rel=3e-3)


def test_one_coordinate_is_not_seen():
    noise, u = Isotropic(50), spread(50, [3])
    assert threshold(noise, u, lam=0.05) == INF
    assert threshold(noise, u, method="correlation_pca") == INF
    assert threshold(noise, u, method="pca") == pytest.approx(1)
    # a strong ridge turns regression into covariances, where the row of a noisy coordinate stands out by its length
    assert threshold(noise, u, method="diagonal_deleted_pca") == pytest.approx(2)
    assert threshold(noise, u, lam=1e6) == pytest.approx(2, rel=1e-4)


@pytest.mark.parametrize("count", [1, 2, 3, 7])
@pytest.mark.parametrize(("alpha", "lam"), [(0.5, 0.3), (1, 0.05), (3, 2.0)])
def test_localized_spike_by_hand(alpha, lam, count):
    """The same limit in 30 digits: with root = sqrt(gamma), h = 1 + root and the edge are known, T is rational."""
    with mpmath.workdps(30):
        root = mpmath.sqrt(1 / mpmath.mpf(alpha))
        linear = 1 - root**2 - lam
        kappa = (-linear + mpmath.sqrt(linear**2 + 4 * lam)) / 2
        q, h = 1 / (1 + kappa), 1 + root
        edge = q * (lam + (1 + root) ** 2)

        def excess(theta):
            scale = 1 / (q - q * q * theta / (1 + theta * q) / count)
            return (edge * scale - lam - h) / h - theta

        expected = mpmath.findroot(excess, (root, 40 * root + 40), solver="anderson", tol=1e-40) if count > 1 else None
        far = excess(mpmath.mpf(10) ** 12) > 0
    found = threshold(Isotropic(30), spread(30, range(count)), alpha=alpha, lam=lam)
    if far:
        assert found == INF
    elif expected is not None:
        assert found == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize("lam", [0.05, 1.0])
def test_high_precision_twin(lam):
    """Two-level noise, alpha = 2: kappa, the edge and the threshold from the equations as written, 30 digits."""
    s, w, alpha = (mpmath.mpf("0.3"), mpmath.mpf(4)), (mpmath.mpf("0.8"), mpmath.mpf("0.2")), 2
    with mpmath.workdps(30):
        mean = lambda f: sum(share * f(x) for share, x in zip(w, s, strict=True))  # noqa: E731
        kappa = mpmath.findroot(
            lambda k: lam - k * (1 - mean(lambda x: x / (x + k)) / alpha), (lam, lam + 3), "anderson"
        )
        D = lambda x: kappa / lam / (x + kappa)  # noqa: E731
        G = lambda x, K, nu: 1 / (D(x) * x / K + lam * D(x) - nu)  # noqa: E731
        start = random_matrix.threshold(SpikedData(TwoLevel(INF), None, alpha=alpha, lam=lam))
        K, nu = mpmath.findroot(
            lambda K, nu: [
                K - 1 - mean(lambda x: D(x) * x * G(x, K, nu)) / alpha,
                1 - mean(lambda x: (D(x) * x * G(x, K, nu) / K) ** 2) / alpha,
            ],
            (1 / start.effective_h, 1 / (1 - start.edge)),
        )
        expected = float(-K / mean(lambda x: D(x) * G(x, K, nu)))
    assert start.value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("alpha", [0.25, 1, 4])
def test_isotropic_closed_form(alpha):
    for lam in (0, 1e-6, 0.3, 100.0):
        assert threshold(Isotropic(INF, 2.0), alpha=alpha, lam=lam) == pytest.approx(2 / math.sqrt(alpha), rel=1e-9)
    for method in PCAS:
        assert threshold(Isotropic(INF, 2.0), alpha=alpha, method=method) == pytest.approx(2 / math.sqrt(alpha))


@pytest.mark.parametrize(("method", "lam"), [("ssr", 0.1), *((method, None) for method in PCAS)])
def test_permutation_and_units(method, lam):
    rng = np.random.default_rng(0)
    d, order = 40, rng.permutation(40)
    noise, u = Scaled(AR1(d, 0.6), rng.uniform(0.5, 2, d)), spread(d, [3, 4, 20, 21])
    value = threshold(noise, u, 1.5, method, lam)
    permuted = Empirical(noise.matrix[np.ix_(order, order)])
    assert threshold(permuted, u[order], 1.5, method, lam) == pytest.approx(value, rel=1e-9)
    larger = Empirical(9 * noise.matrix)
    assert threshold(larger, u, 1.5, method, lam and 9 * lam) == pytest.approx(9 * value, rel=1e-9)


def test_rotation_changes_nothing_for_pca():
    rng = np.random.default_rng(1)
    variances, u = rng.uniform(0.5, 3, 30), rng.standard_normal(30)
    u /= np.linalg.norm(u)
    basis = np.linalg.qr(rng.standard_normal((30, 30)))[0]
    rotated = Empirical(basis @ np.diag(variances) @ basis.T)
    expected = threshold(Diagonal(variances), u, method="pca")
    assert threshold(rotated, basis @ u, method="pca") == pytest.approx(expected, rel=1e-10)
    # masked regression sees coordinates: it is not invariant
    assert abs(threshold(rotated, basis @ u, lam=0.1) / threshold(Diagonal(variances), u, lam=0.1) - 1) > 0.05


@pytest.mark.parametrize(("method", "lam"), [("ssr", 0.1), ("ssr", 0.0), *((method, None) for method in PCAS)])
def test_dense_and_commuting_paths_agree(method, lam):
    variances, u = np.where(np.arange(30) < 10, 3.0, 0.5), spread(30, range(5, 15))
    for direction in (u, None):
        plain = threshold(Diagonal(variances), direction, 1.3, method, lam)
        assert threshold(Empirical(np.diag(variances)), direction, 1.3, method, lam) == pytest.approx(plain, rel=1e-9)
    for noise in (Blocks(30, 3, 0.5), GaussianFreeField(30, 0.7)):
        homogeneous = threshold(noise, None, 1.3, method, lam)
        assert threshold(Empirical(noise.matrix), None, 1.3, method, lam) == pytest.approx(homogeneous, rel=1e-9)


def test_strong_ridge_is_diagonal_deleted_pca():
    expected = threshold(TwoLevel(INF), method="diagonal_deleted_pca")
    assert threshold(TwoLevel(INF), lam=1e5) == pytest.approx(expected, rel=1e-4)


def test_masked_regression_beats_both_on_few_quiet_coordinates():
    """Two-level noise, a spike on 3 coordinates of low variance: correlations saturate, variances drown."""
    noise, u = TwoLevel(1000), spread(1000, range(3))
    ssr = optimal_ridge(SpikedData(noise, u, alpha=1.0))
    assert ssr.value == pytest.approx(threshold(noise, u, lam=0), rel=1e-9)
    assert ssr.lam == 0
    others = [threshold(noise, u, method=method) for method in PCAS]
    assert [ssr.value, *others] == pytest.approx([0.45, 5.491, 0.9, 3.926], abs=0.006)


@pytest.mark.parametrize(
    ("alpha", "ssr", "pca"), [(0.5, 5.133, 5.715), (1, 2.551, 4.977), (2, 1.982, 4.364), (8, 1.128, 3.306)]
)
def test_masked_regression_beats_every_pca_at_equal_variances(alpha, ssr, pca):
    """Half the coordinates in pairs correlated by .95, half in tens correlated by .5; a delocalized spike.

    All variances are one, so the three kinds of PCA are one; weights 1/(conditional variance) favor the pairs.
    """
    matrix = np.eye(20)
    for block, correlation in [*((range(2 * i, 2 * i + 2), 0.95) for i in range(5)), (range(10, 20), 0.5)]:
        matrix[np.ix_(block, block)] += correlation * (1 - np.eye(len(block)))
    noise = Empirical(matrix)
    assert threshold(noise, alpha=alpha, lam=0.01) == pytest.approx(ssr, abs=6e-4)
    for method in PCAS:
        assert threshold(noise, alpha=alpha, method=method) == pytest.approx(pca, abs=6e-4)


def test_best_ridge_may_lie_inside():
    u = np.zeros(1000)
    u[[0, 1, -1, -2]] = 0.5
    best = optimal_ridge(SpikedData(TwoLevel(1000), u, alpha=1.0))
    assert 1e-3 < best.lam < 0.02
    for factor in (0.9, 1.1):
        assert threshold(TwoLevel(1000), u, lam=factor * best.lam) > best.value
    overlap = optimal_ridge(SpikedData(TwoLevel(INF), None, alpha=2.0, strength=2.5))
    assert (overlap.lam, overlap.objective) == (0.0, "overlap")
    assert overlap.value == pytest.approx(0.8056, abs=1e-4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"direction": np.ones(10)}, "unit length"),
        ({"direction": np.ones(9) / 3}, "shape"),
        ({"direction": np.eye(10)[:2]}, "axes"),
        ({"method": "svd"}, "method must be one of"),
        ({"lam": None}, "lam is needed"),
        ({"lam": -1.0}, "lam must lie"),
        ({"method": "pca"}, "only"),
        ({"alpha": 0.0}, "alpha"),
        ({"noise": np.eye(10)}, "noise must be a record"),
        ({"noise": Empirical(np.diag([0.0] + 9 * [1.0]))}, "positive definite"),
        ({"noise": Isotropic(INF)}, "delocalized"),
    ],
)
def test_bad_input(changes, message):
    arguments = {"noise": Isotropic(10), "direction": np.eye(10)[0], "alpha": 1.0, "method": "ssr", "lam": 0.1}
    arguments |= changes
    noise, direction = arguments.pop("noise"), arguments.pop("direction")
    with pytest.raises(ValueError, match=message):
        random_matrix.threshold(SpikedData(noise, direction, **arguments))


@pytest.mark.parametrize(
    ("r", "alpha"), [(0.5, 2.0), (0.88, 10.0), (-0.88, 10.0), (0.95, 30.0), (0.999, 50.0), (0.5, 1e4), (0.5, 1e6)]
)
def test_the_threshold_of_an_infinite_chain_is_that_of_its_closed_form(r, alpha):
    """E s/(x - s) = u/((1 + r^2 - u)^2 - 4 r^2)^(1/2), u = (1 - r^2)/x: the nodes of the limit gave 1.4e-4 to 50 %."""
    found = random_matrix.threshold(SpikedData(AR1(INF, r), alpha=alpha, method="pca"))
    with mpmath.workdps(40):
        r = abs(mpmath.mpf(r))
        top = (1 + r) / (1 - r)

        def resolved(x):
            u = (1 - r * r) / x
            return u / mpmath.sqrt((1 + r * r - u) ** 2 - 4 * r * r)

        def excess(log_gap):  # log of E s^2/(x - s)^2/alpha
            x = top * (1 + mpmath.exp(log_gap))
            return mpmath.log((-x * mpmath.diff(resolved, x) - resolved(x)) / alpha)

        x = top * (1 + mpmath.exp(mpmath.findroot(excess, (-40, 20), solver="anderson", tol=1e-30)))
        expected = [float(x / (1 + resolved(x))), float(x * (1 + resolved(x) / alpha))]
    assert [found.value, found.edge] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("noise", "alpha"),
    [(AR1(INF, 0.88), 10.0), (Toeplitz(INF, chain_symbol), 10.0), (GaussianFreeField(INF, 0.3, 2), 0.1)],
)
def test_thresholds_of_limits_are_those_of_large_rings(noise, alpha):
    """Rings, whose eigenvalues are the symbol at equidistant angles, have no ends: they approach limits fast."""
    ring = noise.resized(400**2) if isinstance(noise, GaussianFreeField) else Diagonal(ring_modes(20_000))
    found = [threshold(each, alpha=alpha, method="pca") for each in (noise, ring)]
    assert found[0] == pytest.approx(found[1], rel=1e-9)
    if ring.spectrum.homogeneous:  # a diagonal noise has scales of its own
        found = [threshold(each, alpha=alpha, lam=0.2) for each in (noise, ring)]
        assert found[0] == pytest.approx(found[1], rel=1e-9)


def test_a_limit_whose_nodes_are_too_few_for_so_many_samples_is_refused(monkeypatch):
    monkeypatch.setattr(spiked_bulk, "MAX_LIMIT_NODES", 1000)
    with pytest.raises(ConvergenceError, match=r"edge of AR1\(d=inf, .* too few for so many samples: take a finite d"):
        threshold(AR1(INF, 0.5), alpha=1e6, method="pca")
