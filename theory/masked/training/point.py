"""Errors of a weighted sum of ridge regressions, from the effective ridges of the single ones."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from theory.core.arrays import Array, ComplexArray
from theory.masked.errors import per_coordinate
from theory.masked.training.minors import minor_ridges
from theory.models import Covariance, Spectrum
from theory.numerics import ConvergenceError, Solution
from theory.numerics.filters import Filter, pair_weights
from theory.random_matrix.complex_ridge import (
    complex_diagonal,
    inverse_diagonal,
    ridge_map,
    solve_complex_ridge,
)

LARGEST_ROUNDING = 1e-8  # of the test error, relative to it
ADVICE = "training has come too close to its end for double precision: take ridgeless, which is its limit"


@dataclass(frozen=True, eq=False)
class TrainingPoint:
    """What is known of masked regression at one time; arrays are (c,), one entry for each class of coordinates."""

    test_error: Array
    train_error: Array
    gcv_error: Array  # what generalized cross-validation tends to, which is not the test error here
    rounding: float  # of the errors, relative to the test error
    ridge: Solution[ComplexArray]


def training_point(covariance: Covariance, alpha: float, found: Filter, exact_size: bool = False) -> TrainingPoint:
    """Evaluate the errors of the filter; see `theory.masked.solve` for the equations. Raises ConvergenceError."""
    spectrum = covariance.spectrum
    ridge = solve_complex_ridge(spectrum, alpha, found.ridges)
    kappa = ridge.value[:, None]
    if exact_size:
        minors = minor_ridges(covariance, alpha, found.ridges, ridge.value)
        ridge, slope, kappa = minors.ridge, minors.slope, minors.ridge.value
        resolvents = _Resolvents(minors.inside / minors.resolvent, minors.covered / minors.resolvent**2)
    else:
        slope = ridge_map(spectrum, alpha)(ridge.value)[1][:, None]
        resolvents = _Resolvents.of(spectrum, ridge.value)
    test, train, rounding = _polarized(found, kappa, slope, resolvents)
    used = (found.weights[:, None] * (1 - found.ridges[:, None] / kappa)).sum(0)  # df1/alpha of each ridge
    gcv = train / (1 - 2 * used.real) ** 2
    of_all = partial(per_coordinate, covariance)
    return TrainingPoint(of_all(test), of_all(train), of_all(np.broadcast_to(gcv, test.shape)), rounding, ridge)


@dataclass(frozen=True, eq=False)
class _Resolvents:
    """Diagonals at every ridge, (N, c): [Sigma R]_kk/r_k, which is 1/r_k - kappa, and [R Sigma R]_kk/r_k^2.

    Here R = (Sigma + kappa)^-1 and r_k = R_kk.
    """

    excess: ComplexArray
    numerator: ComplexArray

    @classmethod
    def of(cls, spectrum: Spectrum, kappa: ComplexArray) -> "_Resolvents":
        inverse = inverse_diagonal(spectrum, kappa)
        inside = spectrum.eigenvalues / (spectrum.eigenvalues + kappa[:, None])
        covered = inside / (spectrum.eigenvalues + kappa[:, None])
        return cls(inverse * complex_diagonal(spectrum, inside), inverse**2 * complex_diagonal(spectrum, covered))


def _polarized(found: Filter, kappa: ComplexArray, slope: ComplexArray, at: _Resolvents) -> tuple[Array, Array, float]:
    """Sum the two-ridge errors E(L, L') = (kappa/r' - kappa'/r)/(L - L') over all pairs of ridges.

    The numerator is kappa x' - kappa' x with x = 1/r - kappa, which early in training, where all kappa are large, keeps
    the digits. The pair of one ridge with itself has the derivative [R Sigma R]_kk/r^2/(dL/dkappa). Since the numerator
    changes its sign with the order of the pair, one product of the matrix w w'/(L - L') with kappa serves both terms.
    """
    ridges, weights = found.whole
    kappas, slopes, excess, numerator = (
        np.concatenate([values, values.conj()]) for values in (kappa, slope, at.excess, at.numerator)
    )
    pairs = pair_weights(ridges, weights)
    left = pairs.T @ kappas
    own = weights[:, None] ** 2 * numerator / slopes
    test = (2 * (left * excess).sum(0) + own.sum(0)).real
    on_rows = (pairs * (ridges[:, None] * ridges)).sum(0)[:, None]
    train = (2 * (on_rows * excess / kappas).sum(0) + (own * (ridges[:, None] / kappas) ** 2).sum(0)).real
    terms = 2 * ((abs(pairs).T @ abs(kappas)) * abs(excess)).sum(0) + abs(own).sum(0)
    scale = np.finfo(float).eps * terms
    rounding = float(np.max(np.divide(scale, test, out=np.zeros_like(test), where=test > 0)))
    if not rounding <= LARGEST_ROUNDING:
        what = f"errors along training at ridges down to |L| = {abs(ridges).min():.3g}"
        raise ConvergenceError.of(what, test, rounding, LARGEST_ROUNDING, advice=ADVICE)
    # A train error that has vanished is the rounding of its terms, of either sign.
    return test, np.where(abs(train) < scale, abs(train), train), rounding
