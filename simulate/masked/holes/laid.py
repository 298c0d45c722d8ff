"""Lays the holes of rows on other rows that see more, so that what is hidden together is what is missing together."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.special import kl_div

from simulate.core import stream
from simulate.masked.holes.patterns import Patterns
from theory.core.arrays import Array

CHANCE = 0.01  # that no pair of columns, of holes that lie apart, has so many holes in the same rows
UNLIKE_ROWS = 3.5  # standard deviations of the variance of the rows' numbers of holes, beyond which rows are unlike
MOST_LOST = 0.5  # of the entries beside a hole: a row that lacks more of them is no picture of it
MOST_LAID = 2000  # patterns that are laid: the errors are known to a few per cent by so many
MOST_TIMES = 4  # that the holes of one row are laid

Booleans = NDArray[np.bool_]


def beyond_chance(seen: Booleans) -> Booleans:
    """Return the pairs of columns (d, d) that have more holes in the same rows than holes that lie apart.

    Hoeffding's bound of the hypergeometric tail, with the number of pairs, is the level: no pair of many is found by
    chance, and where two columns miss the same rows four of them suffice.
    """
    n, d = seen.shape
    holes = (~seen).astype(np.float64)
    counts = holes.sum(axis=0)
    shared = holes.T @ holes
    share, rate = shared / np.maximum(counts, 1)[:, None], np.broadcast_to(counts / n, shared.shape)
    log_chance = np.where(
        share > rate, -counts[:, None] * (kl_div(share, rate) + kl_div(1 - share, 1 - np.minimum(rate, 1))), 0.0
    )
    log_chance = np.minimum(log_chance, log_chance.T)
    found = log_chance < np.log(CHANCE / max(1, d * (d - 1) / 2))
    np.fill_diagonal(found, True)
    return np.asarray(found)


def come_together(seen: Booleans) -> bool:
    """Say whether holes of one row come together beyond chance: in some pair of columns, or in rows with many holes."""
    n, d = seen.shape
    if beyond_chance(seen).sum() > d:
        return True
    rates = (~seen).mean(axis=0)
    expected = float(np.sum(rates * (1 - rates)))
    variance = float((~seen).sum(axis=1).var(ddof=1))
    return expected > 0 and (variance / expected - 1) * np.sqrt((n - 1) / 2) > UNLIKE_ROWS


@dataclass(frozen=True, eq=False)
class Laid:
    """Rows on which holes of other rows were laid: what is hidden there, and which of it is measured by it.

    Number m hides the entries `hidden[m]` of the row `rows[m]`, which are holes of the row `like[m]`; what is left
    shows as much beside them. Each entry of the table is measured once at most.
    """

    seen: Booleans  # (n, d), of the table
    rows: NDArray[np.intp]  # (number,)
    like: NDArray[np.intp]  # (number,)
    hidden: Booleans  # (number, d)
    measured: Booleans  # (number, d), a part of what is hidden
    matched: float  # share of the holes of which some row shows the column, and half of what is beside them or more

    @cached_property
    def weights(self) -> Array:
        """Weights (n, d) of the entries measured, with which every hole counts as much as another; mean 1 by column.

        Holes of rows of one pattern are measured by the same entries, and share them.
        """
        patterns = Patterns.of(self.seen)
        group = np.empty(len(self.seen), dtype=np.intp)
        group[patterns.rows] = np.repeat(np.arange(len(patterns.patterns)), np.diff(patterns.firsts))
        counts = np.zeros(patterns.patterns.shape)
        np.add.at(counts, group[self.like], self.measured)
        sizes = np.diff(patterns.firsts)[group[self.like]]
        each = np.where(self.measured, sizes[:, None] / np.maximum(counts[group[self.like]], 1), 0.0)
        weights = np.zeros(self.seen.shape)
        np.add.at(weights, self.rows, each)
        totals = weights.sum(axis=0)
        return np.asarray(weights * ((weights > 0).sum(axis=0) / np.where(totals > 0, totals, 1)))

    def at(self, values: Array) -> Array:
        """Return numbers (number, d) at the entries measured, (n, d); 0 elsewhere."""
        found = np.zeros(self.seen.shape)
        np.add.at(found, self.rows, np.where(self.measured, values, 0.0))
        return found

    @property
    def columns(self) -> Booleans:
        """The columns (d,) of which some entry is measured."""
        return np.asarray(self.measured.any(axis=0))

    def some(self, chosen: NDArray[np.intp]) -> "Laid":
        """Return those of these numbers."""
        return Laid(
            self.seen, self.rows[chosen], self.like[chosen], self.hidden[chosen], self.measured[chosen], self.matched
        )


def laid_holes(seen: Booleans, seed: int = 0) -> Laid | None:
    """Return the holes that come together laid on other rows; None where holes lie apart, and single ones tell all."""
    return lay_holes(seen, seed) if come_together(seen) else None


def lay_holes(seen: Booleans, seed: int = 0) -> Laid:
    """Lay the holes of each row on a row that sees some of them, and that lacks least of what the row sees.

    What is hidden there are holes of the row, so many that about as much is left as the row sees: all of them, where
    the other row lacks nothing that this one sees; fewer, where it does. Columns that miss the same rows beyond chance
    are hidden together or not at all. A row that lacks more than half of what is seen beside the hole is not taken.
    Rows are taken in random order (the seed is fixed), and again while there are entries that were not measured.
    """
    rng = stream(seed, "laid holes", *seen.shape)
    groups = connected_components(beyond_chance(seen), directed=False)[1]
    with_holes = np.flatnonzero(~seen.all(axis=1))
    open_entries = seen.copy()
    found: list[tuple[int, int, Booleans, Booleans]] = []
    asked = matched = 0
    for turn in range(MOST_TIMES):
        before = len(found)
        for row in rng.permutation(with_holes)[: MOST_LAID - len(found)]:
            holes, beside = ~seen[row], seen[row]
            lost = beside.sum() - seen @ beside.astype(np.float32)  # what others lack of what the row sees
            near = lost <= MOST_LOST * beside.sum()
            if turn == 0:
                asked += int(holes.sum())
                matched += int((seen[near].any(axis=0) & holes).sum())
            new = open_entries @ holes.astype(np.float32) > 0
            candidates = np.flatnonzero(near & new)
            if not len(candidates):
                continue
            least = candidates[lost[candidates] == lost[candidates].min()]
            other = int(rng.choice(least))
            hidden = _hidden(seen[other] & holes, open_entries[other], groups, int(lost[other]), rng)
            found.append((other, int(row), hidden, hidden & open_entries[other]))
            open_entries[other] &= ~hidden
        if len(found) == before or len(found) >= MOST_LAID:
            break
    empty = np.zeros((0, seen.shape[1]), dtype=bool)
    return Laid(
        seen,
        np.array([one[0] for one in found], dtype=np.intp),
        np.array([one[1] for one in found], dtype=np.intp),
        np.array([one[2] for one in found]) if found else empty,
        np.array([one[3] for one in found]) if found else empty,
        matched / max(asked, 1),
    )


def _hidden(shared: Booleans, fresh: Booleans, groups: NDArray[Any], lost: int, rng: np.random.Generator) -> Booleans:
    """Choose which of the shared entries (d,) to hide: whole groups, at least one that is fresh, until enough are."""
    enough = int(shared.sum()) - lost
    order = rng.permutation(np.unique(groups[shared & fresh]))
    order = np.concatenate([order, rng.permutation(np.setdiff1d(groups[shared], order))])
    hidden = np.zeros_like(shared)
    for group in order:
        hidden |= shared & (groups == group)
        if hidden.sum() >= enough:
            break
    return hidden
