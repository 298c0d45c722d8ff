"""The covariance of a few common factors and noise of each coordinate's own."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

import numpy as np
from scipy.linalg import solve_triangular

from theory.core import Array, FiniteArray, Within, checked, checked_fields, checks
from theory.core.blocks import blocks
from theory.models.covariance import frozen, set_checked
from theory.models.large.base import LARGEST_KAPPA, LargeCovariance, ResolventDiagonals

ENTRIES = 2_000_000  # numbers of a temporary array (coordinates x factors)


@dataclass(frozen=True, eq=False, repr=False)
class DiagonalPlusLowRank(LargeCovariance):
    """The covariance Sigma = diag(diagonal) + F F^T of r common factors and independent noise (factor analysis).

    `diagonal` (d,) holds the positive variances of the noise, and `factors` F (d, r) the loadings, with one column for
    each factor, or (d,) for one factor. All results are exact, by Woodbury's identity in a time in proportion to d r^2.

    >>> covariance = DiagonalPlusLowRank(diagonal=[1.0, 1.0, 2.0], factors=[1.0, 0.5, 0.0])
    >>> covariance.matrix
    array([[2.  , 0.5 , 0.  ],
           [0.5 , 1.25, 0.  ],
           [0.  , 0.  , 2.  ]])
    >>> covariance.conditional_variances
    array([1.8  , 1.125, 2.   ])
    """

    diagonal: Annotated[Array, FiniteArray(1, positive=True)] = field(repr=False)
    factors: Array = field(repr=False)

    def __post_init__(self) -> None:
        checked_fields(self)
        diagonal = self.diagonal
        factors = self.factors[:, None] if self.factors.ndim == 1 else self.factors
        factors = checks.finite_array("factors", factors, 2)
        if len(factors) != len(diagonal):
            raise ValueError(
                f"factors must have a row for each entry of diagonal, {len(diagonal)}, got shape {factors.shape}"
            )
        checks.fits_in_memory(f"products of {factors.shape[1]} factors", 4.0 * factors.shape[1] ** 2)
        set_checked(self, factors=factors)

    @property
    def d(self) -> int:  # type: ignore[override]
        """Number of coordinates."""
        return len(self.diagonal)

    @property
    def rank(self) -> int:
        """The number r of common factors."""
        return int(self.factors.shape[1])

    def _blocks(self) -> Iterator[slice]:
        return blocks(self.size, self.rank, ENTRIES)

    def _product(self, weights: Array) -> Array:
        """Compute F^T diag(weights) F, (r, r)."""
        total = np.zeros((self.rank, self.rank))
        for rows in self._blocks():
            part = self.factors[rows]
            total += (part * weights[rows, None]).T @ part
        return total

    def _capacity(self, g: Array) -> Array:
        """Factor 1 + F^T diag(g) F = L L^T, the small matrix of Woodbury's identity, and return L (r, r)."""
        return np.asarray(np.linalg.cholesky(np.eye(self.rank) + self._product(g)))

    def _forms(self, capacity: Array, *matrices: Array) -> list[Array]:
        """Compute x_k^T B x_k of x_k = C^-1 f_k for each matrix B, and of f_k^T C^-1 f_k first; each (d,).

        f_k is row k of F, and C = L L^T with `capacity` L.
        """
        found = [np.empty(self.size) for _ in range(1 + len(matrices))]
        for rows in self._blocks():
            half = solve_triangular(capacity, self.factors[rows].T, lower=True)
            found[0][rows] = np.einsum("rk,rk->k", half, half)
            whole = solve_triangular(capacity, half, lower=True, trans="T")
            for one, matrix in zip(found[1:], matrices, strict=True):
                one[rows] = np.einsum("rk,rk->k", whole, matrix @ whole)
        return found

    @checked
    def resolvent_diagonals(
        self, kappa: Annotated[float, Within(0.0, LARGEST_KAPPA, closed=(True, False))]
    ) -> ResolventDiagonals:
        """Compute the diagonals of p = Sigma (Sigma + kappa)^-1, t = 1 - p, p^2 and p t at a ridge kappa > 0.

        With g = 1/(D + kappa), C = 1 + F^T g F and q_k = f_k^T C^-1 f_k, Woodbury's identity is
        (Sigma + kappa)^-1 = g - g F C^-1 F^T g, and p = D g + kappa g F C^-1 F^T g. All sums below have terms of one
        sign but for 1 - g q, which loses digits where a factor is almost alone in one coordinate.
        """
        D, g = self.diagonal, 1 / (self.diagonal + kappa)
        capacity = self._capacity(g)
        matrices = (np.eye(self.rank), self._product(g * g * D), self._product(g * g))
        q, lengths, noise, squares = self._forms(capacity, *matrices)
        own = 1 - g * q
        shrunk = kappa * g
        p = D * g + shrunk * g * q
        pt = shrunk * g * (D * own * own + np.maximum(noise - D * (g * q) ** 2, 0.0) + lengths)
        pp = D * g * (D * g + 2 * shrunk * g * q) + shrunk**2 * squares
        return ResolventDiagonals(p, shrunk * own, pp, pt)

    @cached_property
    def conditional_variances(self) -> Array:
        """The variance of each coordinate given all others, 1/(Sigma^-1)_kk, (d,)."""
        g = 1 / self.diagonal
        return frozen(self.diagonal / (1 - g * self._forms(self._capacity(g))[0]))

    @cached_property
    def geometric_mean(self) -> float:
        """The geometric mean of the eigenvalues of Sigma: det Sigma = det D det(1 + F^T D^-1 F)."""
        pivots = np.diagonal(self._capacity(1 / self.diagonal))
        return float(np.exp(np.mean(np.log(self.diagonal)) + 2 * np.log(pivots).sum() / self.size))

    @cached_property
    def variances(self) -> Array:
        """The diagonal of Sigma, (d,)."""
        return frozen(self.diagonal + np.einsum("kr,kr->k", self.factors, self.factors))

    def _matrix(self) -> Array:
        return np.diag(self.diagonal) + self.factors @ self.factors.T

    def __repr__(self) -> str:
        return f"DiagonalPlusLowRank(d={self.d}, rank={self.rank})"
