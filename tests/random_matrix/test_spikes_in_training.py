"""Spikes in the joint predictor along training: reference values, limits, a simulation, and what is refused."""

import math

import numpy as np
import pytest

from figures.masked.half_chain import half_chain_of
from simulate.core import Estimate, extrapolate, stream
from simulate.masked import top_outlier
from theory.models import AR1, Diagonal, Isotropic, SpikedData, TwoLevel
from theory.models.training import Descent, Flow, HeavyBall, Nesterov, OnePass
from theory.numerics import ConvergenceError
from theory.numerics.filters import Filter, Recursion, _ellipse
from theory.random_matrix import (
    best_detection_time,
    emergence_time,
    optimal_ridge,
    outlier,
    symmetric_outlier,
    threshold,
)
from theory.random_matrix.training.edge import TrainingBranch
from theory.random_matrix.training.noise import TrainedNoise, block_noise, dyson_equation
from theory.random_matrix.training.spikes import eigenvector_parts, outlier_place, threshold_strength

INF = math.inf
NOISE = TwoLevel(INF, low=0.3, high=4.0, high_fraction=0.2)
ROWS = [  # alpha, time, strength; edge, threshold, eigenvalue, right overlap
    (1, 1, 1.5, 0.7288043, 0.897382, 0.7724409, 0.3969909),
    (1, 5, 1.5, 0.8832700, 0.351333, 0.9326535, 0.5229298),
    (2, 2, 0.6, 0.6473602, 0.389250, 0.6768761, 0.2749053),
    (0.5, 9, 1.5, 0.9882557, 0.496608, 0.9914599, 0.3443455),
]


@pytest.mark.parametrize("row", ROWS)
def test_reference_values(row):
    """They were computed with twelve poles by a march from large h and residues on a circle."""
    alpha, time, strength, edge, least, eigenvalue, overlap = row
    found = outlier(SpikedData(NOISE, strength=strength, alpha=alpha, training=Flow(time)))
    assert (found.edge, found.eigenvalue, found.overlap) == pytest.approx((edge, eigenvalue, overlap), abs=1e-7)
    assert found.threshold == pytest.approx(least, abs=2e-6)


TIMES = {0.01: 2.65973, 0.1: 2.40161, 0.3: 1.83451, 1: 0.89738, 2: 0.53417, 3: 0.39611, 5: 0.35133, 7: 0.35131}
TIMES |= {10: 0.35533, 20: 0.36130, 100: 0.36651, 1000: 0.36792}


@pytest.mark.parametrize("time", TIMES)
def test_threshold_in_time(time):
    found = threshold(SpikedData(NOISE, alpha=1.0, training=Flow(time)))
    assert float(found) == pytest.approx(TIMES[time], abs=6e-6)


@pytest.mark.parametrize(
    ("alpha", "time", "least"), [(0.5, 9.06, 0.49661), (1, 5.82, 0.35040), (2, 6.22, 0.25214), (4, 7.36, 0.18111)]
)
def test_best_time(alpha, time, least):
    best = best_detection_time(SpikedData(NOISE, alpha=alpha))
    assert best.time == pytest.approx(time, rel=2e-3)  # the minimum is flat
    assert best.threshold == pytest.approx(least, abs=6e-6)


def test_one_real_ridge_is_masked_ridge():
    """The same matrix equations with one real ridge, written as two equal copies of half its weight."""
    equation = dyson_equation(
        block_noise(NOISE.spectrum), 1.0, Filter(np.array([0.05 + 0j]), np.array([0.5 + 0j]), 0.0)
    )
    noise = TrainedNoise(TrainingBranch(equation), block_noise(NOISE.spectrum), 0.0)
    known = outlier(SpikedData(NOISE, strength=2.5, alpha=1.0, lam=0.05))
    assert threshold_strength(noise) == pytest.approx(known.threshold, rel=1e-6)
    place = outlier_place(noise, 2.5)
    parts = [eigenvector_parts(equation, place, 2.5, left=side).on(NOISE.spectrum) for side in (False, True)]
    right, left = (one.overlap(np.ones(1)) for one in parts)
    assert (1 / place.tau, right, left) == pytest.approx(
        (known.eigenvalue, known.overlap, known.left_overlap), rel=1e-8
    )


@pytest.mark.parametrize("time", [0.1, 3.0])
def test_isotropic_noise_is_that_of_pca_at_every_time(time):
    found = outlier(SpikedData(Isotropic(INF), strength=1.5, alpha=2.0, training=Flow(time)))
    assert found.threshold == pytest.approx(math.sqrt(0.5), rel=1e-6)
    assert found.overlap == pytest.approx((1 - 0.5 / 1.5**2) / (1 + 0.5 / 1.5), rel=1e-8)


def test_no_edge_is_lost_at_moderate_times():
    noise = TwoLevel(INF, low=0.5, high=3.0, high_fraction=0.3)
    found = [float(threshold(SpikedData(noise, alpha=1.0, training=Flow(t)))) for t in (10.9, 11, 11.2, 11.44, 11.6)]
    assert np.all(np.diff(found) > 0)
    assert found[-1] - found[0] < 1e-3


def test_200_levels():
    noise = Diagonal(np.geomspace(0.2, 5, 200))
    assert float(threshold(SpikedData(noise, alpha=1.0, training=Flow(3.0)))) == pytest.approx(0.900169, abs=2e-6)


def _drawn(d, rng, time, strength):
    """Top eigenvalue of A(t) and the right overlap, from d flows of their own, each by an eigendecomposition."""
    sigma = np.where(np.arange(d) < 0.2 * d, 4.0, 0.3)
    u = rng.standard_normal(d)
    u /= np.linalg.norm(u)
    X = rng.standard_normal((d, d)) * np.sqrt(sigma) + math.sqrt(strength) * rng.standard_normal((d, 1)) * u
    C = X.T @ X / d
    A = np.zeros((d, d))
    for k in range(d):
        rest = np.arange(d) != k
        s, V = np.linalg.eigh(C[np.ix_(rest, rest)])
        A[k, rest] = V @ (-np.expm1(-time * s) / s * (V.T @ C[rest, k]))
    values, vectors = np.linalg.eig(A)
    top = np.argmax(values.real)
    left = np.linalg.inv(vectors)[top]  # the left eigenvector of the same eigenvalue
    overlaps = (float(abs(u @ v) ** 2 / np.linalg.norm(v) ** 2) for v in (vectors[:, top], left))
    return values[top].real, *overlaps


def test_simulated_flow(agrees):
    """From d = 40 and 80: the correction is 1/d."""
    theory = outlier(SpikedData(NOISE, strength=4.0, alpha=1.0, training=Flow(3.0)))
    sizes = [np.array([_drawn(d, stream(0, "spike in time", d, r), 3.0, 4.0) for r in range(n)]) for d, n in SIZES]
    small, large = ([Estimate.of(column) for column in one.T] for one in sizes)
    agrees(extrapolate(small[0], large[0]), theory.eigenvalue, resolves=0.05)
    agrees(extrapolate(small[1], large[1]), theory.overlap, resolves=0.25)
    agrees(extrapolate(small[2], large[2]), theory.left_overlap, resolves=0.25)


SIZES = ((40, 120), (80, 60))


def test_emergence():
    data = SpikedData(NOISE, strength=0.39611, alpha=1.0)
    assert float(emergence_time(data)) == pytest.approx(3.0, abs=2e-3)
    assert float(emergence_time(SpikedData(NOISE, strength=9.0, alpha=1.0))) == 0
    assert float(emergence_time(SpikedData(NOISE, strength=0.3, alpha=1.0))) == math.inf


def test_an_unresolved_edge_is_refused_by_name():
    with pytest.raises(ConvergenceError, match=r"edge of the predictor at time 100 .* take an earlier time"):
        threshold(SpikedData(NOISE, alpha=0.5, training=Flow(100.0)))


def test_descent_of_small_steps_is_the_flow():
    """The difference falls as the step."""
    known = outlier(SpikedData(NOISE, strength=1.5, alpha=1.0, training=Flow(3.0)))
    gaps = []
    for steps in (100, 1000):
        found = outlier(SpikedData(NOISE, strength=1.5, alpha=1.0, training=Descent(3.0 / steps, steps)))
        gaps.append([getattr(found, name) - getattr(known, name) for name in ("threshold", "eigenvalue", "overlap")])
    assert np.array(gaps[0]) == pytest.approx(10 * np.array(gaps[1]), rel=0.05)
    assert np.all(np.array(gaps[0]) != 0)


@pytest.mark.parametrize(("step", "steps"), [(0.02, 60), (0.15, 20), (0.1, 9)])
def test_descent_on_alike_coordinates_has_the_eigenvectors_of_pca(step, steps):
    """Then A = F(C), F(c) = 1 - sum_j w_j/((c + L_j) q_j) with q the mean of 1/(c + L) under the Marchenko-Pastur law.

    Here the sum runs over the ridges of another filter, those of an ellipse around the spectrum.
    """
    strength, ratio = 1.5, 0.5  # d/n
    data = SpikedData(Isotropic(INF), strength=strength, alpha=1 / ratio, training=Descent(step, steps))
    found, pca = outlier(data), outlier(SpikedData(Isotropic(INF), strength=strength, alpha=1 / ratio, method="pca"))
    assert (found.threshold, found.overlap) == pytest.approx((pca.threshold, pca.overlap), rel=3e-6)
    residual = Recursion(step, steps, 0.0)
    ridges, weights = Filter(*_ellipse(residual, pca.eigenvalue), 0.0).whole
    shifted = 1 - ratio + ridges
    root = np.sqrt(shifted + 2j * np.sqrt(ratio * ridges)) * np.sqrt(shifted - 2j * np.sqrt(ratio * ridges))
    q = 2 / (shifted + root)
    expected = (1 - np.sum(weights / ((pca.eigenvalue + ridges) * q))).real
    assert found.eigenvalue == pytest.approx(expected, rel=1e-6)


CHAIN = {0.003: 7.943, 0.03: 7.961314, 0.1: 8.036, 0.3: 8.767, 1: 13.110, 3: 13.439485, 10: 12.912}


@pytest.mark.parametrize("time", CHAIN)
def test_half_a_chain(time):
    """Blocks of equal variance, of which one has 96 modes: thresholds that were computed with 192."""
    data = SpikedData(half_chain_of(INF), strength=16.0, alpha=1.0, training=Flow(time))
    found = outlier(data)
    assert found.threshold == pytest.approx(CHAIN[time], abs=6e-4)
    if time in (0.03, 3):
        assert found.overlap == pytest.approx({0.03: 0.8922256, 3: 0.5514504}[time], abs=2e-6)
        # All variances are equal, and yet the blocks have best weights of their own.
        best = outlier(data, read_out="best_diagonal")
        assert outlier(data, read_out="standard_units").overlap == pytest.approx(found.overlap, rel=1e-12)
        assert best.overlap == pytest.approx({0.03: 0.895064, 3: 0.657943}[time], abs=2e-6)


def test_a_branch_serves_all_strengths():
    """The same answers, whatever was asked of a noise before."""
    fresh = [
        outlier(SpikedData(TwoLevel(INF, 0.3, 4.0, 0.2), strength=s, alpha=1.0, training=Flow(4.0))) for s in (1, 2)
    ]
    noise = TwoLevel(INF, 0.3, 4.0, 0.2)
    again = [outlier(SpikedData(noise, strength=s, alpha=1.0, training=Flow(4.0))) for s in (2, 1, 2)]
    for one, two in ((fresh[0], again[1]), (fresh[1], again[0]), (fresh[1], again[2])):
        assert (one.eigenvalue, one.overlap, one.iterations) == (two.eigenvalue, two.overlap, two.iterations)


def test_simulated_descent(agrees):
    """Twenty steps, followed one by one: from d = 50 and 100."""
    data = SpikedData(NOISE, strength=4.0, alpha=1.0, training=Descent(0.12, 20))
    theory = outlier(data)
    sizes = [
        np.array([top_outlier(data, d, stream(0, "spike after descent", d, r)) for r in range(60)]) for d in (50, 100)
    ]
    small, large = ([Estimate.of(column) for column in one.T] for one in sizes)
    expected = (theory.eigenvalue, theory.overlap, theory.left_overlap)
    for one, two, predicted, resolves in zip(small, large, expected, (0.05, 0.25, 0.25), strict=True):
        agrees(extrapolate(one, two), predicted, resolves=resolves)


@pytest.mark.parametrize(
    ("training", "message"),
    [
        (Descent(0.24, 20), r"step below 0\.231728, where Descent becomes unstable"),
        (Descent(0.2, 12), "more steps, or smaller ones"),
        (HeavyBall(0.1, 30), "Flow or Descent where spikes are predicted, got HeavyBall"),
        (Nesterov(0.1, 30), "Flow or Descent where spikes are predicted, got Nesterov"),
        (OnePass(0.1), "one pass is no function of the sample covariance"),
    ],
)
def test_training_that_is_refused(training, message):
    for solve in (threshold, outlier):
        with pytest.raises(ValueError, match=message):
            solve(SpikedData(NOISE, strength=1.5, alpha=1.0, training=training))


def test_a_step_that_a_strong_spike_makes_unstable():
    """The noise alone lets steps of .2 pass; the outlier of the spike in the sample covariance does not."""
    data = SpikedData(NOISE, strength=20.0, alpha=1.0, training=Descent(0.2, 60))
    assert float(threshold(data)) > 0
    with pytest.raises(ValueError, match="Descent becomes unstable"):
        outlier(data)


def test_bad_input():
    with pytest.raises(ValueError, match="training is for method 'ssr' only"):
        SpikedData(NOISE, alpha=1.0, method="pca", training=Flow(1.0))
    with pytest.raises(ValueError, match="independent blocks"):
        threshold(SpikedData(AR1(d=30, correlation=0.5), alpha=1.0, training=Flow(1.0)))
    with pytest.raises(ValueError, match="direction must be None"):
        threshold(SpikedData(Isotropic(4), np.full(4, 0.5), alpha=1.0, training=Flow(1.0)))
    with pytest.raises(ValueError, match="training must be None"):
        optimal_ridge(SpikedData(NOISE, alpha=1.0, training=Flow(1.0)))
    with pytest.raises(ValueError, match="must leave the time open"):
        best_detection_time(SpikedData(NOISE, alpha=1.0, training=Flow(1.0)))
    with pytest.raises(ValueError, match="training must be None for the symmetric part"):
        symmetric_outlier(SpikedData(NOISE, strength=2.0, alpha=1.0, training=Flow(1.0)))
