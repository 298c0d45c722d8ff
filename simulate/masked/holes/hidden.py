"""Hides entries that are known, to choose the ridge of expectation maximization and to measure what it predicts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulate.core import stream
from simulate.masked.holes.expectation import Gaussian, Maximized, maximize, start_from_pairs
from simulate.masked.holes.patterns import Patterns
from theory.core.arrays import Array

SHARES = 10  # a tenth of the entries is hidden at a time
ENOUGH_ENTRIES = 2000  # as many are hidden in all, if there are so many: their error is known to a few per cent
RIDGES = tuple(4.0 * 2.0**-k for k in range(14))  # 4 to 0.0005, in units of the columns' variance
FIRST, COARSE_STEP = 4, 2  # places in RIDGES: the search starts at 0.25 and goes by factors of 4, then of 2
STEPS, DISTANCE = 15, 0.3  # of expectation maximization while a ridge is tried


@dataclass(frozen=True, eq=False)
class Hidden:
    """Residuals (n, d) of entries that were hidden and predicted, and their variances under the model; else NaN."""

    residuals: Array
    variances: Array
    lam: float


class HiddenEntries:
    """Tenths of the entries seen, hidden one after the other, and the Gaussians fitted to what is left."""

    def __init__(self, values: Array, seen: NDArray[np.bool_], weights: Array) -> None:
        self.values, self.seen, self.weights = values, seen, weights
        self.folds = [_Fold(values, seen & ~hidden, hidden) for hidden in _tenths(seen)]
        if not self.folds:
            raise ValueError(
                "X must have 3 entries or more in some column for method 'em', which hides one to see how far off its "
                "prediction is: use method 'own_rows' or 'pairwise'"
            )
        self._errors: dict[int, float] = {}

    def choose(self) -> int:
        """Return the place in RIDGES with the least error at the hidden entries, found from coarse to fine."""
        best, step = FIRST, COARSE_STEP
        while step:
            near = [place for place in (best - step, best, best + step) if 0 <= place < len(RIDGES)]
            found = min(near, key=self.error)
            # Once neighbors on both sides are worse the minimum lies between them: a finer step looks there.
            best, step = found, step // 2 if found == best else step
        return best

    def error(self, place: int) -> float:
        """Return the mean square over the hidden entries at one ridge, each column with its weight."""
        if place not in self._errors:
            known = min(self._errors, key=lambda other: abs(other - place), default=None)
            total, count = np.zeros(len(self.weights)), np.zeros(len(self.weights))
            for fold in self.folds:
                residuals = fold.residuals(RIDGES[place], place, known)
                total += np.einsum("ij,ij->j", residuals, residuals)
                count += fold.hidden.sum(axis=0)
            weights = self.weights * (count > 0)
            if not weights.any():  # columns with holes have too few entries to hide one of them
                weights = (count > 0).astype(np.float64)
            self._errors[place] = float(weights @ (total / np.maximum(count, 1)) / weights.sum())
        return self._errors[place]

    def start(self, lam: float) -> tuple[Array, Array]:
        """Return the moments nearest to those at a ridge that were found so far, from which other steps may start."""
        return self.folds[0].nearest(lam)

    def at(self, lam: float, max_steps: int, tol: float) -> Hidden:
        """Return residuals and variances of all hidden entries at one ridge, from converged fits."""
        residuals, variances = np.full(self.seen.shape, np.nan), np.full(self.seen.shape, np.nan)
        for fold in self.folds:
            predicted, spread = fold.converged(lam, max_steps, tol).fill(self.values, fold.seen, fold.patterns)
            residuals[fold.hidden] = (self.values - predicted)[fold.hidden]
            variances[fold.hidden] = spread[fold.hidden]
        return Hidden(residuals, variances, lam)


class _Fold:
    def __init__(self, values: Array, seen: NDArray[np.bool_], hidden: NDArray[np.bool_]) -> None:
        self.values, self.seen, self.hidden = np.where(seen, values, 0.0), seen, hidden
        self.all_values = values
        self.patterns = Patterns.of(seen)
        self.fits: dict[int, Maximized] = {}

    def residuals(self, lam: float, place: int, known: int | None) -> Array:
        start = self._start() if known is None else self.fits[known].gaussian.moments
        self.fits[place] = maximize(self.values, self.patterns, start, lam, STEPS, DISTANCE)
        return np.where(self.hidden, self.all_values - self.fits[place].filled, 0.0)

    def converged(self, lam: float, max_steps: int, tol: float) -> Gaussian:
        return maximize(self.values, self.patterns, self.nearest(lam), lam, max_steps, tol).gaussian

    def nearest(self, lam: float) -> tuple[Array, Array]:
        near = min(self.fits, key=lambda place: abs(np.log(RIDGES[place] / lam)), default=None)
        return self._start() if near is None else self.fits[near].gaussian.moments

    def _start(self) -> tuple[Array, Array]:
        return start_from_pairs(self.values, self.seen)


def _tenths(seen: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
    """Return disjoint tenths of the entries seen, as many as make enough entries; the seed is fixed.

    Every column keeps two entries at least in each of them.
    """
    rng = stream(0, "hidden entries", *seen.shape)
    number = np.full(seen.shape, -1)
    for column in range(seen.shape[1]):
        rows = rng.permutation(np.flatnonzero(seen[:, column]))
        if len(rows) > 2:  # numbers follow one another from a random one on: equal shares in every column
            number[rows, column] = (np.arange(len(rows)) + rng.integers(SHARES)) % SHARES
    sizes = int((number >= 0).sum())
    folds = min(SHARES, max(1, -(-ENOUGH_ENTRIES * SHARES // max(sizes, 1))))
    tenths = [number == fold for fold in range(SHARES)]
    return [tenth for tenth in tenths if tenth.any()][:folds]
