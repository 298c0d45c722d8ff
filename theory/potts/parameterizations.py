"""Derivatives of the logits of a pair model by the parameters of a fit: factored, full, or full and symmetric."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np

from theory.core.arrays import Array
from theory.models.potts import DensePottsModel, Potts, PottsModel, SquareLatticePotts, identifiable_colors, zero_sum
from theory.models.potts.batches import States
from theory.models.potts.one_hot_contrasts import helmert


@dataclass(frozen=True, eq=False)
class Parameterization(ABC):
    """A family of logits z_ia = sum_{j != i} W_ij(a, s_j) + h_i(a), at the parameters theta of the true model."""

    n_sites: int
    n_colors: int
    fields: bool

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """The number of entries of theta, including directions without effect on the logits."""

    @abstractmethod
    def slopes(self, states: States) -> Array:
        """Return the derivatives dz_ia/dtheta at states (n, L), as (n, L, C, parameters)."""

    @property
    @abstractmethod
    def signal(self) -> float:
        """The squared norm |W'|^2 over ordered pairs of sites, where W' is the identifiable part of the couplings."""

    @property
    @abstractmethod
    def metric(self) -> Array:
        """The quadratic form that gives |dW'|^2 for a change dtheta, (parameters, parameters)."""

    def _field_slopes(self, n: int, basis: Array) -> Array:
        """Return the derivatives by fields h_i = basis @ theta_i, as (n, L, C, L * columns of the basis)."""
        slopes = np.einsum("ij,ak->iajk", np.eye(self.n_sites), basis)
        slopes = slopes.reshape(self.n_sites, self.n_colors, -1)
        return np.broadcast_to(slopes, (n, *slopes.shape))


@dataclass(frozen=True, eq=False)
class Factored(Parameterization):
    """Couplings W_ij(a, b) = A_ij V_ab with any real A without diagonal; theta = (A, V, h).

    The logits do not tell a factor between A and V, nor a term r_b of V_ab, nor, with fields, a term c_a.
    """

    A: Array = field(repr=False)
    V: Array = field(repr=False)

    @property
    def n_parameters(self) -> int:
        """The number of entries of (A, V, h): L(L - 1) + C^2, and L C for the fields."""
        return int(self._pairs.shape[1]) + self.n_colors**2 + self.fields * self.n_sites * self.n_colors

    @property
    def _pairs(self) -> Array:
        return np.stack(np.nonzero(~np.eye(self.n_sites, dtype=bool)))

    def slopes(self, states: States) -> Array:
        """Return the derivatives dz_ia/dtheta at states (n, L), as (n, L, C, parameters)."""
        L, C, n, (i, j) = self.n_sites, self.n_colors, len(states), self._pairs
        x = np.eye(C)[states]
        by_A = np.zeros((n, L, C, len(i)))
        by_A[:, i, :, np.arange(len(i))] = (x[:, j] @ self.V.T).transpose(1, 0, 2)
        by_V = np.einsum("ac,nib->niacb", np.eye(C), self.A @ x).reshape(n, L, C, C * C)
        parts = [by_A, by_V] + ([self._field_slopes(n, np.eye(C))] if self.fields else [])
        return np.concatenate(parts, axis=3)

    @property
    def signal(self) -> float:
        """The squared norm |A|^2 |V'|^2 of the couplings, with V' the identifiable part of V."""
        return float(np.sum(self.A**2) * np.sum(identifiable_colors(self.V, self.fields) ** 2))

    @property
    def metric(self) -> Array:
        """The form |dA|^2 |V'|^2 + 2 <A, dA> <V', dV'> + |A|^2 |dV'|^2, with V' the identifiable part of V."""
        C, (i, j) = self.n_colors, self._pairs
        kept = identifiable_colors(np.eye(C * C).reshape(C * C, C, C), self.fields).reshape(C * C, C * C)
        V, A = kept @ self.V.ravel(), self.A[i, j]
        form = np.zeros((self.n_parameters, self.n_parameters))
        form[: len(i), : len(i)] = np.eye(len(i)) * (V @ V)
        form[len(i) :, len(i) :][: C * C, : C * C] = kept * (A @ A)
        form[: len(i), len(i) : len(i) + C * C] = np.outer(A, V)
        form[len(i) : len(i) + C * C, : len(i)] = np.outer(V, A)
        return form


@dataclass(frozen=True, eq=False)
class Full(Parameterization):
    """A block W_ij(a, b) for every ordered pair of sites, in the zero-sum gauge; theta holds its Helmert contrasts."""

    couplings: Array = field(repr=False)  # those of the true model, (L, L, C, C), in the zero-sum gauge

    @property
    def n_parameters(self) -> int:
        """The number of contrasts: (C - 1)^2 for each block, and L (C - 1) for the fields."""
        blocks, contrasts = self._blocks, self.n_colors - 1
        return len(blocks) * contrasts**2 + self.fields * self.n_sites * contrasts

    @property
    def _blocks(self) -> list[tuple[int, int]]:
        return [(i, j) for i in range(self.n_sites) for j in range(self.n_sites) if i != j]

    def slopes(self, states: States) -> Array:
        """Return the derivatives dz_ia/dtheta at states (n, L), as (n, L, C, parameters)."""
        n, basis, blocks = len(states), helmert(self.n_colors), self._blocks
        x = basis[states]
        by_W = np.zeros((n, self.n_sites, self.n_colors, len(blocks), (self.n_colors - 1) ** 2))
        for place, (i, j) in enumerate(blocks):
            by_W[:, i, :, place] = np.einsum("ak,nl->nakl", basis, x[:, j]).reshape(n, self.n_colors, -1)
            if self.symmetric:
                by_W[:, j, :, place] = np.einsum("al,nk->nakl", basis, x[:, i]).reshape(n, self.n_colors, -1)
        flat = by_W.reshape(*by_W.shape[:3], -1)
        return np.concatenate([flat, self._field_slopes(n, basis)], axis=3) if self.fields else flat

    @property
    def symmetric(self) -> bool:
        """Whether W_ij(a, b) = W_ji(b, a)."""
        return False

    @property
    def signal(self) -> float:
        """The squared norm of the couplings, all of which are identifiable in the zero-sum gauge."""
        return float(np.sum(self.couplings**2))

    @property
    def metric(self) -> Array:
        """The identity, as contrasts are orthonormal; a symmetric block counts twice, for both orders of its sites."""
        coupling = len(self._blocks) * (self.n_colors - 1) ** 2
        weight = np.zeros(self.n_parameters)
        weight[:coupling] = 2.0 if self.symmetric else 1.0
        return np.diag(weight)


@dataclass(frozen=True, eq=False)
class Symmetric(Full):
    """A block for every pair of sites i < j, with W_ij(a, b) = W_ji(b, a)."""

    @property
    def _blocks(self) -> list[tuple[int, int]]:
        return [(i, j) for i in range(self.n_sites) for j in range(i + 1, self.n_sites)]

    @property
    def symmetric(self) -> bool:
        """Whether W_ij(a, b) = W_ji(b, a), as it is here."""
        return True


def parameterization_of(model: Potts, name: str, fields: bool) -> Parameterization:
    """Return the parameterization with this name at the parameters of a pair model.

    The names are "factored", "symmetric" and "asymmetric", also called "full". ValueError where the parameterization
    cannot represent the model.
    """
    pair = model.pair_model if isinstance(model, SquareLatticePotts) else model
    if not isinstance(pair, PottsModel | DensePottsModel):
        raise ValueError(f"model must be a pair model (PottsModel or DensePottsModel), got {type(model).__name__}")
    if name == "factored":
        return _factored(pair, fields)
    dense = zero_sum(DensePottsModel.of(pair) if isinstance(pair, PottsModel) else pair)
    _require_no_fields(dense.beta * dense.fields, fields, "in the zero-sum gauge")
    kind = Symmetric if name == "symmetric" else Full
    return kind(pair.n_sites, pair.n_colors, fields, dense.beta * dense.couplings)


def _factored(model: PottsModel | DensePottsModel, fields: bool) -> Factored:
    if not isinstance(model, PottsModel):
        raise ValueError("model must have factored couplings (PottsModel) for parameterization 'factored'")
    _require_no_fields(model.beta * model.fields, fields, "of the model")
    A = model.beta * model.dense_site_couplings
    return Factored(model.n_sites, model.n_colors, fields, A, model.color_couplings)


def _require_no_fields(given: Array, fields: bool, where: str) -> None:
    size = float(np.ptp(given, axis=1).max())
    if not fields and size > 1e-12:
        raise ValueError(f"fields must be True where the fields {where} differ between colors, here by {size:.3g}")
