"""Pair models whose couplings are a product J_ij U_ab of a site and a color matrix."""

import contextlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from theory.core import Array, CheckedRecord, Count, NonNegative, Several, checked, checked_fields, checks
from theory.models.covariance import set_checked
from theory.models.potts.base import MAX_SCORE, Potts, one_hot, require_finite_scores, site_fields
from theory.models.potts.batches import States
from theory.models.potts.graphs import complete_graph, torus_graph

SYMMETRY = 1e-12  # relative asymmetry up to which couplings are taken as symmetric, and made exactly so


@dataclass(frozen=True, eq=False, repr=False)
class PottsModel(Potts):
    """A Potts model with the score S(s) = sum_{i<j} J_ij U[s_i, s_j] + sum_i h_i[s_i] (arXiv:2304.07235).

    The states have the probability P(s) = exp(beta S)/Z. `site_couplings` J (L, L) are symmetric with a zero diagonal,
    real or a contact map (0/1 or truth values), dense or any scipy sparse matrix. `color_couplings` U (C, C) are
    symmetric; the identity makes the standard ferromagnet. `fields` h (L, C) are zero where None. ValueError for
    couplings that are not symmetric, of other shapes, or so large that sums of them overflow.

    >>> model = PottsModel(site_couplings=[[0, 1], [1, 0]], color_couplings=np.eye(3), beta=0.5)
    >>> model.score([[0, 0], [0, 1]]).tolist()
    [1.0, 0.0]
    >>> model.conditionals([2, 2])[0].round(3).tolist()  # site 0 next to a site of color 2
    [0.274, 0.274, 0.452]
    """

    site_couplings: Any = field(repr=False)
    color_couplings: Any = field(repr=False)
    fields: Any = field(default=None, repr=False)
    beta: NonNegative = 1.0

    def __post_init__(self) -> None:
        checked_fields(self)
        color = symmetric("color_couplings", self.color_couplings)
        site = _site_couplings(self.site_couplings)
        fields = site_fields(self.fields, site.shape[0], len(color), "site_couplings and color_couplings")
        with np.errstate(over="ignore"):
            coupling = float(abs(site).max() * abs(color).max())
        require_finite_scores("site_couplings, color_couplings", coupling, site.shape[0], fields, self.beta)
        set_checked(self, site_couplings=site, color_couplings=color, fields=fields)

    @classmethod
    def from_edges(
        cls, n_sites: int, edges: Any, strengths: Any, color_couplings: Any, fields: Any = None, beta: float = 1.0
    ) -> Self:
        """Make a model of E interacting pairs `edges` (E, 2) with J = `strengths`, (E,) or one number for all.

        Repeated pairs add up.
        """
        n = int(checks.dimension(n_sites, name="n_sites"))
        checks.fits_in_memory(f"a model of {n} sites", 4 * float(n))
        pairs = _checked_edges(edges, n)
        given = checks.real_array("strengths", strengths)
        weights = checks.finite_array("strengths", given, 1) if given.ndim else None
        if weights is not None and len(weights) != len(pairs):
            raise ValueError(f"strengths must be one number or one for each of {len(pairs)} edges, got {len(weights)}")
        if weights is None:
            weights = np.full(len(pairs), checks.real("strengths", given))
        if abs(weights).max(initial=0.0) >= MAX_SCORE:
            raise ValueError(f"strengths must be below {MAX_SCORE:g}, got {abs(weights).max():g}")
        half = sparse.coo_array((weights, (pairs[:, 0], pairs[:, 1])), shape=(n, n)).tocsr()
        if fields is not None and (shape := checks.real_array("fields", fields).shape)[:1] != (n,):
            raise ValueError(f"fields must have a row for each of n_sites = {n} sites, got the shape {shape}")
        return cls(half + half.T, color_couplings, fields, beta)

    @property
    def n_sites(self) -> int:  # type: ignore[override]
        """The number L of sites."""
        return int(self.site_couplings.shape[0])

    @property
    def n_colors(self) -> int:  # type: ignore[override]
        """The number C of colors."""
        return len(self.color_couplings)

    @property
    def dense_site_couplings(self) -> Array:
        """The site couplings J (L, L), written out where they are sparse."""
        J = self.site_couplings
        return np.asarray(J if isinstance(J, np.ndarray) else J.toarray())

    @cached_property
    def edges(self) -> NDArray[np.int64]:
        """The pairs of sites i < j with J_ij != 0, (E, 2)."""
        pairs = self._pairs
        return np.stack((pairs.row, pairs.col), axis=1).astype(np.int64)

    @cached_property
    def strengths(self) -> Array:
        """The site coupling J of each of `edges`, (E,)."""
        return np.asarray(self._pairs.data)

    @property
    def _pairs(self) -> sparse.coo_array:
        return sparse.triu(sparse.coo_array(self.site_couplings), 1, format="coo")

    @property
    def density(self) -> float:
        """The share of the pairs of sites that interact."""
        return 2 * len(self.edges) / max(1, self.n_sites * (self.n_sites - 1))

    def at(self, beta: float) -> Self:
        """Return the same model at another inverse temperature."""
        return type(self)(self.site_couplings, self.color_couplings, self.fields, beta)

    def _local_scores(self, states: States) -> Array:
        M = len(states)
        x = one_hot(states, self.n_colors).transpose(1, 0, 2).reshape(self.n_sites, -1)
        neighbors = np.asarray(self.site_couplings @ x).reshape(self.n_sites, M, self.n_colors)
        return np.asarray(neighbors.transpose(1, 0, 2) @ self.color_couplings)

    def _interaction_score(self, states: States) -> Array:
        return pair_score(states, self._local_scores(states))


@dataclass(frozen=True)
class SquareLatticePotts(CheckedRecord, Potts):
    """The ferromagnet S(s) = sum over nearest neighbors of delta(s_i, s_j) on a periodic square lattice.

    Site (row, column) has the index row * columns + column. At a width of 2 both bonds to the one neighbor count.

    >>> import numpy as np
    >>> from theory.models import SquareLatticePotts
    >>> lattice = SquareLatticePotts(rows=4, columns=6, n_colors=3, beta=0.9)
    >>> lattice.n_sites
    24
    >>> float(lattice.score(np.zeros((1, 24), dtype=int))[0])  # all sites agree: each has two bonds of its own
    48.0
    """

    rows: Several
    columns: Several
    n_colors: Several
    beta: NonNegative = 1.0

    @property
    def n_sites(self) -> int:  # type: ignore[override]
        """The number of sites, rows * columns."""
        return self.rows * self.columns

    @property
    def fields(self) -> Array:  # type: ignore[override]
        """The fields, which are zero, (L, C)."""
        return np.zeros((self.n_sites, self.n_colors))

    @cached_property
    def pair_model(self) -> PottsModel:
        """The same model as a sparse `PottsModel`."""
        return PottsModel(torus_graph(self.rows, self.columns), np.eye(self.n_colors), beta=self.beta)

    def at(self, beta: float) -> Self:
        """Return the same lattice at another inverse temperature."""
        return type(self)(self.rows, self.columns, self.n_colors, beta)

    def _local_scores(self, states: States) -> Array:
        return self.pair_model._local_scores(states)

    def _interaction_score(self, states: States) -> Array:
        return pair_score(states, self._local_scores(states))


@checked
def curie_weiss(n_sites: int, n_colors: Count, beta: float) -> PottsModel:
    """Make the mean-field ferromagnet S(s) = (1/N) sum_{i<j} delta(s_i, s_j) of N = `n_sites` sites.

    >>> curie_weiss(n_sites=4, n_colors=3, beta=2.0).score([1, 1, 1, 1]).item()  # 6 pairs, divided by N
    1.5
    """
    checks.fits_in_memory(f"fields of {n_colors} colors", float(n_colors) ** 2)
    return PottsModel(complete_graph(n_sites) / n_sites, np.eye(n_colors), beta=beta)


def pair_score(states: States, local: Array) -> Array:
    """Return (1/2) sum_i z_i[s_i], (M,): the local scores z count every pair at both of its sites."""
    return np.asarray(0.5 * np.take_along_axis(local, states[:, :, None], axis=2).sum(axis=(1, 2)))


def symmetric(name: str, matrix: Any) -> Array:
    """Return a square matrix made exactly symmetric; ValueError where it is asymmetric beyond rounding."""
    checked = checks.finite_array(name, matrix, 2)
    if checked.shape[0] != checked.shape[1]:
        raise ValueError(f"{name} must be square, got shape {checked.shape}")
    gap = abs(checked - checked.T)
    if gap.max() > SYMMETRY * abs(checked).max():
        i, j = (int(k) for k in np.unravel_index(gap.argmax(), gap.shape))
        raise ValueError(
            f"{name} must be symmetric, got {checked[i, j]} at ({i}, {j}) and {checked[j, i]} at ({j}, {i}); "
            "a model with asymmetric couplings has the score of their symmetric part"
        )
    made = checked / 2 + checked.T / 2  # their sum might overflow
    made.setflags(write=False)
    return made


def _checked_edges(edges: Any, n_sites: int) -> NDArray[np.int64]:
    if (isinstance(edges, np.ndarray) and edges.size == 0) or (isinstance(edges, list | tuple) and not edges):
        return np.empty((0, 2), dtype=np.int64)
    pairs = checks.integer_array("edges", edges)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(f"edges must be integers of shape (edges, 2), got {pairs.dtype} {pairs.shape}")
    if pairs.min() < 0 or pairs.max() >= n_sites:
        span = f"{pairs.min()} to {pairs.max()}"
        raise ValueError(f"edges must name sites from 0 to n_sites - 1 = {n_sites - 1}, got {span}")
    return pairs.astype(np.int64)


def _site_couplings(matrix: Any) -> Any:
    if not sparse.issparse(matrix):
        with contextlib.suppress(ValueError):  # truth values, a contact map, count as zeros and ones
            matrix = checks.bool_array("site_couplings", matrix).astype(float)
        checked = symmetric("site_couplings", matrix)
        _require_zero_diagonal(checked.diagonal())
        return checked
    if matrix.dtype.kind not in checks.NUMBERS + "b":
        raise ValueError(f"site_couplings must be real numbers, got dtype {matrix.dtype}")
    kept = sparse.csr_array(matrix, dtype=float, copy=True)
    kept.sum_duplicates()
    kept.eliminate_zeros()
    if kept.shape[0] != kept.shape[1] or kept.shape[0] == 0:
        raise ValueError(f"site_couplings must be square, got shape {kept.shape}")
    if not np.isfinite(kept.data).all():
        raise ValueError(f"site_couplings must be finite, got {kept.data[~np.isfinite(kept.data)][0]}")
    gap = abs(kept - kept.T)
    if gap.nnz and gap.max() > SYMMETRY * abs(kept).max():
        raise ValueError(
            f"site_couplings must be symmetric, got a sparse matrix that differs from its transpose by {gap.max()}"
        )
    _require_zero_diagonal(kept.diagonal())
    return _frozen(sparse.csr_array(kept / 2 + kept.T / 2))


def _frozen(matrix: Any) -> Any:
    matrix.sum_duplicates()
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.setflags(write=False)
    return matrix


def _require_zero_diagonal(diagonal: Array) -> None:
    if np.any(diagonal != 0):
        i = int(np.flatnonzero(diagonal)[0])
        raise ValueError(f"site_couplings must have a zero diagonal, got {diagonal[i]} at ({i}, {i})")
