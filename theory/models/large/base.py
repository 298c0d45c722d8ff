"""The common class of large covariances, and the diagonals by which masked regression knows them."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from theory.core.arrays import Array
from theory.models.covariance import Covariance, same_size

LARGEST_KAPPA = 1e300  # its products with entries of the covariance should not overflow


@dataclass(frozen=True, eq=False)
class ResolventDiagonals:
    """Diagonals of functions of Sigma at one ridge kappa, all (d,): p = Sigma (Sigma + kappa)^-1 and t = 1 - p.

    Each is computed for itself, because differences of the others would lose its digits at a small or a large kappa.
    """

    p: Array
    t: Array
    pp: Array  # diagonal of p^2
    pt: Array  # diagonal of p t = t p

    def __post_init__(self) -> None:
        for name in ("p", "t", "pp", "pt"):
            if not np.isfinite(getattr(self, name)).all():
                raise FloatingPointError("diagonals of the resolvent leave the range of numbers")


class LargeCovariance(Covariance):
    """A covariance Sigma (d, d) that is known by few numbers, and solved without a dense matrix or its eigenvectors.

    A family computes diagonals of functions of Sigma directly, in a time that grows in proportion to d. `matrix`,
    `eigenvalues` and `eigenvectors` are still there for a small d, and raise MemoryError where they do not fit.
    """

    _instead: ClassVar[str] = "solve, learning_curve, ridgeless and peak_height of theory.masked need no matrix"

    @abstractmethod
    def resolvent_diagonals(self, kappa: float) -> ResolventDiagonals:
        """Compute the diagonals of p = Sigma (Sigma + kappa)^-1, t = 1 - p, p^2 and p t at a ridge kappa > 0."""

    @property
    @abstractmethod
    def conditional_variances(self) -> Array:
        """The variance of each coordinate given all others, 1/(Sigma^-1)_kk, (d,)."""

    @property
    @abstractmethod
    def geometric_mean(self) -> float:
        """The geometric mean of the eigenvalues of Sigma."""

    def resized(self, d: int | float) -> Self:
        """Return the record itself at its own size; at another, ValueError: its numbers are those of one size."""
        return same_size(self, d)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(d={self.d})"
