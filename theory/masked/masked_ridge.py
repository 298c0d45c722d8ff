"""Test and train error of masked ridge regression at one point, and its mean predictor."""

import numpy as np

from theory.core.arguments import checked
from theory.core.arrays import Array
from theory.masked.errors import SampleFactors, own_population_errors
from theory.masked.solution import MaskedRidgeSolution, per_coordinate
from theory.models import MaskedRidge
from theory.models.conventions import samples_per_unknown
from theory.numerics import Solution
from theory.random_matrix import (
    minor_moments,
    population,
    solve_effective_ridge,
    solve_population_ridge,
    solve_ridge_equation,
)


def solve_masked_ridge(model: MaskedRidge, exact_size: bool) -> MaskedRidgeSolution:
    """Compute the errors of `MaskedRidge` by the equations of `theory.masked.solve`."""
    return _solve_exact_size(model) if exact_size else _solve(model)


def _solve(model: MaskedRidge) -> MaskedRidgeSolution:
    of = population(model.covariance)
    alpha, lam = np.array([model.alpha]), np.array([model.lam])
    ridge = solve_population_ridge(of, alpha, lam, row_scales=model.row_scales)
    kappa = ridge.value
    at = of.moments(kappa)
    factors = SampleFactors.of(model.row_scales, at, alpha, lam, kappa)
    test = per_coordinate(model.covariance, (of.errors(kappa) * factors.test[:, None])[0])
    moments = (float(kappa[0]), float(at.df1[0]), float(at.df2[0]))
    return _solution(model, ridge, moments, test, float(factors.train[0]), float(factors.gcv[0]))


def _solve_exact_size(model: MaskedRidge) -> MaskedRidgeSolution:
    covariance, spectrum = model.covariance, model.covariance.spectrum
    if not covariance.is_finite:
        raise ValueError("exact_size needs a finite d: at d = infinity there is nothing to correct")
    d = covariance.size
    if d < 2:
        raise ValueError(f"exact_size needs d of at least 2, got {d}")
    alpha = samples_per_unknown(model.alpha, d)
    rows = model.row_scales
    start = solve_effective_ridge(spectrum, np.array(model.alpha), np.array(model.lam), row_scales=rows).value
    classes = len(spectrum.coordinate_weights)
    ridge = solve_ridge_equation(
        lambda kappa: minor_moments(spectrum, d, kappa),
        np.full(classes, alpha),
        np.full(classes, model.lam),
        float(start) - model.lam,
        row_scales=rows,
    )
    kappa = ridge.value
    at = minor_moments(spectrum, d, kappa)
    factors = SampleFactors.of(rows, at, np.full(classes, alpha), np.full(classes, model.lam), kappa)
    test = per_coordinate(covariance, own_population_errors(spectrum, kappa) * factors.test)
    train, gcv = (per_coordinate(covariance, values) for values in (factors.train, factors.gcv))
    kappa, df1, df2 = (per_coordinate(covariance, values) for values in (kappa, at.df1, at.df2))
    return _solution(model, ridge, (kappa, df1, df2), test, train, gcv)


def _solution(
    model: MaskedRidge,
    ridge: Solution[Array],
    moments: tuple[float | Array, float | Array, float | Array],
    test_error: Array,
    train: float | Array,
    gcv: float | Array,
) -> MaskedRidgeSolution:
    kappa, df1, df2 = moments
    return MaskedRidgeSolution(
        model.covariance,
        model.alpha,
        model.lam,
        kappa,
        df1,
        df2,
        test_error,
        train * test_error,
        gcv * test_error,
        residual=ridge.residual,
        iterations=ridge.iterations,
        converged=ridge.converged,
    )


@checked
def predictor(model: MaskedRidge) -> Array:
    """Compute the deterministic equivalent of the joint predictor, (d, d), whose row k predicts coordinate k.

    It is I - diag(R)^-1 R with R = (Sigma + kappa)^-1, the population masked ridge predictor at the effective ridge
    kappa (after arXiv:2601.23208), with a zero diagonal. ValueError in the limit d -> infinity, which has no matrix.
    Raises ConvergenceError where the equation for kappa is not solved.

    >>> from theory.models import AR1
    >>> predictor(MaskedRidge(AR1(d=3, correlation=0.5), alpha=100.0, lam=1e-9)).round(3) + 0.0  # no negative zeros
    array([[0. , 0.5, 0. ],
           [0.4, 0. , 0.4],
           [0. , 0.5, 0. ]])
    """
    covariance = model.covariance
    alpha, lam = np.array(model.alpha), np.array(model.lam)
    kappa = float(solve_effective_ridge(covariance.spectrum, alpha, lam, row_scales=model.row_scales).value)
    resolvent = (covariance.eigenvectors / (covariance.eigenvalues + kappa)) @ covariance.eigenvectors.T
    rows = -resolvent / np.diagonal(resolvent)[:, None]
    np.fill_diagonal(rows, 0.0)
    return np.asarray(rows)
