"""Message passing with separable penalties follows the undamped map of the equations, and ends at the minimum."""

import numpy as np
import pytest

from simulate.core import stream
from simulate.glm import fit_penalized, message_passing
from simulate.glm.draw import draw
from simulate.glm.population import population, sample_size
from tests.glm.test_label_channels_simulation import followed, steps_of_theory
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
    wanted, error = followed(CASES[name], lambda r: stream(0, "penalties", name, r))
    assert np.all(error[-1, :2] < 0.06 * abs(wanted[-1, :2]))  # so that a map that is wrong by some percent would show


@pytest.mark.parametrize("name", ["lasso, sparse", "net, signs", "positive, normal"])
def test_message_passing_ends_at_the_minimum(name):
    """The weights are those of a fit of the same samples, and zero where these are."""
    model = CASES[name]
    found = message_passing(model, 300, stream(0, "end", name), steps=200)
    source = population(model, 300)
    sample = draw(source, sample_size(model.alpha, 300, 300), stream(0, "end", name))
    fitted = fit_penalized(sample.X, sample.y, "square", model.penalty)
    assert found.converged
    # A fixed point of the steps obeys the conditions of the minimum whatever V is, which only sets how it is reached.
    assert np.linalg.norm(found.weights - fitted.weights[0]) < 1e-5 * np.linalg.norm(fitted.weights[0])
    assert np.array_equal(found.weights != 0, fitted.weights[0] != 0)
    assert float(np.mean(found.weights != 0)) == pytest.approx(glm.solve(model).nonzero, abs=0.08)
