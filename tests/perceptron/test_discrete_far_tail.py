"""Capacities that rare patterns decide: a small level beside a negative margin, by a direct scan of the entropy.

With the levels -1, l and 1 nearly all weights are l, and a margin -10 l is missed by one pattern in 1e23. The scan
takes a share f of other weights, finds the overlap at that share, and looks whether any f has a positive entropy.
"""

import math

import numpy as np
import pytest
from scipy.optimize import brentq, fsolve
from scipy.special import erfcx, log_ndtr

from theory import ConvergenceError, feedforward, perceptron
from theory.models import DiscretePerceptron, NarrowNetwork
from theory.numerics import ReplicaSymmetryError
from theory.perceptron.discrete_entropy import point


class Scan:
    """The entropy of the weights of three levels (-1, l, 1) with a share f that is not l: panels of Gauss-Legendre."""

    def __init__(self, level, margin, alpha):
        nodes, weights = np.polynomial.legendre.leggauss(20)
        edges = np.linspace(-24, 24, 241)
        half, middle = np.diff(edges)[:, None] / 2, (edges[1:] + edges[:-1])[:, None] / 2
        self.z = (middle + half * nodes).ravel()
        self.weights = (half * weights).ravel() * np.exp(-(self.z**2) / 2) / math.sqrt(2 * math.pi)
        self.level, self.margin, self.alpha = level, margin, alpha

    def pattern(self, norm, spread):
        """The conjugate of q, the multiplier of the norm that patterns demand, and the logarithm of their success."""
        u = (self.margin - math.sqrt(norm - spread) * self.z) / math.sqrt(spread)
        ratio = math.sqrt(2 / math.pi) / erfcx(np.maximum(u, -36) / math.sqrt(2))
        linear = self.alpha * (self.weights @ ratio**2) / spread
        square = self.alpha * (self.weights @ (ratio * u)) / spread
        return linear, (square - linear) / 2, self.alpha * (self.weights @ log_ndtr(-u))

    def weight(self, linear, a):
        """The share f, Q - q and the logarithm of the normalization, all relative to weights l."""
        l, field = self.level, math.sqrt(linear) * self.z  # noqa: E741
        exponents = np.stack(
            [np.zeros_like(field), a * (1 - l * l) + field * (1 - l), a * (1 - l * l) - field * (1 + l)]
        )
        top = exponents.max(axis=0)
        one, up, down = np.exp(exponents - top)
        total = one + up + down
        mean = ((1 - l) * up - (1 + l) * down) / total
        spread = ((1 - l) ** 2 * up + (1 + l) ** 2 * down) / total - mean**2
        return self.weights @ ((up + down) / total), self.weights @ spread, self.weights @ (top + np.log(total))

    def entropy(self, share, ratio):
        """The entropy at the share f, with Q - q near f `ratio`; and the excess of the demanded multiplier."""
        norm = self.level**2 + (1 - self.level**2) * share
        linear = self.pattern(norm, share * ratio)[0]
        guess = [math.log(share * ratio), math.log(share / 2) - linear / 2]

        def gaps(x):
            linear = self.pattern(norm, math.exp(x[0]))[0]
            found = self.weight(linear, x[1])
            return math.log(found[0] / share), math.log(found[1]) - x[0]

        x, report, _, message = fsolve(gaps, guess, xtol=1e-12, full_output=True)
        assert max(map(abs, report["fvec"])) < 1e-9, message
        spread = math.exp(x[0])
        linear, demanded, success = self.pattern(norm, spread)
        entropy = -x[1] * (norm - self.level**2) - linear * spread / 2 + self.weight(linear, x[1])[2] + success
        return entropy, demanded - x[1]

    def largest(self, share, ratio):
        """The largest entropy: that of the share at which patterns demand the multiplier that the share has."""
        log_share = brentq(lambda y: self.entropy(math.exp(y), ratio)[1], *np.log([0.9 * share, 1.1 * share]))
        return self.entropy(math.exp(log_share), ratio)[0]


@pytest.mark.parametrize(
    ("level", "margin", "alpha", "other"),
    [
        (0.01, -0.1, 1.07555660e18, 1.403076),
        pytest.param(0.001, -0.01, 1.41581667e16, 1.194864, marks=pytest.mark.slow),
        (0.02, -0.1, 392.6187100, 1.402964),
    ],
)
def test_capacity_by_a_direct_scan_of_the_entropy(level, margin, alpha, other):
    """The first two were refused: the Gaussian average ended at z = -10, where these patterns begin to be missed."""
    found = perceptron.zero_entropy_capacity((-1.0, level, 1.0), margin)
    assert found.alpha == pytest.approx(alpha, rel=1e-8)
    assert found.alpha < found.first_moment_bound
    assert found.other_alphas == pytest.approx((other,), rel=1e-5)
    share = (found.norm - level**2) / (1 - level**2)
    ratio = (found.norm - found.overlap) / share
    at, below, above = (Scan(level, margin, factor * found.alpha).largest(share, ratio) for factor in (1.0, 0.99, 1.01))
    slope = found.alpha * found.slope
    assert abs(at) < 1e-6 * abs(slope)
    assert below == pytest.approx(-0.01 * slope, rel=0.02)
    assert above == pytest.approx(0.01 * slope, rel=0.02)


def test_entropy_where_missed_patterns_lie_beyond_the_usual_grid():
    """One load of the branch of small weights, from a guess of its norm; truncated at z = -10 it had 10 % more."""
    model = DiscretePerceptron(levels=(-1.0, 0.01, 1.0), alpha=1.0e18, margin=-0.1)
    found, solution = point(model, np.array([1.0274e-4, 1.0001e-4]), 1e-15, 500)
    assert found.converged
    share = (found.norm - 1e-4) / (1 - 1e-4)
    entropy, gap = Scan(0.01, -0.1, 1.0e18).entropy(share, (found.norm - found.overlap) / share)
    assert found.entropy == pytest.approx(entropy, rel=1e-6, abs=0)
    assert abs(gap) < 1e-6
    assert solution.value[1] == pytest.approx(found.overlap, rel=1e-12)


def test_weights_of_two_small_levels_go_on_to_their_own_capacity():
    """With -l and l the branch ends as binary weights: q is then some 1e-14 of Q, and its logarithm is followed."""
    found = perceptron.zero_entropy_capacity((-1.0, -0.01, 0.01, 1.0), -0.05)
    alone = perceptron.zero_entropy_capacity((-0.01, 0.01), -0.05)
    assert found.alpha == pytest.approx(2418082.26155, rel=1e-10)
    assert found.alpha == pytest.approx(alone.alpha, rel=1e-8)


@pytest.mark.parametrize("function", [perceptron.first_moment_bound, perceptron.zero_entropy_capacity])
def test_margins_without_a_bound_among_the_numbers_are_refused(function):
    with pytest.raises(ValueError, match=r"margin must be at least -37 times the smallest .*, -0\.037, .* got -0\.1"):
        function((-1.0, 1e-3, 1.0), -0.1)


def test_refusals_name_what_was_compared():
    """The limit of each method was called max_iter, and the tolerance of a finer grid that of the solution."""
    with pytest.raises(ConvergenceError, match=r"levels, margin = 0: unverified, residual .* against tol 1e-12; take"):
        perceptron.solution_entropy(DiscretePerceptron(levels=(0.0, 1.0), alpha=0.86757))
    with pytest.raises(
        ConvergenceError, match=r"max_iter after \d iterations, .* against tol 1e-12; raise max_iter, or"
    ):
        perceptron.solution_entropy(DiscretePerceptron(levels=(-1.0, 1.0), alpha=0.8), max_iter=2)


def test_a_refused_margin_names_how_rare_solutions_are():
    with pytest.raises(ConvergenceError, match=r"margin = -0\.09, .* 1e-197 only: take a margin nearer to 0"):
        perceptron.zero_entropy_capacity((-1.0, 0.003, 1.0), -0.09)


def test_a_broken_symmetry_is_said_once():
    cold = NarrowNetwork(alpha=1.5, activation="relu", noise=0.1)
    for call in (
        lambda: feedforward.tempered_orders(cold, beta=100.0),
        lambda: perceptron.solution_entropy(DiscretePerceptron(levels=(-1.0, 1.0), alpha=1.2)),
    ):
        with pytest.raises(ReplicaSymmetryError) as failure:
            call()
        assert str(failure.value).count("replicon") == 1
