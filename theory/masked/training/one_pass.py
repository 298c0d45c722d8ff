"""One pass of stochastic gradient descent: a Volterra equation for every coordinate, with one kernel for all."""

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import solve_triangular, toeplitz

from theory.core import Array, DataFrame, SolverResult, table
from theory.core.blocks import in_blocks
from theory.masked.errors import per_coordinate
from theory.masked.signs import require_non_negative
from theory.models import Covariance
from theory.models.training import MaskedTraining, OnePass
from theory.numerics import ConvergenceError
from theory.numerics.filters import pair_weights, unit_flow
from theory.random_matrix.complex_ridge import complex_diagonal, inverse_diagonal

# Intervals of the trapezoidal rule, whose error two extrapolations by Richardson take from h^2 to h^6: the first number
# of them that reaches AIM is taken.
POINTS = (400, 800, 1600, 3200)
AIM = 1e-9  # of the test error, relative, by the difference of the extrapolations
TOLERANCE = 1e-6  # with the most points
MAX_TEMPORARY_NUMBERS = 500_000


@dataclass(frozen=True, eq=False, repr=False)
class OnePassSolution(SolverResult):
    """The errors of masked regression as one pass over the rows goes on, without a factor 1/2.

    `test_error` has shape (d,), or for d -> infinity one entry for each class of coordinates: it is that after all
    alpha d rows. `alphas` (points,) are the rows seen on the way, over d, and `mean_test_errors` (points,) the mean
    error there. `residual` is the difference between two orders of the quadrature, relative to the test error.
    """

    covariance: Covariance = field(repr=False)
    alpha: float
    training: OnePass
    test_error: Array = field(repr=False)
    alphas: Array = field(repr=False)
    mean_test_errors: Array = field(repr=False)

    def __post_init__(self) -> None:
        require_non_negative(self, "test_error", "mean_test_errors")

    @property
    def mean_test_error(self) -> float:
        """The mean of `test_error` over the coordinates."""
        return float(self.mean_test_errors[-1])

    def to_frame(self) -> DataFrame:
        """Tabulate the mean test error against the rows seen: alpha and mean_test_error."""
        return table(alpha=self.alphas, mean_test_error=self.mean_test_errors)


def solve_one_pass(model: MaskedTraining) -> OnePassSolution:
    """Solve E_k(a) = E_k^pop(step a) + step^2 int_0^a H(a - u) E_k(u) du for rows seen a = 0 ... alpha, over d.

    E^pop is the error of gradient flow on the population, and H(x) = tr Sigma^2 e^(-2 step x Sigma)/d. Raises
    ValueError where the step is not stable, and ConvergenceError where the quadrature is not resolved.
    """
    training = model.training
    assert isinstance(training, OnePass)
    spectrum = model.covariance.spectrum
    mean = float(spectrum.mean(spectrum.eigenvalues))
    if not training.step * mean < 2:
        raise ValueError(f"step must be below 2 over the mean variance, {2 / mean:.6g}, got {training.step:g}")
    free = _free_errors(model, training.step, POINTS[0])
    coarse, middle = (_trapezoid(model, training.step, free[::every]) for every in (4, 2))
    for count in POINTS:
        free = free if count == POINTS[0] else _free_errors(model, training.step, count)
        fine = _trapezoid(model, training.step, free)
        before, after = (4 * middle[::2] - coarse) / 3, (4 * fine[::4] - middle[::2]) / 3
        errors = (16 * after - before) / 15
        residual = float(np.max(abs(errors - after).max(0) / errors.max(0)))
        if residual <= AIM:
            break
        coarse, middle = middle, fine
    if not residual <= TOLERANCE:
        what = f"one pass of alpha = {model.alpha:g} with step = {training.step:g}"
        advice = "the error changes too fast for its quadrature: take a smaller alpha or step"
        raise ConvergenceError.of(what, errors[-1], residual, TOLERANCE, advice=advice)
    return OnePassSolution(
        model.covariance,
        model.alpha,
        training,
        per_coordinate(model.covariance, errors[-1]),
        np.linspace(0, model.alpha, len(errors)),
        spectrum.coordinate_mean(np.maximum(errors, 0.0)),
        residual=residual,
        iterations=None,
        converged=True,
    )


def _free_errors(model: MaskedTraining, step: float, count: int) -> Array:
    return population_flow(model.covariance, step * np.linspace(0, model.alpha, count + 1))


def _trapezoid(model: MaskedTraining, step: float, free: Array) -> Array:
    """Solve the equation on the points of the errors E^pop, (points, c), by the trapezoidal rule: errors there."""
    spectrum, count = model.covariance.spectrum, len(free) - 1
    alphas = np.linspace(0, model.alpha, count + 1)
    s = spectrum.eigenvalues
    kernel = (s**2 * np.exp(-2 * step * alphas[:, None] * s)) @ spectrum.weights
    width = step**2 * model.alpha / count
    matrix = np.eye(count + 1) - width * np.tril(toeplitz(kernel))
    matrix[:, 0] += width * kernel / 2
    matrix[np.diag_indices(count + 1)] += width * kernel[0] / 2
    matrix[0] = np.eye(count + 1)[0]
    return np.asarray(solve_triangular(matrix, free, lower=True))


def population_flow(covariance: Covariance, times: Array) -> Array:
    """Compute the errors of gradient flow with infinitely many rows, (times, c), which at time 0 are the variances."""
    spectrum = covariance.spectrum
    zeta, weights = unit_flow().whole
    left = 2 * (pair_weights(zeta, weights).T @ zeta)[:, None]
    found = []
    numbers = len(zeta) * max(len(spectrum.eigenvalues), spectrum.n_coordinates)
    for block in in_blocks(times, numbers, MAX_TEMPORARY_NUMBERS):
        after = np.where(block > 0, block, 1.0)[:, None]
        ridges = zeta / after
        inverse = inverse_diagonal(spectrum, ridges)
        inside = spectrum.eigenvalues / (spectrum.eigenvalues + ridges[..., None])
        covered = complex_diagonal(spectrum, inside / (spectrum.eigenvalues + ridges[..., None]))
        excess = inverse * complex_diagonal(spectrum, inside)  # 1/r - kappa, without rounding at short times
        errors = (left * excess).sum(1) + (weights[:, None] ** 2 * inverse**2 * covered).sum(1)
        found.append(np.where(block[:, None] > 0, errors.real, spectrum.diagonal(spectrum.eigenvalues)))
    return np.concatenate(found)
