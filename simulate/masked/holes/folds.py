"""Parts of a table to hide one after the other: tenths of its entries, or entries that come together as holes do."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulate.core import stream
from simulate.masked.holes.laid import Laid
from theory.core.arrays import Array

SHARES = 10  # a tenth of the entries is hidden at a time
ENOUGH_ENTRIES = 2000  # as many are hidden in all, if there are so many: their error is known to a few per cent
ENOUGH_ROWS = 100  # likewise, where many are hidden in one row, which err together

Booleans = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Part:
    """Entries (n, d) that are hidden at a time, and those of them that are measured; each is so in one part at most."""

    hidden: Booleans
    measured: Booleans


def folds_of(seen: Booleans, seed: int = 0) -> list[Part]:
    """Return disjoint tenths of the entries seen, as many as make enough entries; the seed is fixed.

    Every column keeps two entries at least in each of them.
    """
    tenths = [tenth for tenth in _tenths(seen, seed) if tenth.any()]
    folds = min(SHARES, max(1, -(-ENOUGH_ENTRIES * SHARES // max(_countable(seen), 1))))
    return [Part(tenth, tenth) for tenth in tenths[:folds]]


def laid_folds(laid: Laid, seed: int = 0) -> list[Part]:
    """Return parts in which each row has the holes of one other row at most, and each column a tenth of its entries.

    Of columns none of whose holes could be laid, tenths are hidden in the other rows.
    """
    seen = laid.seen
    room = np.minimum(np.maximum(1, seen.sum(axis=0) // SHARES), seen.sum(axis=0) - 2)  # two entries are left
    hidden = np.zeros((SHARES, *seen.shape), dtype=bool)
    measured = np.zeros_like(hidden)
    counts = np.zeros((SHARES, seen.shape[1]), dtype=np.int64)
    taken = np.zeros((SHARES, len(seen)), dtype=bool)
    for row, out, of_these in zip(laid.rows, laid.hidden, laid.measured, strict=True):
        fits = np.flatnonzero(~taken[:, row] & (counts + out <= room).all(axis=1))
        if len(fits):
            fold = fits[0]
            hidden[fold, row], measured[fold, row], taken[fold, row] = out, of_these, True
            counts[fold] += out
    for fold, tenth in enumerate(_tenths(seen, seed)):
        others = tenth & ~laid.columns & ~taken[fold][:, None]
        hidden[fold] |= others
        measured[fold] |= others
    n_rows, n_entries = taken.sum(axis=1).cumsum(), measured.sum(axis=(1, 2)).cumsum()
    enough = np.flatnonzero((n_rows >= ENOUGH_ROWS) & (n_entries >= ENOUGH_ENTRIES))
    last = int(enough[0]) + 1 if len(enough) else SHARES
    parts = [Part(out, of_these) for out, of_these in zip(hidden[:last], measured[:last], strict=True)]
    return [part for part in parts if part.hidden.any()]


def measured_weights(seen: Booleans, laid: Laid | None, parts: list[Part]) -> Array:
    """Return the weights (n, d) of the entries that are measured in the parts."""
    measured = np.any([part.measured for part in parts], axis=0) if parts else np.zeros_like(seen)
    if laid is None:
        return measured.astype(np.float64)
    kept = np.array([(of_these & measured[row]).any() for row, of_these in zip(laid.rows, laid.measured, strict=True)])
    return np.where(laid.columns, laid.some(np.flatnonzero(kept)).weights, measured)


def _tenths(seen: Booleans, seed: int) -> list[Booleans]:
    rng = stream(seed, "hidden entries", *seen.shape)
    number = np.full(seen.shape, -1)
    for column in range(seen.shape[1]):
        rows = rng.permutation(np.flatnonzero(seen[:, column]))
        if len(rows) > 2:  # numbers follow one another from a random one on: equal shares in every column
            number[rows, column] = (np.arange(len(rows)) + rng.integers(SHARES)) % SHARES
    return [number == fold for fold in range(SHARES)]


def _countable(seen: Booleans) -> int:
    counts = seen.sum(axis=0)
    return int(counts[counts > 2].sum())
