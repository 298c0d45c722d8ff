"""Covariances with independent coordinates, and the power law with or without a Haar rotation."""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from theory.core import Array, CheckedRecord, checked_fields
from theory.core.ranges import Dimension, NonNegative, NonNegativeCount, OpenShare, Positive, PositiveVector
from theory.models.covariance import Covariance, repetitions
from theory.models.eigenmodes import haar_basis
from theory.models.spectrum import Spectrum, homogeneous
from theory.numerics.quadrature import panelled_legendre


@dataclass(frozen=True)
class Isotropic(CheckedRecord, Covariance):
    """The covariance variance * I of independent coordinates that are all alike; d may be infinite.

    >>> Isotropic(3, variance=2.0).matrix
    array([[2., 0., 0.],
           [0., 2., 0.],
           [0., 0., 2.]])
    """

    d: Dimension
    variance: Positive = 1.0
    _structured: ClassVar[bool] = True

    def _matrix(self) -> Array:
        return self.variance * np.eye(self.size)

    def _eigh(self) -> tuple[Array, Array]:
        return np.full(self.size, self.variance), np.eye(self.size)

    def _limit(self) -> Spectrum:
        return homogeneous(np.array([self.variance]), np.ones(1))

    _spectrum = _limit


class _Axes(Covariance):
    """The base of covariances that are diagonal matrices, where every coordinate is a mode of its own."""

    _structured: ClassVar[bool] = True

    def _entries(self) -> Array:
        raise NotImplementedError

    def _matrix(self) -> Array:
        return np.diag(self._entries())

    def _eigh(self) -> tuple[Array, Array]:
        entries = self._entries()
        order = np.argsort(entries, kind="stable")
        return entries[order], np.eye(self.size)[:, order]

    def _rough_eigenvalues(self) -> Array:
        return np.sort(self._entries())

    def _spectrum(self) -> Spectrum:
        return Spectrum(self._entries(), np.full(self.size, 1 / self.size), axes=True)


@dataclass(frozen=True, eq=False, repr=False)
class Diagonal(CheckedRecord, _Axes):
    """The covariance diag(variances) of independent coordinates with given positive variances, shape (d,).

    >>> Diagonal([1.0, 4.0]).resized(4).variances
    array([1., 4., 1., 4.])
    """

    variances: PositiveVector = field()

    @property
    def d(self) -> int:  # type: ignore[override]
        """Number of coordinates."""
        return len(self.variances)

    def __repr__(self) -> str:
        return f"Diagonal(d={self.d}, variances in [{self._entries().min():.6g}, {self._entries().max():.6g}])"

    def _entries(self) -> Array:
        return np.asarray(self.variances)

    def resized(self, d: int | float) -> "Diagonal":
        """Repeat the profile of variances; d must be a multiple of the present dimension."""
        return Diagonal(np.tile(self._entries(), repetitions("variances", self.d, d)))


@dataclass(frozen=True)
class TwoLevel(CheckedRecord, _Axes):
    """The covariance of independent coordinates of variance `low`, and `high` for the last `high_fraction` of them.

    In the limit d -> infinity the two classes of coordinates are the two entries of every per-coordinate quantity.

    >>> TwoLevel(5, low=0.3, high=4.0, high_fraction=0.2).variances
    array([0.3, 0.3, 0.3, 0.3, 4. ])
    >>> TwoLevel(float("inf"), low=0.3, high=4.0, high_fraction=0.2).variances
    array([0.3, 4. ])
    """

    d: Dimension
    low: Positive = 0.3
    high: Positive = 4.0
    high_fraction: OpenShare = 0.2

    def _entries(self) -> Array:
        high = round(self.high_fraction * self.size)
        return np.concatenate([np.full(self.size - high, self.low), np.full(high, self.high)])

    def _limit(self) -> Spectrum:
        weights = np.array([1 - self.high_fraction, self.high_fraction])
        return Spectrum(np.array([self.low, self.high]), weights, axes=True)


@dataclass(frozen=True)
class PowerLaw(_Axes):
    """The covariance with eigenvalues (j/d)^-exponent, j = 1..d, on the coordinates or on a random basis.

    With `rotation` None it is diagonal; an integer is the seed of a Haar-random basis. In the limit d -> infinity the
    eigenvalues have the law of u^-exponent with u uniform on (0, 1): there is no largest variance, and for exponent >=
    1 no mean.

    >>> PowerLaw(4, exponent=1.0).variances
    array([4.        , 2.        , 1.33333333, 1.        ])
    """

    d: Dimension
    exponent: NonNegative
    rotation: NonNegativeCount | None = None

    def __post_init__(self) -> None:
        checked_fields(self)
        d, exponent = self.d, self.exponent
        if math.isfinite(d) and exponent * math.log(d) > 690:
            largest = 690 / math.log(d)
            raise ValueError(f"exponent must be at most {largest:.4g} for d = {d} (d^exponent < 1e300), got {exponent}")

    def _entries(self) -> Array:
        return np.asarray((np.arange(1, self.size + 1) / self.size) ** -self.exponent)

    @cached_property
    def _basis(self) -> Array:
        assert self.rotation is not None
        return haar_basis(self.size, self.rotation)

    def _matrix(self) -> Array:
        if self.rotation is None:
            return super()._matrix()
        product = (self._basis * self._entries()) @ self._basis.T
        return (product + product.T) / 2

    def _eigh(self) -> tuple[Array, Array]:
        if self.rotation is None:
            return super()._eigh()
        return self._entries()[::-1], self._basis[:, ::-1]

    def _spectrum(self) -> Spectrum:
        return super()._spectrum() if self.rotation is None else Covariance._spectrum(self)

    def _limit(self) -> Spectrum:
        return self._finer_limit(1)

    def _finer_limit(self, times: int) -> Spectrum:
        # Resolvents of u^-exponent are analytic in log u within pi/exponent of the real line: panels that are equally
        # long in log u resolve all of them. They end where u, or what it contributes to the mean, is negligible.
        reach = min(600 / max(self.exponent, 1), 40 / max(1 - self.exponent, 0.1))
        panels = times * int(np.ceil(reach * max(1.0, self.exponent)))
        nodes, weights = panelled_legendre(np.linspace(-reach, 0, panels + 1))
        weights = weights * np.exp(nodes)
        weights[0] += np.exp(-reach)
        eigenvalues = np.exp(-self.exponent * nodes)
        return Spectrum(
            eigenvalues,
            weights / weights.sum(),
            axes=self.rotation is None,
            heavy=self.exponent >= 1,
            unbounded=self.exponent > 0,
        )
