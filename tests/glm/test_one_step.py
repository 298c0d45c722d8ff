"""One step of replica symmetry breaking for a loss that is not convex, beside the bound and descents."""

import math

import numpy as np
import pytest
from scipy.special import expit

from simulate.core import stream
from simulate.glm.descents import descent_energies
from tests.glm.own_losses import Sigmoid
from theory import glm
from theory.glm.one_step import one_step_energy
from theory.models import AR1, Isotropic, RandomLabels


class SigmoidWithDerivative(Sigmoid):
    def derivative(self, t):
        return -expit(t) * expit(-t)


def labels(lam, loss=None):
    loss = SigmoidWithDerivative(jumps_declared=True) if loss is None else loss
    return RandomLabels(covariance=Isotropic(math.inf), alpha=3.0, lam=lam, loss=loss)


def test_energies_are_the_stored_ones_and_their_slope_is_half_the_norm():
    """The stored ones are .8292 at y = 4, to 5e-4; at a stationary point dE/dlam = q1/2."""
    found = one_step_energy(labels(0.02), 4.0)
    assert found.energy == pytest.approx(0.8292, abs=5e-5)
    assert found.bound == pytest.approx(0.82083423, abs=1e-8)
    above = one_step_energy(labels(0.02 * 1.001), 4.0)
    assert (above.energy - found.energy) / 2e-5 == pytest.approx(found.q1 / 2, rel=1e-3)


@pytest.mark.slow
def test_the_best_parameter_has_the_largest_energy():
    best = one_step_energy(labels(0.02))
    assert best.energy == pytest.approx(0.829310, abs=2e-6)
    for y, stored in ((0.01, 0.8210), (8.0, 0.8288)):
        other = one_step_energy(labels(0.02), y)
        assert other.energy == pytest.approx(stored, abs=5e-4)
        assert best.bound < other.energy < best.energy


def test_a_stable_point_has_no_other_energy():
    found = one_step_energy(labels(0.1))
    assert found.energy == found.bound == pytest.approx(1.119322, abs=1e-6)
    assert found.q0 == found.q1
    assert math.isnan(found.parisi)


def test_other_inputs_and_losses_are_refused():
    with pytest.raises(ValueError, match="model must have isotropic inputs"):
        one_step_energy(RandomLabels(covariance=AR1(5, 0.5), alpha=3.0, lam=0.1))
    with pytest.raises(ValueError, match="methods value and derivative"):
        descent_energies(labels(0.1, "square"), 10, stream(0, "descents"))


def test_descents_of_a_stable_problem_end_at_one_energy_and_others_above_the_bound():
    """Six training sets at d = 100: where the symmetric point is stable all starts agree, on average on its energy."""
    convex, broken = (
        np.array([descent_energies(labels(lam), 100, stream(0, "descents", r)) for r in range(6)])
        for lam in (0.2, 0.02)
    )
    assert np.ptp(convex, axis=1).max() < 1e-5
    energy = glm.solve(labels(0.2)).energy
    error = convex[:, 0].std(ddof=1) / math.sqrt(6)
    assert abs(convex[:, 0].mean() - energy) < 4.5 * error
    assert np.ptp(broken, axis=1).max() > 1e-3
    # What a set has above the theory where symmetry holds it has here too, so that its difference fluctuates less.
    above = broken.min(axis=1) - convex[:, 0] + energy
    assert above.mean() > 0.82083423 - 2 * above.std(ddof=1) / math.sqrt(6)
