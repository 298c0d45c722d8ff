"""The one scalar equation behind every deterministic equivalent of the sample covariance."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from theory.models import Covariance, Spectrum, checks
from theory.models.arrays import Array
from theory.numerics import Solution, verified
from theory.numerics.solution import Status
from theory.random_matrix.moments import RidgeMoments, ridge_moments

ADVICE = "its terms are too far apart for double precision: take a less extreme alpha, or lam nearer the eigenvalues"


@dataclass(frozen=True)
class EffectiveRidge:
    """The effective ridge kappa, with `residual` relative to the terms of its equation."""

    value: float
    residual: float
    iterations: int
    converged: bool

    def __float__(self) -> float:
        return self.value


def effective_ridge(covariance: Covariance, alpha: float, lam: float) -> EffectiveRidge:
    """kappa > 0 with lam = kappa (1 - df1(kappa)/alpha), df1 = tr Sigma (Sigma + kappa)^-1 / d, alpha = n/d.

    lam (X'X/n + lam)^-1 has the deterministic equivalent kappa (Sigma + kappa)^-1 (arXiv:2601.23208). lam = 0 gives
    the ridgeless limit: 0 where alpha >= rank(Sigma)/d, else the root of df1 = alpha. Raises ConvergenceError.
    """
    alpha, lam = checks.positive("alpha", alpha), checks.non_negative("lam", lam)
    spectrum = checks.record("covariance", covariance, Covariance).spectrum
    solution = solve_effective_ridge(spectrum, np.asarray(alpha), np.asarray(lam))
    return EffectiveRidge(float(solution.value), solution.residual, solution.iterations, solution.converged)


def degrees_of_freedom(covariance: Covariance, effective_ridge: float) -> tuple[float, float]:
    """(df1, df2) per dimension: tr Sigma^k (Sigma + kappa)^-k / d for k = 1, 2 at kappa = `effective_ridge` >= 0."""
    kappa = checks.non_negative("effective_ridge", effective_ridge)
    at = ridge_moments(checks.record("covariance", covariance, Covariance).spectrum, np.array([kappa]))
    return float(at.df1[0]), float(at.df2[0])


def solve_effective_ridge(
    spectrum: Spectrum, alpha: Array, lam: Array, *, tol: float = 1e-12, max_iter: int = 100, check: bool = True
) -> Solution[Array]:
    """kappa for broadcast arrays alpha and lam, all points at once; see `solve_ridge_equation`."""
    scale = spectrum.geometric_mean
    return solve_ridge_equation(
        lambda kappa: ridge_moments(spectrum, kappa), alpha, lam, scale, tol=tol, max_iter=max_iter, check=check
    )


def solve_ridge_equation(
    moments: Callable[[Array], RidgeMoments],
    alpha: Array,
    lam: Array,
    scale: float,
    *,
    tol: float = 1e-12,
    max_iter: int = 100,
    check: bool = True,
) -> Solution[Array]:
    """kappa with lam = kappa (1 - df1(kappa)/alpha) for broadcast arrays, by Newton's method on 1/df1.

    1/df1 is concave in kappa, so its tangent (b + kappa)/c bounds it from above: after the first step the iterates rise
    monotonically to the root, from any start. Each step solves a quadratic. The residual is that of
    lam/kappa = 1 - df1/alpha relative to the terms of this equation.
    """
    alpha, lam = np.broadcast_arrays(np.asarray(alpha, float), np.asarray(lam, float))
    rank = moments(np.array([scale or 1.0])).rank if np.any(lam == 0) else 1.0
    active = (lam > 0) | (alpha < rank)  # elsewhere nothing regularizes: kappa = 0 exactly
    kappa = np.where(active, lam + scale, 0.0)
    residual, iteration = 0.0, 0
    close: tuple[Array, float] | None = None
    for iteration in range(max_iter + 1):
        if not active.any():
            break
        errors, proposal = tangent_step(moments(kappa[active]), alpha[active], lam[active], kappa[active])
        residual = float(errors.max())
        if close and not residual <= tol:  # rounding or overflow in the last step
            kappa, residual = close
        if close or residual != residual or iteration == max_iter:
            break
        # one step more: convergence is quadratic, and kappa can be off by more than the residual
        close = (kappa.copy(), residual) if residual <= tol else None
        kappa[active] = proposal
    status: Status = "converged" if residual <= tol else "max_iter" if np.isfinite(residual) else "diverged"
    problem = f"effective ridge for alpha in {_span(alpha)}, lam in {_span(lam)}"
    return verified(Solution(kappa, status, residual, tol, iteration), problem, check, ADVICE)


def tangent_step(at: RidgeMoments, alpha: Array, lam: Array, kappa: Array) -> tuple[Array, Array]:
    """Residuals at kappa (points,), and the roots with the tangent hyperbola c/(b + kappa) of df1 put in its place."""
    terms = np.where(at.df1 < at.left, alpha + at.df1, abs(alpha - at.rank) + at.left)  # those of alpha - df1
    errors = abs(lam / kappa - at.above_df1(alpha) / alpha) / (lam / kappa + terms / alpha)
    per_spread = np.divide(1.0, at.spread, out=np.zeros_like(kappa), where=at.spread > 1e-300)
    b = kappa * (at.df2 * per_spread)
    # b - c/alpha, arranged so that nothing large cancels at a small kappa and nothing overflows at a large one
    large = b - kappa * (at.df1 / alpha) * (at.df1 * per_spread)
    small = (alpha - at.rank) / alpha * at.df2 + (at.rank * (at.left - at.spread) - at.left**2) / alpha
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # in the alternatives that are not taken
        linear = np.where(at.df1 < at.left, large, small * kappa * per_spread) - lam
        cross = 2 * np.sqrt(lam) * np.sqrt(b)
        root = np.hypot(linear, cross)
        proposal = np.where(linear < 0, root / 2 - linear / 2, cross / (linear + root) * (cross / 2))
    return errors, np.where(proposal > 0, proposal, kappa / 4)


def _span(values: Array) -> str:
    return f"[{values.min():.6g}, {values.max():.6g}]"
