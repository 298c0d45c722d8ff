"""Hides some of the entries of a table that are seen, so that what is filled in there can be judged."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from figures.analyse.matrix.holes.admitted import FEWEST_SEEN
from figures.analyse.matrix.holes.where import Booleans
from simulate.core import stream
from simulate.masked.holes.folds import laid_folds
from simulate.masked.holes.laid import come_together, lay_holes
from theory.core.arrays import Array

PARTS = 10  # a tenth of the entries is hidden at a time


def hidden_parts(X: Array, draws: int, seed: int) -> Iterator[Booleans]:
    """Yield so many sets of entries to hide of X (n, d), NaN in its holes: a tenth of the entries of each column each.

    Up to ten sets have no entry in common. Where holes come together in rows, the holes of some rows are hidden in
    others that show more, up to a tenth of the entries of a column. Every row keeps an entry that is seen, and every
    column FEWEST_SEEN of them that are not all equal; what would take the last ones stays seen.
    """
    seen = ~np.isnan(X)
    together = come_together(seen)
    for draw in range(draws):
        if draw % PARTS == 0:
            if together:
                parts = _as_holes(seen, seed + draw // PARTS + 1)
            else:
                part = _parts(seen, stream(seed, "hidden", draw // PARTS))
                parts = [part == number for number in range(PARTS)]
        yield _without_last(X, seen, parts[draw % PARTS])


def _as_holes(seen: Booleans, seed: int) -> list[Booleans]:
    """Lay holes of rows on other rows; where that gives few sets, others are laid with further seeds."""
    parts: list[Booleans] = []
    while len(parts) < PARTS:
        laid = lay_holes(seen, seed + PARTS * len(parts))
        parts += [part.hidden for part in laid_folds(laid, seed + PARTS * len(parts))]
    return parts[:PARTS]


def _parts(seen: Booleans, rng: np.random.Generator) -> NDArray[np.int64]:
    """Put each entry that is seen into one of ten parts, at random and evenly in each column; the holes have -1."""
    part = np.full(seen.shape, -1)
    for k in range(seen.shape[1]):
        rows = rng.permutation(np.flatnonzero(seen[:, k]))
        part[rows, k] = (np.arange(len(rows)) + rng.integers(PARTS)) % PARTS
    return part


def _without_last(X: Array, seen: Booleans, hidden: Booleans) -> Booleans:
    left = np.asarray((seen & ~hidden).sum(axis=1) > 0)
    hidden = np.asarray(hidden & left[:, None])
    kept = seen & ~hidden
    lowest, highest = np.where(kept, X, np.inf).min(axis=0), np.where(kept, X, -np.inf).max(axis=0)
    return np.asarray(hidden & (kept.sum(axis=0) >= FEWEST_SEEN) & (highest > lowest))
