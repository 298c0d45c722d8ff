"""The ridge of least mean test error: a root of an exact derivative."""

from dataclasses import dataclass
from typing import overload

import numpy as np
from scipy.optimize import brentq

from theory.core import Array, SolverResult, checked
from theory.core.blocks import in_blocks
from theory.masked.errors import SampleFactors
from theory.masked.ridgeless import ridgeless
from theory.masked.signs import require_non_negative
from theory.masked.solution import masked_regression
from theory.models import Covariance, MaskedRegression, RowScales, Spectrum
from theory.random_matrix import (
    RidgeMoments,
    population_errors,
    ridge_moments,
    shrinkage,
    solve_effective_ridge,
)
from theory.random_matrix.row_response import row_response, row_weight

ROUNDING = 32 * np.finfo(float).eps  # rounding error of a slope, relative to the terms whose difference it is


@dataclass(frozen=True, eq=False, repr=False)
class OptimalRidge(SolverResult):
    """The ridge of least mean test error, with its certificate: where the slope of the error changes its sign.

    `residual` is |d log E / d log kappa| at the optimum, where E is the mean test error and kappa the effective ridge.
    `bracket` holds two kappa at which this slope is negative and positive. `lam` is 0 or inf where the error falls all
    the way to that end; then `effective_ridge` is the limit there, and the certificate is the slope at the last point
    where it can be told from rounding.
    """

    alpha: float
    lam: float
    effective_ridge: float
    mean_test_error: float
    bracket: tuple[float, float]

    def __post_init__(self) -> None:
        require_non_negative(self, "lam", "effective_ridge", "mean_test_error")


@overload
def optimal_ridge(covariance: MaskedRegression) -> OptimalRidge: ...
@overload
def optimal_ridge(covariance: Covariance, alpha: float) -> OptimalRidge: ...
@checked
def optimal_ridge(covariance: Covariance | MaskedRegression, alpha: float | None = None) -> OptimalRidge:
    """Find the ridge lam in (0, inf) at which the mean test error of masked regression is least.

    The problem is given as a record, `optimal_ridge(MaskedRegression(covariance, alpha))`, or as its two parts.

    In terms of kappa, with p = Sigma (Sigma + kappa)^-1 and t = 1 - p,
    d E_k / d log kappa = 2 E_k ((p^2 t)_kk/(p t)_kk - (p t)_kk/t_kk - tr(p^2 t)/(d (alpha - df2))), and lam grows with
    kappa. Derived here from the error of `solve` (after arXiv:2601.23208) by dp/d log kappa = -p t. Every minimum is
    bracketed on a grid of kappa and found as a root; the best one is returned. With rows of different scale alpha - df2
    becomes alpha - c2 df2, whose c2 depends on kappa through df1 (see `solve`).

    >>> from theory.models import AR1
    >>> f"{optimal_ridge(AR1(np.inf, correlation=0.7), alpha=1.0).lam:.6f}"
    '0.519430'
    """
    problem = masked_regression(covariance, alpha)
    covariance, alpha = problem.covariance, problem.alpha
    spectrum = covariance.spectrum
    if not np.isfinite(spectrum.coordinate_mean(spectrum.diagonal(spectrum.eigenvalues))):
        raise ValueError("covariance must have a finite mean variance: the mean test error is infinite at every lam")
    if not spectrum.eigenvalues.any():
        raise ValueError("covariance must have a positive variance: without any the error is zero at every lam")
    sample = _Sample(alpha, problem.row_law)
    floor = float(solve_effective_ridge(spectrum, np.array(alpha), np.array(0.0), row_scales=sample.rows).value)
    grid = _offsets(spectrum)
    numbers = max(spectrum.eigenvalues.size, spectrum.coordinate_weights.size)
    blocks = [_slopes(spectrum, sample, floor + block) for block in in_blocks(grid, numbers, 2_000_000)]
    slopes, rounding = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    # Where the error is flat the sign of its slope is that of rounding, and no evidence of a minimum.
    told = abs(slopes) > rounding
    if not told.any():  # with very many samples and nothing to learn an infinite ridge is as good as any
        return _edge(problem, floor, grid, slopes, -1)
    grid, slopes = grid[told], slopes[told]
    candidates = [_edge(problem, floor, grid, slopes, end) for end in (0, -1) if _falls(slopes, end)]
    rising = np.flatnonzero((slopes[:-1] < 0) & (slopes[1:] >= 0))
    candidates += [_interior(spectrum, sample, floor, (float(grid[i]), float(grid[i + 1]))) for i in rising]
    return min(candidates, key=lambda optimum: optimum.mean_test_error)


def _offsets(spectrum: Spectrum) -> Array:
    """Return a grid of kappa - kappa_0 from far below to far above the eigenvalues, cut where these are unbounded."""
    resolved = spectrum.eigenvalues > 0
    s = spectrum.eigenvalues[resolved]
    scale = spectrum.geometric_mean
    low, high = max(float(s.min()), 1e-12 * scale), min(float(s.max()), 1e12 * scale)
    return np.geomspace(1e-9 * low, 1e6 * high, 384)


def _falls(slopes: Array, end: int) -> bool:
    """Tell whether the error decreases towards this end of the range of kappa."""
    return bool(slopes[0] >= 0 if end == 0 else slopes[-1] < 0)


@dataclass(frozen=True)
class _Sample:
    """The rows that a fit learns from: how many there are for each coordinate, and the law of their scales."""

    alpha: float
    rows: RowScales

    def weight(self, at: RidgeMoments) -> Array:
        """Return g = lam/kappa at effective ridges with these moments (points,)."""
        if self.rows.alike:
            return at.above_df1(np.array(self.alpha)) / self.alpha
        gap = at.above_df1(np.array(self.alpha * self.rows.present)) / self.alpha
        return row_weight(self.rows, at.df1 / self.alpha, gap)

    def variance_slope(self, at: RidgeMoments, third: Array) -> Array:
        """Return -1/2 of the slope of log(1/(1 - c2 df2/alpha)) in log kappa; `third` is tr(p^2 t)/d, (points,)."""
        if self.rows.alike:
            return third / at.above_df2(np.array(self.alpha))
        share = at.df1 / self.alpha
        weight = self.weight(at)
        response = row_response(self.rows, weight, share)
        factor = response.variance_factor(at, np.array(self.alpha))
        bend = response.second_slope(self.rows) * at.spread / self.alpha  # of c2, over two
        return np.asarray((response.second * third - bend * at.df2) * factor / self.alpha)


def _slopes(spectrum: Spectrum, sample: _Sample, kappa: Array) -> tuple[Array, Array]:
    """Compute d log E / d log kappa, E the mean error, at every kappa (points,), and the size of its rounding."""
    p, t = shrinkage(spectrum, kappa)
    pt = p * t
    covered = spectrum.diagonal(pt)  # zero for a coordinate without variance, whose error is zero
    left = spectrum.diagonal(t)

    def mean_of(weight: Array) -> Array:
        weighted = spectrum.diagonal(pt * weight)
        return np.divide(weighted, covered, out=np.zeros_like(covered), where=covered > 0)

    # The docstring's difference of two means of p is, as t = 1 - p, one of two means of t. Of the two the one whose
    # terms are small loses no digits: the former at a large kappa, the latter at a small one.
    by_p, by_t = (mean_of(p), covered / left), (spectrum.diagonal(t * t) / left, mean_of(t))
    small = by_p[1] < 0.5
    own = np.where(small, by_p[0] - by_p[1], by_t[0] - by_t[1])
    terms = np.where(small, by_p[0] + by_p[1], by_t[0] + by_t[1])
    at = ridge_moments(spectrum, kappa)
    shared = sample.variance_slope(at, spectrum.mean(pt * p))
    errors = population_errors(spectrum, kappa) * spectrum.coordinate_weights
    shares = errors / errors.sum(-1, keepdims=True)
    slopes = 2 * ((shares * own).sum(-1) - shared)
    return np.asarray(slopes), np.asarray(ROUNDING * ((shares * terms).sum(-1) + abs(shared)))


def _interior(spectrum: Spectrum, sample: _Sample, floor: float, bracket: tuple[float, float]) -> OptimalRidge:
    def slope(log_offset: float) -> float:
        return float(_slopes(spectrum, sample, np.array([floor + np.exp(log_offset)]))[0][0])

    root, report = brentq(slope, *np.log(bracket), xtol=1e-13, full_output=True)
    kappa = np.array([floor + np.exp(root)])
    at = ridge_moments(spectrum, kappa)
    lam = float(kappa[0] * sample.weight(at)[0])
    factors = SampleFactors.of(sample.rows, at, np.array([sample.alpha]), np.array([lam]), kappa)
    error = float(population_errors(spectrum, kappa)[0] @ spectrum.coordinate_weights) * float(factors.test[0])
    ends = (floor + bracket[0], floor + bracket[1])
    return OptimalRidge(
        alpha=sample.alpha,
        lam=lam,
        effective_ridge=float(kappa[0]),
        mean_test_error=error,
        bracket=ends,
        residual=abs(slope(root)),
        iterations=report.iterations,
        converged=report.converged,
    )


def _edge(problem: MaskedRegression, floor: float, grid: Array, slopes: Array, end: int) -> OptimalRidge:
    kappa = float(floor + grid[end])
    residual = abs(float(slopes[end]))
    if end == 0:
        lam, limit, bracket = 0.0, floor, (floor, kappa)
        error = ridgeless(problem).mean_test_error
    else:
        lam, limit, bracket = np.inf, np.inf, (kappa, np.inf)
        spectrum = problem.covariance.spectrum
        error = float(spectrum.mean(spectrum.eigenvalues))
    return OptimalRidge(
        alpha=problem.alpha,
        lam=lam,
        effective_ridge=limit,
        mean_test_error=error,
        bracket=bracket,
        residual=residual,
        iterations=None,
        converged=True,
    )
