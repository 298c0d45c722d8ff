"""Fits pair models with couplings J_ij(a, b) for every pair of sites and fields, by pseudo-likelihood."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from simulate.potts.inference.asymmetric import fit as asymmetric_fit
from simulate.potts.inference.descent import Options, Penalty
from simulate.potts.inference.memory import refuse_too_large
from simulate.potts.inference.pair_fit import PairFit
from simulate.potts.inference.sequences import Sequences
from simulate.potts.inference.support import (
    WEAK_ITERATIONS,
    WEAK_PENALTIES,
    WEAK_TOL,
    drift,
    require_finite_optimum,
    still_growing,
)
from simulate.potts.inference.symmetric import fit as symmetric_fit
from theory.core import Count, FitError, Positive, SolverResult, checked
from theory.models import DensePottsModel


@dataclass(frozen=True, eq=False, repr=False)
class PseudoLikelihoodFit(SolverResult, PairFit):
    """A pair model fitted by pseudo-likelihood, with the evidence for it.

    `objective` is the penalized loss f of `pseudo_likelihood` at its minimum. `residual`, also called `gradient_norm`,
    is the norm of the gradient of f relative to that at the start; the gradient is taken in the couplings and in the
    fields at the mean of the data, h_i + sum_j J_ij f_j. `reason` says why the minimization ended. An asymmetric fit
    has a minimum for each group of sites: `objective` is their sum, and the evidence is that of the slowest group.
    """

    model: DensePottsModel
    objective: float
    evaluations: int
    reason: str
    symmetric: bool
    gauge: str
    l2: float
    field_l2: float
    n_samples: int

    @property
    def gradient_norm(self) -> float:
        """The norm of the gradient relative to that at the start, which is the `residual`."""
        return self.residual


@checked
def pseudo_likelihood(
    states: Any,
    n_colors: int,
    *,
    l2: Penalty = 0.01,
    field_l2: Penalty = 1e-4,
    weights: Any = None,
    symmetric: bool = True,
    gauge: Literal["zero_sum", "none"] = "zero_sum",
    tol: Positive = 1e-4,
    max_iter: Count = 1000,
    n_threads: Count = 1,
    memory_limit: Positive | None = None,
    check: bool = True,
) -> PseudoLikelihoodFit:
    """Fit a Potts model with couplings J_ij(a, b) and fields h_i(a) to sequences, by maximum pseudo-likelihood.

    It minimizes f = -sum_m w_m sum_i log P(s_i | rest) + l2 |J|^2 + field_l2 |h|^2 over the M sequences `states`
    (M, L), which are integers below `n_colors`. The weights w_m are `weights` (M,) divided by their sum, or 1/M each
    where None. The penalty k of a program that sums over sequences (EVcouplings, CCMpred, `python -m figures analyse
    --l2`) is l2 = k/Meff here, where Meff is the sum of weights; it is k/M only where every sequence counts as one.
    Since f sums over sites, it is L times the masked loss, plus penalties. Equal sequences are merged, and their
    weights added, which changes no sum.

    If `symmetric`, every pair of sites has one block of couplings, counted once in |J|^2. Otherwise every site is a
    regression of its own, |J|^2 counts the blocks of both directions, and the fitted block is the mean of the two in
    the zero-sum gauge. `gauge` is "zero_sum", or "none" for the symmetric optimum as it is. The fit starts from
    independent sites and stops where the norm of the gradient is `tol` times that at the start. The numbers do not
    depend on `n_threads`.

    ValueError where f has no minimum: l2 = 0, and colors or pairs of colors that never occur. With l2 = 0 two fits with
    small penalties are compared as well; where the log odds of the data grow from one to the other, since some sites
    are decided by others, the fit has not converged. MemoryError, before anything is allocated, above `memory_limit`
    bytes (None stands for what the machine has). FitError, with the fit as `.fit`, where `tol` is not reached; with
    `check=False` that fit is returned instead.

    >>> states = [[0, 0], [1, 1], [0, 0], [1, 1], [0, 1], [1, 0]]
    >>> fit = pseudo_likelihood(states, n_colors=2, l2=0.01)
    >>> fit.converged, bool(fit.couplings[0, 1, 0, 0] > 0)  # equal colors attract each other
    (True, True)
    """
    given = Sequences.of(states, n_colors, weights)
    data = given.merged()
    options = Options(l2, field_l2, tol, max_iter, n_threads)
    if gauge == "none" and not symmetric:
        raise ValueError('gauge must be "zero_sum" with symmetric=False: only there may the two blocks be averaged')
    refuse_too_large(data, symmetric, memory_limit, options.n_threads, options.tol)
    require_finite_optimum(data, options.l2, options.field_l2)
    fitted = partial(symmetric_fit, zero_sum=gauge == "zero_sum") if symmetric else asymmetric_fit
    model, minima = fitted(data, options)
    fit = PseudoLikelihoodFit(
        model=model,
        objective=sum(each.value for each in minima),
        residual=max(each.gradient_norm for each in minima),
        iterations=max(each.iterations for each in minima),
        evaluations=max(each.evaluations for each in minima),
        converged=all(each.converged for each in minima),
        reason=next((each.reason for each in minima if not each.converged), minima[0].reason),
        symmetric=symmetric,
        gauge=gauge,
        l2=options.l2,
        field_l2=options.field_l2,
        n_samples=given.n_samples,
    )
    if options.l2 == 0 and fit.converged:
        strengths = (share * float(np.sum(given.weights**2)) for share in WEAK_PENALTIES)
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
