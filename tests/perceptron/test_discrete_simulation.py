"""Enumeration of perceptrons with discrete weights: twins in numpy, and theory against simulation."""

import itertools
import math

import numpy as np
import pytest

from simulate import perceptron as simulated
from simulate.core import Estimate, stream
from simulate.perceptron import discrete_enumeration
from simulate.perceptron.discrete_kernels import count_after_each
from tests.perceptron.discrete_reference import BINARY, TERNARY, ZERO_ONE, all_solutions
from theory import perceptron
from theory.models import DiscretePerceptron


@pytest.mark.parametrize(
    ("levels", "n_weights", "margin"),
    [(BINARY, 1, 0.0), (BINARY, 12, 0.0), (BINARY, 13, 0.4), (TERNARY, 8, 0.0), ((-2.0, 0.5, 1.0, 3.0), 6, -0.7)],
)
def test_all_solutions_are_found(levels, n_weights, margin):
    x = stream(0, "enumeration", n_weights).standard_normal((4, n_weights))
    found = simulated.enumerate_solutions(DiscretePerceptron(levels=levels, alpha=1, margin=margin), x)
    expected = all_solutions(levels, x, margin)
    np.testing.assert_array_equal(found.weights(), expected)
    counts = [len(all_solutions(levels, x[:k], margin)) for k in range(5)]
    assert simulated.solution_counts(levels, x, margin).tolist() == counts
    assert found.count == counts[-1]
    assert found.entropy == pytest.approx(math.log(counts[-1]) / n_weights if counts[-1] else -math.inf)
    assert found.configurations_per_second > 0


@pytest.mark.parametrize("n_levels", [100, 600])  # more than fit into the first part of the weights: it is empty
def test_more_levels_than_a_table_holds(n_levels):
    levels = np.linspace(-1, 1, n_levels)
    x = stream(0, "many levels").standard_normal((3, 2))
    assert simulated.solution_counts(levels, x)[-1] == len(all_solutions(levels, x))


@pytest.mark.parametrize("n_weights", [1, 3, 12, 13])
def test_pairs_of_the_walsh_transform_are_those_counted_one_by_one(n_weights):
    """Below, at and above the size of a block of the transform."""
    x = stream(0, "pairs", n_weights).standard_normal((n_weights // 4, n_weights)).reshape(-1, n_weights)
    found = simulated.enumerate_solutions(
        DiscretePerceptron(levels=ZERO_ONE, alpha=1), x if len(x) else [[1.0] * n_weights]
    )
    W = found.weights()
    distances = (W[:, None, :] != W).sum(axis=2)
    assert found.pair_counts().tolist() == np.bincount(distances.ravel(), minlength=n_weights + 1).tolist()


def test_the_median_is_that_of_the_instances():
    model = DiscretePerceptron(levels=BINARY, alpha=0.5)
    value = simulated.solution_entropy(model, 8, stream(0, "median"), instances=4)
    rng = stream(0, "median")
    logs = sorted(math.log(len(all_solutions(BINARY, rng.standard_normal((4, 8))))) for _ in range(4))
    assert value == pytest.approx((logs[1] + logs[2]) / 16)
    profile = simulated.entropy_profile(BINARY, [0, 4], 8, stream(0, "median"), instances=4)
    assert profile == pytest.approx([math.log(2), value])


def test_the_entropy_of_pairs_of_one_instance():
    model = DiscretePerceptron(levels=BINARY, alpha=0.25)
    values = simulated.pair_entropies(model, 8, stream(0, "one pair"), instances=1)
    W = all_solutions(BINARY, stream(0, "one pair").standard_normal((2, 8)))
    for k in (2, 4):  # a quarter and a half of the weights
        pairs = ((W[:, None] != W).sum(axis=2) == k).sum()
        coin = {2: 2 * math.log(2) - 0.75 * math.log(3), 4: math.log(2)}[k]
        assert values[k] == pytest.approx((math.log(pairs) - math.log(math.comb(8, k))) / 16 + coin / 2, abs=1e-12)


def test_where_most_instances_have_no_solution_the_entropy_is_minus_infinity():
    model = DiscretePerceptron(levels=BINARY, alpha=3)
    assert simulated.solution_entropy(model, 6, stream(0, "none")) == -math.inf
    assert (simulated.pair_entropies(model, 6, stream(0, "none")) == -math.inf).all()


def test_the_capacity_is_the_last_number_of_patterns_with_a_solution():
    value = simulated.zero_entropy_capacity(BINARY, 6, stream(0, "capacity"))
    x = stream(0, "capacity").standard_normal((28, 6))
    stored = [len(all_solutions(BINARY, x[:k])) > 0 for k in range(29)]
    assert value * 6 == pytest.approx(stored.index(False) - 1)
    # More patterns are drawn where the first ones are all stored: with this margin nearly every one is.
    assert simulated.zero_entropy_capacity(BINARY, 3, stream(0, "more"), margin=-3.0) > 22 / 3


def of_sizes(replicate, sizes):
    """The limit of `replicate`(d, rng), from (size, replicates) pairs, by a line in 1/N."""
    estimates = {d: Estimate.of([replicate(d, stream(0, "limit", d, r)) for r in range(n)]) for d, n in sizes.items()}
    return simulated.extrapolate_sizes(estimates, order=1)


# The allowance is what a line in 1/N from these sizes misses: runs of ten times the length were off by 0.0035(11),
# 0.0023(10), 0.0047(16) and 0.0081(21), those of pairs by 0.0000(12).
@pytest.mark.parametrize(
    ("levels", "alpha", "margin", "sizes", "bias"),
    [
        (BINARY, 0.5, 0.0, {8: 60, 16: 60}, 0.006),
        (BINARY, 0.25, 0.5, {8: 60, 16: 60}, 0.005),
        (TERNARY, 0.5, 0.0, {6: 60, 10: 60}, 0.008),
        (ZERO_ONE, 0.25, 0.0, {8: 120, 16: 120}, 0.012),
    ],
)
def test_entropy(agrees, levels, alpha, margin, sizes, bias):
    model = DiscretePerceptron(levels=levels, alpha=alpha, margin=margin)
    limit = of_sizes(lambda d, rng: simulated.solution_entropy(model, d, rng, instances=45), sizes)
    agrees(limit, perceptron.solution_entropy(model).entropy, resolves=0.2, bias=bias)


def test_entropy_of_pairs(agrees):
    model = DiscretePerceptron(levels=BINARY, alpha=0.4)
    place = {10: 2, 15: 3}
    limit = of_sizes(lambda d, rng: simulated.pair_entropies(model, d, rng, instances=45)[place[d]], {10: 80, 15: 60})
    agrees(limit, perceptron.copy_entropy(model, 0.6).entropy, resolves=0.12, bias=0.003)


@pytest.mark.parametrize(("levels", "sizes"), [(BINARY, {8: 800, 16: 400}), (TERNARY, {5: 1500, 10: 700})])
def test_capacity(agrees, levels, sizes):
    """A line in 1/N from so small sizes falls short by 0.016(4) and 0.030(7): runs of twenty times the length."""
    limit = of_sizes(lambda d, rng: simulated.zero_entropy_capacity(levels, d, rng), sizes)
    agrees(limit, perceptron.zero_entropy_capacity(levels).alpha, resolves=0.25, bias=0.04)


def test_extrapolation():
    sizes = (4, 6, 10, 20)
    exact = {d: Estimate(1 + 2 / d - 3 / d**2, 0.01, 50 + d) for d in sizes}
    found = simulated.extrapolate_sizes(exact)
    assert found.mean == pytest.approx(1, abs=1e-12)
    assert found.n == 54
    draws = stream(0, "extrapolation").normal(0, 0.01, (4000, 4))
    limits = [
        simulated.extrapolate_sizes(
            {d: Estimate(one.mean + e, 0.01, 9) for (d, one), e in zip(exact.items(), row, strict=True)}
        ).mean
        for row in draws[:300]
    ]
    # The standard deviation of 300 draws has a relative error of 4 %: five of them.
    assert np.std(limits) == pytest.approx(found.stderr, rel=0.2)
    # Of two sizes d and 2d it is the rule 2 s(2d) - s(d).
    pair = {10: Estimate(1.2, 0.01, 9), 20: Estimate(1.1, 0.02, 9)}
    assert str(simulated.extrapolate_sizes(pair, order=1)) == "1.000(41)"


def test_twenty_five_weights():
    """3e7 configurations: the number of solutions is the sum over the two halves of the last weight."""
    x = stream(0, "twenty-five").standard_normal((12, 25))
    found = simulated.enumerate_solutions(DiscretePerceptron(levels=BINARY, alpha=1), x)
    assert found.count == simulated.solution_counts(BINARY, x)[-1]
    fields = found.weights() @ x.T
    assert fields.min() > 0
    assert (np.diff(found.codes) > 0).all()
    flipped = itertools.chain(*(x * np.where(np.arange(25) == 24, -1, 1)))  # the last weight, reflected
    other = simulated.solution_counts(BINARY, np.fromiter(flipped, float).reshape(12, 25))
    assert other[-1] == found.count


def test_bad_input():
    model, rng = DiscretePerceptron(levels=BINARY, alpha=0.1), np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"d must give at most 2\^36 configurations, got 2\^40 of 40 weights with 2"):
        simulated.solution_entropy(model, 40, rng)
    with pytest.raises(ValueError, match="patterns must give at most"):
        simulated.solution_counts(TERNARY, np.ones((2, 30)))
    with pytest.raises(ValueError, match="d must be so large that alpha d is at least one pattern, got 4"):
        simulated.solution_entropy(model, 4, rng)
    with pytest.raises(ValueError, match="patterns must be finite, got nan"):
        simulated.solution_counts(BINARY, [[1.0, math.nan]])
    with pytest.raises(ValueError, match="margin must not be negative where 0 is one of the levels"):
        simulated.zero_entropy_capacity(TERNARY, 5, rng, margin=-0.1)
    with pytest.raises(ValueError, match="model must have two levels"):
        simulated.pair_entropies(DiscretePerceptron(levels=TERNARY, alpha=0.5), 6, rng)
    with pytest.raises(ValueError, match="levels must be two"):
        simulated.enumerate_solutions(DiscretePerceptron(levels=TERNARY, alpha=1), [[1.0, 2.0]]).pair_counts()
    with pytest.raises(ValueError, match="counts must have at least one entry"):
        simulated.entropy_profile(BINARY, [], 5, rng)
    with pytest.raises(ValueError, match="estimates must be of at least 3 sizes for order 2, got 1"):
        simulated.extrapolate_sizes({10: Estimate(1.0, 0.1, 9)})
    with pytest.raises(ValueError, match="estimates must have positive errors"):
        simulated.extrapolate_sizes({10: Estimate(1.0, 0.0, 9), 20: Estimate(1.0, 0.1, 9)}, order=1)


def test_a_set_of_solutions_knows_its_sizes_and_the_time_of_its_search(monkeypatch):
    clock = iter([10.0, 12.5])
    monkeypatch.setattr(discrete_enumeration.time, "perf_counter", lambda: next(clock))
    patterns = stream(0, "sizes").standard_normal((3, 6))
    found = simulated.enumerate_solutions(DiscretePerceptron(levels=TERNARY, alpha=0.5), patterns)
    assert (found.n_weights, found.n_patterns, found.seconds) == (6, 3, 2.5)
    assert found.configurations_per_second == 3**6 / 2.5
    exact = all_solutions(TERNARY, patterns)
    assert found.count == len(exact) == len(found.codes)
    assert found.entropy == pytest.approx(math.log(len(exact)) / 6)


def test_one_kernel_counts_for_patterns_that_are_given_and_for_those_that_are_drawn():
    """It takes seconds to compile, and checked patterns cannot be written to while drawn ones can."""
    rng = stream(3, "patterns of either kind")
    simulated.solution_counts((-1, 1), rng.standard_normal((2, 3)))
    simulated.zero_entropy_capacity(BINARY, 3, rng)
    assert len(count_after_each.signatures) == 1
