"""How far the marginals of one to three sites of two samples lie from each other, beside the noise of the samples."""

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core import stream
from theory.core import Array, Count, DataFrame, NonNegativeCount, Positive, Result, checked, checks, table
from theory.models.potts.batches import States, checked_samples, normalized_weights

MOST_SUBSETS = 2000  # of sites of one order; where there are more, so many are chosen at random
ORDERS = (1, 2, 3)


@dataclass(frozen=True, eq=False, repr=False)
class MarginalMismatch(Result):
    """Says how far the joint distributions of r = `order` sites differ between two samples.

    The distance is the total variation, half of the sum of absolute differences of frequencies: between 0 and 1.
    `mean` and `largest` are over the `n_subsets` sets of r sites that were compared. `noise` is the mean that two
    independent samples of these sizes from one law would show. A `mean` well above `noise` is a real difference. A
    sample of a law that was fitted to the other one shows less than the noise where the fit reproduces marginals.
    """

    order: int
    mean: float
    largest: float
    noise: float
    n_subsets: int


@dataclass(frozen=True, eq=False, repr=False)
class MarginalReport(Result):
    """The mismatches of the marginals of one, two and three sites between two samples, in this order."""

    mismatches: tuple[MarginalMismatch, ...]

    def to_frame(self) -> DataFrame:
        """Return a table with one row for each order; needs pandas."""
        names = ("order", "mean", "largest", "noise", "n_subsets")
        return table(**{name: [getattr(each, name) for each in self.mismatches] for name in names})


@checked
def marginal_mismatches(
    states: Any,
    others: Any,
    n_colors: Count,
    *,
    weights: Any = None,
    effective_size: Positive | None = None,
    max_subsets: Count = MOST_SUBSETS,
    seed: NonNegativeCount = 0,
) -> MarginalReport:
    """Compare the marginals of one, two and three sites of `states` (M, L) with those of `others` (M', L).

    Colors are integers below `n_colors`. The samples of `states` count by `weights` (M,), equally where None; those of
    `others` count equally, and `effective_size` is the number of independent states that they are worth, M' where None.
    If there are more than `max_subsets` sets of sites of one order, that many are chosen at random, by `seed`. The
    noise is the mean of the absolute value of a normal difference of frequencies with the variance p (1 - p) (1/M_eff +
    1/M'_eff), at most 2 p.

    >>> rng = np.random.default_rng(0)
    >>> first, second = rng.integers(0, 2, (2, 4000, 4))
    >>> report = marginal_mismatches(first, second, n_colors=2)
    >>> [each.order for each in report.mismatches], report.mismatches[0].mean < 0.02
    ([1, 2, 3], True)
    """
    own = checked_samples("states", states, n_colors)
    other = checked_samples("others", others, n_colors, own.shape[1])
    w = normalized_weights(weights, len(own))
    checks.fits_in_memory(f"marginals of three sites and {n_colors} colors", 4 * float(n_colors) ** 3)
    inverse = float(np.sum(w**2)) + 1 / (effective_size or len(other))
    rng = stream(seed, "marginals")
    orders = [order for order in ORDERS if order <= own.shape[1]]
    own_columns, other_columns = _columns(own), _columns(other)
    return MarginalReport(
        tuple(_mismatch(own_columns, other_columns, w, n_colors, order, inverse, max_subsets, rng) for order in orders)
    )


def _columns(states: States) -> NDArray[np.int64]:
    return np.ascontiguousarray(states.T, dtype=np.int64)


def _mismatch(
    own: NDArray[np.int64],
    other: NDArray[np.int64],
    w: Array,
    n_colors: int,
    order: int,
    inverse: float,
    most: int,
    rng: np.random.Generator,
) -> MarginalMismatch:
    equal = np.full(other.shape[1], 1 / other.shape[1])
    distances, noises = [], []
    for sites in subsets(len(own), order, most, rng):
        p, q = _frequencies(own[sites], w, n_colors), _frequencies(other[sites], equal, n_colors)
        middle = (p + q) / 2
        expected = np.sqrt(2 / np.pi * middle * (1 - middle) * inverse)
        distances.append(float(abs(p - q).sum()) / 2)
        noises.append(float(np.minimum(expected, 2 * middle).sum()) / 2)
    mean, noise = float(np.mean(distances)), float(np.mean(noises))
    return MarginalMismatch(order, mean, max(distances), noise, len(distances))


def subsets(n_sites: int, order: int, most: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Return all sets of `order` sites, or `most` different ones at random where there are more."""
    if comb(n_sites, order) <= most:
        return [np.array(sites) for sites in combinations(range(n_sites), order)]
    found: dict[tuple[int, ...], None] = {}
    while len(found) < most:
        found[tuple(sorted(rng.choice(n_sites, order, replace=False).tolist()))] = None
    return [np.array(sites) for sites in found]


def _frequencies(columns: NDArray[np.int64], w: Array, n_colors: int) -> Array:
    """Return the joint frequencies (C^r,) of r columns (r, M)."""
    codes = columns[0]
    for column in columns[1:]:
        codes = codes * n_colors + column
    return np.asarray(np.bincount(codes, w, n_colors ** len(columns)), dtype=float)
