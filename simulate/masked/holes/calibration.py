"""Expected squared errors of holes as a line in their variances under a model, with a factor for each column."""

from dataclasses import dataclass

import numpy as np

from theory.core.arrays import Array

EQUAL_VARIANCES = 1e-9  # relative difference of variances under the model, below which it is rounding


@dataclass(frozen=True, eq=False)
class Calibration:
    """Expected squared errors of holes as functions of their variances under the model, all in standard units.

    They are (offset + slope v) times the factor of the column. Offset and slope, both at least zero, make the measured
    errors right on average among the half of the entries that the model calls safer, and among the other half: where
    there are few rows the model is too sure of the safe ones.
    """

    offset: float
    slope: float
    factors: Array  # (d,)

    def __call__(self, variances: Array) -> Array:
        """Return the expected squared errors (n, d) of entries with these variances."""
        return np.asarray((self.offset + self.slope * variances) * self.factors)

    @classmethod
    def line(cls, squares: Array, variances: Array, weights: Array | None = None) -> tuple[float, float]:
        """Return offset and slope from the measured squared errors (entries,) and their variances."""
        order = np.argsort(variances, kind="stable")
        variances, squares = variances[order], squares[order]
        weights = np.ones_like(squares) if weights is None else weights[order]
        # Entries of one variance, up to rounding, count with their mean: else the order of the rows would decide which
        # of them are among the safer half.
        group = np.cumsum(np.diff(variances, prepend=variances[0]) > EQUAL_VARIANCES * variances)
        squares = (np.bincount(group, weights * squares) / np.bincount(group, weights))[group]
        halves = np.array_split(np.arange(len(order)), 2)
        (low, high), (safe, doubtful) = (
            [np.average(part[half], weights=weights[half]) for half in halves] for part in (variances, squares)
        )
        mean, level = (float(np.average(part, weights=weights)) for part in (variances, squares))
        slope = (doubtful - safe) / (high - low) if high - low > 1e-9 * mean else level / mean
        slope = float(np.clip(slope, 0, level / mean))
        return float(level - slope * mean), slope
