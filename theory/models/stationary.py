"""Stationary covariances and those with a tridiagonal precision."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from scipy.fft import dct
from scipy.linalg import eigh_tridiagonal, toeplitz

from theory.core import Array, CheckedRecord, Dimension, Positive, Real, Within, checked_fields
from theory.models.covariance import Covariance, adaptive_circle, raised_cosine
from theory.models.one_pole import one_pole_circle
from theory.models.spectrum import Spectrum
from theory.numerics.quadrature import half_circle

ILL_CONDITIONED = 1e6  # bound of a condition number from which a largest eigenvalue is not read off the inverse


@dataclass(frozen=True)
class AR1(CheckedRecord, Covariance):
    """The covariance correlation^|i-j| of a stationary first-order autoregression of unit variance; d may be infinite.

    With r the correlation, its inverse is 1/(1 - r^2) times a tridiagonal matrix with 1 + r^2 on the diagonal (1 at the
    two ends) and -r beside it.

    >>> AR1(3, 0.5).matrix
    array([[1.  , 0.5 , 0.25],
           [0.5 , 1.  , 0.5 ],
           [0.25, 0.5 , 1.  ]])
    """

    d: Dimension
    correlation: Annotated[float, Within(-1.0, 1.0)]

    def _matrix(self) -> Array:
        return np.asarray(toeplitz(self.correlation ** np.arange(self.size)))

    def _precision(self) -> tuple[Array, Array]:
        """Compute the diagonal (d,) and the off-diagonal (d - 1,) of the inverse, for d > 1."""
        r, scale = self.correlation, (1 - self.correlation) * (1 + self.correlation)  # no digit cancels
        diagonal = np.full(self.size, (1 + r * r) / scale)
        diagonal[[0, -1]] = 1 / scale
        return diagonal, np.full(self.size - 1, -r / scale)

    def _eigh(self) -> tuple[Array, Array]:
        if self.size == 1:
            return np.ones(1), np.ones((1, 1))
        precisions, eigenvectors = eigh_tridiagonal(*self._precision())
        return self._inverted(precisions), eigenvectors[:, ::-1]

    def _inverted(self, precisions: Array) -> Array:
        """Invert ascending eigenvalues of the inverse; the largest of them are exact to rounding of their own size.

        Near a unit root the least one, 1/lambda_1, is lost in that rounding, or of the wrong sign, while lambda_1 is
        nearly the trace d: it is then what the other ones leave of d.
        """
        if precisions[-1] * self.size < ILL_CONDITIONED:
            return np.asarray(1 / precisions[::-1])
        others = 1 / precisions[:0:-1]
        largest = self.size - others.sum()
        return np.append(others, largest if largest > self.size / 2 else 1 / precisions[0])

    def _rough_eigenvalues(self) -> Array:
        if self.size == 1:
            return np.ones(1)
        return self._inverted(eigh_tridiagonal(*self._precision(), eigvals_only=True))

    def _limit(self) -> Spectrum:
        return self._finer_limit(1)

    def _finer_limit(self, times: int) -> Spectrum:
        gap = 1 - abs(self.correlation)
        return one_pole_circle(gap * (2 - gap), gap * gap, self.correlation, times)


@dataclass(frozen=True)
class Toeplitz(Covariance):
    """The stationary covariance of a spectral symbol f: Sigma_ij = (1/pi) int_0^pi f(t) cos((i-j) t) dt.

    `symbol` maps an array of angles in (0, pi) to positive numbers, smooth as an even periodic function. d may be
    infinite.

    >>> Toeplitz(3, lambda t: 2 + 2 * 0.5 * np.cos(t)).matrix.round(12) + 0.0
    array([[2. , 0.5, 0. ],
           [0.5, 2. , 0.5],
           [0. , 0.5, 2. ]])
    """

    d: Dimension
    symbol: Callable[[Array], Array]

    def __post_init__(self) -> None:
        checked_fields(self)
        self._limit()

    def _matrix(self) -> Array:
        count = max(len(self._limit().eigenvalues), 2 * self.size)
        values = np.asarray(self.symbol(half_circle(count)), float)
        return np.asarray(toeplitz(dct(values, type=2)[: self.size] / (2 * count)))

    def _limit(self) -> Spectrum:
        return self._finer_limit(1)

    def _finer_limit(self, times: int) -> Spectrum:
        return adaptive_circle(self.symbol, "symbol", times=times)


@dataclass(frozen=True)
class TridiagonalPrecision(Covariance):
    """The covariance whose inverse has `diagonal` on and `off_diagonal` beside its diagonal; d may be infinite.

    ValueError unless diagonal > 2 |off_diagonal|, which makes every such matrix positive definite.

    >>> np.linalg.inv(TridiagonalPrecision(3, 2.0, -0.5).matrix).round(12) + 0.0
    array([[ 2. , -0.5,  0. ],
           [-0.5,  2. , -0.5],
           [ 0. , -0.5,  2. ]])
    """

    d: Dimension
    diagonal: Positive
    off_diagonal: Real
    _structured: ClassVar[bool] = False

    def __post_init__(self) -> None:
        checked_fields(self)
        diagonal = self.diagonal
        if diagonal <= 2 * abs(self.off_diagonal):
            raise ValueError(f"diagonal must exceed 2 |off_diagonal| = {2 * abs(self.off_diagonal)}, got {diagonal}")

    def _symbol(self, angle: Array) -> Array:
        return 1 / raised_cosine(self.diagonal - 2 * abs(self.off_diagonal), self.off_diagonal, angle)

    def _matrix(self) -> Array:
        return (self.eigenvectors * self.eigenvalues) @ self.eigenvectors.T

    def _eigh(self) -> tuple[Array, Array]:
        j = np.arange(1, self.size + 1)
        angles = math.pi * j / (self.size + 1)
        eigenvalues = self._symbol(angles)
        order = np.argsort(eigenvalues, kind="stable")
        sines = math.sqrt(2 / (self.size + 1)) * np.sin(np.outer(j, angles))
        return eigenvalues[order], sines[:, order]

    def _limit(self) -> Spectrum:
        return self._finer_limit(1)

    def _finer_limit(self, times: int) -> Spectrum:
        return one_pole_circle(1.0, self.diagonal - 2 * abs(self.off_diagonal), self.off_diagonal, times)
