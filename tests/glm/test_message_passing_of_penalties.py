"""Message passing with separable penalties follows the undamped map of the equations, and ends at the minimum."""

import math

import numpy as np
import pytest

from simulate.core import stream
from simulate.glm import fit_penalized, message_passing
from simulate.glm.draw import draw
from simulate.glm.population import population, sample_size
from tests.glm.test_label_channels_simulation import steps_of_theory
from tests.glm.test_separable import linear
from tests.glm.test_separable_simulation import CASES
from theory import glm
from theory.models import Lasso

LASSO = linear(2.0, 0.25, Lasso(0.3))


def test_the_map_of_a_lasso_is_as_stored():
    found = steps_of_theory(LASSO, 8)
    for step, values in {
        1: (0.550458, 0.220862, 0.195491),
        2: (0.414335, 0.204764, 0.205929),
        4: (0.364672, 0.20372, 0.210448),
        8: (0.361626, 0.203908, 0.210799),
    }.items():
        assert found[step - 1, :3] == pytest.approx(values, abs=6e-7)


@pytest.mark.parametrize("name", CASES)
def test_message_passing_follows_the_map(name):
    """After 1, 2 and 6 steps all order parameters of 16 sets lie within 4.5 standard errors of the theory's."""
    model, steps, sets = CASES[name], 6, 16
    wanted = steps_of_theory(model, steps)
    runs = [message_passing(model, 400, stream(0, "penalties", name, r), steps=steps) for r in range(sets)]
    found = np.array([np.concatenate((run.V, run.q, run.r, run.bias[:, None]), axis=1) for run in runs])
    error = found.std(axis=0, ddof=1) / math.sqrt(sets)
    for step in (0, 1, 5):
        gap = abs(found.mean(axis=0) - wanted)[step]
        assert np.all(gap <= 4.5 * error[step] + 1e-9), (name, step, gap / error[step])


@pytest.mark.parametrize("name", ["lasso, sparse", "net, signs", "positive, normal"])
def test_message_passing_ends_at_the_minimum(name):
    """The weights are those of a fit of the same samples, and zero where these are."""
    model = CASES[name]
    found = message_passing(model, 300, stream(0, "end", name), steps=200)
    source = population(model, 300)
    sample = draw(source, sample_size(model.alpha, 300, 300), stream(0, "end", name))
    fitted = fit_penalized(sample.X, sample.y, "square", model.penalty)
    assert found.converged
    # Both solve the same conditions, but for what the sample's own trace of the response differs from 1/sqrt(p).
    assert np.linalg.norm(found.weights - fitted.weights[0]) < 0.05 * np.linalg.norm(fitted.weights[0])
    assert float(np.mean(found.weights != 0)) == pytest.approx(glm.solve(model).nonzero, abs=0.08)
