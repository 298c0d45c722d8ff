"""One regression of a column on others: its equation solved, its coefficients, and the error they make."""

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import eigh

from theory.core.arrays import Array
from theory.masked.holes.equation import TOLERANCE, Pencil, RowWeight
from theory.models.row_scales import RowScales
from theory.numerics import ConvergenceError

ADVICE = "take lam further above the least ridge, or a less extreme alpha or missing_rates"


class BelowLeastRidge(Exception):
    """The signal that no weight of rows solves the equation: the ridge is below the least one."""


@dataclass(frozen=True, eq=False)
class DensePencil:
    """Rows of covariance M (size, size) beside the diagonal ridge L (size,), decomposed once for any number of rows.

    `vectors` (size, size) has the modes in columns, with vectors' (M + L) vectors = 1.
    """

    signal: Array = field(repr=False)
    ridge: Array = field(repr=False)
    vectors: Array = field(repr=False)

    @classmethod
    def of(cls, M: Array, L: Array) -> "DensePencil":
        """Decompose M beside L, where M + L is positive definite."""
        if np.ptp(L) == 0:
            eigenvalues, vectors = np.linalg.eigh(M)
            eigenvalues = np.maximum(eigenvalues, 0.0)
            total = eigenvalues + L[0]
            return cls(eigenvalues / total, L[0] / total, vectors / np.sqrt(total))
        signal, vectors = eigh(M, M + np.diag(L))
        return cls(signal, 1 - signal, vectors)

    def at(self, n: float, rows: RowScales) -> "Regression":
        """Solve the equation of n rows; `BelowLeastRidge` where it has no root."""
        pencil = Pencil(self.signal, self.ridge, 1 / n)
        weight = solved(pencil, rows)
        return Regression(self, n, weight, pencil.inverse(weight.weight))


def solved(pencil: Pencil, rows: RowScales) -> RowWeight:
    """Return the weight of the rows; `BelowLeastRidge` where there is none, ConvergenceError where it is not found."""
    weight = pencil.solve(rows)
    if weight is None:
        raise BelowLeastRidge
    if not (weight.residual <= TOLERANCE and weight.square * weight.overlap < 1):
        what, made = "weight of the rows of a table with holes", weight.iterations
        raise ConvergenceError.of(what, weight, weight.residual, TOLERANCE, made, status="max_iter", advice=ADVICE)
    return weight


@dataclass(frozen=True, eq=False)
class Regression:
    """The solved regressions on one set of inputs: Q = (weight M + L)^-1 as a matrix, by its modes `inverse`."""

    pencil: DensePencil = field(repr=False)
    n: float
    weight: RowWeight
    inverse: Array = field(repr=False)

    def coefficients(self, cross: Array) -> Array:
        """Compute weight Q cross, (size, columns): what regressions of the columns on the inputs tend to."""
        Z = self.pencil.vectors
        return np.asarray(self.weight.weight * (Z @ (self.inverse[:, None] * (Z.T @ cross))))

    def form_of_input(self, k: int) -> Array:
        """Compute Q_k/Q_kk, (size,), for one input."""
        Z = self.pencil.vectors
        row = Z @ (self.inverse * Z[k])
        return np.asarray(row / row[k])

    def noise(self, diagonal: Array) -> float:
        """Compute square u, u = tr[M Q B Q]/n/(1 - m): the weight of v'Mv in the error of the form B.

        `diagonal` is that of B in the modes, `in_modes(B)`.
        """
        spread = float(np.sum(self.pencil.signal * self.inverse**2 * diagonal)) / self.n
        return self.weight.square * spread * self.weight.variance_factor

    def trace(self, diagonal: Array) -> float:
        """Compute tr Q B from the diagonal of B in the modes."""
        return float(self.inverse @ diagonal)

    def in_modes(self, B: Array) -> Array:
        """Return the diagonal (size,) of a matrix B (size, size) in the modes."""
        Z = self.pencil.vectors
        return np.asarray(np.einsum("ij,ij->j", Z, B @ Z))


def form(v: Array, B: Array) -> Array:
    """Compute v'Bv for every column of v (size, columns)."""
    return np.asarray(np.einsum("ij,ij->j", v, B @ v))
