"""Energies with interactions of up to three sites, fitted to sequences by maximum pseudo-likelihood."""

from dataclasses import dataclass, field
from itertools import combinations, permutations
from math import comb
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.optimize import minimize

from simulate.potts.inference.descent import Penalty, independent_fields
from simulate.potts.inference.pair_blocks import pack, unpack
from simulate.potts.inference.sequences import Sequences
from simulate.potts.inference.three_body_kernel import add_triplets, gather_triplets
from theory.core import Array, Count, FitError, Positive, SolverResult, checked, checks
from theory.models import GroupInteraction, Interaction, ManyBodyPottsModel
from theory.models.potts.batches import blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

Kind = Literal["full", "factored"]

SEQUENCES_PER_PARAMETER = 10  # needed for each parameter of the triplets
FIELD_SHARE = 0.01  # default penalty of the fields, in units of that of the couplings
HISTORY_PAIRS = 20  # pairs of differences that shape a step of L-BFGS
POWER_ITERATIONS = 50  # for the start of a factored fit, which needs no more than two digits


@dataclass(frozen=True, eq=False, repr=False)
class ThreeBodyFit(SolverResult):
    """A model with fields, couplings of all pairs and triplets of sites, fitted by pseudo-likelihood.

    `kind` is "full" where every triplet has a tensor of its own, "factored" where the triplets share one symmetric
    tensor W, so that site i is predicted by z_ia = h_i[a] + sum_j J_ij[a, s_j] + sum_{j<k} J_ijk W[a, s_j, s_k].
    `objective` is the penalized loss at the minimum, `residual` the norm of its gradient relative to that at the start,
    and `reason` says why the minimization ended. `n_triplet_parameters` says how many numbers describe the triplets.
    """

    model: ManyBodyPottsModel = field(repr=False)
    kind: str
    objective: float
    n_triplet_parameters: int
    reason: str


@checked
def three_body(
    states: Any,
    n_colors: int,
    *,
    kind: Literal["auto", "full", "factored"] = "full",
    l2: Penalty | None = None,
    field_l2: Penalty | None = None,
    weights: Any = None,
    tol: Positive = 1e-4,
    max_iter: Count = 1000,
    check: bool = True,
) -> ThreeBodyFit:
    """Fit an energy with interactions of one, two and three sites to sequences, by maximum pseudo-likelihood.

    It minimizes -sum_m w_m sum_i log P(s_i | rest) + l2 (|J|^2 + |T|^2) + field_l2 |h|^2 over fields h, couplings J of
    every pair and tensors T of every triplet of sites, over the M sequences `states` (M, L), integers below `n_colors`.
    The weights w are `weights` (M,) divided by their sum, or equal where None; M_eff = 1/sum w^2. `l2` is 1/M_eff and
    `field_l2` a hundredth of that where None. The tensors of `kind` "factored" are J_ijk W with one symmetric W: that
    fit is not convex, and starts from the factors that best approximate the first step of a full fit.

    **How many sequences are needed.** The triplets have (L choose 3) (C - 1)^3 parameters in a full fit, and (L choose
    3) + C (C + 1) (C + 2)/6 in a factored one. A fit whose M_eff is below ten times that number is refused, by a
    ValueError that gives the numbers: it would describe the noise of the sample. "auto" is a full fit where the
    sequences suffice for it, else a factored one, which is another law: where triplets have tables of their own, one
    table for all keeps little of them.

    ValueError for fewer than three sites, for l2 = 0 (colors of three sites that never occur together have no finite
    optimum), and for too few sequences. FitError, with the fit as `.fit`, where the gradient is not below `tol` times
    that of independent sites; with `check=False` that fit is returned instead.

    >>> states = np.random.default_rng(0).integers(0, 2, (400, 3))
    >>> states[:, 2] = np.where(states[:, 0] == states[:, 1], states[:, 2], 0)
    >>> fit = three_body(states, n_colors=2)
    >>> fit.kind, fit.converged, fit.n_triplet_parameters
    ('full', True, 1)
    """
    data = Sequences.of(states, n_colors, weights)
    effective = 1 / float(np.sum(data.weights**2))
    chosen = supported_kind(data.n_sites, data.n_colors, effective, kind)
    l2 = 1 / effective if l2 is None else l2
    if l2 == 0:
        raise ValueError("l2 must be positive, got 0: colors that never occur together would have no finite couplings")
    field_l2 = FIELD_SHARE / effective if field_l2 is None else field_l2
    tensors = comb(data.n_sites, 3) if chosen == "full" else 1
    numbers = float(tensors) * data.n_colors**3 + (float(data.n_sites) * data.n_colors) ** 2
    checks.fits_in_memory(f"couplings of {data.n_sites} sites and {data.n_colors} colors", 8 * numbers)
    problem = _Problem(data, chosen, l2, field_l2)
    fit = _minimized(problem, _start(problem), tol, max_iter)
    if check and not fit.converged:
        raise FitError(
            f"three_body did not reach tol = {tol:g}: {fit.reason} after {fit.iterations} iterations, relative "
            f"gradient norm {fit.residual:.2g}; raise max_iter, l2 or tol, or take it with check=False",
            fit,
        )
    return fit


def triplet_parameters(n_sites: int, n_colors: int, kind: Kind) -> int:
    """Return how many numbers describe the triplets of a fit of this kind, without those that no law depends on."""
    triplets = comb(n_sites, 3)
    return triplets * (n_colors - 1) ** 3 if kind == "full" else triplets + comb(n_colors + 2, 3)


def supported_kind(n_sites: int, n_colors: int, effective: float, kind: str) -> Kind:
    """Return "full" or "factored"; ValueError, with the numbers, where the sequences do not suffice for it."""
    if n_sites < 3:
        raise ValueError(f"states must have at least 3 sites for interactions of three, got {n_sites}")
    needed = {}
    for each in ("full", "factored") if kind == "auto" else (kind,):
        count = triplet_parameters(n_sites, n_colors, each)
        if SEQUENCES_PER_PARAMETER * count <= effective * (1 + 1e-9):  # 1/sum w^2 is rounded
            return each
        needed[each] = count
    numbers = " and ".join(f"{count} (kind {each})" for each, count in needed.items())
    least = SEQUENCES_PER_PARAMETER * min(needed.values())
    raise ValueError(
        f"states must be at least {least} effective sequences for interactions of three among {n_sites} sites with "
        f"n_colors = {n_colors}, {SEQUENCES_PER_PARAMETER} for each of the {numbers} parameters of the triplets, got "
        f"{effective:.6g} (1/sum w^2 of the weights)"
    )


class _Problem:
    """The penalized loss as a function of one vector: fields and pairs as in `pack`, then the triplets.

    The fields are those at the mean of the data, h_i + sum_j J_ij f_j, and every variable is scaled by the root of the
    curvature that it has for independent sites: both save many iterations.
    """

    def __init__(self, data: Sequences, kind: Kind, l2: float, field_l2: float) -> None:
        self.data, self.kind, self.l2, self.field_l2 = data, kind, l2, field_l2
        self.frequencies = f = data.frequencies()
        self.states = np.ascontiguousarray(data.columns.T, dtype=np.int64)
        self.sites: NDArray[np.int64] = np.array(list(combinations(range(data.n_sites), 3)), dtype=np.int64)
        self.T, C = len(self.sites), data.n_colors
        self.which = np.arange(self.T) if kind == "full" else np.zeros(self.T, dtype=np.int64)
        self.shape = (self.T if kind == "full" else 1, C, C, C)
        variance = f * (1 - f)
        pairs = pack(variance + 2 * field_l2, 2 * np.multiply.outer(variance, variance) + 2 * l2)
        if kind == "full":
            v = variance[self.sites]
            triplets = 3 * np.einsum("ta,tb,tc->tabc", v[:, 0], v[:, 1], v[:, 2]).ravel() + 2 * l2
        else:
            triplets = np.ones(self.T + C**3)
        self.n_pairs, self.scale = len(pairs), 1 / np.sqrt(np.concatenate([pairs, triplets]))

    def split(self, y: Array) -> tuple[Array, Array, Array, Array]:
        """Return fields (L, C), tables (L, C, L, C), strengths (T,) and tensors of a vector of scaled variables."""
        x = y * self.scale
        fields, tables = unpack(x[: self.n_pairs], *self.frequencies.shape)
        fields = fields - np.tensordot(self.frequencies, tables, axes=2)
        rest = x[self.n_pairs :]
        if self.kind == "full":
            return fields, tables, np.ones(self.T), rest.reshape(self.shape)
        return fields, tables, rest[: self.T], _symmetrized(rest[self.T :].reshape(self.shape[1:]))[None]

    def __call__(self, y: Array) -> tuple[float, Array]:
        """Return the objective and its gradient by the scaled variables."""
        fields, tables, J, W = self.split(y)
        value, by_field, by_table, by_J, by_W = self._loss(fields, tables, J, W)
        value += self.l2 * 0.5 * float(np.vdot(tables, tables)) + self.field_l2 * float(np.vdot(fields, fields))
        by_field += 2 * self.field_l2 * fields
        size_J, size_W = float(J @ J), float(np.vdot(W, W))
        if self.kind == "full":
            value += self.l2 * size_W
            triplets = (by_W + 2 * self.l2 * W).ravel()
        else:
            value += self.l2 * size_J * size_W
            by_W = _symmetrized(by_W[0]) + 2 * self.l2 * size_J * W[0]
            triplets = np.concatenate([by_J + 2 * self.l2 * size_W * J, by_W.ravel()])
        return value, np.concatenate([self._folded(by_field, by_table, tables), triplets]) * self.scale

    def _folded(self, by_field: Array, by_table: Array, tables: Array) -> Array:
        """Both sites of a pair share its block, and the fields are those at the mean of the data."""
        shifted = by_table - self.frequencies[:, :, None, None] * by_field
        shifted = shifted + shifted.transpose(2, 3, 0, 1)
        return pack(by_field, shifted + 2 * self.l2 * tables)

    def _loss(self, fields: Array, tables: Array, J: Array, W: Array) -> tuple[float, Array, Array, Array, Array]:
        """Return the loss without penalties, and its derivatives by all four."""
        L, C = fields.shape
        value, flat = 0.0, np.ascontiguousarray(tables.reshape(L * C, L * C))
        by_field, by_flat, by_J, by_W = np.zeros((L, C)), np.zeros_like(flat), np.zeros(len(J)), np.zeros(W.shape)
        J, W = np.array(J), np.array(W)  # the kernel would be compiled once more for read-only arrays
        for rows in blocks(len(self.states), L * C):
            s, w = self.states[rows], self.data.weights[rows]
            x = np.zeros((len(s), L, C))
            np.put_along_axis(x, s[:, :, None], 1.0, axis=2)
            inputs = x.reshape(len(s), L * C)
            z = (inputs @ flat).reshape(x.shape) + fields
            add_triplets(s, self.sites, J, self.which, W, z)
            z -= z.max(axis=2, keepdims=True)
            norm = np.log(np.exp(z).sum(axis=2, keepdims=True))
            value += float(w @ (norm[..., 0] - np.take_along_axis(z, s[:, :, None], axis=2)[..., 0]).sum(axis=1))
            residual = (np.exp(z - norm) - x) * w[:, None, None]
            by_field += residual.sum(axis=0)
            by_flat += inputs.T @ residual.reshape(len(s), L * C)
            gather_triplets(s, residual, self.sites, J, self.which, W, by_J, by_W)
        return value, by_field, by_flat.reshape(tables.shape), by_J, by_W

    def first_step(self) -> Array:
        """Return minus the gradient by the tensors of all triplets, (T, C, C, C), at independent sites."""
        L, C = self.frequencies.shape
        full = _Problem(self.data, "full", self.l2, self.field_l2) if self.kind != "full" else self
        zero = np.zeros((L, C, L, C)), np.ones(self.T), np.zeros(full.shape)
        return np.asarray(-full._loss(independent_fields(self.frequencies, self.field_l2), *zero)[4])


def _start(problem: _Problem) -> Array:
    """Return independent sites; for a factored fit with small factors J and W along the first step of a full one."""
    y = np.zeros(len(problem.scale))
    f = problem.frequencies
    y[: f.size] = independent_fields(f, problem.field_l2).ravel() / problem.scale[: f.size]
    if problem.kind == "factored":
        first = np.stack([_symmetrized(each) for each in problem.first_step()])
        W = first[np.argmax(np.sum(first**2, axis=(1, 2, 3)))]
        for _ in range(POWER_ITERATIONS if np.any(W) else 0):
            J = np.tensordot(first, W, axes=3)
            W = np.tensordot(J / np.linalg.norm(J), first, axes=1)
            W = W / np.linalg.norm(W)
        J = np.tensordot(first, W, axes=3) if np.any(W) else np.ones(problem.T)
        W = W if np.any(W) else np.ones_like(W)
        J, W = 0.1 * J / np.linalg.norm(J), W / np.linalg.norm(W)
        y[problem.n_pairs :] = np.concatenate([J, W.ravel()]) / problem.scale[problem.n_pairs :]
    return y


def _minimized(problem: _Problem, start: Array, tol: float, max_iter: int) -> ThreeBodyFit:
    independent = start.copy()
    if problem.kind == "full":
        independent[problem.n_pairs :] = 0
    reference = max(1e-6, float(np.linalg.norm(problem(independent)[1])))
    options = {"maxiter": max_iter, "maxfun": 4 * max_iter, "maxcor": HISTORY_PAIRS, "ftol": 0.0}
    options["gtol"] = tol * reference / np.sqrt(start.size)  # L-BFGS looks at the largest component
    found = minimize(problem, start, jac=True, method="L-BFGS-B", options=options)
    value, gradient = problem(found.x)
    norm = float(np.linalg.norm(gradient)) / reference
    exhausted = found.nit >= max_iter
    reason = "gradient below tolerance" if norm <= tol else "max_iter" if exhausted else "no step lowers the objective"
    return ThreeBodyFit(
        model=_model(problem, *problem.split(found.x)),
        kind=problem.kind,
        objective=value,
        n_triplet_parameters=triplet_parameters(problem.data.n_sites, problem.data.n_colors, problem.kind),
        reason=reason,
        residual=norm,
        iterations=int(found.nit),
        converged=norm <= tol,
    )


def _model(problem: _Problem, fields: Array, tables: Array, J: Array, W: Array) -> ManyBodyPottsModel:
    L = problem.data.n_sites
    i, j = np.triu_indices(L, 1)
    pairs = GroupInteraction(np.stack([i, j], axis=1), tables.transpose(0, 2, 1, 3)[i, j])
    triplets = GroupInteraction(problem.sites, W) if problem.kind == "full" else Interaction(problem.sites, J, W[0])
    return ManyBodyPottsModel(L, (pairs, triplets), fields)


def _symmetrized(W: Array) -> Array:
    return np.asarray(sum(W.transpose(order) for order in permutations(range(3))) / 6)
