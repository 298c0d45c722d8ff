"""What masked regression along training refuses, and what its records and results show."""

import math
import re

import numpy as np
import pytest

from theory import ConvergenceError, masked
from theory.models import (
    AR1,
    Descent,
    Diagonal,
    DiagonalPlusLowRank,
    Empirical,
    Flow,
    HeavyBall,
    Isotropic,
    MaskedTraining,
    Nesterov,
    OnePass,
)

CHAIN = AR1(8, 0.5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Flow(0.0), "time must be positive, got 0: before any training the errors are the variances"),
        (lambda: Flow(-1.0), "time must"),
        (lambda: Flow(math.inf), "time must be finite, got inf: the limit of long training is"),
        (lambda: Descent(math.inf, 3), "step must"),
        (lambda: Descent(0.1, True), "steps must"),
        (lambda: masked.solve(MaskedTraining(CHAIN, 1.0, OnePass(2.0))), "step must be below 2 over the mean variance"),
        (lambda: masked.training_curve(CHAIN, 1.0, [math.inf]), "times must be finite"),
        (lambda: Flow(math.nan), "time must"),
        (lambda: Descent(0.0, 3), "step must"),
        (lambda: Descent(0.1, 0), "steps must"),
        (lambda: Descent(0.1, 2.5), "steps must"),
        (lambda: HeavyBall(0.1, 3, 1.0), "momentum must"),
        (lambda: HeavyBall(0.1, 3, -0.1), "momentum must"),
        (lambda: Nesterov(-0.1, 3), "step must"),
        (lambda: OnePass(0.0), "step must"),
        (lambda: MaskedTraining(CHAIN, 1.0, Flow(1.0), lam=-0.1), "lam must"),
        (lambda: MaskedTraining(CHAIN, 0.0, Flow(1.0)), "alpha must"),
        (lambda: MaskedTraining(CHAIN, 1.0, 3.0), "training must"),
        (lambda: MaskedTraining(CHAIN, 1.0, OnePass(0.1), lam=0.1), "lam must be 0 for OnePass"),
        (lambda: masked.training_curve(CHAIN, 1.0, [1.0, 0.0]), "times must be positive"),
        (lambda: masked.training_curve(CHAIN, 1.0, []), "times must"),
        (lambda: masked.best_time(CHAIN, 1.0, lam=0.1, with_ridge=True), "lam must be left out"),
        (lambda: masked.best_time(Empirical(np.zeros((3, 3))), 1.0), "must"),
    ],
)
def test_wrong_values_are_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("kind", ["descent", "heavy ball", "Nesterov"])
def test_an_unstable_step_names_the_largest_stable_one(kind):
    """At alpha = 1 the spectrum of independent coordinates ends at 4."""
    lam = 0.5
    make = {
        "descent": lambda step: Descent(step, 30),
        "heavy ball": lambda step: HeavyBall(step, 30, 0.5),
        "Nesterov": lambda step: Nesterov(step, 30),
    }[kind]
    limit = {"descent": 2, "heavy ball": 3, "Nesterov": 4 / 3}[kind] / 4.5
    with pytest.raises(ValueError, match="training must have a step below") as refused:
        masked.solve(MaskedTraining(Isotropic(math.inf), 1.0, make(1.001 * limit), lam))
    named = float(re.findall(r"below ([0-9.e-]+)", str(refused.value))[0])
    assert named == pytest.approx(limit, rel=1e-5)
    assert masked.solve(MaskedTraining(Isotropic(math.inf), 1.0, make(0.9 * limit), lam)).converged


def test_an_unstable_step_of_one_pass():
    with pytest.raises(ValueError, match=r"step must be below 2 over the mean variance, 0\.666667"):
        masked.solve(MaskedTraining(Diagonal([2.0, 4.0]), 1.0, OnePass(0.67)))


def test_covariances_whose_modes_are_not_known():
    large = DiagonalPlusLowRank(np.ones(5), np.ones((5, 1)))
    for call in (
        lambda: masked.solve(MaskedTraining(large, 1.0, Flow(1.0))),
        lambda: masked.best_time(large, 1.0),
        lambda: masked.training_curve(large, 1.0, [1.0]),
        lambda: masked.training_predictor(MaskedTraining(large, 1.0, Flow(1.0))),
    ):
        with pytest.raises(ValueError, match="covariance must be one whose eigenvalues are known"):
            call()


def test_what_has_no_finite_size_or_no_ridges():
    for model, message in (
        (MaskedTraining(AR1(math.inf, 0.5), 1.0, Flow(1.0)), "exact_size needs a finite d"),
        (MaskedTraining(AR1(1, 0.5), 1.0, Flow(1.0)), "exact_size needs d of at least 2"),
        (MaskedTraining(CHAIN, 1.0, OnePass(0.1)), "exact_size must be False for OnePass"),
    ):
        with pytest.raises(ValueError, match=message):
            masked.solve(model, exact_size=True)
    with pytest.raises(ValueError, match="model must have a finite d"):
        masked.training_predictor(MaskedTraining(AR1(math.inf, 0.5), 1.0, Flow(1.0)))
    with pytest.raises(ValueError, match="model must not be one pass"):
        masked.training_predictor(MaskedTraining(CHAIN, 1.0, OnePass(0.1)))


def test_a_filter_that_is_no_sum_of_ridges_is_refused(monkeypatch):
    from theory.masked.training import optimizers

    monkeypatch.setattr(optimizers, "LARGEST_ERROR", 1e-20)
    with pytest.raises(ValueError, match="training must be one whose filter is a sum of ridges to 1e-20"):
        masked.solve(MaskedTraining(CHAIN, 1.0, Descent(0.1, 20)))


def test_so_late_that_double_precision_does_not_resolve_the_errors():
    """Below alpha = 1 the ridges vanish beside the effective ones; ridgeless is the limit."""
    with pytest.raises(ConvergenceError, match="ridgeless"):
        masked.solve(MaskedTraining(AR1(math.inf, 0.7), 0.5, Flow(1e13)))


def test_one_pass_that_no_quadrature_resolves():
    """The equation is followed on at most 3200 points, of which a long run with a fast start has too few."""
    with pytest.raises(ConvergenceError, match="take a smaller alpha or step"):
        masked.solve(MaskedTraining(Diagonal([1e-4, 1000.0]), 3000.0, OnePass(0.0019)))


def test_results_are_tables_and_texts():
    found = masked.solve(MaskedTraining(CHAIN, 2.0, Flow(1.5), 0.1))
    assert list(found.to_frame()) == ["test_error", "train_error", "gcv_error"]
    assert "training=Flow(time=1.5)" in repr(found)
    curve = masked.training_curve(CHAIN, 2.0, [0.5, 1.0])
    assert list(curve.to_frame()["time"]) == [0.5, 1.0]
    passed = masked.solve(MaskedTraining(CHAIN, 2.0, OnePass(0.2)))
    assert list(passed.to_frame()) == ["alpha", "mean_test_error"]
    assert Descent(0.1, 30).time == pytest.approx(3.0)
    assert found.mean_gcv_error != pytest.approx(found.mean_test_error, rel=1e-3)
