"""The pairwise covariance of a table with holes: predictions with the row left out, or one entry left out."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from simulate.masked.holes.laid import Laid
from simulate.masked.holes.patterns import Blocks, Patterns
from theory.core.arrays import Array

MARGIN = 1e-9  # of the largest eigenvalue: a ridge nearer to the least one leaves no digits


@dataclass(frozen=True, eq=False)
class Pairwise:
    """Covariances S_jl = sum z_j z_l/(n q_j q_l), S_jj = sum z_j^2/(n q_j) of rows z (n, d) with zeros at their holes.

    Holes are predicted by S_HO (S_OO + lam)^-1 x_O; S has no bias but negative eigenvalues. The rates q are those of
    the columns, not of the pairs: with counts of the pairs small tables would lose positivity, and what follows.
    """

    values: Array
    patterns: Patterns
    rates: Array  # (d,)

    @property
    def seen(self) -> NDArray[np.bool_]:
        """Which entries are seen, (n, d)."""
        return self.patterns.seen

    @cached_property
    def covariance(self) -> Array:
        """The pairwise covariance S (d, d)."""
        moments = self.values.T @ self.values / len(self.values)
        covariance = moments / np.outer(self.rates, self.rates)
        np.fill_diagonal(covariance, np.diagonal(moments) / self.rates)
        return np.asarray(covariance)

    @cached_property
    def least_ridge(self) -> float:
        """The ridge above which S + lam is positive definite; 0 where S is."""
        levels = np.linalg.eigvalsh(self.covariance)
        return float(max(0.0, -levels[0] + MARGIN * levels[-1]) if levels[0] < MARGIN * levels[-1] else 0.0)

    @cached_property
    def pairs_never_seen(self) -> int:
        """The number of pairs of columns of which no row shows both, whose covariance is taken to be 0."""
        together = self.seen.astype(np.float64)
        return int(np.sum(np.triu(together.T @ together == 0, 1)))

    def require(self, lam: float, name: str = "lam") -> None:
        """Raise ValueError for a ridge at or below the least one."""
        if lam <= self.least_ridge:
            raise ValueError(
                f"{name} must be above the least ridge {self.least_ridge:.6g}, below which the pairwise covariance has "
                f"negative eigenvalues, got {lam:g}: raise it, or use method 'em' or 'own_rows'"
            )

    def fill(self, lam: float, left_out: bool = True) -> tuple[Array, Array]:
        """Return the rows with predictions in their holes, and the variance of each hole under S + lam, (n, d).

        With `left_out` the row is left out of the covariance of its own inputs: its entries are part of that covariance
        and not of the covariances with its holes, which shrinks predictions. With y = x_O/q_O and P = (S_OO + lam)^-1
        the rank one formula gives x_H = S_HO P (u + y (y'Pu/n)/(1 - y'Py/n)), u = x_O.
        """
        covariance, n = self.covariance, len(self.values)
        solved = self._solve(lam).solved
        weights = solved[0]
        if left_out:
            inputs = self.values / self.rates
            along = np.einsum("ij,ij->i", inputs, solved[0]) / n
            weights = weights + solved[1] * (along / (1 - np.einsum("ij,ij->i", inputs, solved[1]) / n))[:, None]
        filled = np.where(self.seen, self.values, weights @ covariance)
        ridged = covariance + lam * np.eye(len(covariance))
        return filled, self.patterns.conditional(ridged, self.values, diagonal=True).variances

    def entry_errors(self, lam: float, left_out: bool = True) -> tuple[Array, Array, Array]:
        """Return residuals (n, d) of every entry seen, predicted as if it were a hole; variances under S + lam; shifts.

        The entry is taken out of S as well. With P, u and y as above and one inverse a row, e_k = (Pu)_k/P_kk + y_k
        a_k/n, a = y'Pu - (Py)_k (Pu)_k/P_kk; exact. With `left_out` the row is left out as in `fill`, to the order 1/n:
        e_k - (y_k - (Py)_k/P_kk - y_k b_k/n) (a_k/n)/(1 - b_k/n), b = y'Py - (Py)_k^2/P_kk. The shift is that of the
        residual when the mean of the column is lower by one, 1 + (a_k/n)/(1 - b_k/n): the targets of all other
        rows rise, whose inputs sum to minus those of this row up to noise. Zero at holes.
        """
        n, inputs = len(self.values), self.values / self.rates
        blocks = self._solve(lam)
        (first, second), diagonal = blocks.solved, np.where(self.seen, blocks.diagonal, 1.0)
        residuals = first / diagonal
        along = np.einsum("ij,ij->i", inputs, first)[:, None] - second * residuals
        residuals = residuals + inputs * along / n
        shifts = 1 + along / n
        if left_out:
            own = np.einsum("ij,ij->i", inputs, second)[:, None] - second**2 / diagonal
            residuals = residuals - (inputs - second / diagonal - inputs * own / n) * (along / n) / (1 - own / n)
            shifts = 1 + (along / n) / (1 - own / n)
        seen = self.seen
        return np.where(seen, residuals, 0.0), np.where(seen, 1 / diagonal, 0.0), np.where(seen, shifts, 0.0)

    def laid_errors(self, lam: float, laid: Laid) -> tuple[Array, Array, Array]:
        """Return the same as `entry_errors`, the row left out, for entries measured with others hidden; (n, d).

        With O what is left of the row and u, y, P as above, x_k is predicted by (S_kO - y_k y'/n) P (u + y (a/n)/(1 -
        b/n)), a = y'Pu, b = y'Py: the entry is taken out of its covariances, and the row out of those of its inputs.
        """
        n, left = len(self.values), np.asarray(self.seen[laid.rows] & ~laid.hidden)
        values = np.where(left, self.values[laid.rows], 0.0)
        inputs, patterns = values / self.rates, Patterns.of(left)
        ridged = self.covariance + lam * np.eye(len(self.covariance))
        first, second = patterns.solve(ridged, np.stack([values, inputs]), holes=False).solved
        along, own = np.einsum("ij,ij->i", inputs, first) / n, np.einsum("ij,ij->i", inputs, second) / n
        along = (along / (1 - own))[:, None]
        targets = self.values[laid.rows]
        residuals = targets + targets / self.rates * along - (first + second * along) @ self.covariance
        variances = patterns.conditional(ridged, values, diagonal=True).variances
        return laid.at(residuals), laid.at(variances), laid.at(np.broadcast_to(1 + along, residuals.shape))

    def _solve(self, lam: float) -> Blocks:
        """Solve with (S_OO + lam) of every row for its entries, and for its entries over their rates."""
        ridged = self.covariance + lam * np.eye(len(self.covariance))
        return self.patterns.solve(ridged, np.stack([self.values, self.values / self.rates]), holes=False)


def predict(covariance: Array, lam: float, values: Array, seen: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Fill new rows by a pairwise covariance, and return the variance of each hole under it."""
    found = Patterns.of(seen).conditional(covariance + lam * np.eye(len(covariance)), values, diagonal=True)
    return found.filled, found.variances
