"""How many pairs of solutions of any levels there are at a given distance, counted in small perceptrons."""

import math

import numpy as np

from simulate.perceptron.discrete_enumeration import enumerate_solutions, log_count
from simulate.perceptron.discrete_measurements import INSTANCES_PER_REPLICATE, Instances, median, sizes
from theory.core import Array, Count, Positive, checked
from theory.models import DiscretePerceptron

ROWS_AT_ONCE = 64  # solutions whose distances to all others are in memory, and in a cache, at once
SAME_SQUARE = 1e-9  # of a squared distance, relative to the largest level: smaller differences are rounding


@checked
def pair_entropy_change(
    model: DiscretePerceptron, d: Count, rng: np.random.Generator, *,
    squared_difference: Positive, instances: Instances = INSTANCES_PER_REPLICATE,
) -> float:  # fmt: skip
    """Measure by how much the patterns lower the entropy per copy of pairs at the distance |W - W'|^2/N.

    N = `d` weights of any levels are enumerated. The value is (log n - log n_0)/(2 N): n is the number of ordered pairs
    of solutions with this `squared_difference`, of which the median over instances is taken, and n_0 that of all weight
    vectors, so that what a finite N does to both is left out. It is minus infinity where more than half of the
    instances have no such pair. ValueError as in `solution_entropy`, and where no weight vectors have this distance.

    >>> model = DiscretePerceptron(levels=(-1, 0, 1), alpha=0.5)
    >>> round(pair_entropy_change(model, 6, np.random.default_rng(0), squared_difference=0.5), 3)
    -0.297
    """
    N, P = sizes(model, d)
    unit = max(abs(one) for one in model.levels)
    levels, target = np.asarray(model.levels) / unit, N * squared_difference / unit**2
    every = _all_pairs(levels, N, target)
    if every == 0:
        raise ValueError(
            f"squared_difference must be reached by two weight vectors of d = {N} weights, got {squared_difference:g}"
        )
    logs = []
    for _ in range(instances):
        found = enumerate_solutions(model, rng.standard_normal((P, N)))
        if model.n_levels == 2:  # the Walsh transform counts the pairs of all distances at once
            different = round(target / float(levels[1] - levels[0]) ** 2)
            logs.append(log_count(int(found.pair_counts()[different])))
        else:
            logs.append(log_count(_pairs(found.weights() / unit, target)))
    return (median(logs) - math.log(every)) / (2 * N)


def _pairs(weights: Array, target: float) -> int:
    """Count the ordered pairs of these vectors (Z, N) at a squared distance."""
    squares, found = (weights**2).sum(axis=1), 0
    for start in range(0, len(weights), ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        distances = squares[part, None] + squares - 2 * weights[part] @ weights.T
        found += int(np.count_nonzero(np.abs(distances - target) < SAME_SQUARE))
    return found


def _all_pairs(levels: Array, n_weights: int, target: float) -> int:
    """Count the ordered pairs of all weight vectors at a squared distance, weight by weight."""
    steps, times = np.unique(np.round(np.subtract.outer(levels, levels) ** 2 / SAME_SQUARE), return_counts=True)
    counts = {0: 1}
    for _ in range(n_weights):
        longer: dict[int, int] = {}
        for square, count in counts.items():
            for step, many in zip(steps.astype(np.int64).tolist(), times.tolist(), strict=True):
                longer[square + step] = longer.get(square + step, 0) + count * many
        counts = longer
    near = n_weights + 1  # each weight is rounded once
    return sum(count for square, count in counts.items() if abs(square - target / SAME_SQUARE) <= near)
