"""The numbers of masked ridge regression at one point, whatever rows it is that have the law of scales."""

from dataclasses import dataclass

import numpy as np

from theory.core.arrays import Array
from theory.core.read_only import KeepsReadOnly
from theory.masked.errors import (
    SampleFactors,
    conditional_variances,
    own_population_errors,
    per_coordinate,
    variance_factor,
)
from theory.models import Covariance, RowScales
from theory.models.conventions import samples_per_unknown
from theory.numerics import Solution
from theory.random_matrix import (
    minor_moments,
    population,
    solve_effective_ridge,
    solve_population_ridge,
    solve_ridge_equation,
)
from theory.random_matrix.row_response import row_response, row_weight

Numbers = float | Array  # one number, or one for each coordinate where the sizes are exact


@dataclass(frozen=True, eq=False)
class RidgePoint(KeepsReadOnly):
    """The effective ridge, what follows from it, and the evidence for it.

    Rows of scale t weigh t/(g + t y) in the fit, where g = lam/kappa is the `weight` and y = df1/alpha the `share`: in
    the symbols of `theory.masked.solve` their ratio y/g is delta, by which a row takes part in its own inverse.
    """

    kappa: Numbers
    df1: Numbers
    df2: Numbers
    weight: Numbers
    share: Numbers
    test_error: Array  # of each coordinate
    train: Numbers  # over the test error
    gcv: Numbers  # likewise
    ridge: Solution[Array]


def ridge_point(covariance: Covariance, alpha: float, lam: float, rows: RowScales, exact_size: bool) -> RidgePoint:
    """Solve for the effective ridge at lam >= 0 and evaluate the errors; ValueError at an interpolation peak."""
    if exact_size:
        return _exact_size(covariance, alpha, lam, rows)
    return _point(covariance, alpha, lam, rows) if lam > 0 else _ridgeless(covariance, alpha, rows)


def _point(covariance: Covariance, alpha_: float, lam_: float, rows: RowScales) -> RidgePoint:
    of = population(covariance)
    alpha, lam = np.array([alpha_]), np.array([lam_])
    ridge = solve_population_ridge(of, alpha, lam, row_scales=rows)
    kappa = ridge.value
    at = of.moments(kappa)
    factors = SampleFactors.of(rows, at, alpha, lam, kappa)
    test = per_coordinate(covariance, (of.errors(kappa) * factors.test[:, None])[0])
    numbers = (kappa, at.df1, at.df2, lam / kappa, at.df1 / alpha, factors.train, factors.gcv)
    kappa_, df1, df2, weight, share, train, gcv = (float(values[0]) for values in numbers)
    return RidgePoint(kappa_, df1, df2, weight, share, test, train, gcv, ridge)


def _exact_size(covariance: Covariance, alpha_: float, lam_: float, rows: RowScales) -> RidgePoint:
    spectrum = covariance.spectrum
    if not covariance.is_finite:
        raise ValueError("exact_size needs a finite d: at d = infinity there is nothing to correct")
    d = covariance.size
    if d < 2:
        raise ValueError(f"exact_size needs d of at least 2, got {d}")
    start = solve_effective_ridge(spectrum, np.array(alpha_), np.array(lam_), row_scales=rows).value
    classes = len(spectrum.coordinate_weights)
    alpha, lam = np.full(classes, samples_per_unknown(alpha_, d)), np.full(classes, lam_)
    ridge = solve_ridge_equation(
        lambda kappa: minor_moments(spectrum, d, kappa), alpha, lam, float(start) - lam_, row_scales=rows
    )
    kappa = ridge.value
    at = minor_moments(spectrum, d, kappa)
    factors = SampleFactors.of(rows, at, alpha, lam, kappa)
    test = own_population_errors(spectrum, kappa) * factors.test
    numbers = (kappa, at.df1, at.df2, lam / kappa, at.df1 / alpha, test, factors.train, factors.gcv)
    each = (per_coordinate(covariance, values) for values in numbers)
    kappa, df1, df2, weight, share, test, train, gcv = each
    return RidgePoint(kappa, df1, df2, weight, share, test, train, gcv, ridge)


def _ridgeless(covariance: Covariance, alpha: float, rows: RowScales) -> RidgePoint:
    of = population(covariance)
    rank = of.rank
    if abs(alpha * rows.present - rank) < 1e-9:
        hint = ": see peak_height" if rank > 1 - 1e-9 and rows.alike else ""
        where = f"rank(Sigma)/d = {rank:g}" + ("" if rows.present == 1 else f" over the share {rows.present:g} of rows")
        raise ValueError(f"alpha must differ from {where}, where the error diverges{hint}")
    ridge = solve_population_ridge(of, np.array([alpha]), np.array([0.0]), row_scales=rows)
    if alpha * rows.present > rank:
        weight, test_factor, train = _least_squares(rows, alpha, rank)
        test = conditional_variances(covariance) * test_factor
        gcv = train / (1 - rank / alpha) ** 2
        return RidgePoint(0.0, rank, rank, weight, rank / alpha, test, train, gcv, ridge)
    at = of.moments(ridge.value)
    errors = of.errors(ridge.value) * variance_factor(at, np.array([alpha * rows.present]))[:, None]
    test = per_coordinate(covariance, errors[0])
    moments = (float(ridge.value[0]), float(at.df1[0]), float(at.df2[0]))
    # What GCV divides and what it divides by both vanish with lam; their ratio over the test error tends to 1/E[1/tau].
    return RidgePoint(*moments, 0.0, moments[1] / alpha, test, 0.0, 1 / rows.mean_inverse, ridge)


def _least_squares(rows: RowScales, alpha: float, rank: float) -> tuple[float, float, float]:
    """Return g = lam/kappa, the test error over the conditional variance, and the train error over the test error."""
    if rows.alike:
        return 1 - rank / alpha, 1 / (1 - rank / alpha), (1 - rank / alpha) ** 2
    share = np.array([rank / alpha])
    weight = row_weight(rows, share, rows.present - share)
    at = row_response(rows, weight, share)
    return float(weight[0]), float(1 / (weight * at.first)[0]), float(at.train_ratio()[0])
