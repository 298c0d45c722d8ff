"""Random masks and spans along training: limits, an identity of the train error, single steps, and simulation."""

import math

import numpy as np
import pytest

from simulate.core import Estimate, extrapolate, stream
from simulate.masked import pattern_replicate, sample
from simulate.masked.training.patterns import trained
from theory import masked
from theory.models import (
    AR1,
    Descent,
    Diagonal,
    Empirical,
    Flow,
    HeavyBall,
    Isotropic,
    MaskedTraining,
    Nesterov,
    OnePass,
    RandomMasks,
    RandomMasksTraining,
    SpanMask,
    SpanMaskTraining,
)
from theory.numerics.filters import flow_filter
from theory.random_matrix.complex_ridge import inverse_diagonal, solve_complex_ridge

INF = math.inf
CHAIN = AR1(INF, 0.6)
ALPHAS = (0.5, 1.0, 2.0)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("rate", [0.0, 0.15, 0.5])
def test_long_training_with_masks_is_the_ridge_with_masks(alpha, rate):
    late = masked.solve(RandomMasksTraining(CHAIN, alpha, Flow(2000.0), 0.1, mask_rate=rate))
    ridge = masked.solve(RandomMasks(CHAIN, alpha, 0.1, rate))
    assert late.test_error == pytest.approx(ridge.test_error, rel=1e-8)
    assert late.train_error == pytest.approx(ridge.train_error, rel=1e-8)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("training", [Flow(3.0), Descent(0.02, 100), HeavyBall(0.02, 30, 0.5)])
def test_no_masks_are_one_coordinate_at_a_time(alpha, training):
    one = masked.solve(RandomMasksTraining(CHAIN, alpha, training, mask_rate=0.0))
    other = masked.solve(MaskedTraining(CHAIN, alpha, training))
    assert one.test_error == pytest.approx(other.test_error, rel=1e-10)
    assert one.train_error == pytest.approx(other.train_error, rel=1e-10)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_train_error_with_masks_is_one_sum_at_twice_the_time(alpha):
    rate, time = 0.3, 4.0
    found = flow_filter(2 * time)
    ridges = found.ridges / (1 - rate) ** 2 + rate / (1 - rate)
    kappa = solve_complex_ridge(CHAIN.spectrum, alpha, ridges).value
    whole = (ridges / kappa)[:, None] * inverse_diagonal(CHAIN.spectrum, kappa)
    expected = 2 * (found.weights[:, None] * (whole - ridges[:, None])).sum(0).real
    train = masked.solve(RandomMasksTraining(CHAIN, alpha, Flow(time), mask_rate=rate)).train_error
    assert train == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_long_training_of_a_span_is_its_ridge(alpha):
    covariance, span = AR1(60, 0.6), (20, 22, 21)
    late = masked.solve(SpanMaskTraining(covariance, alpha, Flow(2000.0), 0.1, span=span))
    ridge = masked.solve(SpanMask(covariance, alpha, 0.1, span))
    assert late.test_error == pytest.approx(ridge.test_error, rel=1e-8)
    assert late.train_error == pytest.approx(ridge.train_error, rel=1e-8)


@pytest.mark.parametrize("training", [Flow(3.0), Nesterov(0.02, 30)])
def test_a_span_of_one_is_that_coordinate(training):
    covariance = AR1(40, 0.6)
    one = masked.solve(SpanMaskTraining(covariance, 1.0, training, 0.05, span=(7,)))
    other = masked.solve(MaskedTraining(covariance, 1.0, training, 0.05))
    assert one.mean_test_error == pytest.approx(other.test_error[7], rel=1e-10)
    assert one.mean_train_error == pytest.approx(other.train_error[7], rel=1e-10)
    assert one.to_frame()["coordinate"].tolist() == [7]


@pytest.mark.parametrize(("alpha", "training"), [(0.5, Flow(3.0)), (1.0, Flow(5.0)), (2.0, Descent(0.05, 60))])
def test_masks_simulated(agrees, alpha, training):
    model = RandomMasksTraining(CHAIN, alpha, training, mask_rate=0.3)
    theory = masked.solve(model)
    runs = [
        [pattern_replicate(model, d, stream(0, "masks", alpha, d, r)) for r in range(count)]
        for d, count in ((20, 60), (40, 40))
    ]
    for name, resolves in (("mean_test_error", 0.1), ("mean_train_error", 0.25)):
        found = extrapolate(*(Estimate.of([getattr(one, name) for one in run]) for run in runs))
        agrees(found, getattr(theory, name), resolves=resolves)
    one_by_one = masked.solve(MaskedTraining(CHAIN, alpha, training))
    assert abs(one_by_one.mean_test_error / theory.mean_test_error - 1) > 0.03


@pytest.mark.parametrize(("alpha", "training"), [(0.5, Flow(3.0)), (1.0, Flow(5.0)), (2.0, HeavyBall(0.03, 40, 0.5))])
def test_spans_simulated(agrees, alpha, training):
    def of(d):
        return SpanMaskTraining(AR1(d, 0.6), alpha, training, span=tuple(range(d // 2, d // 2 + 3)))

    theory = masked.solve(of(240))
    runs = [[pattern_replicate(of(d), d, stream(0, "span", alpha, d, r)) for r in range(300)] for d in (40, 80)]
    for name, resolves in (("mean_test_error", 0.12), ("mean_train_error", 0.4)):
        found = extrapolate(*(Estimate.of([getattr(one, name) for one in run]) for run in runs))
        agrees(found, getattr(theory, name), resolves=resolves)


@pytest.mark.parametrize("lam", [0.0, 0.1])
def test_the_flow_that_is_simulated_is_that_of_many_small_steps(lam):
    X = sample(AR1(6, 0.5), 9, stream(0, "steps"))
    C = X.T @ X / 9
    flow, steps = (trained(C[:4, :4], C[4:, :4], training, lam) for training in (Flow(2.0), Descent(2e-4, 10_000)))
    assert abs(flow - steps).max() < 1e-3
    assert trained(np.zeros((2, 2)), np.ones((1, 2)), Flow(3.0), 0.0) == pytest.approx(np.full((1, 2), 3.0))


def of_masks(covariance, training=Flow(1.0)):  # noqa: B008  # a frozen record
    return RandomMasksTraining(covariance, 1.0, training, mask_rate=0.2)


@pytest.mark.parametrize(("make", "message"), [
    (lambda: RandomMasksTraining(CHAIN, 1.0, Flow(1.0), mask_rate=1.0), "mask_rate must"),
    (lambda: RandomMasksTraining(CHAIN, 1.0, Flow(1.0), mask_rate=0.2, n_masks=4), "n_masks must be None"),
    (lambda: RandomMasksTraining(CHAIN, 1.0, OnePass(0.1), mask_rate=0.2), "training must be Flow, Descent"),
    (lambda: RandomMasksTraining(CHAIN, 1.0, Flow(1.0), -0.1, mask_rate=0.2), "lam must"),
    (lambda: SpanMaskTraining(AR1(8, 0.5), 1.0, Flow(1.0), span=()), "span must"),
    (lambda: SpanMaskTraining(AR1(8, 0.5), 1.0, Flow(1.0), span=(8,)), "span must"),
    (lambda: SpanMaskTraining(AR1(8, 0.5), 1.0, OnePass(0.1), span=(1,)), "training must be Flow, Descent"),
    (lambda: masked.solve(of_masks(Diagonal([1.0, 2.0]))), "covariance must have equal variances"),
    (lambda: masked.solve(of_masks(Empirical(np.diag([1.0, 2.0]) + 0.1))), "covariance must have equal variances"),
    (lambda: masked.solve(of_masks(Isotropic(INF), Descent(2.0, 30))), "training must have a step below"),
    (lambda: masked.solve(SpanMaskTraining(AR1(8, 0.5), 1.0, Flow(1.0), span=(1,)), exact_size=True), "exact_size"),
])  # fmt: skip
def test_wrong_values_are_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_the_top_of_the_spectrum_knows_of_masks():
    """At alpha = 1 and rate p the inputs' second moments end at 4 (1-p)^2 + p (1-p)."""
    limit = 2 / (4 * 0.64 + 0.16)
    with pytest.raises(ValueError, match=f"{limit:.6g}"):
        masked.solve(RandomMasksTraining(Isotropic(INF), 1.0, Descent(1.001 * limit, 30), mask_rate=0.2))
