"""Measurements of entropies and capacities of perceptrons with discrete weights, one replicate at a time."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from simulate.core import Estimate
from simulate.perceptron.discrete_enumeration import (
    enumerate_solutions,
    log_count,
    require_enumerable,
)
from simulate.perceptron.discrete_kernels import count_after_each
from theory.core import Array, AtLeast, Count, NonNegativeCount, checked, checks
from theory.models import DiscretePerceptron

INSTANCES_PER_REPLICATE = 15  # of which a replicate is the median
Instances = Annotated[int, AtLeast(1, most=100_000)]
PATTERNS_AT_ONCE = 16  # patterns are drawn that many at a time until no solution is left


@checked
def solution_entropy(
    model: DiscretePerceptron, d: Count, rng: np.random.Generator, *, instances: Instances = INSTANCES_PER_REPLICATE
) -> float:
    """Measure the entropy of solutions log Z/N of N = `d` weights: the median over random instances, enumerated.

    Each instance has P = round(alpha d) Gaussian patterns. Where Z can be zero a mean of log Z does not exist. The
    median does as long as more than half of the instances have solutions, and it has the same limit N -> infinity,
    because log Z/N is self-averaging; it is minus infinity elsewhere. The corrections are of order 1/N. ValueError for
    more than 2^36 configurations, and where round(alpha d) is zero.

    >>> round(solution_entropy(DiscretePerceptron(levels=(-1, 1), alpha=0.5), 10, np.random.default_rng(0)), 3)
    0.289
    """
    N, P = sizes(model, d)
    counts = _counts_of(model, N, P, rng, instances)
    return median([log_count(int(one[-1])) for one in counts]) / N


@checked
def entropy_profile(
    levels: Sequence[float], counts: Sequence[NonNegativeCount], d: Count, rng: np.random.Generator, *,
    margin: float = 0.0, instances: Instances = INSTANCES_PER_REPLICATE,
) -> Array:  # fmt: skip
    """Measure `solution_entropy` at several numbers of patterns `counts` on the same instances, (len(counts),).

    Entry k is the median of log Z/d after counts[k] patterns. It costs hardly more than one number of patterns.

    >>> entropy_profile([-1, 1], [0, 3], 6, np.random.default_rng(0)).round(3)
    array([0.693, 0.324])
    """
    if not counts:
        raise ValueError("counts must have at least one entry, got none")
    problem = DiscretePerceptron(levels=levels, alpha=1.0, margin=margin)
    require_enumerable("d", problem.n_levels, d)
    most = max(1, *counts)
    checks.fits_in_memory(f"{most} patterns", float(most) * d)
    found = np.array([one[list(counts)] for one in _counts_of(problem, d, most, rng, instances)])
    return np.array([median([log_count(one) for one in column]) / d for column in found.T.tolist()])


@checked
def zero_entropy_capacity(
    levels: Sequence[float], d: Count, rng: np.random.Generator, *, margin: float = 0.0, instances: Instances = 1
) -> float:
    """Measure how many Gaussian patterns per weight N = `d` weights can store, enumerated: the mean over `instances`.

    Patterns are added one after the other; the value is P/N, where P is the last number of them with a solution
    (W. Krauth and M. Opper 1989). Its mean tends to the capacity with corrections of order 1/N. ValueError for more
    than 2^36 configurations, and for a margin below zero where 0 is a level, since W = 0 then stores everything.

    >>> zero_entropy_capacity([-1, 1], 10, np.random.default_rng(0))
    0.6
    """
    problem = DiscretePerceptron(levels=levels, alpha=1.0, margin=margin)
    require_enumerable("d", problem.n_levels, d)
    if problem.margin < 0 and 0 in problem.levels:
        raise ValueError(f"margin must not be negative where 0 is one of the levels, got {margin:g}")
    stored = [_stored(problem, d, rng) for _ in range(instances)]
    return float(np.mean(stored)) / d


@checked
def pair_entropies(
    model: DiscretePerceptron, d: Count, rng: np.random.Generator, *, instances: Instances = INSTANCES_PER_REPLICATE
) -> Array:
    """Measure the entropy per copy of pairs of solutions that differ in k = 0, ..., N of N = `d` weights, (N + 1,).

    Entry k is (log n_k - log C(N, k))/(2 N) + h(k/N)/2, where n_k is the number of ordered pairs at distance k, of
    which the median over instances is taken (see `solution_entropy`), and h the entropy of a coin, which stands for the
    binomial coefficient in the limit. It is minus infinity where more than half of the instances have no such pair.
    ValueError as in `solution_entropy`, and for more than two levels.

    >>> model = DiscretePerceptron(levels=(-1, 1), alpha=0.4)
    >>> pair_entropies(model, 10, np.random.default_rng(0))[[0, 1, 2]].round(3)
    array([0.206, 0.311, 0.372])
    """
    N, P = sizes(model, d)
    if model.n_levels != 2:
        raise ValueError(f"model must have two levels for the distances of pairs, got {model.n_levels}")
    found = np.array([
        enumerate_solutions(model, rng.standard_normal((P, N))).pair_counts()
        for _ in range(instances)
    ])  # fmt: skip
    logs = np.array([median([log_count(one) for one in column]) for column in found.T.tolist()])
    share = np.arange(N + 1) / N
    coin = -np.array([sum(p * math.log(p) for p in (one, 1 - one) if p > 0) for one in share])
    binomial = np.array([math.log(math.comb(N, k)) for k in range(N + 1)])
    return np.asarray((logs - binomial) / (2 * N) + coin / 2)


@checked
def extrapolate_sizes(estimates: Mapping[Any, Any], *, order: Annotated[int, AtLeast(1, most=10)] = 2) -> Estimate:
    """Extrapolate independent estimates at several sizes N to N -> infinity by a polynomial of degree `order` in 1/N.

    `estimates` maps sizes to `Estimate`s. The polynomial is that of least weighted squares, and the error of the limit
    follows from theirs; `n` is the fewest replicates. ValueError for fewer than order + 1 sizes, and for an estimate
    without an error.

    >>> print(extrapolate_sizes({10: Estimate(1.2, 0.01, 50), 20: Estimate(1.1, 0.01, 50)}, order=1))
    1.000(22)
    """
    if len(estimates) <= order:
        raise ValueError(f"estimates must be of at least {order + 1} sizes for order {order}, got {len(estimates)}")
    sizes, given = [], []
    for size, one in estimates.items():
        sizes.append(checks.count("estimates", size))
        given.append(checks.record("estimates", one, Estimate))
        if not one.stderr > 0:
            raise ValueError(f"estimates must have positive errors, got {one} at size {size}")
    if len(set(sizes)) < len(sizes):
        raise ValueError(f"estimates must be of different sizes, got {sizes}")
    errors = np.array([one.stderr for one in given])
    design = np.vander(1 / np.array(sizes, float), order + 1, increasing=True) / errors[:, None]
    # The constant of the polynomial is the limit: the row that makes it also gives its error.
    inverse = np.linalg.pinv(design)
    limit = float(inverse[0] @ (np.array([one.mean for one in given]) / errors))
    return Estimate(limit, float(np.linalg.norm(inverse[0])), min(one.n for one in given))


def _counts_of(
    model: DiscretePerceptron, N: int, P: int, rng: np.random.Generator, instances: int
) -> Iterator[NDArray[np.int64]]:
    """Yield how many solutions each instance of P patterns of N weights has after each of them, (P + 1,).

    The arguments were checked before: for small N the checks of `solution_counts` would take longer than the counting.
    """
    levels, threshold = np.asarray(model.levels), model.margin * math.sqrt(N)
    for _ in range(instances):
        yield count_after_each(rng.standard_normal((P, N)), levels, threshold)


def _stored(model: DiscretePerceptron, N: int, rng: np.random.Generator) -> int:
    """Return the last number of patterns with a solution, of one instance."""
    levels, threshold = np.asarray(model.levels), model.margin * math.sqrt(N)
    patterns = rng.standard_normal((2 * N + PATTERNS_AT_ONCE, N))
    while True:
        counts = count_after_each(patterns, levels, threshold)
        if counts[-1] == 0:
            return int(np.count_nonzero(counts)) - 1
        checks.fits_in_memory(f"{2 * len(patterns)} patterns", 2.0 * patterns.size)
        # Patterns that were drawn remain the first ones, so that more of them change no earlier count.
        patterns = np.concatenate([patterns, rng.standard_normal(patterns.shape)])


def sizes(model: DiscretePerceptron, d: int) -> tuple[int, int]:
    """Return the numbers N of weights and P of patterns."""
    N = d
    require_enumerable("d", model.n_levels, N)
    P = round(model.alpha * N)
    if P < 1:
        raise ValueError(
            f"d must be so large that alpha d is at least one pattern, got {d} with alpha = {model.alpha:g}"
        )
    checks.fits_in_memory(f"{P} patterns", float(P) * N)
    return N, P


def median(values: list[float]) -> float:
    """Return the median; minus infinity, and not NaN, where half of the values are."""
    ordered = sorted(values)
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return low if low == high else (low + high) / 2
