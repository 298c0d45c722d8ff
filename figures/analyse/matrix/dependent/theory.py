"""Predicts the learning curve of rows that depend on each other from one data set.

The Gram matrix of such rows has the law of independent rows with the scales of `laws`, so that the theory of
`elliptical_theory` carries the errors of all N rows over to any other number n. What differs is the error at N. It is
not leave-one-out, which leaves the neighbors of a row in, but the corrected one: what is reported of the fitted rows,
divided by the share that the dependence lets through (`ContrastLaw.corrected`).
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.interpolate import CubicSpline

from figures.analyse.matrix.centered_rows import ridge_of_contrasts
from figures.analyse.matrix.data_theory import DataTheory
from figures.analyse.matrix.dependent.laws import RowLaws
from figures.analyse.matrix.elliptical_theory import EllipticalTheory
from theory import masked
from theory.core.arrays import Array
from theory.models import Empirical, RowScales
from theory.numerics import ConvergenceError
from theory.random_matrix.row_response import row_response, row_weight

POINTS = 120  # ridges at which the error of all rows is corrected; it is smooth between them


@dataclass(frozen=True, eq=False)
class DependentTheory(EllipticalTheory):
    """Mean errors of dependent rows on a new row far from them, at any number of rows, from the path of `n` rows."""

    laws: RowLaws = field(kw_only=True, repr=False)

    def rows_of(self, _n: int) -> RowScales:
        """Return the law of the scales of the contrasts of so many rows."""
        return self.laws.contrasts(_n).scales

    def size_of(self, _n: int) -> float:
        """Return the variance of the contrasts of so many rows in units of that of the rows."""
        return self.laws.contrasts(_n).size

    def mean_factors(self, n: int) -> Array:
        """Return what the mean of n rows adds to the error and to what is reported, in units of the contrasts, (2,).

        The path is that of all rows, in whose units the contrasts of n rows are smaller or larger.
        """
        law, units = self.laws.contrasts(n), self.size_of(self.n)
        return np.array([1 + law.mean_variance, (1 + 1 / n) * law.size]) / units

    def effective_rows(self, lam: float) -> float:
        """Return how many independent rows would leave as much variance in the predictor as all rows do at lam."""
        share = 1 - self._theory.unused(np.log(np.atleast_1d(ridge_of_contrasts(lam, self.n))))[0]
        weight = row_weight(self.rows, share, self._gap(share))
        return float(self.n / row_response(self.rows, weight, share).second[0])


def dependent_theory(theory: DataTheory, laws: RowLaws) -> DependentTheory:
    """Correct the Gaussian `theory` of rows for their dependence, at all ridges that it reaches."""
    law = laws.contrasts(theory.n)
    log_mu = np.linspace(*theory.log_range, POINTS)
    gcv = np.exp(theory.log_gcv(log_mu))
    unused, _ = theory.unused(log_mu)
    corrected = law.corrected(gcv * unused**2, gcv) / law.mean_factor
    excess = CubicSpline(log_mu, np.log(corrected / gcv))
    return DependentTheory(theory.n, law.scales, theory, excess, laws=laws)


def empirical_dependent_errors(covariance: Empirical, laws: RowLaws, all_rows: int, n: int, lams: Array) -> Array:
    """Return the mean test errors (n_lams,) of n rows about their mean, by the theory with this covariance.

    `covariance` is that of the contrasts of `all_rows` rows, and is taken as exact. NaN where the solver did not
    converge.
    """
    law, units = laws.contrasts(n), laws.contrasts(all_rows).size
    alpha, own = (n - 1) / covariance.d, ridge_of_contrasts(lams, n) * (units / law.size)
    try:
        curve = masked.learning_curve(covariance, [alpha], own, row_scales=law.scales)
    except ConvergenceError:
        return np.full(len(lams), np.nan)
    return np.asarray(curve.mean_test_error[:, 0] * ((1 + law.mean_variance) / units))
