"""Means over the patterns in which the entries of a row are seen: all of them, or as many as are drawn."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from theory.core.arrays import Array

FEWEST_HOLES = 10  # patterns with a hole in a column, below which the column gets so many of its own

Pattern = NDArray[np.bool_]  # (d,), True where an entry is seen
Errors = Callable[
    [Pattern], Array
]  # errors (d,) at the holes of a row; NaN, or that of a hole there, where one is seen


@dataclass(frozen=True, eq=False)
class PatternMean:
    """Errors of the holes of every column, means over the patterns of its row, with the standard errors of the draw.

    The standard errors are zero where all patterns were summed. Elsewhere they are those of independent patterns, and
    bounds: fixed counts of holes make the means steadier, by up to a factor of three where errors add over holes.
    """

    errors: Array = field(repr=False)  # (d,)
    stderr: Array = field(repr=False)  # (d,)
    mean_stderr: float  # of the mean over the columns, whose holes share patterns


def pattern_mean(seen_rates: Array, errors: Errors, patterns: int, seed: int) -> PatternMean:
    """Average the errors of holes over the patterns of their rows, each column seen with its own probability (d,).

    Where `patterns` are enough for all 2^d patterns, these are summed with their probabilities. Otherwise `patterns`
    are drawn with the generator of `seed`; a column with few holes in them, since its rate is small or zero, is taken
    out of some of them besides. Holes are independent, so that a pattern given a hole is one of the other columns.
    """
    d = len(seen_rates)
    if d < 63 and 2**d <= patterns:
        return _enumerated(seen_rates, errors)
    drawn = _stratified(seen_rates, patterns, np.random.default_rng(seed))
    values = np.array([errors(seen) for seen in drawn])
    for k in np.flatnonzero(np.isfinite(values).sum(axis=0) < min(FEWEST_HOLES, patterns)):
        for i in np.flatnonzero(np.isnan(values[:, k]))[:FEWEST_HOLES]:
            without = drawn[i].copy()
            without[k] = False
            values[i, k] = errors(without)[k]
    return _summary(values)


def _stratified(seen_rates: Array, patterns: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw patterns (patterns, d); in each column the holes are as many as expected, up to one, and at random places.

    Columns are independent, so that a hole's pattern has its own law; that counts are fixed lowers the noise.
    """
    d = len(seen_rates)
    places = (rng.permuted(np.tile(np.arange(patterns), (d, 1)), axis=1) + rng.random((d, 1))) / patterns
    return np.asarray(seen_rates > places.T)


def _summary(values: Array) -> PatternMean:
    """Average over patterns where there is a value; the errors of one pattern fluctuate together."""
    present = np.isfinite(values)
    counts = present.sum(axis=0)
    means = np.where(present, values, 0.0).sum(axis=0) / counts
    deviations = np.where(present, values - means, 0.0) / counts
    many, d = len(values) / max(len(values) - 1, 1), len(means)
    spread = counts / np.maximum(counts - 1, 1)
    stderr = np.sqrt(spread * (deviations**2).sum(axis=0))
    together = float(np.sqrt(many * (deviations.sum(axis=1) ** 2).sum())) / d
    return PatternMean(means, stderr, together)


def _enumerated(seen_rates: Array, errors: Errors) -> PatternMean:
    d = len(seen_rates)
    total = np.zeros(d)
    for seen in _subsets(d):
        probability = np.where(seen, seen_rates, 1 - seen_rates)
        # That of the others, given the hole: without its own factor, which may be zero.
        given = np.array([0.0 if seen[k] else np.prod(np.delete(probability, k)) for k in range(d)])
        possible = given > 0
        if possible.any():
            total[possible] += given[possible] * errors(seen)[possible]
    return PatternMean(total, np.zeros(d), 0.0)


def _subsets(d: int) -> Iterator[Pattern]:
    for number in range(2**d):
        yield (number >> np.arange(d)) & 1 == 1
