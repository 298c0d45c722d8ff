"""Pair models whose couplings are a product J_ij U_ab of a site and a color matrix."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from theory.models import checks
from theory.models.arrays import Array
from theory.models.covariance import set_checked
from theory.models.potts.base import Potts, checked_fields, one_hot, require_finite_scores
from theory.models.potts.batches import States
from theory.models.potts.graphs import complete_graph, torus_graph

SYMMETRY = 1e-12  # relative: couplings less symmetric than this are refused, the rest is made exactly symmetric


@dataclass(frozen=True, eq=False, repr=False)
class PottsModel(Potts):
    """S(s) = sum_{i<j} J_ij U[s_i, s_j] + sum_i h_i[s_i] (arXiv:2304.07235), P = exp(beta S)/Z.

    `site_couplings` J (L, L): symmetric, zero diagonal, real or a contact map (0/1 or truth values), dense or any scipy
    sparse matrix.
    `color_couplings` U (C, C): symmetric; the identity makes the standard ferromagnet. `fields` h (L, C), default zero.
    """

    site_couplings: Any = field(repr=False)
    color_couplings: Any = field(repr=False)
    fields: Any = field(default=None, repr=False)
    beta: float = 1.0

    def __post_init__(self) -> None:
        color = symmetric("color_couplings", self.color_couplings)
        site = _site_couplings(self.site_couplings)
        fields = checked_fields(self.fields, site.shape[0], len(color))
        beta = checks.non_negative("beta", self.beta)
        with np.errstate(over="ignore"):
            coupling = float(abs(site).max() * abs(color).max())
        require_finite_scores(coupling, site.shape[0], fields, beta)
        set_checked(self, site_couplings=site, color_couplings=color, fields=fields, beta=beta)

    @classmethod
    def from_edges(
        cls, n_sites: int, edges: Any, strengths: Any, color_couplings: Any, fields: Any = None, beta: float = 1.0
    ) -> Self:
        """From E pairs of sites `edges` (E, 2) with J = `strengths`, (E,) or one number; repeated pairs add up."""
        n = int(checks.dimension(n_sites, name="n_sites"))
        pairs = _checked_edges(edges, n)
        weights = checks.finite_array("strengths", strengths, 1) if np.ndim(strengths) else None
        if weights is not None and len(weights) != len(pairs):
            raise ValueError(f"strengths must be one number or one for each of {len(pairs)} edges, got {len(weights)}")
        if weights is None:
            weights = np.full(len(pairs), checks.real("strengths", strengths))
        half = sparse.coo_array((weights, (pairs[:, 0], pairs[:, 1])), shape=(n, n)).tocsr()
        return cls(half + half.T, color_couplings, fields, beta)

    @property
    def n_sites(self) -> int:  # type: ignore[override]
        """L."""
        return int(self.site_couplings.shape[0])

    @property
    def n_colors(self) -> int:  # type: ignore[override]
        """C."""
        return len(self.color_couplings)

    @property
    def dense_site_couplings(self) -> Array:
        """J (L, L), written out where it is sparse."""
        J = self.site_couplings
        return np.asarray(J if isinstance(J, np.ndarray) else J.toarray())

    @cached_property
    def edges(self) -> NDArray[np.int64]:
        """Pairs i < j with J_ij != 0, (E, 2)."""
        return np.stack(sparse.triu(self.site_couplings, 1, format="coo").coords, axis=1).astype(np.int64)

    @cached_property
    def strengths(self) -> Array:
        """J of each of `edges`, (E,)."""
        return np.asarray(sparse.triu(self.site_couplings, 1, format="coo").data)

    @property
    def density(self) -> float:
        """Share of the pairs of sites that interact."""
        return 2 * len(self.edges) / max(1, self.n_sites * (self.n_sites - 1))

    def at(self, beta: float) -> Self:
        """The same model at another inverse temperature."""
        return type(self)(self.site_couplings, self.color_couplings, self.fields, beta)

    def _local_scores(self, states: States) -> Array:
        M = len(states)
        x = one_hot(states, self.n_colors).transpose(1, 0, 2).reshape(self.n_sites, -1)
        neighbors = np.asarray(self.site_couplings @ x).reshape(self.n_sites, M, self.n_colors)
        return np.asarray(neighbors.transpose(1, 0, 2) @ self.color_couplings)

    def _interaction_score(self, states: States) -> Array:
        return pair_score(states, self._local_scores(states))


@dataclass(frozen=True)
class SquareLatticePotts(Potts):
    """The ferromagnet S = sum over nearest neighbors of delta(s_i, s_j) on a periodic square lattice, U = identity.

    Site (row, column) has the index row * columns + column. At a width of 2 both bonds to the one neighbor count.
    """

    rows: int
    columns: int
    n_colors: int
    beta: float = 1.0

    def __post_init__(self) -> None:
        set_checked(
            self,
            rows=checks.dimension(self.rows, least=2, name="rows"),
            columns=checks.dimension(self.columns, least=2, name="columns"),
            n_colors=checks.dimension(self.n_colors, least=2, name="n_colors"),
            beta=checks.non_negative("beta", self.beta),
        )

    @property
    def n_sites(self) -> int:  # type: ignore[override]
        """rows * columns."""
        return self.rows * self.columns

    @property
    def fields(self) -> Array:  # type: ignore[override]
        """Zero, (L, C)."""
        return np.zeros((self.n_sites, self.n_colors))

    @cached_property
    def pair_model(self) -> PottsModel:
        """The same model as a sparse `PottsModel`."""
        return PottsModel(torus_graph(self.rows, self.columns), np.eye(self.n_colors), beta=self.beta)

    def at(self, beta: float) -> Self:
        """The same lattice at another inverse temperature."""
        return type(self)(self.rows, self.columns, self.n_colors, beta)

    def _local_scores(self, states: States) -> Array:
        return self.pair_model._local_scores(states)

    def _interaction_score(self, states: States) -> Array:
        return pair_score(states, self._local_scores(states))


def curie_weiss(n_sites: int, n_colors: int, beta: float) -> PottsModel:
    """The mean-field ferromagnet S = (1/N) sum_{i<j} delta(s_i, s_j) of N = `n_sites` sites."""
    return PottsModel(complete_graph(n_sites) / n_sites, np.eye(n_colors), beta=beta)


def pair_score(states: States, local: Array) -> Array:
    """(1/2) sum_i z_i[s_i], (M,): every pair is counted by both its sites."""
    return np.asarray(0.5 * np.take_along_axis(local, states[:, :, None], axis=2).sum(axis=(1, 2)))


def symmetric(name: str, matrix: Any) -> Array:
    """A square matrix made exactly symmetric; ValueError where it is not symmetric beyond rounding."""
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
    made = (checked + checked.T) / 2
    made.setflags(write=False)
    return made


def _checked_edges(edges: Any, n_sites: int) -> NDArray[np.int64]:
    pairs = np.asarray(edges)
    if pairs.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise ValueError(f"edges must be integers of shape (edges, 2), got {pairs.dtype} {pairs.shape}")
    if pairs.min() < 0 or pairs.max() >= n_sites:
        raise ValueError(f"edges must name sites from 0 to {n_sites - 1}, got {pairs.min()} to {pairs.max()}")
    return pairs.astype(np.int64)


def _site_couplings(matrix: Any) -> Any:
    if not sparse.issparse(matrix):
        given = np.asarray(matrix)
        checked = symmetric("site_couplings", given.astype(float) if given.dtype == bool else matrix)
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
    return _frozen(sparse.csr_array((kept + kept.T) / 2))


def _frozen(matrix: Any) -> Any:
    matrix.sum_duplicates()
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.setflags(write=False)
    return matrix


def _require_zero_diagonal(diagonal: Array) -> None:
    if np.any(diagonal != 0):
        i = int(np.flatnonzero(diagonal)[0])
        raise ValueError(f"site_couplings must have a zero diagonal, got {diagonal[i]} at ({i}, {i})")
