"""Errors of masked regression from products with the covariance alone, with their own standard errors."""

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from theory.core import Array, AtLeast, Count, Positive, Several, SolverResult, checked, checks
from theory.masked.errors import SampleFactors
from theory.masked.lanczos import Lanczos
from theory.masked.signs import require_non_negative
from theory.models import Covariance, CovarianceOperator, MaskedRidge, Spectrum
from theory.numerics import ConvergenceError
from theory.numerics.extremes import within_range
from theory.random_matrix import ridge_moments, solve_effective_ridge

SYMMETRY = 1e-8  # allowed asymmetry of products, and negative eigenvalue, relative to the largest
Drawn = NDArray[np.int64]  # numbers of the coordinates drawn
NAMES = ("effective_ridge", "df1", "df2", "mean_test_error", "mean_train_error")


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedRidgeSolution(SolverResult):
    """Estimates of what `MaskedRidgeSolution` has exactly, each with a standard error.

    A standard error holds the choice of random probes (by the jackknife) and of random coordinates; `lanczos_gap`
    is the relative difference, at most of `effective_ridge` and `mean_test_error`, of the two quadratures that bound
    the traces, and tells what more steps would change. `residual` is that of the equation of the effective ridge,
    `iterations` the number of Lanczos steps.
    """

    covariance: Covariance = field(repr=False)
    alpha: float
    lam: float
    effective_ridge: float
    effective_ridge_stderr: float
    df1: float
    df1_stderr: float
    df2: float
    df2_stderr: float
    mean_test_error: float
    mean_test_error_stderr: float
    mean_train_error: float
    mean_train_error_stderr: float
    lanczos_gap: float
    coordinates: Drawn = field(repr=False)  # those that were drawn, (coordinates,)
    test_error: Array = field(repr=False)  # of the coordinates drawn

    def __post_init__(self) -> None:
        require_non_negative(
            self,
            "effective_ridge",
            "df1",
            "df2",
            "mean_test_error",
            "mean_train_error",
            "effective_ridge_stderr",
            "df1_stderr",
            "df2_stderr",
            "mean_test_error_stderr",
            "mean_train_error_stderr",
            "test_error",
        )


@checked
@within_range
def estimate(
    model: MaskedRidge,
    rng: np.random.Generator,
    *,
    probes: Several = 16,
    coordinates: Annotated[int, AtLeast(4)] = 64,
    max_steps: Count = 200,
    tol: Positive = 1e-6,
) -> EstimatedRidgeSolution:
    """Estimate the mean errors of masked ridge regression from products of Sigma with vectors, with standard errors.

    Traces are means of v^T f(Sigma) v over `probes` vectors v of random signs, errors of single coordinates come from
    unit vectors of `coordinates` random coordinates, and quadratic forms from Lanczos steps (stochastic Lanczos
    quadrature; Ubaru, Chen and Saad, SIAM J. Matrix Anal. Appl. 38, 1075 (2017)). The mean over all coordinates is
    that over those drawn, with a linear regression on their variances where the record knows these. Steps are taken
    until the Gauss and Gauss-Radau quadratures agree to `tol`; ConvergenceError where `max_steps` are not enough, as at
    a small ridge. ValueError for a product that is not that of a symmetric positive semi-definite matrix.

    >>> from theory.models import CovarianceOperator
    >>> circle = CovarianceOperator(10_000, lambda V: 2 * V + 0.9 * (np.roll(V, 1, axis=0) + np.roll(V, -1, axis=0)))
    >>> found = estimate(MaskedRidge(circle, alpha=2.0, lam=0.1), np.random.default_rng(0))
    >>> 0 < found.mean_test_error_stderr < 1e-3 * found.mean_test_error
    True
    """
    d = model.covariance.size
    if d < 4:
        raise ValueError(f"covariance must have at least 4 coordinates to be estimated, got d = {d}")
    checks.fits_in_memory("the vectors of an estimate", 5.0 * d * (probes + coordinates))
    signs = np.where(rng.integers(0, 2, size=(d, probes), dtype=bool), 1.0, -1.0)
    drawn = rng.choice(d, size=min(coordinates, d), replace=False)
    units = np.zeros((d, len(drawn)))
    units[drawn, np.arange(len(drawn))] = 1.0
    covariance = model.covariance
    product = covariance.times if isinstance(covariance, CovarianceOperator) else covariance.matrix.__matmul__
    _refuse_asymmetric(signs, product(signs))
    lanczos = Lanczos(product, np.hstack([signs, units]))
    check_at = 8
    for steps in range(1, max_steps + 1):
        lanczos.step()
        if steps == 1:
            _refuse_wrong_diagonal(covariance, drawn, lanczos.on[0][probes:])
        if steps in (check_at, max_steps):
            check_at = check_at * 3 // 2
            quadratures = [_Quadrature(*rule, probes) for rule in (lanczos.gauss(), lanczos.radau())]
            _refuse_indefinite(quadratures[0].nodes)
            gauss, radau = (_numbers(model, one, drawn) for one in quadratures)
            one, other = gauss[[0, 3]], radau[[0, 3]]
            gap = float(max(abs(np.divide(other, one, out=np.full(2, np.inf), where=one > 0) - 1)))
            if gap <= tol:
                return _with_errors(model, quadratures[0], drawn, gauss, gap, steps)
    what, advice = f"quadrature of {covariance!r}", "raise max_steps, or take a larger lam or tol"
    raise ConvergenceError.of(what, gauss, gap, tol, max_steps, status="max_iter", advice=advice)


@dataclass(frozen=True, eq=False)
class _Quadrature:
    """Nodes and weights of all vectors, (probes + coordinates, steps) each, probes first."""

    nodes: Array
    weights: Array
    probes: int

    def spectrum(self, left_out: int | None = None) -> Spectrum:
        kept = np.arange(self.probes) != left_out
        nodes, weights = (values[: self.probes][kept].ravel() for values in (self.nodes, self.weights))
        return Spectrum(np.maximum(nodes, 0.0), weights / weights.sum())

    def errors(self, kappa: float) -> Array:
        """Compute (R Sigma R)_kk / R_kk^2 of the coordinates drawn."""
        s, weights = np.maximum(self.nodes[self.probes :], 0.0), self.weights[self.probes :]
        t, p = kappa / (s + kappa), s / (s + kappa)
        own = (weights * t).sum(axis=1)
        # p is no difference of t from 1, which a large ridge leaves nothing of; kappa t can underflow.
        return np.asarray((weights * t * p).sum(axis=1) / own * (kappa / own))


def _numbers(model: MaskedRidge, quadrature: _Quadrature, drawn: Drawn, left_out: int | None = None) -> Array:
    """Compute the five numbers of NAMES, and the residual, leaving one probe out where asked."""
    spectrum = quadrature.spectrum(left_out)
    alpha, lam = np.array([model.alpha]), np.array([model.lam])
    ridge = solve_effective_ridge(spectrum, alpha, lam, row_scales=model.row_law)
    at = ridge_moments(spectrum, ridge.value)
    factors = SampleFactors.of(model.row_law, at, alpha, lam, ridge.value)
    mean, _ = _regressed(model.covariance, quadrature.errors(float(ridge.value[0])), drawn)
    test = mean * factors.test[0]
    return np.array([ridge.value[0], at.df1[0], at.df2[0], test, factors.train[0] * test, ridge.residual])


def _regressed(covariance: Covariance, errors: Array, drawn: Drawn) -> tuple[float, float]:
    """Return the mean over all coordinates and its standard error, from the errors of those drawn."""
    n, d = len(drawn), covariance.size
    known = covariance.diagonal if isinstance(covariance, CovarianceOperator) else covariance.variances
    mean, left, used = float(errors.mean()), errors - errors.mean(), 1
    if known is not None and np.ptp(known[drawn]) > 1e-9 * known.max():
        x = known[drawn] - known[drawn].mean()
        slope = float(x @ left / (x @ x))
        mean += slope * float(known.mean() - known[drawn].mean())
        left, used = left - slope * x, 2
    return mean, float(np.sqrt(left @ left / (n - used) / n * (1 - n / d)))


def _with_errors(
    model: MaskedRidge, quadrature: _Quadrature, drawn: Drawn, found: Array, gap: float, steps: int
) -> EstimatedRidgeSolution:
    m = quadrature.probes
    each = np.array([_numbers(model, quadrature, drawn, i)[:5] for i in range(m)])
    # Of the jackknife, relative to the numbers, whose squares would overflow at large ridges.
    each = np.divide(each, found[:5], out=np.ones_like(each), where=found[:5] > 0)
    variances = (m - 1) / m * ((each - each.mean(axis=0)) ** 2).sum(axis=0)
    errors = quadrature.errors(float(found[0]))
    mean, stderr = _regressed(model.covariance, errors, drawn)
    variances[3:] += (stderr / mean) ** 2
    values = dict(zip(NAMES, map(float, found[:5]), strict=True))
    stderrs = dict(zip((f"{name}_stderr" for name in NAMES), map(float, found[:5] * np.sqrt(variances)), strict=True))
    return EstimatedRidgeSolution(
        covariance=model.covariance,
        alpha=model.alpha,
        lam=model.lam,
        **values,
        **stderrs,
        lanczos_gap=gap,
        coordinates=drawn,
        test_error=errors * (found[3] / mean),
        residual=float(found[5]),
        iterations=steps,
        converged=True,
    )


def _refuse_asymmetric(vectors: Array, products: Array) -> None:
    forms = vectors.T @ products
    scale = len(vectors) ** 0.5 * np.linalg.norm(products, axis=0).max()
    if abs(forms - forms.T).max() > SYMMETRY * scale:
        raise ValueError("covariance must be symmetric, got a product with u^T (Sigma v) unlike v^T (Sigma u)")


def _refuse_wrong_diagonal(covariance: Covariance, drawn: Drawn, found: Array) -> None:
    known = covariance.diagonal if isinstance(covariance, CovarianceOperator) else None
    if known is not None and (wrong := abs(known[drawn] - found) > SYMMETRY * known.max()).any():
        k = int(wrong.argmax())
        raise ValueError(
            f"diagonal must be that of the covariance, got {known[drawn[k]]:.6g} at index {drawn[k]}, where the "
            f"product gives {found[k]:.6g}"
        )


def _refuse_indefinite(nodes: Array) -> None:
    if not nodes.any():
        raise ValueError("covariance must have a positive variance, got products that are all zero")
    if nodes.min() < -SYMMETRY * nodes.max():
        raise ValueError(f"covariance must be positive semi-definite, got an eigenvalue of {nodes.min():.6g} at most")
