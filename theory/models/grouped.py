"""Exchangeable coordinates: all correlated alike, or alike within blocks."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np

from theory.core import Array, AtLeast, Dimension, Several, Within, checked_fields
from theory.models.covariance import Covariance, frozen, set_checked
from theory.models.spectrum import Spectrum, homogeneous


@dataclass(frozen=True)
class Equicorrelated(Covariance):
    """The covariance with unit variances whose pairs are all correlated by `correlation`, in (-1/(d-1), 1).

    In the limit d -> infinity the common factor is known exactly from the other coordinates, and what is left is
    isotropic with variance 1 - correlation. In this limit `spectrum` leaves the factor out, so that its mean is 1 -
    correlation, while `variances` stay 1.

    >>> Equicorrelated(4, 0.5).spectrum.eigenvalues  # 1 - r, three times, and 1 + (d - 1) r
    array([0.5, 2.5])
    """

    d: Annotated[int | float, AtLeast(2, infinite=True)]
    correlation: float
    _structured: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checked_fields(self)
        d = self.d
        allowed = Within(-1 / (d - 1), 1.0, closed=(math.isinf(d), False))
        set_checked(self, correlation=allowed.check("correlation", self.correlation))

    def _matrix(self) -> Array:
        return np.full((self.size, self.size), self.correlation) + (1 - self.correlation) * np.eye(self.size)

    def _spectrum(self) -> Spectrum:
        r, d = self.correlation, self.size
        return homogeneous(np.array([1 - r, _uniform(r, d)]), np.array([d - 1, 1]))

    def _limit(self) -> Spectrum:
        return homogeneous(np.array([1 - self.correlation]), np.ones(1))

    @cached_property
    def variances(self) -> Array:
        """Ones, (d,); (1,) in the limit d -> infinity, the common factor included."""
        return frozen(np.ones(self.size if self.is_finite else 1))


@dataclass(frozen=True)
class Blocks(Covariance):
    """The covariance with unit variances and independent blocks of `block_size` neighbors that are correlated alike.

    >>> Blocks(4, block_size=2, correlation=0.5).matrix
    array([[1. , 0.5, 0. , 0. ],
           [0.5, 1. , 0. , 0. ],
           [0. , 0. , 1. , 0.5],
           [0. , 0. , 0.5, 1. ]])
    """

    d: Dimension
    block_size: Several
    correlation: float
    _structured: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checked_fields(self)
        size, d = self.block_size, self.d
        if math.isfinite(d) and d % size:
            raise ValueError(f"d must be a multiple of block_size = {size}, got {d!r}")
        set_checked(self, correlation=Within(-1 / (size - 1), 1.0).check("correlation", self.correlation))

    def _matrix(self) -> Array:
        block = np.full((self.block_size, self.block_size), self.correlation)
        np.fill_diagonal(block, 1.0)
        return np.kron(np.eye(self.size // self.block_size), block)

    def _limit(self) -> Spectrum:
        r, b = self.correlation, self.block_size
        return homogeneous(np.array([1 - r, _uniform(r, b)]), np.array([b - 1, 1]))

    _spectrum = _limit


def _uniform(correlation: float, size: int) -> float:
    """Return the eigenvalue 1 + (size - 1) r of equal weights, with all digits also where it nearly vanishes."""
    return float(1 + (size - 1) * Fraction(correlation))
