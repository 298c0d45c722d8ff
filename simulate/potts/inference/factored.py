"""Fits factored attention to sequences: couplings A_ij V_ab by maximum pseudo-likelihood."""

from copy import copy
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from scipy.optimize import minimize

from simulate.core.threads import Mapping, mapping
from simulate.potts.inference.descent import Penalty
from simulate.potts.inference.factored_fit import FactoredFit
from simulate.potts.inference.factored_kernel import FactoredObjective
from simulate.potts.inference.factored_start import Start, balanced, factored_start
from simulate.potts.inference.sequences import Sequences
from simulate.potts.inference.support import WEAK_ITERATIONS, WEAK_PENALTIES, WEAK_TOL, drift, still_growing
from theory.core import Array, AtLeast, Count, FitError, NonNegativeCount, Positive, checked
from theory.models.potts import centered

__all__ = ["FactoredFit", "factored_attention"]

MAX_RESTARTS = 10_000
DEFAULT_PENALTY = 0.01  # of couplings and fields, in units of the loss of one sample
HISTORY_PAIRS = 20  # pairs of differences that shape a step of L-BFGS
MAX_STARTS = 3  # L-BFGS starts at most so often: its history and its units may grow stale where the minimum is flat
# Large fits begin in single precision, which halves the time of a step, until the gradient's norm is so small. What
# rounding adds to the objective is a hundredth of what a step gains there.
SINGLE_PRECISION_GRADIENT = 1e-3
SINGLE_PRECISION_OPERATIONS = 10**8  # multiplications of an evaluation from which on a fit is large
MAX_SINGLE_LOGIT = 1e3  # logits that are larger lose too many digits in single precision
CURVATURE_FLOOR = 1e-3  # share of the largest curvature below which a coordinate's own does not count


@checked
def factored_attention(
    states: Any,
    n_colors: int,
    *,
    fields: bool = True,
    l2: Penalty | None = None,
    field_l2: Penalty | None = None,
    weights: Any = None,
    start: Any = "kronecker",
    restarts: Annotated[int, AtLeast(0, most=MAX_RESTARTS)] = 0,
    seed: NonNegativeCount = 0,
    max_iter: Count = 2000,
    tol: Positive = 1e-5,
    n_threads: Count = 1,
    check: bool = True,
) -> FactoredFit:
    """Fit one layer of factored attention, with couplings A_ij V_ab, to sequences (arXiv:2304.07235).

    It minimizes -sum_mu w_mu sum_i log P(s_i^mu | others) + l2 |A|^2 |V|^2 + field_l2 |h|^2 over the attention A
    (L, L), the values V (C, C) and, if `fields`, the fields h (L, C). The sequences are `states` (M, L), integers below
    `n_colors`; the weights w are `weights` (M,) divided by their sum, or equal where None. The first term is L times
    the masked loss, and the first penalty that of the couplings A_ij V_ab, whatever the scale of A. Both penalties are
    0.01/M by default, with M the effective number of samples 1/sum w^2: just enough for colors that a site never shows.

    The objective is not convex. It is minimized from `start`, which is "kronecker" (the best A x V of mean-field
    couplings), "random", or a tuple (A, V) or (A, V, h), and from as many further random starts as `restarts` says; the
    best minimum is returned. Without `fields` a start may run away to couplings that cancel but for a field. That
    counts as not converged, and with l2 = 0 so do log odds of the data that grow as small penalties fall.

    An iteration takes a time proportional to M L C min(L, C). Fits for which that is more than 10^8 begin in single
    precision, and end in double. The result does not depend on `n_threads`. FitError, with the fit as `.fit`, where the
    norm of the gradient exceeds `tol`; with `check=False` that fit is returned instead.

    >>> states = [[0, 0], [1, 1], [0, 0], [1, 1], [0, 1], [1, 0]]
    >>> fit = factored_attention(states, n_colors=2)
    >>> fit.converged, fit.site_couplings.shape, fit.color_couplings.shape
    (True, (2, 2), (2, 2))
    """
    data = Sequences.of(states, n_colors, weights)
    if data.n_sites < 2:
        raise ValueError(f"states must have at least 2 sites to predict one from another, got {data.n_sites}")
    default = DEFAULT_PENALTY * float(np.sum(data.weights**2))
    penalties = default if l2 is None else l2, default if field_l2 is None else field_l2
    rng = np.random.default_rng(seed)
    kinds = [start] + ["random"] * restarts
    with mapping(n_threads) as mapped:
        problem = _Problem(data, fields, *penalties, mapped)
        found = [_minimized(problem, factored_start(kind, states, data, rng), max_iter, tol) for kind in kinds]
        best = min(found, key=lambda fit: fit.objective)
        fit = replace(best, restarts=tuple(each.objective for each in found))
        if problem.l2 == 0 and fit.converged:
            fit = _without_drift(problem, fit, data)
    if check and not fit.converged:
        raise FitError(
            f"factored attention has not converged: {fit.reason}, gradient norm {fit.gradient_norm:.2g} after "
            f"{fit.iterations} iterations; try fields=True, a larger l2, restarts, or a larger max_iter or tol",
            fit,
        )
    return fit


class _Problem:
    """The penalized objective as a function of one vector: A without its diagonal, V and, if they are fitted, fields.

    The fields g are taken at the mean input, z_i = g_i + sum_j A_ij V (x_j - f_j), which makes them nearly independent
    of A and V and needs several times fewer iterations. A factor sqrt(C) gives them a curvature of about one. Colors of
    unlike frequencies still leave curvatures that differ by orders of magnitude, which `units` evens out.
    """

    def __init__(self, data: Sequences, fields: bool, l2: float, field_l2: float, mapped: Mapping) -> None:
        states = np.ascontiguousarray(data.columns.T, dtype=np.int32)
        self.loss = FactoredObjective(states, data.weights, mapped)
        self.fields, self.l2, self.field_l2 = fields, l2, field_l2
        self.frequencies = data.frequencies()
        self.off_diagonal = ~np.eye(data.n_sites, dtype=bool)
        self.without_mean = np.eye(data.n_colors) - 1 / data.n_colors

    def in_single_precision(self) -> "_Problem":
        """Return the same problem with logits in single precision."""
        single = copy(self)
        single.loss = replace(self.loss, dtype=np.float32)
        return single

    def begins_in_single_precision(self, A: Array, V: Array, h: Array) -> bool:
        """Say whether the problem is large, and the logits at a start small enough."""
        L, C = self.frequencies.shape
        largest = np.abs(A).sum(axis=1).max() * np.abs(V).max() + np.abs(h).max()
        large = len(self.loss.states) * L * C * min(L, C) >= SINGLE_PRECISION_OPERATIONS
        return bool(large and largest <= MAX_SINGLE_LOGIT)

    def value(self, A: Array, V: Array, h: Array) -> tuple[float, Array, Array, Array]:
        """Return the objective and its derivatives by A, V and h."""
        value, dA, dV, dh = self.loss(A, V, h)
        size_A, size_V = np.sum(A**2), np.sum(V**2)
        value += float(self.l2 * size_A * size_V + self.field_l2 * np.sum(h**2))
        return value, dA + 2 * self.l2 * size_V * A, dV + 2 * self.l2 * size_A * V, dh + 2 * self.field_l2 * h

    def of_vector(self, x: Array) -> tuple[float, Array]:
        """Return the objective and its gradient at a packed point."""
        A, V, h = self.unpacked(x)
        value, dA, dV, dh = self.value(A, V, h)
        if self.fields:
            dA, dV = dA - dh @ V @ self.frequencies.T, dV - dh.T @ (A @ self.frequencies)
        return value, self._flat(dA, self._color_gauge(dV), centered(dh) * np.sqrt(len(V)))

    def units(self, x: Array) -> Array:
        """Return the unit of each coordinate in which the objective has a curvature of about one near the point x.

        Curvatures are those of sites that are independent of what they are predicted from: with v = f (1 - f) of the
        frequencies f, a prediction has the variance v_ia, and what site i attends to, N_ib, has sum_j A_ij^2 v_jb.
        """
        A, V, _ = self.unpacked(x)
        f = self.frequencies
        v = f * (1 - f)
        by_A = (v @ V**2) @ f.T + 2 * self.l2 * np.sum(V**2)
        by_V = v.T @ (A**2 @ v) + 2 * self.l2 * np.sum(A**2)
        by_h = len(V) * (v + 2 * self.field_l2)
        floored = (each + CURVATURE_FLOOR * each.max() + np.finfo(float).tiny for each in (by_A, by_V, by_h))
        return 1 / np.sqrt(self._flat(*floored))

    def packed(self, A: Array, V: Array, h: Array) -> Array:
        """Return the vector of a point (A, V, h)."""
        h = centered(h + A @ self.frequencies @ V.T) / np.sqrt(len(V))
        return self._flat(A, self._color_gauge(V), h)

    def unpacked(self, x: Array) -> Start:
        """Return A, V and h of a vector, V and h in the gauge of `FactoredFit`."""
        L, C = self.frequencies.shape
        A = np.zeros((L, L))
        A[self.off_diagonal] = x[: L * (L - 1)]
        V = self._color_gauge(x[L * (L - 1) :][: C * C].reshape(C, C))
        if not self.fields:
            return A, V, np.zeros((L, C))
        return A, V, centered(x[L * (L - 1) + C * C :].reshape(L, C) * np.sqrt(C) - A @ self.frequencies @ V.T)

    def _flat(self, A: Array, V: Array, h: Array) -> Array:
        parts = [A[self.off_diagonal], V.ravel()]
        return np.concatenate([*parts, h.ravel()] if self.fields else parts)

    def _color_gauge(self, V: Array) -> Array:
        """Return `identifiable_colors` of V, as products with a matrix, which take less time."""
        gauged = self.without_mean @ V
        return np.asarray(gauged @ self.without_mean if self.fields else gauged)


def _minimized(problem: _Problem, start: Start, max_iter: int, tol: float) -> FactoredFit:
    """Return the minimum that L-BFGS reaches from `start`."""
    (A, V, h), iterations, runs_away, message = start, 0, False, ""
    x = problem.packed(*balanced(A, V), h)
    value, gradient = problem.of_vector(x)
    norm = float(np.linalg.norm(gradient))
    if norm > max(tol, SINGLE_PRECISION_GRADIENT) and problem.begins_in_single_precision(*start):
        x, iterations, _ = _descended(problem.in_single_precision(), x, max_iter, max(tol, SINGLE_PRECISION_GRADIENT))
        A, V, h = problem.unpacked(x)
        x = problem.packed(*balanced(A, V), h)
        value, gradient = problem.of_vector(x)
        norm = float(np.linalg.norm(gradient))
    for _ in range(MAX_STARTS):
        if norm <= tol or runs_away or iterations >= max_iter:
            break
        y, made, message = _descended(problem, x, max_iter - iterations, tol)
        iterations += made
        A, V, h = problem.unpacked(y)
        x = problem.packed(*balanced(A, V), h)
        value, gradient = problem.of_vector(x)
        norm, runs_away = float(np.linalg.norm(gradient)), not problem.fields and _runs_away(A, V)
    reason = _reason(runs_away, norm <= tol, iterations >= max_iter, message)
    return FactoredFit(
        *_scaled(A, V),
        h,
        problem.fields,
        value,
        reason,
        (value,),
        residual=norm,
        iterations=iterations,
        converged=norm <= tol and not runs_away,
    )


def _descended(problem: _Problem, x: Array, max_iter: int, tol: float) -> tuple[Array, int, str]:
    """Return where L-BFGS comes from x in the units of x, after how many iterations, and what it says then."""
    units, norm = problem.units(x), np.inf

    def in_units(y: Array) -> tuple[float, Array]:
        nonlocal norm
        value, gradient = problem.of_vector(units * y)
        norm = float(np.linalg.norm(gradient))
        return value, units * gradient

    def stop(y: Array) -> None:
        # The last evaluation before an iteration ends is the one at its end.
        if norm <= tol or (not problem.fields and _runs_away(*problem.unpacked(units * y)[:2])):
            raise StopIteration

    options = {"maxiter": max_iter, "maxfun": 20 * max_iter, "maxcor": HISTORY_PAIRS, "ftol": 0.0, "gtol": 0.0}
    result = minimize(in_units, x / units, jac=True, method="L-BFGS-B", callback=stop, options=options)
    return units * result.x, int(result.nit), str(result.message)


def _without_drift(problem: _Problem, fit: FactoredFit, data: Sequences) -> FactoredFit:
    """Return the fit, as not converged where log odds of the data grow from a small penalty to a smaller one."""
    found = [fit]
    for share in WEAK_PENALTIES:
        problem.l2 = problem.field_l2 = share * float(np.sum(data.weights**2))
        start = found[-1].site_couplings, found[-1].color_couplings, found[-1].fields
        found.append(_minimized(problem, start, WEAK_ITERATIONS, WEAK_TOL))
    counted = data.columns.T[data.weights > 0]
    reason = still_growing(drift(found[1].log_conditionals, found[2].log_conditionals, counted))
    return replace(fit, converged=False, reason=reason) if reason else fit


def _scaled(A: Array, V: Array) -> tuple[Array, Array]:
    """Return the same A x V in the scale |V| = C, with sum(A) >= 0."""
    scale = np.linalg.norm(V) / len(V) * (1.0 if A.sum() >= 0 else -1.0)
    return (A * scale, V / scale) if scale else (A, V)


def _runs_away(A: Array, V: Array) -> bool:
    """Say whether V_ab = c_a is a field, up to 1 %, while the sums of A's rows cancel to 1 %."""
    V = V - V.mean(axis=0)
    share = len(V) * np.sum(V.mean(axis=1) ** 2) / np.sum(V**2)
    cancellation = np.linalg.norm(A.sum(axis=1)) / (np.sqrt(len(A) - 1) * np.linalg.norm(A))
    return bool(share > 0.99 and cancellation < 0.01)


def _reason(runs_away: bool, converged: bool, exhausted: bool, message: str) -> str:
    if runs_away:
        return "run-away: couplings that cancel but for a field, with no minimum at finite size"
    if converged:
        return "gradient below tolerance"
    return "max_iter reached" if exhausted else f"no further progress ({message.strip(': ')})"
