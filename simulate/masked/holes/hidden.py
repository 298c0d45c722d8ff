"""Hides entries that are known, to choose the ridge of expectation maximization and to measure what it predicts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulate.masked.holes.expectation import Gaussian, Maximized, maximize, start_from_pairs
from simulate.masked.holes.folds import Part, folds_of, laid_folds, measured_weights
from simulate.masked.holes.laid import laid_holes
from simulate.masked.holes.patterns import Patterns
from theory.core.arrays import Array

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
        laid = laid_holes(seen)
        parts = folds_of(seen) if laid is None else laid_folds(laid)
        self.folds = [_Fold(values, seen & ~part.hidden, part) for part in parts]
        self.matched = 1.0 if laid is None else laid.matched
        self.measured = measured_weights(seen, laid, parts)
        if not self.folds:
            raise ValueError(
                "X must have 3 entries or more in some column for method 'em', which hides one to see how far off its "
                "prediction is: use method 'own_rows' or 'pairwise'"
            )
        self._errors: dict[int, float] = {}

    def choose(self) -> int:
        """Return the place in RIDGES with the least error at the hidden entries, found from coarse to fine."""
        best, near = FIRST, self._neighbors(FIRST, COARSE_STEP)
        while (found := min([best, *near], key=self.error)) != best:
            best, near = found, self._neighbors(found, COARSE_STEP)
        # Neighbors on both sides are worse, so that the minimum lies between them, on the side of the better one.
        side = 1 if min(near, key=self.error) > best else -1
        return min([best, best + side * COARSE_STEP // 2], key=self.error)

    def _neighbors(self, place: int, step: int) -> list[int]:
        return [other for other in (place - step, place + step) if 0 <= other < len(RIDGES)]

    def error(self, place: int) -> float:
        """Return the mean square over the hidden entries at one ridge, each column with its weight."""
        if place not in self._errors:
            total, count = np.zeros(len(self.weights)), np.zeros(len(self.weights))
            for fold in self.folds:
                residuals = fold.residuals(place)
                measured = np.where(fold.measured, self.measured, 0.0)
                total += np.einsum("ij,ij,ij->j", measured, residuals, residuals)
                count += measured.sum(axis=0)
            weights = self.weights * (count > 0)
            if not weights.any():  # columns with holes have too few entries to hide one of them
                weights = (count > 0).astype(np.float64)
            self._errors[place] = float(weights @ (total / np.where(count > 0, count, 1)) / weights.sum())
        return self._errors[place]

    def start(self, lam: float) -> tuple[Array, Array]:
        """Return the moments nearest to those at a ridge that were found so far, from which other steps may start."""
        return self.folds[0].nearest(lam)

    def at(self, lam: float, max_steps: int, tol: float) -> Hidden:
        """Return residuals and variances of all hidden entries at one ridge, from converged fits."""
        residuals, variances = np.full(self.seen.shape, np.nan), np.full(self.seen.shape, np.nan)
        for fold in self.folds:
            predicted, spread = fold.converged(lam, max_steps, tol).fill(self.values, fold.seen, fold.patterns)
            residuals[fold.measured] = (self.values - predicted)[fold.measured]
            variances[fold.measured] = spread[fold.measured]
        return Hidden(residuals, variances, lam)


class _Fold:
    def __init__(self, values: Array, seen: NDArray[np.bool_], part: Part) -> None:
        self.values, self.seen, self.measured = np.where(seen, values, 0.0), seen, part.measured
        self.all_values = values
        self.patterns = Patterns.of(seen)
        self.fits: dict[int, Maximized] = {}

    def residuals(self, place: int) -> Array:
        lam = RIDGES[place]
        self.fits[place] = maximize(self.values, self.patterns, self.nearest(lam), lam, STEPS, DISTANCE)
        return np.where(self.measured, self.all_values - self.fits[place].filled, 0.0)

    def converged(self, lam: float, max_steps: int, tol: float) -> Gaussian:
        return maximize(self.values, self.patterns, self.nearest(lam), lam, max_steps, tol).gaussian

    def nearest(self, lam: float) -> tuple[Array, Array]:
        """Return the moments at the nearest ridge, or between those of two ridges as the logarithm of lam lies."""
        if not self.fits:
            return self._start()
        distances = {place: float(np.log(RIDGES[place] / lam)) for place in self.fits}
        above = min((place for place in distances if distances[place] >= 0), key=distances.__getitem__, default=None)
        below = max((place for place in distances if distances[place] <= 0), key=distances.__getitem__, default=None)
        if above is None or below is None or above == below:
            near = min(distances, key=lambda place: abs(distances[place]))
            return self.fits[near].gaussian.moments
        share = distances[above] / (distances[above] - distances[below])  # of the smaller ridge
        pairs = zip(self.fits[above].gaussian.moments, self.fits[below].gaussian.moments, strict=True)
        mean, covariance = ((1 - share) * one + share * other for one, other in pairs)
        return mean, covariance

    def _start(self) -> tuple[Array, Array]:
        return start_from_pairs(self.values, self.seen)
