"""Compares new sequences with a family: frequencies of sites, covariances of two and three sites."""

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from simulate.core import stream
from theory.core import Array

MAX_TRIPLES = 300  # triples of sites, drawn at random where there are more
MAX_PAIRS = 3000  # pairs of sites, likewise
MAX_POINTS = 1500  # points of a scatter, drawn at random
SITES, PAIRS, TRIPLES = "frequencies of sites", "covariances of pairs", "covariances of triples"
States = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Says how one kind of number agrees between a family and new sequences, and between two halves of the family.

    `pearson` is the correlation coefficient, `slope` that of the regression on the family's numbers. `half_pearson` and
    `half_slope` are the same for a second half of the family against the first, in whole clusters of similar sequences
    (NaN where there are too few clusters): what a model of this family can hardly exceed on sequences it has not seen.
    """

    what: str
    pearson: float
    slope: float
    half_pearson: float
    half_slope: float
    n_sets: int  # sites, pairs or triples that were compared
    points: Array = field(repr=False)  # (n, 2): of the family, of the new sequences


def compared(
    states: States,
    weights: Array,
    new: States,
    n_colors: int,
    halves: tuple[NDArray[np.int64], NDArray[np.int64]] | None,
    seed: int,
) -> tuple[Comparison, ...]:
    """Compare `new` sequences (N, L), which count equally, with those of a family (M, L), which count by `weights`.

    `halves` are the positions of two halves of the family, or None. A covariance of three sites is the mean of the
    product of the three deviations from the frequencies.
    """
    rng = stream(seed, "compared sets of sites")
    L = states.shape[1]
    found = []
    for order, what, most in ((1, SITES, L), (2, PAIRS, MAX_PAIRS), (3, TRIPLES, MAX_TRIPLES)):
        if order > L:
            break
        sets = _some_sets(L, order, most, rng)
        own, other = (_cumulants(each, w, n_colors, sets) for each, w in ((states, weights), (new, np.ones(len(new)))))
        half = (np.nan, np.nan)
        if halves is not None:
            first, second = (_cumulants(states[part], weights[part], n_colors, sets) for part in halves)
            half = _agreement(first, second)
        chosen = rng.permutation(len(own))[:MAX_POINTS]
        points = np.stack([own[chosen], other[chosen]], axis=1)
        found.append(Comparison(what, *_agreement(own, other), *half, len(sets), points))
    return tuple(found)


def _agreement(x: Array, y: Array) -> tuple[float, float]:
    """Return the correlation coefficient, and the slope of the regression of y on x; zeros where nothing varies."""
    x, y = x - x.mean(), y - y.mean()
    xx, yy, xy = float(x @ x), float(y @ y), float(x @ y)
    return (xy / np.sqrt(xx * yy), xy / xx) if min(xx, yy) > 0 else (0.0, 0.0)


def _some_sets(n_sites: int, order: int, most: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Return all sets of `order` sites, or `most` different ones at random where there are more."""
    if n_sites <= 24 or order == 1:
        every = list(combinations(range(n_sites), order))
        kept = rng.permutation(len(every))[:most] if order > 1 else np.arange(len(every))
        return [every[k] for k in np.sort(kept)]
    some: set[tuple[int, ...]] = set()
    most = min(most, n_sites * (n_sites - 1) // 2)
    while len(some) < most:
        some.add(tuple(sorted(rng.choice(n_sites, order, replace=False).tolist())))
    return sorted(some)


def _cumulants(states: States, weights: Array, n_colors: int, sets: list[tuple[int, ...]]) -> Array:
    """Return the covariances of one to three sites for all of their colors, one set after the other."""
    w, C = weights / weights.sum(), n_colors
    codes = states.astype(np.int64)
    frequencies = np.array([np.bincount(column, w, C) for column in codes.T])

    def joint(sites: tuple[int, ...]) -> Array:
        place = codes[:, sites[0]]
        for site in sites[1:]:
            place = place * C + codes[:, site]
        return np.asarray(np.bincount(place, w, C ** len(sites)).reshape((C,) * len(sites)), dtype=float)

    parts = []
    for sites in sets:
        f = frequencies[list(sites)]
        if len(sites) == 1:
            parts.append(f[0])
        elif len(sites) == 2:
            parts.append((joint(sites) - np.multiply.outer(f[0], f[1])).ravel())
        else:
            i, j, k = sites
            third = joint(sites) + 2 * np.einsum("a,b,c->abc", *f)
            third -= joint((i, j))[:, :, None] * f[2] + joint((i, k))[:, None, :] * f[1][:, None]
            third -= joint((j, k)) * f[0][:, None, None]
            parts.append(third.ravel())
    return np.concatenate(parts)
