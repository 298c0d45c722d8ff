"""Pseudo-likelihood of a pair model with couplings J_ij(a, b) and fields of its own for every pair and site."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from simulate.potts.inference import asymmetric, symmetric
from simulate.potts.inference.memory import refuse_too_large
from simulate.potts.inference.minimize import FitError, Minimum, minimize
from simulate.potts.inference.objective import in_threads, site_groups
from simulate.potts.inference.sequences import Array, Sequences
from simulate.potts.inference.support import require_finite_optimum
from theory.models import DensePottsModel, checks
from theory.models.potts import zero_sum, zero_sum_blocks

PSEUDOCOUNT = 1e-3  # added to the frequencies whose logarithms are the fields that a fit starts from
SINGLE = 1e-4  # relative gradient norm down to which single precision is used


@dataclass(frozen=True, eq=False, repr=False)
class PseudoLikelihoodFit:
    """A fitted pair model, with the evidence for it.

    `objective` is f of `pseudo_likelihood` at its minimum. `gradient_norm` is that of f relative to its start, in the
    couplings and the fields at the mean of the data, h_i + sum_j J_ij f_j. Of an asymmetric fit, which has a minimum for
    each group of sites, `objective` is the sum and the other numbers are those of the slowest group.
    """

    model: DensePottsModel
    objective: float
    gradient_norm: float
    iterations: int
    evaluations: int
    converged: bool
    reason: str
    symmetric: bool
    gauge: str
    l2: float
    field_l2: float
    n_samples: int

    @property
    def couplings(self) -> Array:
        """J (L, L, C, C) with J[i, j] = J[j, i].T."""
        return np.asarray(self.model.couplings)

    @property
    def fields(self) -> Array:
        """h (L, C)."""
        return np.asarray(self.model.fields)

    def __repr__(self) -> str:
        L, C = self.fields.shape
        return (
            f"PseudoLikelihoodFit(L={L}, C={C}, M={self.n_samples}, symmetric={self.symmetric}, l2={self.l2:g}, "
            f"field_l2={self.field_l2:g}, objective={self.objective:.8g}, gradient_norm={self.gradient_norm:.2g}, "
            f"iterations={self.iterations}, converged={self.converged}, reason={self.reason!r})"
        )


def pseudo_likelihood(
    states: Any,
    n_colors: int,
    *,
    l2: float = 0.01,
    field_l2: float = 1e-4,
    weights: Any = None,
    symmetric: bool = True,
    gauge: str = "zero_sum",
    tol: float = 1e-4,
    max_iter: int = 1000,
    n_threads: int = 1,
    memory_limit: float | None = None,
    check: bool = True,
) -> PseudoLikelihoodFit:
    """Couplings and fields that minimize f = -sum_m w_m sum_i log P(s_i | rest) + l2 |J|^2 + field_l2 |h|^2.

    `states` (M, L) are integers, `weights` (M,) are divided by their sum (1/M each where None): an objective that sums
    over M sequences with penalties k has l2 = k/M. f sums over sites: it is L times the masked loss, plus penalties.
    `symmetric`: every pair has one block, counted once in |J|^2. Otherwise every site is a regression of its own, |J|^2
    counts the blocks of both directions, and the fitted block is the mean of the two in the zero-sum gauge.
    `gauge`: "zero_sum", or "none" for the symmetric optimum as it is. Stops where the norm of the gradient is `tol`
    times that at the start (fields of the independent sites, no couplings). Any `n_threads` give the same numbers.

    ValueError for states, weights or options that are none, and where f has no minimum (l2 = 0 and colors or pairs of
    colors that never occur). MemoryError, before anything is allocated, above `memory_limit` bytes (None: what the
    machine has). FitError, with the fit as `.fit`, where `tol` is not reached; `check=False` returns it instead.
    """
    data = Sequences.of(states, n_colors, weights)
    options = _Options(
        checks.non_negative("l2", l2),
        checks.non_negative("field_l2", field_l2),
        checks.positive("tol", tol),
        int(checks.dimension(max_iter, name="max_iter")),
        int(checks.dimension(n_threads, name="n_threads")),
    )
    _check_gauge(gauge, symmetric)
    refuse_too_large(data, symmetric, memory_limit, options.n_threads)
    require_finite_optimum(data, options.l2, options.field_l2)
    model, minima = (_fit_symmetric if symmetric else _fit_asymmetric)(data, options)
    fit = PseudoLikelihoodFit(
        model=zero_sum(model) if gauge == "zero_sum" and symmetric else model,
        objective=sum(each.value for each in minima),
        gradient_norm=max(each.gradient_norm for each in minima),
        iterations=max(each.iterations for each in minima),
        evaluations=max(each.evaluations for each in minima),
        converged=all(each.converged for each in minima),
        reason=next((each.reason for each in minima if not each.converged), minima[0].reason),
        symmetric=symmetric,
        gauge=gauge,
        l2=options.l2,
        field_l2=options.field_l2,
        n_samples=data.n_samples,
    )
    if check and not fit.converged:
        raise FitError(
            f"pseudo_likelihood did not reach tol = {tol:g}: {fit.reason}, relative gradient norm "
            f"{fit.gradient_norm:.2g}; raise max_iter, l2 or tol, or pass check=False to take it as it is",
            fit,
        )
    return fit


@dataclass(frozen=True)
class _Options:
    l2: float
    field_l2: float
    tol: float
    max_iter: int
    n_threads: int


def _check_gauge(gauge: str, symmetric: bool) -> None:
    if gauge not in ("zero_sum", "none"):
        raise ValueError(f'gauge must be "zero_sum" or "none", got {gauge!r}')
    if gauge == "none" and not symmetric:
        raise ValueError('gauge must be "zero_sum" with symmetric=False: only there may the two blocks be averaged')


def _fit_symmetric(data: Sequences, options: _Options) -> tuple[DensePottsModel, list[Minimum]]:
    penalties, f = (options.l2, options.field_l2), data.frequencies()
    start = np.zeros(f.size + data.n_sites * (data.n_sites - 1) // 2 * data.n_colors**2)
    start[: f.size] = independent_fields(f).ravel()

    def objective(dtype: Any) -> Any:
        return symmetric.objective(data, *penalties, dtype=dtype, n_threads=options.n_threads)

    found = _descend(objective, start, 1 / symmetric.curvatures(data, *penalties), options)
    fields, tables = symmetric.unpack(found.point, *f.shape)
    fields = fields - np.tensordot(f, tables, axes=2)
    return DensePottsModel(tables.transpose(0, 2, 1, 3), fields), [found]


def _fit_asymmetric(data: Sequences, options: _Options) -> tuple[DensePottsModel, list[Minimum]]:
    penalties, f = (options.l2, options.field_l2), data.frequencies()
    L, C = f.shape
    couplings, fields, minima = np.empty((L, L, C, C)), np.empty((L, C)), []

    def of_group(sites: slice) -> tuple[slice, Minimum]:
        def objective(dtype: Any) -> Any:
            return asymmetric.objective(data, *penalties, sites, dtype=dtype)

        start = np.concatenate([independent_fields(f)[sites].ravel(), np.zeros(L * C * (sites.stop - sites.start) * C)])
        return sites, _descend(objective, start, 1 / asymmetric.curvatures(data, *penalties, sites), options)

    for sites, found in in_threads(of_group, site_groups(L, C), options.n_threads):
        own, table = asymmetric.unpack(found.point, L, C, sites)
        couplings[sites] = zero_sum_blocks(table.transpose(2, 0, 3, 1))
        own = own + np.tensordot(1 / C - f, table, axes=2)  # rows lose their means to the fields
        fields[sites] = own - own.mean(axis=1, keepdims=True)
        minima.append(found)
    for i in range(L):
        couplings[i, i:] = (couplings[i, i:] + couplings[i:, i].transpose(0, 2, 1)) / 2
        couplings[i:, i] = couplings[i, i:].transpose(0, 2, 1)
    return DensePottsModel(couplings, fields), minima


def _descend(objective: Any, start: Array, scale: Array, options: _Options) -> Minimum:
    """Down to `SINGLE` in single precision, and on from there in double where `tol` asks for it."""
    coarse = minimize(objective(np.float32), start, scale, tol=max(options.tol, SINGLE), max_iter=options.max_iter)
    if (coarse.converged and options.tol >= SINGLE) or coarse.iterations == options.max_iter:
        return coarse
    fine = minimize(
        objective(np.float64),
        coarse.point,
        scale,
        tol=options.tol,
        max_iter=options.max_iter - coarse.iterations,
        reference=coarse.reference,
    )
    return replace(
        fine,
        iterations=coarse.iterations + fine.iterations,
        evaluations=coarse.evaluations + fine.evaluations,
    )


def independent_fields(frequencies: Array) -> Array:
    """Fields (L, C) of independent sites, centered."""
    logs = np.log(frequencies + PSEUDOCOUNT)
    return np.asarray(logs - logs.mean(axis=1, keepdims=True))
