"""All solutions of a small perceptron with discrete weights, found by going through every weight vector."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simulate.perceptron.discrete_kernels import count_after_each, find_solutions, walsh_power
from theory.core import Array, checked, checks
from theory.models import DiscretePerceptron

LOG2_MAX_CONFIGURATIONS = 36  # so many take about half a minute


@dataclass(frozen=True, eq=False, repr=False)
class SolutionSet:
    """All weight vectors that store given patterns, out of L^N configurations.

    `codes` (Z,) are the numbers sum_i k_i L^i of the solutions in ascending order, where k_i is the position of weight
    i in `levels`. `seconds` is the time that the search took.
    """

    levels: tuple[float, ...]
    n_weights: int
    n_patterns: int
    codes: NDArray[np.int64] = field(repr=False)
    seconds: float

    @property
    def count(self) -> int:
        """The number Z of solutions."""
        return len(self.codes)

    @property
    def entropy(self) -> float:
        """The entropy log Z/N per weight in nats; minus infinity where there is no solution."""
        return log_count(self.count) / self.n_weights

    @property
    def configurations_per_second(self) -> float:
        """How many weight vectors were looked at in a second."""
        return float(len(self.levels) ** self.n_weights) / max(self.seconds, 1e-9)

    def weights(self) -> Array:
        """Return the solutions themselves, (Z, N)."""
        powers = len(self.levels) ** np.arange(self.n_weights, dtype=np.int64)
        return np.asarray(np.asarray(self.levels)[self.codes[:, None] // powers % len(self.levels)])

    def pair_counts(self) -> NDArray[np.int64]:
        """Return how many ordered pairs of solutions differ in d = 0, 1, ..., N weights, (N + 1,); for two levels.

        The numbers follow from the Walsh transform F of the indicator of the solutions: 2^N n_d is the sum of K_d(|k|)
        F(k)^2 over all frequencies k, where |k| counts the ones of k and the Krawtchouk number K_d(j) is the
        coefficient of x^d in (1 - x)^j (1 + x)^(N - j). All numbers are integers, so that the result is exact.
        ValueError for more than two levels.
        """
        N = self.n_weights
        if len(self.levels) != 2:
            raise ValueError(f"levels must be two for the distances of pairs, got {len(self.levels)}")
        checks.fits_in_memory(f"the Walsh transform of {N} weights", 2.0 ** (N - 1))
        # Integers of Python, since products with Krawtchouk numbers can leave 64 bits.
        power = [int(one) for one in walsh_power(self.codes, N)]
        table = _krawtchouk_numbers(N)
        # 2^N divides the sum without a rest, since it is 2^N times a number of pairs.
        return np.array([sum(map(mul, column, power)) >> N for column in table], dtype=np.int64)

    def __repr__(self) -> str:
        sizes = f"n_levels={len(self.levels)}, n_weights={self.n_weights}, n_patterns={self.n_patterns}"
        return f"{type(self).__name__}({sizes}, count={self.count})"


@checked
def enumerate_solutions(model: DiscretePerceptron, patterns: ArrayLike) -> SolutionSet:
    """Find all weight vectors with `levels` of `model` that store the given `patterns` (P, N) at its margin.

    The load is that of the patterns: `model.alpha` is not looked at. Twice 2^25 configurations (a first time to count
    them) take about 0.02 s on one core. ValueError for more than 2^36 configurations, MemoryError with sizes where the
    solutions do not fit.

    >>> found = enumerate_solutions(DiscretePerceptron(levels=(-1, 1), alpha=0.5), [[1.0, 2.0, 4.0], [1.0, 1.0, 3.0]])
    >>> found.count, found.weights()[0].tolist(), found.pair_counts().tolist()
    (4, [-1.0, -1.0, 1.0], [4, 8, 4, 0])
    """
    x, levels, threshold = _problem(model.levels, patterns, model.margin)
    start = time.perf_counter()
    # Counted first, so that the memory is known before any of it is taken.
    count = int(count_after_each(x, levels, threshold)[-1])
    checks.fits_in_memory(f"a set of {count} solutions", count)
    codes = np.empty(count, np.int64)
    find_solutions(x, levels, threshold, codes)
    return SolutionSet(tuple(model.levels), x.shape[1], x.shape[0], codes, time.perf_counter() - start)


@checked
def solution_counts(levels: Sequence[float], patterns: ArrayLike, margin: float = 0.0) -> NDArray[np.int64]:
    """Count the solutions after each of the patterns (P, N) is added, (P + 1,): the first number is L^N.

    All loads are measured at once, at hardly more than the price of the first few patterns. ValueError as in
    `enumerate_solutions`.

    >>> solution_counts([-1, 0, 1], [[1.0, 2.0], [0.5, -3.0]])
    array([9, 4, 1])
    """
    found: NDArray[np.int64] = count_after_each(*_problem(levels, patterns, margin))
    return found


def require_enumerable(name: str, n_levels: int, n_weights: int) -> None:
    """Raise ValueError, before any power is computed, where there are more than 2^36 configurations."""
    if n_weights * math.log2(n_levels) > LOG2_MAX_CONFIGURATIONS:
        raise ValueError(
            f"{name} must give at most 2^{LOG2_MAX_CONFIGURATIONS} configurations, got {n_levels}^{n_weights} of "
            f"{n_weights} weights with {n_levels} levels"
        )


def log_count(count: int | float) -> float:
    """Return the logarithm of a number of solutions; minus infinity for none."""
    return math.log(count) if count > 0 else -math.inf


def _problem(levels: Any, patterns: Any, margin: Any) -> tuple[Array, Array, float]:
    """Return patterns, levels and the threshold of the field x.W, all checked."""
    problem = DiscretePerceptron(levels=levels, alpha=1.0, margin=margin)
    x = checks.finite_array("patterns", patterns, 2)
    n_weights, n_levels = x.shape[1], problem.n_levels
    require_enumerable("patterns", n_levels, n_weights)
    # A copy that can be written to, as what is measured has: for another kind of array kernels are compiled once more.
    return x.copy(), np.asarray(problem.levels), problem.margin * math.sqrt(n_weights)


@cache
def _krawtchouk_numbers(n: int) -> list[tuple[int, ...]]:
    """Return for d = 0, ..., n the coefficients of x^d in (1 - x)^j (1 + x)^(n - j), of all j."""
    rows = []
    for j in range(n + 1):
        row = [1]
        for k in range(n):
            sign = -1 if k < j else 1
            row = [a + sign * b for a, b in zip([*row, 0], [0, *row], strict=True)]
        rows.append(row)
    return list(zip(*rows, strict=True))
