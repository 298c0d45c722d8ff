"""Covariances drawn once from a random-matrix ensemble: a seed fixes the matrix, the limit d -> infinity its law."""

import math
from dataclasses import dataclass

import numpy as np

from theory.core import Array, Dimension, NonNegativeCount, Positive, Real, checked_fields
from theory.models.covariance import Covariance
from theory.models.spectrum import Spectrum, homogeneous
from theory.numerics.quadrature import half_circle


@dataclass(frozen=True)
class GOEPrecision(Covariance):
    """The covariance whose inverse is nu I + W, with W from the Gaussian orthogonal ensemble.

    Off-diagonal entries of W have the variance `variance`/d, and those on the diagonal twice that; `seed` is the seed
    with which W is drawn. nu must exceed 2 sqrt(variance), the edge of the semicircle. A small matrix may still be
    indefinite, and its use then raises ValueError. In the limit d -> infinity the eigenvalues have the law of 1/(nu +
    x), where x follows the semicircle law.

    >>> round(float(GOEPrecision(float("inf"), nu=3.0).variances[0]), 6)  # (nu - sqrt(nu^2 - 4))/2
    0.381966
    """

    d: Dimension
    nu: Real = 3.0
    variance: Positive = 1.0
    seed: NonNegativeCount = 0

    def __post_init__(self) -> None:
        checked_fields(self)
        edge = 2 * math.sqrt(self.variance)
        if self.nu <= edge:
            raise ValueError(f"nu must exceed 2 sqrt(variance) = {edge:g}, got {self.nu!r}")

    def precision(self) -> Array:
        """Draw nu I + W, (d, d): the same matrix at each call."""
        noise = np.random.default_rng(self.seed).standard_normal((self.size, self.size))
        return self.nu * np.eye(self.size) + math.sqrt(self.variance / (2 * self.size)) * (noise + noise.T)

    def _eigh(self) -> tuple[Array, Array]:
        precisions, eigenvectors = np.linalg.eigh(self.precision())
        if precisions[0] <= 0:
            raise ValueError(f"the precision drawn for {self!r} is indefinite: take a larger nu or d, or another seed")
        return 1 / precisions[::-1], eigenvectors[:, ::-1]

    def _matrix(self) -> Array:
        return (self.eigenvectors * self.eigenvalues) @ self.eigenvectors.T

    def _limit(self) -> Spectrum:
        return self._finer_limit(1)

    def _finer_limit(self, times: int) -> Spectrum:
        radius = 2 * math.sqrt(self.variance)
        rate = math.acosh(self.nu / radius)  # the quadrature error falls as exp(-2 rate count)
        angles = half_circle(times * min(40 + math.ceil(20 / rate), 20_000))
        return homogeneous(1 / (self.nu + radius * np.cos(angles)), np.sin(angles) ** 2)


@dataclass(frozen=True)
class Wishart(Covariance):
    """The covariance G G^T / m of a standard Gaussian G (d, m), m = round(aspect * d); singular for aspect < 1.

    `seed` is the seed with which G is drawn. In the limit d -> infinity the eigenvalues have the Marchenko-Pastur law
    of ratio 1/aspect.

    >>> int(np.count_nonzero(Wishart(6, aspect=0.5).eigenvalues))  # the rank is m
    3
    """

    d: Dimension
    aspect: Positive
    seed: NonNegativeCount = 0

    def __post_init__(self) -> None:
        checked_fields(self)
        d = self.d
        if math.isfinite(d) and not 0.5 < self.aspect * d < 1e15:
            raise ValueError(f"aspect * d must round to an integer from 1 to 1e15, got aspect={self.aspect!r}, d={d!r}")

    def _matrix(self) -> Array:
        samples = round(self.aspect * self.size)
        factor = np.random.default_rng(self.seed).standard_normal((self.size, samples))
        return factor @ factor.T / samples

    def _limit(self) -> Spectrum:
        return self._finer_limit(1)

    def _finer_limit(self, times: int) -> Spectrum:
        # With s = 1 + c + 2 sqrt(c) cos(angle), c = d/m, the Marchenko-Pastur law has the density (2/pi) sin^2 / s in
        # the angle: smooth, so that a midpoint rule converges geometrically.
        ratio = 1 / self.aspect
        gap = max(abs(math.log(ratio)) / 2, 1e-3)
        angles = half_circle(times * (40 + math.ceil(20 / gap)))
        s = 1 + ratio + 2 * math.sqrt(ratio) * np.cos(angles)
        weights = 2 * np.sin(angles) ** 2 / s / len(angles)
        if ratio <= 1:
            return homogeneous(s, weights)
        return homogeneous(np.append(s, 0.0), np.append(weights, 1 - self.aspect))
