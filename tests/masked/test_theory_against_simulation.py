"""Theory against simulation: streams named here, limits d -> infinity from d and 2d, power and false alarms known."""

import math
from functools import cache

import numpy as np
import pytest

import simulate.masked
from simulate.core import Estimate, extrapolate, stream
from theory import masked
from theory.models import AR1, Blocks, GaussianFreeField, MaskedRidge, Scaled, TeacherStudent, TwoLevel

INF = math.inf
COVARIANCES = {"AR1": AR1(INF, 0.7), "two level": TwoLevel(INF), "blocks": Blocks(INF, 5, 0.5)}
POINTS = [(0.5, 0.05), (1.0, 0.3), (2.0, 0.05)]
# relative error that each must see with 200 replicates at d = 60 and 120
RESOLVES = {"mean_test_error": 0.04, "mean_train_error": 0.12, "effective_ridge": 0.04}


@cache
def measured(quantity, model, d, replicates):
    run = getattr(simulate.masked, quantity)
    names = (quantity, repr(model), d)
    return Estimate.of([run(model, d, stream(0, *names, number)) for number in range(replicates)])


def in_the_limit(quantity, model, replicates=200):
    """From d = 60 and 120: the correction is 1/d."""
    return extrapolate(*(measured(quantity, model, d, replicates) for d in (60, 120)))


@pytest.mark.parametrize("quantity", RESOLVES)
@pytest.mark.parametrize(("alpha", "lam"), POINTS)
@pytest.mark.parametrize("name", COVARIANCES)
def test_errors(agrees, name, alpha, lam, quantity):
    model = MaskedRidge(COVARIANCES[name], alpha, lam)
    agrees(in_the_limit(quantity, model), getattr(masked.solve(model), quantity), resolves=RESOLVES[quantity])


@pytest.mark.parametrize("quantity", RESOLVES)
def test_a_wrong_formula_would_be_seen(agrees, quantity):
    model = MaskedRidge(COVARIANCES["AR1"], 2.0, 0.05)
    wrong = getattr(masked.solve(model), quantity) * (1 + RESOLVES[quantity])
    with pytest.raises(AssertionError, match="off by"):
        agrees(in_the_limit(quantity, model), wrong, resolves=RESOLVES[quantity])


def test_errors_of_each_coordinate(agrees):
    """A heteroscedastic correlated covariance at its own size: three coordinates of different variance."""
    d = 80
    model = MaskedRidge(Scaled(AR1(d, 0.6), np.linspace(0.5, 2, d)), 1.5, 0.1)
    theory = masked.solve(model, exact_size=True).test_error
    draws = [
        simulate.masked.coordinate_test_errors(model, d, stream(0, "coordinates", number)) for number in range(400)
    ]
    for k in (5, 40, 75):
        # relative bias: 0.0(2)/d with 1500 replicates at d = 40 and 800 at d = 80
        agrees(Estimate.of([draw[k] for draw in draws]), theory[k], resolves=0.05, bias=0.3 / d * theory[k])


def test_exact_size_removes_most_of_the_small_size_error(agrees):
    """AR(1) .7 at alpha = 1, lam = .01: train errors of d = 50, 100, 200 are off by .25/d, with exact_size .08/d."""
    d = 100
    model = MaskedRidge(AR1(d, 0.7), 1.0, 0.01)
    plain = masked.solve(model).mean_train_error
    exact = masked.solve(model, exact_size=True).mean_train_error
    estimate = measured("mean_train_error", model, d, 400)
    agrees(estimate, exact, resolves=0.06, bias=0.08 / d)
    assert abs(estimate.mean - exact) < abs(estimate.mean - plain) / 2
    assert estimate.z(plain) > 10
    test = measured("mean_test_error", model, d, 400)
    agrees(test, masked.solve(model, exact_size=True).mean_test_error, resolves=0.02, bias=0.3 / d)


@pytest.mark.parametrize("noise", [0.0, 0.3])
@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
def test_teacher_student(agrees, alpha, noise):
    model = TeacherStudent(COVARIANCES["AR1"], alpha, 0.05, noise=noise, signal_power=2.0)
    agrees(in_the_limit("teacher_student_error", model), masked.teacher_student(model).test_error, resolves=0.1)


@pytest.mark.parametrize("alpha", [0.5, 2.0])
def test_nearly_no_ridge(agrees, alpha):
    """At lam = 1e-9 the fit is the minimum-norm interpolator or least squares."""
    estimate = in_the_limit("mean_test_error", MaskedRidge(COVARIANCES["AR1"], alpha, 1e-9))
    agrees(estimate, masked.ridgeless(COVARIANCES["AR1"], alpha).mean_test_error, resolves=0.06)


@pytest.mark.parametrize(("alpha", "lam"), [(0.5, 0.1), (2.0, 0.1)])
def test_free_field_on_a_torus(agrees, alpha, lam):
    """At its own size; relative bias .08(4)/d with 1000 replicates at d = 36."""
    d = 144
    model = MaskedRidge(GaussianFreeField(d, 0.5, 2), alpha, lam)
    estimate = measured("mean_test_error", model, d, 60)
    theory = masked.solve(model, exact_size=True).mean_test_error
    agrees(estimate, theory, resolves=0.02, bias=0.2 / d * theory)
