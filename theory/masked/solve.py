"""Test and train error of masked ridge regression at one point, and its mean predictor."""

import numpy as np

from theory.masked.errors import own_population_errors, population_errors, variance_factor
from theory.masked.solution import MaskedRidgeSolution, per_coordinate
from theory.models import MaskedRidge, checks
from theory.models.arrays import Array
from theory.models.conventions import samples_per_unknown
from theory.numerics import Solution
from theory.random_matrix import minor_moments, ridge_moments, solve_effective_ridge, solve_ridge_equation


def solve(model: MaskedRidge, *, exact_size: bool = False) -> MaskedRidgeSolution:
    """Deterministic equivalents of the errors of all coordinates, in the limit of large n and d.

    With kappa the effective ridge and R = (Sigma + kappa)^-1: E_k = (R Sigma R)_kk / R_kk^2 / (1 - df2/alpha), and a
    train error of (lam/kappa)^2 E_k (arXiv:2601.23208; from Q B Q equivalents of the joint predictor I - diag(Q)^-1 Q).

    `exact_size` takes kappa and df2 from Sigma without row and column k, the d - 1 unknowns that coordinate k really
    has: better by a relative O(1/d), which matters for small d near alpha = 1. `effective_ridge`, `df1`, `df2` then
    have one entry a coordinate, df1 and df2 per dimension of the minor. Raises ConvergenceError.
    """
    checks.record("model", model, MaskedRidge)
    return _solve_exact_size(model) if exact_size else _solve(model)


def _solve(model: MaskedRidge) -> MaskedRidgeSolution:
    covariance, spectrum = model.covariance, model.covariance.spectrum
    alpha = np.array([model.alpha])
    ridge = solve_effective_ridge(spectrum, alpha, np.array([model.lam]))
    kappa = ridge.value
    at = ridge_moments(spectrum, kappa)
    test = per_coordinate(covariance, (population_errors(spectrum, kappa) * variance_factor(at, alpha)[:, None])[0])
    train = (model.lam / kappa[0]) ** 2 * test
    return _solution(model, ridge, (float(kappa[0]), float(at.df1[0]), float(at.df2[0])), test, train)


def _solve_exact_size(model: MaskedRidge) -> MaskedRidgeSolution:
    covariance, spectrum = model.covariance, model.covariance.spectrum
    if not covariance.is_finite:
        raise ValueError("exact_size needs a finite d: at d = infinity there is nothing to correct")
    d = covariance.size
    if d < 2:
        raise ValueError(f"exact_size needs d of at least 2, got {d}")
    alpha = samples_per_unknown(model.alpha, d)
    start = solve_effective_ridge(spectrum, np.array(model.alpha), np.array(model.lam)).value
    classes = len(spectrum.coordinate_weights)
    ridge = solve_ridge_equation(
        lambda kappa: minor_moments(spectrum, d, kappa),
        np.full(classes, alpha),
        np.full(classes, model.lam),
        float(start) - model.lam,
    )
    kappa = ridge.value
    at = minor_moments(spectrum, d, kappa)
    test = own_population_errors(spectrum, kappa) * variance_factor(at, np.asarray(alpha))
    test = per_coordinate(covariance, test)
    train = (model.lam / per_coordinate(covariance, kappa)) ** 2 * test
    kappa, df1, df2 = (per_coordinate(covariance, values) for values in (kappa, at.df1, at.df2))
    return _solution(model, ridge, (kappa, df1, df2), test, train)


def _solution(
    model: MaskedRidge,
    ridge: Solution[Array],
    moments: tuple[float | Array, float | Array, float | Array],
    test_error: Array,
    train_error: Array,
) -> MaskedRidgeSolution:
    kappa, df1, df2 = moments
    evidence = (ridge.residual, ridge.iterations, ridge.converged)
    return MaskedRidgeSolution(
        model.covariance, model.alpha, model.lam, kappa, df1, df2, test_error, train_error, *evidence
    )


def predictor(model: MaskedRidge) -> Array:
    """(d, d) deterministic equivalent of the joint predictor: I - diag(R)^-1 R, R = (Sigma + kappa)^-1; zero diagonal.

    It is the population masked ridge predictor at the effective ridge kappa. Raises ConvergenceError.
    """
    covariance = checks.record("model", model, MaskedRidge).covariance
    kappa = float(solve_effective_ridge(covariance.spectrum, np.array(model.alpha), np.array(model.lam)).value)
    resolvent = (covariance.eigenvectors / (covariance.eigenvalues + kappa)) @ covariance.eigenvectors.T
    rows = -resolvent / np.diagonal(resolvent)[:, None]
    np.fill_diagonal(rows, 0.0)
    return np.asarray(rows)
