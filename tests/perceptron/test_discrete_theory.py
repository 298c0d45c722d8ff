"""Entropy and capacity of perceptrons with discrete weights: reference values, mpmath, limits, symmetries, failures."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import log_ndtr

from tests.perceptron.discrete_reference import BINARY, TERNARY, ZERO_ONE, mp_entropy
from theory import ConvergenceError, perceptron
from theory.models import DiscretePerceptron, equally_spaced_levels
from theory.perceptron.discrete_saddle import Saddle
from theory.perceptron.gaussian_average import gaussian_grid


def entropy(levels, alpha, margin=0.0, **options):
    return perceptron.solution_entropy(DiscretePerceptron(levels=levels, alpha=alpha, margin=margin), **options)


# The numbers are those of an independent implementation, an 801-point trapezoid with damped iterations.
@pytest.mark.parametrize(
    ("levels", "capacity"), [(BINARY, 0.83307859974), (TERNARY, 1.17448191046), (ZERO_ONE, 0.589737650132)]
)
def test_reference_capacities(levels, capacity):
    found = perceptron.zero_entropy_capacity(levels)
    assert found.alpha == pytest.approx(capacity, abs=2e-11)
    assert found.entropy == pytest.approx(0, abs=1e-12)
    assert entropy(levels, found.alpha).entropy == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("n_levels", "capacity"), [(6, 1.557), (7, 1.615), (9, 1.695), (11, 1.747), (17, 1.832)])
def test_capacities_of_more_levels(n_levels, capacity):
    found = perceptron.zero_entropy_capacity(equally_spaced_levels(n_levels))
    assert found.alpha == pytest.approx(capacity, abs=5e-4)
    assert found.stable


def test_half_the_grid_gives_the_averages_over_a_weight_of_symmetric_levels():
    for levels in (BINARY, TERNARY, (-3.0, 1.0, -1.0, 3.0)):
        half = Saddle.of(DiscretePerceptron(levels=levels, alpha=0.4, margin=0.2))
        whole = replace(half)
        vars(whole)["_weight_grid"] = gaussian_grid(whole.step)
        assert len(half._weight_grid[0]) == (len(whole._weight_grid[0]) + 1) // 2
        conjugates = half.conjugates(0.6, 0.2)
        assert half.weight_moments(conjugates) == pytest.approx(whole.weight_moments(conjugates), rel=1e-13)
        np.testing.assert_allclose(half.update(np.array([0.6, 0.2])), whole.update(np.array([0.6, 0.2])), rtol=1e-13)
    assert len(Saddle.of(DiscretePerceptron(levels=ZERO_ONE, alpha=0.4))._weight_grid[0]) == len(gaussian_grid()[0])


@pytest.mark.parametrize(("levels", "margin"), [(BINARY, 0.3), (ZERO_ONE, 0.0), (tuple(range(-16, 17)), 0.0)])
def test_the_scan_ends_where_a_solution_from_nowhere_has_no_entropy(levels, margin):
    found = perceptron.zero_entropy_capacity(levels, margin * max(levels))
    model = DiscretePerceptron(levels=levels, alpha=found.alpha, margin=margin * max(levels))
    alone = perceptron.solution_entropy(model)
    assert alone.entropy == pytest.approx(0, abs=1e-11)
    assert found.overlap == pytest.approx(alone.overlap, rel=1e-7)
    assert found.slope == pytest.approx(alone.slope, rel=1e-6)


def test_the_parameter_of_stability_at_the_capacity():
    replicons = [perceptron.zero_entropy_capacity(equally_spaced_levels(n)).replicon for n in (2, 17)]
    assert [1 - one for one in replicons] == pytest.approx([0.544, 0.830], abs=5e-4)


def test_reference_entropies():
    assert entropy(BINARY, 0.4).entropy == pytest.approx(0.396455051105, abs=1e-12)
    assert entropy(TERNARY, 0.6).entropy == pytest.approx(0.634551684506, abs=1e-12)
    assert entropy(TERNARY, 8 / 13).entropy == pytest.approx(0.620931, abs=5e-7)


def test_reference_capacities_of_real_weights():
    found = [perceptron.gardner_capacity(margin) for margin in (0, 0.5, 1)]
    assert found == pytest.approx([2, 0.961205052802, 0.519572229605], abs=1e-12)
    for margin, value in zip((0, 0.5, 1), found, strict=True):  # route two: the integral itself
        integral = quad(lambda z, k=margin: np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * (z + k) ** 2, -margin, 12)[0]
        assert value == pytest.approx(1 / integral, rel=1e-9)


@pytest.mark.parametrize(
    ("levels", "alpha", "margin"), [(TERNARY, 0.6, 0.0), (ZERO_ONE, 0.3, 0.2), ((-1.0, 0.3, 2.0), 0.5, -0.4)]
)
def test_the_saddle_point_in_thirty_digits(levels, alpha, margin):
    """The entropy of mpmath is the same, and is stationary in all four orders."""
    import mpmath

    found = entropy(levels, alpha, margin)
    orders = [found.norm, found.overlap, found.norm_conjugate, found.overlap_conjugate]
    with mpmath.workdps(20):
        value = mp_entropy(mpmath, levels, alpha, margin, *map(mpmath.mpf, orders))
        assert float(value) == pytest.approx(found.entropy, abs=1e-12)
        for k in range(4):
            moved = [[mpmath.mpf(x) * (1 + sign * (j == k) * mpmath.mpf("1e-5")) for j, x in enumerate(orders)]
                     for sign in (1, -1)]  # fmt: skip
            slope = (mp_entropy(mpmath, levels, alpha, margin, *moved[0])
                     - mp_entropy(mpmath, levels, alpha, margin, *moved[1])) / 2e-5  # fmt: skip
            assert abs(float(slope)) < 1e-8


def test_the_replicon_is_that_of_differences_of_the_logarithms():
    """Second derivatives of both logarithms by finite differences, averaged by adaptive quadrature."""
    found, h = entropy(TERNARY, 0.5, 0.3), 1e-4
    Q, q, Qhat, qhat = found.norm, found.overlap, found.norm_conjugate, found.overlap_conjugate

    def second(function, at):
        return (function(at + h) - 2 * function(at) + function(at - h)) / h**2

    def output(field):
        return log_ndtr((field - 0.3) / np.sqrt(Q - q))

    def site(field):
        return math.log(sum(math.exp((Qhat - qhat) * w * w / 2 + field * w) for w in TERNARY))

    def average(function, scale):
        def integrand(z):
            return math.exp(-z * z / 2) / math.sqrt(2 * math.pi) * second(function, scale * z) ** 2

        return quad(integrand, -9, 9, limit=200)[0]

    product = 0.5 * average(output, math.sqrt(q)) * average(site, math.sqrt(qhat))
    assert found.replicon == pytest.approx(1 - product, abs=1e-5)


def test_the_slope_is_that_of_the_curve():
    loads = np.array([0.5, 0.5 - 1e-4, 0.5 + 1e-4])
    curve = perceptron.entropy_curve(TERNARY, loads)
    assert curve.slopes[0] == pytest.approx((curve.entropies[2] - curve.entropies[1]) / 2e-4, rel=1e-6)
    assert curve.entropies[0] == pytest.approx(entropy(TERNARY, 0.5).entropy, abs=1e-12)
    assert curve.to_frame().shape == (3, 6)


def test_without_patterns_all_weights_are_solutions():
    for levels in (BINARY, TERNARY, ZERO_ONE, (1.0, 2.0, 5.0)):
        assert entropy(levels, 1e-9).entropy == pytest.approx(math.log(len(levels)), abs=1e-7)
    assert entropy(BINARY, 1e-9, 0.7).slope == pytest.approx(log_ndtr(-0.7), abs=1e-7)


def test_many_levels_approach_real_weights():
    """2 - alpha_0 shrinks by less than a half when the number of levels is doubled, as the curve of the figure does."""
    gaps = [2 - perceptron.zero_entropy_capacity(equally_spaced_levels(n)).alpha for n in (9, 17, 33, 65)]
    assert all(0.4 < small / large < 0.6 for large, small in pairwise(gaps))
    assert gaps[-1] == pytest.approx(0.0473, abs=5e-5)


ALPHABETS = st.lists(st.integers(-8, 8), min_size=2, max_size=5, unique=True)
SYMMETRIC = st.sets(st.integers(0, 8), min_size=2, max_size=3).map(
    lambda sizes: sorted({s * w for w in sizes for s in (-1, 1)})
)


@settings(max_examples=5)  # half a second each
@given(levels=ALPHABETS, margin=st.sampled_from([0.0, 0.25, 1.0]), factor=st.sampled_from([1e-30, 0.5, 7.0]))
def test_units_and_reflections_change_nothing_and_the_first_moment_is_a_bound(levels, margin, factor):
    size = max(abs(w) for w in levels)
    found = perceptron.zero_entropy_capacity(levels, margin * size, check=False)
    assert 0 < found.alpha < found.first_moment_bound
    other = perceptron.zero_entropy_capacity([-factor * w for w in levels], factor * margin * size, check=False)
    assert other.alpha == pytest.approx(found.alpha, rel=1e-9)
    assert other.overlap == pytest.approx(factor**2 * found.overlap, rel=1e-7)
    assert other.replicon == pytest.approx(found.replicon, abs=1e-7)


@settings(max_examples=20)
@given(levels=SYMMETRIC, alpha=st.floats(0.01, 0.3), margin=st.floats(-0.3, 0.3))
def test_more_patterns_or_a_larger_margin_leave_fewer_solutions(levels, alpha, margin):
    size = max(abs(w) for w in levels)
    here, more, wider = (
        entropy(levels, a, k * size, check=False)
        for a, k in ((alpha, margin), (1.1 * alpha, margin), (alpha, margin + 0.05))
    )
    assert here.converged
    assert more.entropy < here.entropy < math.log(len(levels))
    assert wider.entropy < here.entropy
    assert 0 <= here.overlap < here.norm <= size**2


def test_first_moment_bound():
    assert perceptron.first_moment_bound([-1, 0, 1]) == math.log2(3)
    assert perceptron.first_moment_bound(BINARY, 1.0) == pytest.approx(-math.log(2) / log_ndtr(-1.0), rel=1e-12)
    # With a margin long weight vectors store more: route two goes through all shares of the level 0.
    share = np.linspace(1e-6, 1 - 1e-6, 200_001)
    s = -share * np.log(share) - (1 - share) * np.log((1 - share) / 2)
    best = np.max(s / -log_ndtr(-0.5 / np.sqrt(1 - share)))
    assert perceptron.first_moment_bound(TERNARY, 0.5) == pytest.approx(best, rel=1e-9)


def test_first_moment_bound_of_a_negative_margin_finds_the_smallest_of_many_sizes_of_levels():
    few, many = (-1, -1e-4, 1e-4, 1), (-1, -2e-4, -1e-4, 1e-4, 2e-4, 1)
    alone = math.log(2) / -log_ndtr(10.0)  # all weights are +-1e-4, with the margin -1e-3
    assert perceptron.first_moment_bound(few, -1e-3) == pytest.approx(alone, rel=1e-9)
    # Further levels cannot lower the bound.
    assert perceptron.first_moment_bound(many, -1e-3) >= perceptron.first_moment_bound(few, -1e-3)


def test_above_the_capacity_the_entropy_is_negative_and_says_so():
    assert not entropy(BINARY, 0.9).has_solutions
    assert entropy(BINARY, 0.8).has_solutions


def test_an_unstable_solution_is_refused():
    with pytest.raises(ConvergenceError, match=r"its replicon -3\.18 is negative; replica symmetry is broken here, so"):
        entropy(BINARY, 1.2)
    found = entropy(BINARY, 1.2, check=False)
    assert not found.stable
    assert found.converged
    with pytest.raises(ConvergenceError, match="replica symmetry is broken"):
        perceptron.entropy_curve(BINARY, [0.3, 1.2])
    assert perceptron.entropy_curve(BINARY, [1.2, 0.3], check=False).replicons[0] == pytest.approx(found.replicon)


def test_what_cannot_be_solved_is_refused():
    with pytest.raises(ConvergenceError, match="entropy of solutions at alpha = 5 with 2 levels"):
        entropy(BINARY, 5.0)
    assert not entropy(BINARY, 5.0, check=False).converged
    with pytest.raises(ConvergenceError, match="max_iter after"):
        entropy(BINARY, 0.8, max_iter=2)


@pytest.mark.slow
def test_levels_that_are_too_close_to_each_other_are_refused():
    with pytest.raises(ConvergenceError, match=r"zero-entropy capacity of 2 levels.*less close to each other"):
        perceptron.zero_entropy_capacity([1, 1.001])


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ([1.0], "levels must be from 2 to 1000 different numbers, got 1"),
        ([1, math.nan], "levels must be finite, got nan"),
        ([1, math.inf], "levels must be finite, got inf"),
        ([1, 2, 1], "levels must be different numbers, got 1 more than once"),
        ([], "levels must be a non-empty array"),
        ([[1, 2]], "levels must be a non-empty array with 1 axes"),
        ([0, 1e200], "levels must be at most 1e\\+100 in absolute value"),
    ],
)
def test_bad_alphabets(levels, message):
    with pytest.raises(ValueError, match=message):
        DiscretePerceptron(levels=levels, alpha=0.5)


def test_bad_input():
    with pytest.raises(ValueError, match="alpha must lie in"):
        DiscretePerceptron(levels=BINARY, alpha=0)
    with pytest.raises(ValueError, match="margin must be finite, got inf"):
        DiscretePerceptron(levels=BINARY, alpha=0.5, margin=math.inf)
    with pytest.raises(ValueError, match="margin must be at most 1000 times the largest of the levels, 1, got 2000"):
        DiscretePerceptron(levels=BINARY, alpha=0.5, margin=2000)
    with pytest.raises(ValueError, match="n_levels must be an integer of at least 2"):
        equally_spaced_levels(1)
    with pytest.raises(ValueError, match="margin must not be negative where 0 is one of the levels"):
        perceptron.zero_entropy_capacity(TERNARY, -0.5)
    with pytest.raises(ValueError, match="margin must lie in"):
        perceptron.gardner_capacity(-0.1)
    with pytest.raises(ValueError, match="alphas must be positive, got 0"):
        perceptron.entropy_curve(BINARY, [0.0, 0.1])
