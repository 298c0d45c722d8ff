"""The counts of steps that results return are those of the steps that were made: each beside a count of the calls."""

import numpy as np
import pytest

from theory import glm, masked, perceptron
from theory.feedforward import (
    bayes_curve,
    narrow_specialization,
    narrow_system,
    specialization,
    stable_states,
    tempered_orders,
)
from theory.models import (
    AR1,
    DiscretePerceptron,
    Isotropic,
    NarrowNetwork,
    RandomLabels,
    RandomMasks,
    SpanMask,
    SpanWindows,
    StochasticPerceptron,
)
from theory.perceptron import discrete_entropy, stochastic
from theory.perceptron.discrete_binary_groups import BinaryGroups


def counted(monkeypatch, owner, name):
    """What `owner.name` returns from now on, call by call."""
    found, function = [], getattr(owner, name)

    def call(*arguments, **options):
        found.append(function(*arguments, **options))
        return found[-1]

    monkeypatch.setattr(owner, name, call)
    return found


def test_stochastic_weights(monkeypatch):
    """One image a step, one for the residual at the end, and one on the finer grid."""
    images = counted(monkeypatch, stochastic._Equations, "image")
    found = perceptron.stochastic_saddle_point(StochasticPerceptron(alpha=0.4, squared_norm=0.5, beta=5))
    assert found.iterations == len(images) - 2 > 3


@pytest.mark.parametrize("overlap", [0.6, 0.9])
def test_copies_of_discrete_weights(monkeypatch, overlap):
    updates = counted(monkeypatch, BinaryGroups, "update")
    found = perceptron.copy_entropy(DiscretePerceptron(levels=(-1, 1), alpha=0.4), overlap)
    assert found.iterations == len(updates) - 2 > 3


def test_a_curve_of_entropies_adds_those_of_its_points(monkeypatch):
    points = counted(monkeypatch, discrete_entropy, "dominant")
    found = perceptron.entropy_curve([-1, 1], [0.2, 0.5, 0.4])
    each = [one.iterations for one, _ in points]
    assert len(each) == 3
    assert found.iterations == sum(each) > max(each) > 3


def test_a_curve_of_narrow_networks_adds_those_of_all_states():
    """At the ratio in the middle there are two states, both of which are counted."""
    alphas = [1.2, 2.4, 4.0]
    curve = bayes_curve("sign", alphas, noise=0.01)
    states = [stable_states(NarrowNetwork(alpha=alpha, activation="sign", noise=0.01)) for alpha in alphas]
    assert max(map(len, states)) > 1
    assert curve.iterations == sum(one.iterations or 0 for each in states for one in each) > 3


def test_a_transition_of_narrow_networks_adds_the_free_entropies_of_its_jumps(monkeypatch):
    roots = counted(monkeypatch, narrow_specialization, "brentq")
    found = specialization("erf", noise=0.01)
    assert found.iterations == sum(report.function_calls for _, report in roots) > 3
    assert len(found.jumps) == len(roots) > 0


@pytest.mark.parametrize(
    ("alpha", "activation", "noise", "beta", "lam", "creeps"),
    [(4.0, "erf", 0.01, 60.0, 1.0, False), (3.99695, "sign", 0.0265322, 37.55737, 1.31184, True)],
)
def test_tempered_students(monkeypatch, alpha, activation, noise, beta, lam, creeps):
    """Plain steps, in pieces between two looks at their residual, those of Newton's method, and implicit ones."""
    plain = counted(monkeypatch, narrow_system, "solve_fixed_point")
    flows = counted(monkeypatch, narrow_system.System, "flowed")
    model = NarrowNetwork(alpha=alpha, activation=activation, noise=noise)
    found = tempered_orders(model, beta, lam, max_iter=200)
    assert len(plain) > 1
    assert (sum(one.iterations for one in flows) > 5) == creeps
    assert found.iterations == sum(one.iterations for one in plain + flows) > 10


def test_a_curve_of_linear_models_adds_those_of_its_points():
    model = RandomLabels(covariance=Isotropic(np.inf), alpha=1.0, lam=0.1, loss="logistic")
    curve = glm.learning_curve(model, [0.5, 1.0, 3.0], lams=[0.1, 1.0])
    each = [point.iterations for row in curve.points for point in row]
    assert len(each) == 6
    assert curve.iterations == sum(each) > max(each) > 3


@pytest.mark.parametrize("n_masks", [None, 3])
def test_a_curve_of_masks_has_the_most_of_its_points(n_masks):
    covariance, rates, alphas = AR1(6, 0.6), [0.15, 0.6], [0.5, 2.0]
    curve = masked.mask_curve(covariance, alphas, 0.01, rates, n_masks)
    each = [masked.solve(RandomMasks(covariance, a, 0.01, rate, n_masks)).iterations for rate in rates for a in alphas]
    assert curve.iterations == max(each) > 3


def test_windows_have_the_most_of_their_spans():
    covariance = AR1(8, 0.6)
    each = [masked.solve(SpanMask(covariance, 1.5, 0.01, [k, k + 1])).iterations for k in range(7)]
    assert masked.solve(SpanWindows(covariance, 1.5, 0.01, 2)).iterations == max(each) > 3
