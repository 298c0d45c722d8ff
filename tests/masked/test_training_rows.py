"""Training in time with rows of different scale: limits, an identity of the train error, and simulation."""

import math

import numpy as np
import pytest

from simulate.core import Estimate, extrapolate, stream
from simulate.masked import training_replicate
from theory import masked
from theory.masked.training.unlike_rows import solve_unlike_ridges
from theory.models import (
    AR1,
    AR1Rows,
    Descent,
    EqualScales,
    Flow,
    GammaScales,
    GivenSpectrum,
    Isotropic,
    MaskedRegression,
    MaskedRidge,
    MaskedTraining,
    Nesterov,
    OnePass,
    PointScales,
)
from theory.numerics.filters import flow_filter
from theory.random_matrix.complex_ridge import inverse_diagonal

INF = math.inf
CHAIN = AR1(INF, 0.6)
LAW = PointScales([0.2, 3.4], [0.75, 0.25])
ALPHAS = (0.5, 1.0, 2.0)
NAMES = ("mean_test_error", "mean_train_error", "mean_gcv_error")


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("covariance", [CHAIN, AR1(30, 0.5), GivenSpectrum([10.0, 1.0], [0.2, 0.8])])
def test_long_training_with_a_ridge_is_the_ridge(covariance, alpha):
    late = masked.solve(MaskedTraining(covariance, alpha, Flow(1000.0), lam=0.1, row_scales=LAW))
    ridge = masked.solve(MaskedRidge(covariance, alpha, 0.1, LAW))
    for name in NAMES:
        assert getattr(late, name) == pytest.approx(getattr(ridge, name), rel=1e-7)
    assert late.test_error == pytest.approx(ridge.test_error, rel=1e-7)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_nearly_equal_scales_are_the_equations_of_equal_ones(alpha):
    near = MaskedTraining(CHAIN, alpha, Flow(5.0), row_scales=PointScales([1 - 1e-7, 1 + 1e-7], [0.5, 0.5]))
    equal = MaskedTraining(CHAIN, alpha, Flow(5.0))
    for name in NAMES:
        assert getattr(masked.solve(near), name) == pytest.approx(getattr(masked.solve(equal), name), rel=1e-9)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("time", [0.5, 5.0])
def test_the_train_error_is_one_sum_at_twice_the_time(alpha, time):
    """The objective at its minimum over time t falls as sum_j w_j (1/Q_kk - L_j) at 2 t, for any rows."""
    found = flow_filter(2 * time)
    at = solve_unlike_ridges(CHAIN.spectrum, alpha, found.ridges, LAW)
    whole = at.weight[:, None] * inverse_diagonal(CHAIN.spectrum, at.kappa.value)  # 1/Q_kk
    expected = 2 * (found.weights[:, None] * (whole - found.ridges[:, None])).sum(0).real
    train = masked.solve(MaskedTraining(CHAIN, alpha, Flow(time), row_scales=LAW)).train_error
    assert train == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(("alpha", "training"), [(0.5, Flow(3.0)), (1.0, Flow(5.0)), (2.0, Flow(5.0)),
                                                 (1.0, Descent(0.02, 100)), (1.0, Nesterov(0.02, 30))])  # fmt: skip
def test_simulation(agrees, alpha, training):
    model, sizes = MaskedTraining(CHAIN, alpha, training, row_scales=LAW), (40, 80)
    runs = [
        [training_replicate(model, d, stream(0, "unlike", alpha, repr(training), d, r)) for r in range(100)]
        for d in sizes
    ]
    theory = masked.solve(model)
    equal = masked.solve(MaskedTraining(CHAIN, alpha, training))
    for name, resolves in (("mean_test_error", 0.1), ("mean_train_error", 0.25)):
        found = extrapolate(*(Estimate.of([getattr(one, name) for one in run]) for run in runs))
        agrees(found, getattr(theory, name), resolves=resolves)
        if name == "mean_train_error":  # that of equal rows is another
            assert abs(getattr(equal, name) / getattr(theory, name) - 1) > 0.05


def test_dependent_rows_have_the_law_of_their_eigenvalues():
    rows = AR1Rows(30, 0.8)
    covariance = AR1(60, 0.6)
    dependent = masked.solve(MaskedTraining(covariance, 0.5, Flow(2.0), row_dependence=rows))
    by_law = masked.solve(MaskedTraining(covariance, 0.5, Flow(2.0), row_scales=rows.law))
    assert dependent.test_error == pytest.approx(by_law.test_error, rel=1e-12)
    late = masked.solve(MaskedTraining(covariance, 0.5, Flow(500.0), 0.1, row_dependence=rows))
    assert late.mean_test_error == pytest.approx(
        masked.solve(MaskedRidge(covariance, 0.5, 0.1, row_dependence=rows)).mean_test_error, rel=1e-7
    )


def test_dependent_rows_simulated(agrees):
    model = MaskedTraining(AR1(INF, 0.6), 1.0, Flow(3.0), row_dependence=AR1Rows(INF, 0.7))
    runs = [
        [training_replicate(model, d, stream(0, "series", d, r)).mean_test_error for r in range(80)] for d in (40, 80)
    ]
    found = extrapolate(*map(Estimate.of, runs))
    agrees(found, masked.solve(model).mean_test_error, resolves=0.08)


def test_curves_and_best_times_take_the_law():
    times, alphas = [0.5, 3.0], [0.5, 2.0]
    curve = masked.training_curve(CHAIN, 1.0, times, row_scales=LAW)
    over = masked.trained_learning_curve(CHAIN, alphas, Flow(3.0), lam=0.1, row_scales=LAW)
    for i in range(2):
        one = masked.solve(MaskedTraining(CHAIN, 1.0, Flow(times[i]), row_scales=LAW))
        other = masked.solve(MaskedTraining(CHAIN, alphas[i], Flow(3.0), 0.1, LAW))
        for name in NAMES:
            assert getattr(curve, name)[i] == pytest.approx(getattr(one, name), rel=1e-10)
            assert getattr(over, name)[i] == pytest.approx(getattr(other, name), rel=1e-10)
    best = masked.best_time(CHAIN, 1.0, row_scales=LAW)
    assert (
        best.mean_test_error
        < masked.training_curve(CHAIN, 1.0, best.time * np.array([0.8, 1.25]), row_scales=LAW).mean_test_error.min()
    )
    ridge = masked.optimal_ridge(MaskedRegression(CHAIN, 1.0, LAW)).mean_test_error
    assert best.mean_test_error / ridge == pytest.approx(1.0404, abs=2e-3)  # the ridge is better for such rows
    weak = masked.best_time(CHAIN, 1.0, row_scales=LAW, lam=0.2)
    assert ridge < weak.mean_test_error < best.mean_test_error


def test_the_predictor_is_that_of_its_own_ridges():
    covariance = AR1(12, 0.6)
    late = masked.training_predictor(MaskedTraining(covariance, 2.0, Flow(500.0), 0.2, LAW))
    kappa = masked.solve(MaskedRidge(covariance, 2.0, 0.2, LAW)).effective_ridge
    R = np.linalg.inv(covariance.matrix + kappa * np.eye(12))
    expected = -R / np.diagonal(R)[:, None]
    np.fill_diagonal(expected, 0.0)
    assert late == pytest.approx(expected, abs=1e-8)


FAMILIES = [Isotropic(INF), CHAIN, AR1(INF, -0.5), GivenSpectrum([10.0, 1.0], [0.2, 0.8])]


@pytest.mark.parametrize("covariance", FAMILIES, ids=repr)
def test_learning_curves_of_infinite_d_are_those_of_large_d(covariance):
    alphas = [0.4, 1.0, 2.5]
    curves = [masked.trained_learning_curve(one, alphas, Flow(4.0)) for one in (covariance, covariance.resized(300))]
    assert curves[0].mean_test_error == pytest.approx(curves[1].mean_test_error, rel=0.02)
    frame = curves[0].to_frame()
    assert list(frame["alpha"]) == alphas


@pytest.mark.parametrize(("make", "message"), [
    (lambda: masked.solve(MaskedTraining(AR1(8, 0.5), 1.0, Flow(1.0), row_scales=LAW), exact_size=True), "exact_size"),
    (lambda: MaskedTraining(CHAIN, 1.0, OnePass(0.1), row_scales=LAW), "row_scales and row_dependence must"),
    (lambda: MaskedTraining(AR1(8, 0.5), 1.0, Flow(1.0), row_dependence=AR1Rows(9, 0.5)), "row_dependence must be"),
    (lambda: masked.trained_learning_curve(CHAIN, [1.0], OnePass(0.1)), "training must be Flow, Descent"),
    (lambda: masked.trained_learning_curve(CHAIN, [], Flow(1.0)), "alphas must"),
    (lambda: masked.trained_learning_curve(CHAIN, [0.0], Flow(1.0)), "alphas must"),
    (lambda: masked.trained_learning_curve(CHAIN, [1.0], Descent(1.0, 5), row_scales=GammaScales(1.0)), "row_scales"),
    (lambda: masked.trained_learning_curve(CHAIN, [1.0], Descent(5.0, 5)), "training must have a step below"),
])  # fmt: skip
def test_wrong_values_are_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_equal_scales_by_name_are_the_default():
    assert MaskedTraining(CHAIN, 1.0, Flow(1.0), row_scales=EqualScales()) == MaskedTraining(CHAIN, 1.0, Flow(1.0))
