"""The covariance that is known by its products with vectors alone."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Self

import numpy as np

from theory.core import Array, Count, FiniteArray, checked, checked_fields, checks
from theory.models.covariance import Covariance, same_size


@dataclass(frozen=True, eq=False, repr=False)
class CovarianceOperator(Covariance):
    """The covariance Sigma (d, d) of which only products are known: `product` maps columns V (d, m) to Sigma V.

    `diagonal` (d,) holds the variances if they are known; they make estimates of means over coordinates sharper. Exact
    results would need d products. `theory.masked.estimate` estimates errors from a few products and states a standard
    error. Functions that need the matrix build it where it fits into memory.

    >>> circle = CovarianceOperator(4, lambda V: 2 * V + 0.5 * (np.roll(V, 1, axis=0) + np.roll(V, -1, axis=0)))
    >>> circle
    CovarianceOperator(d=4)
    >>> circle.matrix[0]
    array([2. , 0.5, 0. , 0.5])
    """

    _instead: ClassVar[str] = "theory.masked.estimate takes products with it alone"

    d: Count
    product: Callable[[Array], Array] = field(repr=False)
    diagonal: Annotated[Array, FiniteArray(1)] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        checked_fields(self)
        if (diagonal := self.diagonal) is not None:
            if len(diagonal) != self.d:
                raise ValueError(f"diagonal must have d = {self.d} entries, got shape {diagonal.shape}")
            if diagonal.min() < 0:
                k = int(diagonal.argmin())
                raise ValueError(f"diagonal must not be negative, got {diagonal[k]} at index {k}")

    @checked
    def times(self, vectors: Array) -> Array:
        """Compute Sigma times the columns of `vectors` (d, m); ValueError where `product` returns no such numbers."""
        if vectors.ndim not in (1, 2) or len(vectors) != self.d:
            raise ValueError(f"vectors must have shape ({self.d}, m), got {vectors.shape}")
        if not np.isfinite(vectors).all():
            raise ValueError(f"vectors must be finite, got {vectors[~np.isfinite(vectors)][0]}")
        found = checks.real_array("the result of product", self.product(vectors))
        if found.shape != vectors.shape:
            raise ValueError(f"product must return as many numbers as it is given, {vectors.shape}, got {found.shape}")
        if not np.isfinite(found).all():
            raise ValueError(f"product must return finite numbers, got {found[~np.isfinite(found)][0]}")
        return found

    def _matrix(self) -> Array:
        matrix = self.times(np.eye(self.size))
        gap, largest = abs(matrix - matrix.T).max(), abs(matrix).max()
        if gap > 1e-10 * largest:
            raise ValueError(f"product must be that of a symmetric matrix, got entries that differ by {gap:.3g}")
        return (matrix + matrix.T) / 2

    def resized(self, d: int | float) -> Self:
        """Return the record itself at its own size; at another, ValueError: a product is that of one size."""
        return same_size(self, d)

    def __repr__(self) -> str:
        return f"CovarianceOperator(d={self.d})"
