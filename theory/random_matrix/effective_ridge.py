"""The effective ridge: the one scalar equation behind every deterministic equivalent of the sample covariance."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from theory.core import Array, NonNegative, Positive, SolverResult, checked, checks
from theory.models import Covariance, Spectrum
from theory.models.joint_rows import law_of_sample
from theory.models.row_dependence import INDEPENDENT, RowDependence
from theory.models.row_scales import GAUSSIAN, RowScales
from theory.numerics import ConvergenceError, Solution, verified
from theory.numerics.extremes import within_range
from theory.random_matrix.interpolated_moments import count_of_nodes, interpolated_moments
from theory.random_matrix.moments import RidgeMoments, SpectrumMoments, non_negative_array
from theory.random_matrix.population import LargePopulation, Population, population
from theory.random_matrix.row_response import linearized

ADVICE = "its terms are too far apart for double precision: take a less extreme alpha, or lam nearer the eigenvalues"
MIN_POINTS = 20  # points of a large covariance from which on it pays to guess them all from some


@dataclass(frozen=True, eq=False, repr=False)
class EffectiveRidge(SolverResult):
    """The effective ridge kappa, in the units of a variance; float() of the record is its `value`.

    `residual` is relative to the terms of its equation.
    """

    value: float

    def __float__(self) -> float:
        return self.value


@checked
@within_range
def effective_ridge(
    covariance: Covariance,
    alpha: Positive,
    lam: NonNegative,
    *,
    row_scales: RowScales = GAUSSIAN,
    row_dependence: RowDependence = INDEPENDENT,
) -> EffectiveRidge:
    """Solve lam = kappa (1 - df1(kappa)/alpha) for the effective ridge kappa of n = alpha d samples at the ridge lam.

    df1 = tr Sigma (Sigma + kappa)^-1 / d. Regression on a sample with the ridge lam acts like regression on the
    population with the larger ridge kappa: lam (X'X/n + lam)^-1 has the deterministic equivalent
    kappa (Sigma + kappa)^-1 (arXiv:2601.23208). Of the roots the positive one is meant. lam = 0 gives the ridgeless
    limit: 0 where alpha >= rank(Sigma)/d, else the root of df1 = alpha. Raises ConvergenceError.

    With rows x = sqrt(tau) Sigma^(1/2) z of different scales tau, whose law is `row_scales`, the equation is
    E[tau/(g + tau y)] = 1 with g = lam/kappa and y = df1/alpha; the equivalent kappa (Sigma + kappa)^-1 is the same.
    It follows from one row's own weight tau/(1 + tau delta) in X'X/n, delta = tr Sigma Q/n = y/g, Q = (X'X/n + lam)^-1.
    Rows that depend on each other by `row_dependence` have the eigenvalues of their covariance T as scales.

    >>> from theory.models import Isotropic
    >>> round(float(effective_ridge(Isotropic(float("inf")), alpha=1.0, lam=0.1)), 6)  # kappa^2 = lam (1 + kappa)
    0.370156
    """
    of = population(covariance)
    rows = law_of_sample(row_scales, row_dependence, alpha, covariance.d)
    solution = solve_population_ridge(of, np.asarray(alpha), np.asarray(lam), row_scales=rows)
    return EffectiveRidge(
        value=float(solution.value),
        residual=solution.residual,
        iterations=solution.iterations,
        converged=solution.converged,
    )


@checked
@within_range
def degrees_of_freedom(covariance: Covariance, effective_ridge: NonNegative) -> tuple[float, float]:
    """Compute (df1, df2), tr Sigma^k (Sigma + kappa)^-k / d for k = 1, 2 at kappa = `effective_ridge` >= 0.

    Source: these are the degrees of freedom of ridge regression, the traces of its hat matrix and of the square of
    this, as T. Hastie and R. Tibshirani define them (Generalized Additive Models, 1990, not looked up for this
    project), of the population and over d.

    >>> from theory.models import Isotropic
    >>> degrees_of_freedom(Isotropic(10), 1.0)
    (0.5, 0.25)
    """
    at = population(covariance).moments(np.array([effective_ridge]))
    return float(at.df1[0]), float(at.df2[0])


@checked
@within_range
def solve_effective_ridge(
    spectrum: Spectrum,
    alpha: Array,
    lam: Array,
    *,
    row_scales: RowScales = GAUSSIAN,
    tol: float = 1e-12,
    max_iter: int = 100,
    check: bool = True,
) -> Solution[Array]:
    """Solve for the effective ridge at broadcast arrays alpha and lam, all points at once; see `solve_ridge_equation`.

    Source: that of `effective_ridge`; here the traces are sums over the modes of `spectrum`. Raises ConvergenceError,
    with check=False returns the last iterate instead.
    """
    return solve_ridge_equation(
        SpectrumMoments(spectrum),
        alpha,
        lam,
        spectrum.geometric_mean,
        row_scales=row_scales,
        tol=tol,
        max_iter=max_iter,
        check=check,
    )


@within_range
def solve_population_ridge(
    of: Population, alpha: Array, lam: Array, *, row_scales: RowScales = GAUSSIAN
) -> Solution[Array]:
    """Solve for the effective ridge of a population at broadcast arrays alpha and lam; see `solve_ridge_equation`.

    Source: that of `effective_ridge`. Derived here: the ridge falls with alpha and rises with lam, so that the roots of
    two corners bound all others, and many points of a large covariance begin at the roots of an equation whose moments
    are interpolated between these bounds.
    """
    start = _guesses(of, *_broadcast(alpha, lam), row_scales) if isinstance(of, LargePopulation) else None
    return solve_ridge_equation(of.moments, alpha, lam, of.scale, row_scales=row_scales, start=start)


def _guesses(of: LargePopulation, alpha: Array, lam: Array, rows: RowScales) -> Array | None:
    """Guess the roots of many points from few factorizations; None for few points, or where the guess fails.

    The ridge falls with alpha and rises with lam: those of two corners bound all others.
    """
    if alpha.size < MIN_POINTS or not lam.min() > 0:
        return None
    corners = np.array([alpha.max(), alpha.min()]), np.array([lam.min(), lam.max()])
    try:
        low, high = solve_ridge_equation(of.moments, *corners, of.scale, row_scales=rows).value
        if count_of_nodes(low, high) > alpha.size:
            return None
        moments = interpolated_moments(of.moments, low, high)
        return solve_ridge_equation(moments, alpha, lam, of.scale, row_scales=rows).value
    except (ConvergenceError, FloatingPointError):
        return None


@checked
@within_range
def solve_ridge_equation(
    moments: Callable[[Array], RidgeMoments],
    alpha: Array,
    lam: Array,
    scale: NonNegative,
    *,
    row_scales: RowScales = GAUSSIAN,
    tol: float = 1e-12,
    max_iter: int = 100,
    check: bool = True,
    start: Array | None = None,
) -> Solution[Array]:
    """Solve lam = kappa (1 - df1(kappa)/alpha) for broadcast arrays alpha and lam, by Newton's method on 1/df1.

    `moments` maps ridges (points,) to their `RidgeMoments`, `scale` is a number among the eigenvalues. 1/df1 is concave
    in kappa, so its tangent (b + kappa)/c bounds it from above: after the first step the iterates rise monotonically to
    the root, from any positive `start`, by default lam + scale. Each step solves a quadratic. The residual is that of
    lam/kappa = 1 - df1/alpha relative to the terms of this equation. Rows of different scales, whose law is
    `row_scales`, are replaced in each step by the Gaussian sample that has the same tangent, and the root is kept
    between bounds. Source: the equation is that of V. A. Marchenko and L. A. Pastur, Math. USSR Sb. 1, 457 (1967), and
    J. W. Silverstein, J. Multivar. Anal. 55, 331 (1995), in terms of kappa (a known result that was not looked up for
    this project). The iteration is derived here: 1/df1 is concave as a harmonic mean of functions 1 + kappa/s that are
    linear in kappa. Raises ValueError for a start of another shape than alpha and lam have, or not positive, and
    ConvergenceError, with check=False returns the last iterate instead.
    """
    alpha, lam = _broadcast(alpha, lam)
    if max_iter < 1 or not tol > 0:
        raise ValueError(f"max_iter must be at least 1 and tol positive, got {max_iter} and {tol}")
    if start is not None and (start.shape != alpha.shape or not np.all(start > 0)):
        raise ValueError(f"start must be positive, of shape {alpha.shape}, got {checks.shown(start)}")
    rank = _moments_at(np.array([scale or 1.0]), moments).rank if np.any(lam == 0) else 1.0
    active = (lam > 0) | (alpha * row_scales.present < rank)  # elsewhere nothing regularizes, and kappa = 0 exactly
    kappa = np.where(active, lam + scale if start is None else start, 0.0)
    residual, iteration = 0.0, 0
    close: tuple[Array, float] | None = None
    step = _Step(row_scales, alpha[active], lam[active])
    for iteration in range(max_iter + 1):
        if not active.any():
            break
        errors, proposal = step(_moments_at(kappa[active], moments), kappa[active])
        residual = float(errors.max())
        if close and not residual <= tol:  # rounding or overflow in the last step
            kappa, residual = close
        if close or residual != residual or iteration == max_iter:
            break
        # One step more is taken: convergence is quadratic, and kappa can be off by more than the residual.
        close = (kappa.copy(), residual) if residual <= tol else None
        kappa[active] = proposal
    problem = f"effective ridge for alpha in {_span(alpha)}, lam in {_span(lam)}"
    return verified(Solution.judged(kappa, residual, tol, iteration), problem, check, ADVICE)


class _Step:
    """One Newton step for all points at once; with rows of different scale the root is kept between bounds."""

    def __init__(self, rows: RowScales, alpha: Array, lam: Array) -> None:
        self.rows, self.alpha, self.lam = rows, alpha, lam
        self.low, self.high = np.zeros_like(alpha), np.full_like(alpha, np.inf)

    def __call__(self, at: RidgeMoments, kappa: Array) -> tuple[Array, Array]:
        errors, proposal, side = newton_step(self.rows, at, self.alpha, self.lam, kappa)
        if self.rows.alike:
            return errors, proposal
        self.low = np.where(side >= 0, np.maximum(self.low, kappa), self.low)
        self.high = np.where(side <= 0, np.minimum(self.high, kappa), self.high)
        bounded = (self.low > 0) & (self.high < np.inf)
        middle = np.sqrt(self.low) * np.sqrt(np.where(bounded, self.high, 1.0))
        outside = np.where(bounded, middle, np.where(side > 0, 4 * kappa, kappa / 4))
        # The bounds are crossed by rounding at the root itself, where the step is as good as any.
        inside = (proposal > self.low * (1 - 1e-9)) & (proposal < self.high * (1 + 1e-9))
        return errors, np.where(inside, proposal, outside)


def _moments_at(kappa: Array, moments: Callable[[Array], RidgeMoments]) -> RidgeMoments:
    try:
        at = moments(kappa)
    except TypeError as failed:
        raise ValueError(f"moments must map an array of ridges to their RidgeMoments: {failed}") from failed
    return checks.instance("moments", at, RidgeMoments, "a function that returns RidgeMoments")


def _broadcast(alpha: Array, lam: Array) -> tuple[Array, Array]:
    alpha, lam = np.asarray(alpha, float), non_negative_array("lam", lam)
    if alpha.size and not (alpha.min() > 0 and alpha.max() < np.inf):
        raise ValueError(f"alpha must be positive and finite, got {checks.shown(alpha)}")
    try:
        found = np.broadcast_arrays(alpha, lam)
    except ValueError:
        raise ValueError(f"alpha and lam must broadcast, got the shapes {alpha.shape} and {lam.shape}") from None
    if not found[0].size:
        raise ValueError(f"alpha and lam must not be empty, got shape {found[0].shape}")
    return found[0], found[1]


def tangent_step(at: RidgeMoments, alpha: Array, lam: Array, kappa: Array) -> tuple[Array, Array]:
    """Compute the residuals at ridges kappa (points,), and better ridges, one Newton step on.

    These are the roots with the tangent hyperbola c/(b + kappa) of df1 at kappa put in the place of df1.
    """
    terms = np.where(at.df1 < at.left, alpha + at.df1, abs(alpha - at.rank) + at.left)  # those of alpha - df1
    errors = abs(lam / kappa - at.above_df1(alpha) / alpha) / (lam / kappa + terms / alpha)
    return errors, tangent_root(at, alpha, alpha - at.rank, lam, kappa)


def newton_step(
    rows: RowScales, at: RidgeMoments, alpha: Array, lam: Array, kappa: Array
) -> tuple[Array, Array, Array]:
    """Compute residuals and better ridges as `tangent_step`, for rows of any law of scales.

    The third array is 1 where kappa is known to lie below the root, -1 where above, 0 where this is not asked: rows
    that are alike need no bounds.
    """
    if rows.alike:
        errors, proposal = tangent_step(at, alpha, lam, kappa)
        return errors, proposal, np.zeros_like(errors)
    sample, excess, ridge, errors, side = linearized(rows, at, alpha, lam, kappa)
    return errors, tangent_root(at, sample, excess, ridge, kappa), side


def tangent_root(at: RidgeMoments, alpha: Array, excess: Array, lam: Array, kappa: Array) -> Array:
    """Compute the ridges of `tangent_step` from the excess alpha - rank, whose digits alpha loses at interpolation."""
    per_spread = np.divide(1.0, at.spread, out=np.zeros_like(kappa), where=at.spread > 1e-300)
    b = kappa * (at.df2 * per_spread)
    # This is b - c/alpha, arranged so that nothing large cancels at a small kappa and nothing overflows at a large one.
    large = b - kappa * (at.df1 / alpha) * (at.df1 * per_spread)
    small = excess / alpha * at.df2 + (at.rank * (at.left - at.spread) - at.left**2) / alpha
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # in the alternatives that are not taken
        linear = np.where(at.df1 < at.left, large, small * kappa * per_spread) - lam
        cross = 2 * np.sqrt(lam) * np.sqrt(b)
        root = np.hypot(linear, cross)
        proposal = np.where(linear < 0, root / 2 - linear / 2, cross / (linear + root) * (cross / 2))
    return np.where(proposal > 0, proposal, kappa / 4)


def _span(values: Array) -> str:
    return f"[{values.min():.6g}, {values.max():.6g}]"
