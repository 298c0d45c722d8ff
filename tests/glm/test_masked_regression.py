"""Masked ridge regression is a linear teacher with square loss."""

from dataclasses import replace

import numpy as np
import pytest

from theory import glm, masked
from theory.glm.classification import masked_regression_problem
from theory.models import AR1, Diagonal, GaussianFreeField, MaskedRidge, Spiked

COVARIANCES = {
    "AR(1)": AR1(30, 0.7),
    "free field": GaussianFreeField(24, 0.5),
    "diagonal": Diagonal(np.linspace(0.2, 3, 20)),
    "spiked": Spiked(Diagonal(np.ones(25)), np.ones(25) / 5, 4.0),
}


def close(value, wanted):
    assert value == pytest.approx(wanted, rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("name", COVARIANCES)
@pytest.mark.parametrize(("alpha", "lam"), [(0.4, 1e-3), (1.0, 0.05), (3.0, 0.5)])
@pytest.mark.parametrize("iterated", [False, True])
def test_every_order_parameter_is_that_of_the_masked_replica_solution(name, alpha, lam, iterated):
    model = MaskedRidge(COVARIANCES[name], alpha, lam)
    problem = masked_regression_problem(model, coordinate=3)
    start = glm.solve(replace(problem, lam=3 * problem.lam)) if iterated else None  # else the closed form, verified
    point, wanted = glm.solve(problem, start=start), masked.replica(model, coordinate=3)
    assert (point.iterations > 3) == iterated
    close(point.test_error, wanted.test_error)
    close(2 * point.train_loss, wanted.train_error)
    close(point.squared_norm[0], wanted.squared_norm)
    close(2 * point.energy / problem.alpha, wanted.objective)
    for found, expected in ((point.V, wanted.V), (point.q, wanted.q), (point.r, wanted.m), (point.Vhat, wanted.Vhat)):
        close(found[0], expected)


def test_errors_approach_those_of_all_coordinates_at_once():
    gaps = []
    for d in (20, 40, 80):
        model = MaskedRidge(AR1(d, 0.6), 2.0, 0.1)
        own = glm.solve(masked_regression_problem(model, coordinate=d // 2)).test_error
        gaps.append(abs(own / masked.solve(model).test_error[d // 2] - 1))
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 0.01


@pytest.mark.parametrize(
    ("model", "coordinate", "message"),
    [
        (MaskedRidge(AR1(np.inf, 0.5), 1.0, 0.1), 0, "finite dimension"),
        (MaskedRidge(AR1(5, 0.5), 1.0, 0.1), 5, "coordinate must lie in 0..4, got 5"),
        (MaskedRidge(AR1(5, 0.5), 1.0, 0.1), -1, "coordinate"),
        ("nothing", 0, "model must be"),
    ],
)
def test_bad_input_is_refused(model, coordinate, message):
    with pytest.raises(ValueError, match=message):
        masked_regression_problem(model, coordinate)
