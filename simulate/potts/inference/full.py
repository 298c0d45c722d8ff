"""Pseudo-likelihood of a pair model with couplings J_ij(a, b) and fields of its own for every pair and site."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from simulate.potts.inference.asymmetric import fit as asymmetric_fit
from simulate.potts.inference.descent import Options, penalty
from simulate.potts.inference.memory import refuse_too_large
from simulate.potts.inference.minimize import FitError
from simulate.potts.inference.pair_fit import PairFit
from simulate.potts.inference.sequences import Sequences
from simulate.potts.inference.support import (
    WEAK,
    WEAK_ITERATIONS,
    WEAK_TOL,
    drift,
    require_finite_optimum,
    still_growing,
)
from simulate.potts.inference.symmetric import fit as symmetric_fit
from theory.models import DensePottsModel, checks
from theory.models.potts import zero_sum


@dataclass(frozen=True, eq=False, repr=False)
class PseudoLikelihoodFit(PairFit):
    """A fitted pair model, with the evidence for it.

    `objective` is f of `pseudo_likelihood` at its minimum. `gradient_norm` is that of f relative to its start, in the
    couplings and the fields at the mean of the data, h_i + sum_j J_ij f_j. An asymmetric fit has a minimum for each
    group of sites: `objective` is their sum, and the other numbers are those of the slowest group.
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
    colors that never occur). With l2 = 0 two fits with small penalties are compared, too: where the log odds of the
    data grow from one to the other (sites that others decide) it has not converged. MemoryError, before anything is
    allocated, above `memory_limit` bytes (None: what the machine has). FitError, with the fit as `.fit`, where `tol` is
    not reached; `check=False` returns it instead.
    """
    data = Sequences.of(states, n_colors, weights)
    options = Options(
        penalty("l2", l2),
        penalty("field_l2", field_l2),
        checks.positive("tol", tol),
        int(checks.dimension(max_iter, name="max_iter")),
        int(checks.dimension(n_threads, name="n_threads")),
    )
    if not isinstance(symmetric, bool | np.bool_):
        raise ValueError(f"symmetric must be True or False, got {symmetric!r}")
    _check_gauge(gauge, symmetric)
    refuse_too_large(data, symmetric, memory_limit, options.n_threads)
    require_finite_optimum(data, options.l2, options.field_l2)
    fitted = symmetric_fit if symmetric else asymmetric_fit
    model, minima = fitted(data, options)
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
    if options.l2 == 0 and fit.converged:
        strengths = (share * float(np.sum(data.weights**2)) for share in WEAK)
        limited = replace(options, tol=WEAK_TOL, max_iter=WEAK_ITERATIONS)
        weak, weaker = (fitted(data, replace(limited, l2=k, field_l2=k))[0] for k in strengths)
        counted = data.columns.T[data.weights > 0]
        reason = still_growing(drift(weak.log_conditionals, weaker.log_conditionals, counted))
        fit = replace(fit, converged=False, reason=reason) if reason else fit
    if check:
        _require_converged(fit, options.tol)
    return fit


def _require_converged(fit: PseudoLikelihoodFit, tol: float) -> None:
    if not fit.converged:
        raise FitError(
            f"pseudo_likelihood did not reach tol = {tol:g}: {fit.reason} after {fit.iterations} iterations, relative "
            f"gradient norm {fit.gradient_norm:.2g}; raise max_iter, l2 or tol, or take it with check=False",
            fit,
        )


def _check_gauge(gauge: str, symmetric: bool) -> None:
    if gauge not in ("zero_sum", "none"):
        raise ValueError(f'gauge must be "zero_sum" or "none", got {gauge!r}')
    if gauge == "none" and not symmetric:
        raise ValueError('gauge must be "zero_sum" with symmetric=False: only there may the two blocks be averaged')
