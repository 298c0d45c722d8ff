"""Masked ridge regressions of the columns of a table with holes, each over the rows that have the column."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theory.core.arrays import Array


@dataclass(frozen=True, eq=False)
class OwnRows:
    """Regressions of each column on the zero-filled others: min (1/N_k) sum (x_k - a.z)^2 + lam |a|^2 over its rows."""

    values: Array  # (n, d), zero at holes
    seen: NDArray[np.bool_]

    def predictor(self, lam: float) -> Array:
        """Return the weights (d, d); row k predicts column k, and its own weight is zero."""
        weights = np.zeros((self.values.shape[1],) * 2)
        for k, column in enumerate(self._columns()):
            weights[k] = column.weights(lam)
        return weights

    def fill(self, lam: float) -> Array:
        """Return the rows with predictions in their holes."""
        return np.where(self.seen, self.values, self.values @ self.predictor(lam).T)

    def entry_errors(self, lams: Iterable[float]) -> Array:
        """Return the residuals (lams, n, d) of every entry seen with its row left out of the regression; 0 at holes."""
        strengths = list(lams)
        residuals = np.zeros((len(strengths), *self.values.shape))
        for k, column in enumerate(self._columns()):
            for i, lam in enumerate(strengths):
                residuals[i, self.seen[:, k], k] = column.left_out(lam)
        return residuals

    def _columns(self) -> Iterable["_Column"]:
        for k in range(self.values.shape[1]):
            rows = self.seen[:, k]
            inputs = self.values[rows]
            target = inputs[:, k].copy()
            inputs[:, k] = 0.0
            yield _Column(inputs, target)


class _Column:
    """One regression along all ridges, by singular values of its inputs."""

    def __init__(self, inputs: Array, target: Array) -> None:
        self.target = target
        # Factors of the smaller Gram matrix cost less than singular values, and the ridge hides what they lose.
        n, d = inputs.shape
        if n <= d:
            levels, self.left = np.linalg.eigh(inputs @ inputs.T / n)
            self.right = inputs.T @ self.left / n
            self.levels = np.maximum(levels, 0)
            self.scores = self.left.T @ target
            self.leverages = self.left
        else:
            levels, vectors = np.linalg.eigh(inputs.T @ inputs / n)
            self.levels, self.right = np.maximum(levels, 0), vectors
            self.leverages = inputs @ vectors
            self.scores = self.leverages.T @ target / n
        self.by_rows = n <= d

    def weights(self, lam: float) -> Array:
        return np.asarray(self.right @ (self.scores / (self.levels + lam)))

    def left_out(self, lam: float) -> Array:
        n = len(self.target)
        if self.by_rows:  # residual lam G y over lam G_ii, in which no difference of near numbers is left
            shrunk = 1 / (self.levels + lam)
            return np.asarray(self.left @ (shrunk * self.scores) / (self.left**2 @ shrunk))
        fitted = self.leverages @ (self.scores / (self.levels + lam))
        leverage = self.leverages**2 @ (1 / (self.levels + lam)) / n
        return np.asarray((self.target - fitted) / (1 - leverage))
