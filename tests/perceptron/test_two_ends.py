"""Solvers of perceptrons from several starts, and their replicons beside the growth of a small difference."""

import numpy as np
import pytest

from simulate.core import stream
from theory import perceptron
from theory.models import DiscretePerceptron, StochasticPerceptron
from theory.numerics import solve_fixed_point
from theory.perceptron.discrete_binary_groups import BinaryGroups
from theory.perceptron.discrete_copies import _solved
from theory.perceptron.discrete_saddle import hazard
from theory.perceptron.stochastic import _Equations


def message_passing(levels, alpha, margin, n_weights, rng, rounds=14, far=1e-4):
    """Growth of the squared distance of two runs of approximate message passing on one set of patterns, per round.

    Differences of two replicas at one saddle point grow as those of two runs: a random one by alpha E[g'^2] E[var^2].
    """
    P = round(alpha * n_weights)
    F, w = rng.standard_normal((P, n_weights)) / np.sqrt(n_weights), np.array(levels)
    means = np.full((n_weights, 2), w.mean())
    variance, g = np.full((n_weights, 2), w.var()), np.zeros((P, 2))
    distances = []
    for step in range(rounds):
        V = variance.mean(axis=0)
        omega = F @ means - V * g
        u = (margin - omega) / np.sqrt(V)
        ratio = hazard(u)
        g, slope = ratio / np.sqrt(V), -(ratio**2 - u * ratio) / V
        A = -alpha * slope.mean(axis=0)
        law = w[:, None, None] * (F.T @ g + A * means) - A * w[:, None, None] ** 2 / 2
        law = np.exp(law - law.max(axis=0))
        law /= law.sum(axis=0)
        means = np.tensordot(w, law, 1)
        variance = np.tensordot(w**2, law, 1) - means**2
        if step == rounds - 6:  # when both runs are at the saddle point, one is moved
            means[:, 1] = means[:, 0] + far * rng.standard_normal(n_weights)
            variance[:, 1], g[:, 1] = variance[:, 0], g[:, 0]
        distances.append(np.mean((means[:, 0] - means[:, 1]) ** 2))
    return (distances[-1] / distances[-4]) ** (1 / 3)


@pytest.mark.parametrize(
    ("levels", "alpha", "margin"), [((-1.0, 1.0), 0.6, 0.0), ((-1.0, 0.0, 1.0), 0.9, 0.0), ((0.0, 1.0), 0.3, 0.1)]
)
def test_replicon_of_discrete_weights_beside_the_growth_of_a_small_difference(levels, alpha, margin):
    found = perceptron.solution_entropy(DiscretePerceptron(levels=levels, alpha=alpha, margin=margin))
    growth = [message_passing(levels, alpha, margin, 2000, stream(0, "growth", alpha, r)) for r in range(4)]
    assert np.exp(np.mean(np.log(growth))) == pytest.approx(1 - found.replicon, rel=0.12)


@pytest.mark.parametrize("margin", [-0.5, 0.0, 0.3])
@pytest.mark.parametrize(("copies", "overlap"), [(2, 0.8), (5, 0.9)])
def test_groups_of_copies_are_the_same_from_both_ends_of_their_overlap(copies, overlap, margin):
    groups = BinaryGroups(0.3, margin, copies, overlap)
    found = perceptron.copy_entropy(DiscretePerceptron(levels=(-1, 1), alpha=0.3, margin=margin), overlap, copies)
    for start in (1e-6, overlap * (1 - 1e-6)):
        assert _solved(groups, start, 1e-12, 200, True).entropy == pytest.approx(found.entropy, abs=1e-10)


@pytest.mark.parametrize(("alpha", "squared_norm", "beta"), [(0.4, 0.5, 5.0), (2.0, 0.3, 2.0)])
def test_stochastic_weights_are_the_same_from_both_ends_of_their_overlap(alpha, squared_norm, beta):
    model = StochasticPerceptron(alpha=alpha, squared_norm=squared_norm, beta=beta)
    found = perceptron.stochastic_saddle_point(model)
    equations = _Equations(model)
    for start in (-4.0, 3.0):
        again = solve_fixed_point(equations.image, np.array([start]), tol=1e-10, max_iter=200)
        assert equations.overlap(again.value) == pytest.approx(found.q, rel=1e-8)
