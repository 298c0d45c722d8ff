"""The least ridge of the pairwise estimator: minus the least eigenvalue of its covariance matrix."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from theory.core.arrays import Array
from theory.masked.holes.modes import commuting
from theory.models import MissingEntries, RowScales
from theory.random_matrix.row_response import inverse_weights

GRID_POINTS = 40  # leverages at which the smallest ridge is looked for first
MAX_LEVERAGE = 1e8  # of the grid; where N <= d the least ridge is the limit of infinite leverage
MAX_STEPS = 200
ROUNDING = 4e-16


@dataclass(frozen=True, eq=False)
class Shifted:
    """The modes of A = R - weight M at one weight: rows of covariance M stand beside the ridge lam - R.

    `values` (r,) are eigenvalues of A, and `signal` (r,) is v'Mv of its eigenvectors over N, so that tr M Q/N, Q =
    (weight M + lam - R)^-1, is the sum of signal/(lam - values).
    """

    values: Array
    signal: Array


@dataclass(frozen=True, eq=False)
class EdgeSearch:
    """The search for the least ridge over leverages, with the rows' law and the modes at every weight."""

    at: Callable[[float], Shifted] = field(repr=False)
    rows: RowScales

    def ridge(self, leverage: float) -> float:
        """Compute the ridge at which the rows have this leverage: the root of leverage = tr M Q/N above all values.

        The reciprocal of the sum is a concave function of the ridge, so that Newton's method on it rises to the root
        from the lower bound that the largest single term gives.
        """
        weight = float(inverse_weights(self.rows, np.array([leverage]))[0][0])
        modes = self.at(weight)
        top = modes.values.max()
        lam = float(np.max(np.where(modes.signal > 0, modes.values + modes.signal / leverage, top)))
        if not lam > top:
            return float(top)
        for _ in range(MAX_STEPS):
            terms = modes.signal / (lam - modes.values)
            level = float(terms.sum())
            step = (level / leverage - 1) * level / float((terms / (lam - modes.values)).sum())
            if not step > ROUNDING * (abs(lam) + abs(float(top))):
                break
            lam += step
        return lam

    def least(self) -> float:
        """Compute the smallest ridge over all leverages.

        Every ridge that some leverage above zero belongs to is above the least one, because the leverages of the
        branch exist for all larger ridges; hence the minimum over all of them, and not that of one branch. The limit of
        infinite leverage is that of rows without weight.
        """
        from scipy.optimize import minimize_scalar  # a fifth of a second to load, for tables with holes alone

        leverages = np.geomspace(1e-6, MAX_LEVERAGE, GRID_POINTS)
        ridges = np.array([self.ridge(float(one)) for one in leverages])
        i = int(ridges.argmin())
        low, high = leverages[max(i - 1, 0)], leverages[min(i + 1, GRID_POINTS - 1)]
        found = minimize_scalar(
            lambda logarithm: self.ridge(float(np.exp(logarithm))),
            bounds=(np.log(low), np.log(high)),
            method="bounded",
            options={"xatol": 1e-9},
        )
        return float(min(found.fun, ridges[i], self.at(0.0).values.max()))


def least_ridge(model: MissingEntries) -> float:
    """Compute the ridge below which the regressions of a problem have no solution: 0 for own rows."""
    if model.method == "own_rows":
        return 0.0
    q = np.asarray(model.seen_rates, float)
    of = commuting(model)
    if of is not None:
        s, odds = of.spectrum.eigenvalues, float((1 - q) / q) * of.delta
        shares = of.spectrum.weights / model.alpha
        return EdgeSearch(
            lambda weight: Shifted(odds - weight * (s + odds), shares * (s + odds)), model.row_scales
        ).least()
    Sigma = model.covariance.matrix
    odds = (1 - q) / q * np.diagonal(Sigma)
    M = Sigma + np.diag(odds)

    def at(weight: float) -> Shifted:
        values, vectors = np.linalg.eigh(np.diag(odds) - weight * M)
        return Shifted(values, np.maximum(np.einsum("ij,ij->j", vectors, M @ vectors), 0.0) / model.n)

    return EdgeSearch(at, model.row_scales).least()
