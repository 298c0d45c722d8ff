"""The covariance whose inverse is a sparse matrix: a Gaussian Markov field."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky_banded
from scipy.sparse import csr_array, issparse

from theory.core import Array, Within, checked, checks
from theory.models.covariance import frozen, set_checked
from theory.models.large.base import LARGEST_KAPPA, LargeCovariance, ResolventDiagonals

COST = 1e8  # largest d b^2, a few seconds for one ridge
SYMMETRY = 1e-10  # allowed difference of P_ij and P_ji, relative to sqrt(P_ii P_jj)


@dataclass(frozen=True, eq=False, repr=False)
class SparsePrecision(LargeCovariance):
    """The covariance Sigma = P^-1 of a Gaussian Markov field with the sparse precision matrix P.

    `precision` is a sparse matrix of scipy or a dense one, (d, d), symmetric and positive definite, in inverse squared
    units of the coordinates. All results are exact: the coordinates are put into an order in which P is a band of b
    diagonals on each side of the main one (`bandwidth`; by the reverse Cuthill-McKee method where the given order is
    not better), and the entries of (1 + kappa P)^-1 inside the band follow from a factorization of it, in a time in
    proportion to d b^2. ValueError where d b^2 exceeds 1e8, as in a square lattice of more than 100 by 100 sites.

    >>> import numpy as np
    >>> from scipy.sparse import diags_array
    >>> chain = SparsePrecision(diags_array([-0.5, 1.25, -0.5], offsets=[-1, 0, 1], shape=(100_000, 100_000)))
    >>> chain
    SparsePrecision(d=100000, bandwidth=1)
    >>> chain.variances[[0, 1, 50_000]].round(4)
    array([1.    , 1.25  , 1.3333])
    """

    precision: csr_array = field(repr=False)

    def __post_init__(self) -> None:
        set_checked(self, precision=_checked_precision(self.precision))
        _refuse_cost(self.size, self.bandwidth)
        _ = self.geometric_mean  # raises ValueError unless positive definite

    @property
    def d(self) -> int:  # type: ignore[override]
        """Number of coordinates."""
        return int(self.precision.shape[0])

    @property
    def bandwidth(self) -> int:
        """The number b of diagonals on each side of the main one that are not zero, in the best order found."""
        return self._ordered[1]

    @cached_property
    def _ordered(self) -> tuple[NDArray[np.integer[Any]] | None, int]:
        """The order of the coordinates, None for the given one, and the bandwidth in it."""
        given = _bandwidth(self.precision)
        if given <= 1:
            return None, given
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        order = reverse_cuthill_mckee(self.precision, symmetric_mode=True)
        better = _bandwidth(self.precision, order)
        return (order, better) if better < given else (None, given)

    @cached_property
    def _band(self) -> Array:
        """The lower half of the reordered precision, (d, b + 1), with P[i, i - m] at [i, m]."""
        order, b = self._ordered
        checks.fits_in_memory(f"the band of {self!r} and its factors", 4.0 * self.size * (b + 1))
        i, j, values = _entries(self.precision, order)
        band = np.zeros((self.size, b + 1))
        lower = i >= j
        band[i[lower], (i - j)[lower]] = values[lower]
        return frozen(band)

    @cached_property
    def geometric_mean(self) -> float:
        """The geometric mean of the eigenvalues of Sigma, exp(-log det P / d)."""
        rows, b = self._band, self.bandwidth
        columns = np.zeros((b + 1, self.size))  # the layout of LAPACK: P[j + m, j] at [m, j]
        for m in range(b + 1):
            columns[m, : self.size - m] = rows[m:, m]
        try:
            pivots = cholesky_banded(columns, lower=True, overwrite_ab=True, check_finite=False)[0]
        except np.linalg.LinAlgError:
            raise ValueError("precision must be positive definite, got an eigenvalue that is not positive") from None
        return float(np.exp(-2 * np.mean(np.log(pivots))))

    def _inverse(self, a: float, c: float) -> tuple[Array, ...]:
        from theory.models.large.band_kernel import banded_inverse

        order, _ = self._ordered
        found: tuple[Array, ...] = banded_inverse(self._band, a, c)
        if order is None:
            return found
        back = np.empty_like(order)
        back[order] = np.arange(self.size)
        return tuple(values[back] for values in found)

    @checked
    def resolvent_diagonals(
        self, kappa: Annotated[float, Within(0.0, LARGEST_KAPPA, closed=(True, False))]
    ) -> ResolventDiagonals:
        """Compute the diagonals of p = (1 + kappa P)^-1, t = 1 - p, p^2 and p t at a ridge kappa > 0."""
        p, product, pt, pp = self._inverse(1.0, kappa)
        t = np.where(p < 0.5, 1 - p, product)  # both are t; the smaller term of 1 = p + t has the digits
        return ResolventDiagonals(p, t, pp, pt)

    @cached_property
    def conditional_variances(self) -> Array:
        """The variance of each coordinate given all others, 1/P_kk, (d,)."""
        return frozen(1 / self.precision.diagonal())

    @cached_property
    def variances(self) -> Array:
        """The diagonal of Sigma, (d,)."""
        return frozen(self._inverse(0.0, 1.0)[0])

    def _matrix(self) -> Array:
        return (self.eigenvectors * self.eigenvalues) @ self.eigenvectors.T

    def _eigh(self) -> tuple[Array, Array]:
        precisions, eigenvectors = np.linalg.eigh(self.precision.toarray())
        return 1 / precisions[::-1], eigenvectors[:, ::-1]

    def __repr__(self) -> str:
        return f"SparsePrecision(d={self.d}, bandwidth={self.bandwidth})"


def _entries(matrix: csr_array, order: NDArray[Any] | None) -> tuple[NDArray[Any], NDArray[Any], Array]:
    """Return rows, columns and values of all entries, in the given order of the coordinates."""
    entries = matrix.tocoo()
    i, j = entries.coords
    if order is None:
        return i, j, entries.data
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place[i], place[j], entries.data


def _bandwidth(matrix: csr_array, order: NDArray[Any] | None = None) -> int:
    i, j, _ = _entries(matrix, order)
    return int(abs(i - j).max())


def _refuse_cost(d: int, b: int) -> None:
    cost = float(d) * b * b
    if cost > COST:
        raise ValueError(
            f"precision must be a narrow band for an exact answer: d coordinates of bandwidth b take a time in "
            f"proportion to d b^2, which may be {COST:.0e} at most, got {cost:.1e} for d = {d}, b = {b} after "
            "reordering the coordinates; theory.masked.estimate takes products with Sigma instead (CovarianceOperator)"
        )


def _checked_precision(value: Any) -> csr_array:
    if not issparse(value):
        value = checks.finite_array("precision", value, 2)
    if value.ndim != 2 or value.shape[0] != value.shape[1] or value.shape[0] == 0:
        raise ValueError(f"precision must be a square matrix, got shape {value.shape}")
    if value.dtype.kind not in checks.NUMBERS or value.dtype.kind == "O":
        raise ValueError(f"precision must be a matrix of real numbers, got dtype {value.dtype}")
    matrix = csr_array(value, dtype=float, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    finite = np.isfinite(matrix.data)
    if not finite.all():
        raise ValueError(f"precision must be finite, got {matrix.data[~finite][0]}")
    diagonal = matrix.diagonal()
    if diagonal.min() <= 0:
        k = int(diagonal.argmin())
        raise ValueError(f"precision must have a positive diagonal, got {diagonal[k]} at index {k}")
    difference = (matrix - matrix.T).tocoo()
    if difference.nnz:
        i, j = difference.coords
        excess = abs(difference.data) / (np.sqrt(diagonal[i]) * np.sqrt(diagonal[j]))
        worst = int(excess.argmax())
        if excess[worst] > SYMMETRY:
            i, j = int(i[worst]), int(j[worst])
            raise ValueError(f"precision must be symmetric, got {matrix[i, j]} and {matrix[j, i]} at ({i}, {j})")
        matrix = csr_array((matrix + matrix.T) / 2)
    matrix.data.setflags(write=False)
    return matrix
