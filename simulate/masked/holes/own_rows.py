"""Masked ridge regressions of the columns of a table with holes, each over the rows that have the column."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulate.masked.holes.laid import Laid
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

    def entry_errors(self, lams: Iterable[float]) -> tuple[Array, Array]:
        """Return residuals (lams, n, d) of every entry seen, with its row left out, and their shifts; 0 at holes.

        The shift is that of the residual when the mean of the column is lower by one, because the entry is left out of
        it: the targets of all other rows then rise by one, and with them what is predicted. It is the residual, with
        the row left out, of the regression of the number one.
        """
        strengths = list(lams)
        residuals = np.zeros((len(strengths), *self.values.shape))
        shifts = np.zeros_like(residuals)
        for k, column in enumerate(self._columns()):
            for i, lam in enumerate(strengths):
                rows = self.seen[:, k]
                residuals[i, rows, k], shifts[i, rows, k] = column.left_out(lam)
        return residuals, shifts

    def laid_errors(self, lams: Iterable[float], laid: Laid) -> tuple[Array, Array]:
        """Return the same as `entry_errors` for entries measured with others of their row hidden; 0 elsewhere."""
        strengths = list(lams)
        residuals = np.zeros((len(strengths), *self.values.shape))
        shifts = np.zeros_like(residuals)
        places = np.cumsum(self.seen, axis=0) - 1  # of the rows among those that have the column
        inputs = np.where(laid.hidden, 0.0, self.values[laid.rows])
        for k, column in enumerate(self._columns()):
            chosen = laid.measured[:, k]
            rows = laid.rows[chosen]
            for i, lam in enumerate(strengths):
                residuals[i, rows, k], shifts[i, rows, k] = column.hidden(lam, places[rows, k], inputs[chosen])
        return residuals, shifts

    def _columns(self) -> Iterable["_Column"]:
        for k in range(self.values.shape[1]):
            rows = self.seen[:, k]
            inputs = self.values[rows]
            target = inputs[:, k].copy()
            inputs[:, k] = 0.0
            yield _Column(inputs, target)


class _Column:
    """One regression along all ridges, by the eigenvectors of the smaller Gram matrix of its inputs.

    They cost less than singular values, and the ridge hides what they lose.
    """

    def __init__(self, inputs: Array, target: Array) -> None:
        n, d = inputs.shape
        self.by_rows = n <= d
        levels, vectors = np.linalg.eigh((inputs @ inputs.T if self.by_rows else inputs.T @ inputs) / n)
        self.levels = np.maximum(levels, 0)
        self.targets = np.stack([target, np.ones(n)])
        self.modes = vectors if self.by_rows else inputs @ vectors / np.sqrt(n)  # (rows, modes)
        self.scores = self.targets @ self.modes
        self.right = inputs.T @ vectors / n if self.by_rows else vectors / np.sqrt(n)

    def weights(self, lam: float) -> Array:
        return np.asarray(self.right @ (self.scores[0] / (self.levels + lam)))

    def left_out(self, lam: float) -> Array:
        """Return the residuals (2, rows) of the column and of the number one, each with its row left out."""
        shrunk = 1 / (self.levels + lam)
        answers, leverage = (self.scores * shrunk) @ self.modes.T, self.modes**2 @ shrunk
        # With the dual inverse G the residual is G y over G_ii, in which no difference of near numbers is left.
        return np.asarray(answers / leverage if self.by_rows else (self.targets - answers) / (1 - leverage))

    def hidden(self, lam: float, rows: NDArray[np.intp], inputs: Array) -> Array:
        """Return the residuals (2, some) of some rows that are left out, and of whose inputs (some, d) less is seen.

        Without row i the weights are w - A e_i/N with A = (Z'Z/N + lam)^-1 z_i, and e_i its residual with it left out.
        """
        shrunk = 1 / (self.levels + lam)
        seen = inputs @ self.right
        answers = (self.scores * shrunk) @ seen.T
        along = np.einsum("im,m,im->i", seen, shrunk, self.modes[rows])
        return np.asarray(self.targets[:, rows] - answers + along * self.left_out(lam)[:, rows])
