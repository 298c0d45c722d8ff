"""Errors of a weighted sum of ridge regressions, from the effective ridges of the single ones."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from theory.core.arrays import Array, ComplexArray
from theory.masked.errors import per_coordinate
from theory.masked.training.minors import minor_ridges
from theory.masked.training.pairs import PairSum, both_halves
from theory.masked.training.unlike_rows import solve_unlike_ridges, unlike_pairs
from theory.models import Covariance, RowScales, Spectrum
from theory.models.row_scales import GAUSSIAN
from theory.numerics import Solution
from theory.numerics.filters import Filter, pair_weights
from theory.random_matrix.complex_ridge import (
    complex_diagonal,
    ridge_map,
    solve_complex_ridge,
)

LARGEST_GCV_ERROR = 1e-6  # relative; late in training of few rows it is a ratio of two numbers that both vanish


@dataclass(frozen=True, eq=False)
class TrainingPoint:
    """What is known of masked regression at one time; arrays are (c,), one entry for each class of coordinates."""

    test_error: Array
    train_error: Array
    gcv_error: Array  # what generalized cross-validation tends to, which is not the test error here; nan if unresolved
    rounding: float  # of the errors, relative to the test error
    ridge: Solution[ComplexArray]


def training_point(
    covariance: Covariance,
    alpha: float,
    found: Filter,
    exact_size: bool = False,
    rows: RowScales = GAUSSIAN,
    solved: Solution[ComplexArray] | None = None,
) -> TrainingPoint:
    """Evaluate the errors of the filter; see `theory.masked.solve` for the equations. Raises ConvergenceError.

    `rows` is the law of the scales of independent rows with the same X'X. ValueError for `exact_size` where they
    differ. `solved` are the effective ridges of rows that are alike, where they are known.
    """
    if not rows.alike:
        return _of_unlike_rows(covariance, alpha, found, exact_size, rows)
    spectrum = covariance.spectrum
    ridge = solved or solve_complex_ridge(spectrum, alpha, found.ridges)
    kappa = ridge.value[:, None]
    if exact_size:
        minors = minor_ridges(covariance, alpha, found.ridges, ridge.value)
        ridge, slope, kappa = minors.ridge, minors.slope, minors.ridge.value
        resolvents = Resolvents(minors.inside / minors.resolvent, minors.covered / minors.resolvent**2)
    else:
        slope = ridge_map(spectrum, alpha)(ridge.value)[1][:, None]
        resolvents = Resolvents.of(spectrum, ridge.value)
    test, train, rounding = _polarized(found, kappa, slope, resolvents)
    gcv = _gcv_error(found, train, 1 - found.ridges[:, None] / kappa)
    of_all = partial(per_coordinate, covariance)
    return TrainingPoint(of_all(test), of_all(train.of_train()), of_all(gcv), rounding, ridge)


def _of_unlike_rows(
    covariance: Covariance, alpha: float, found: Filter, exact_size: bool, rows: RowScales
) -> TrainingPoint:
    if exact_size:
        raise ValueError(
            "exact_size must be False in training where rows differ in scale or depend on each other: it was derived "
            "for rows that are alike"
        )
    spectrum = covariance.spectrum
    at = solve_unlike_ridges(spectrum, alpha, found.ridges, rows)
    pairs, own, on_rows = unlike_pairs(found, spectrum, alpha, rows, at)
    resolvents = Resolvents.of(spectrum, at.kappa.value)
    kappa, excess, numerator = both_halves(at.kappa.value, resolvents.excess, resolvents.numerator)
    test = PairSum.of(pairs, kappa, excess, own[:, None] * numerator)
    train = PairSum.of(pairs * on_rows, kappa, excess, (own * np.diagonal(on_rows))[:, None] * numerator)
    gcv = _gcv_error(found, train, (at.weight * at.delta)[:, None])
    of_all = partial(per_coordinate, covariance)
    rounding = test.rounding(found.ridges)
    return TrainingPoint(of_all(test.value), of_all(train.of_train()), of_all(gcv), rounding, at.kappa)


def _gcv_error(found: Filter, train: PairSum, freedom: ComplexArray) -> Array:
    """Compute train/(1 - tr phi(C) C/n)^2 from the degrees of freedom over n of each ridge, (N, 1) or (N, c).

    Where there are fewer rows than coordinates both vanish at the end of training, until rounding and the error of the
    filter are all that is left of them. Their ratio, which then could be any number, is nan there.
    """
    used = found.weights[:, None] * freedom
    left = 1 - 2 * used.sum(0).real
    rounding = np.finfo(float).eps * 2 * abs(used).sum(0) + found.error
    known = 2 * rounding <= LARGEST_GCV_ERROR * abs(left)
    known = known & (np.finfo(float).eps * train.terms <= LARGEST_GCV_ERROR * train.value)
    return np.asarray(np.divide(train.value, left**2, out=np.full_like(train.value, np.nan), where=known))


@dataclass(frozen=True, eq=False)
class Resolvents:
    """Diagonals at every ridge, (N, c): [Sigma R]_kk/r_k, which is 1/r_k - kappa, and [R Sigma R]_kk/r_k^2.

    Here R = (Sigma + kappa)^-1 and r_k = R_kk.
    """

    excess: ComplexArray
    numerator: ComplexArray

    @classmethod
    def of(cls, spectrum: Spectrum, kappa: ComplexArray) -> "Resolvents":
        """Evaluate them at effective ridges kappa (N,)."""
        resolvent = 1 / (spectrum.eigenvalues + kappa[:, None])
        inside = spectrum.eigenvalues * resolvent
        own, first, second = complex_diagonal(spectrum, np.stack([resolvent, inside, inside * resolvent]))
        return cls(first / own, second / own**2)


def _polarized(found: Filter, kappa: ComplexArray, slope: ComplexArray, at: Resolvents) -> tuple[Array, PairSum, float]:
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
    on_rows = pairs * (ridges[:, None] * ridges)
    excess_on_rows, own_on_rows = excess / kappas, own * (ridges[:, None] / kappas) ** 2
    train = (2 * (on_rows.sum(0)[:, None] * excess_on_rows).sum(0) + own_on_rows.sum(0)).real
    terms = 2 * ((abs(pairs).T @ abs(kappas)) * abs(excess)).sum(0) + abs(own).sum(0)
    terms_on_rows = 2 * (abs(on_rows).sum(0)[:, None] * abs(excess_on_rows)).sum(0) + abs(own_on_rows).sum(0)
    return test, PairSum(train, terms_on_rows), PairSum(test, terms).rounding(ridges)
