"""Predicts the learning curve of rows of different scale from one data set, without the noise of its covariance.

Rows are sqrt(tau) Sigma^(1/2) z with a known law of the scales tau, of mean 1. The ridge path of all N rows measures
the share y = df1/alpha of the degrees of freedom that a fit uses at its ridge mu, whatever the law. From it follow the
weight g that solves E[tau/(g + tau y)] = 1, the effective ridge kappa = mu/g, and the factor F = g first + second s of
the variance, where first = E[tau/(g + tau y)^2], second = E[tau^2/(g + tau y)^2] and s = -dy/d log kappa, which is
(df1 - df2)/alpha. A fit to n rows at the same kappa has the share y N/n and, with the g and F of this share,

    lam = kappa g_n,    E(n, lam) = LOO(mu) F_N/F_n.

The error at N is measured by leave-one-out, which is right for any scales. Generalized cross-validation is not: it
tends to E g^2 first/(1 - y)^2, and from what it reports at N follows what it reports at n. For rows that are alike,
g = 1 - y and first = second = 1: the theory of `data_theory`.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.interpolate import CubicSpline

from figures.analyse.matrix.best_ridge import loo_means, refitted_mean
from figures.analyse.matrix.centered_rows import CenteredRows, ridge_of_contrasts
from figures.analyse.matrix.data_theory import DataTheory
from simulate.core import stream
from simulate.masked import RowBlocks, fit_path
from theory import masked
from theory.core.arrays import Array
from theory.models import Empirical, RowScales
from theory.numerics import ConvergenceError
from theory.random_matrix.row_response import row_response, row_weight

LEFT_OUT = 30  # ridges at which rows are left out, one by one; between them LOO/GCV is interpolated
MAX_SAMPLED_ROWS = 1000
POINTS = 160  # points of the curve of n rows against the ridge
MIN_DISTANCE_TO_INTERPOLATION = 1e-6  # relative distance of mu to that at which n rows are interpolated


@dataclass(frozen=True, eq=False)
class EllipticalTheory:
    """Mean errors of rows of different scale at any number of training rows, from the ridge path of `n` rows."""

    n: int
    rows: RowScales
    _theory: DataTheory = field(repr=False)
    _log_excess: CubicSpline = field(repr=False)  # of LOO over GCV, against log mu

    def errors(self, n: int, lams: Array) -> Array:
        """Predict the test error of a fit to n rows about their mean, and what its GCV reports: (2, n_lams).

        NaN where these data do not reach so far.
        """
        log_lam, log_errors = self._curve(n)
        wanted = np.log(ridge_of_contrasts(lams, n) * (self.size_of(self.n) / self.size_of(n)))
        if len(log_lam) < 4:
            return np.full((2, len(lams)), np.nan)
        inside = (wanted >= log_lam[0]) & (wanted <= log_lam[-1])
        values = np.exp(CubicSpline(log_lam, log_errors, axis=1)(np.where(inside, wanted, log_lam[0])))
        return np.where(inside, values * self.mean_factors(n)[:, None], np.nan)

    def mean_test_error(self, n: int, lams: Array) -> Array:
        """Predict the test error alone, (n_lams,); at all rows it is that of leave-one-out."""
        return np.asarray(self.errors(n, lams)[0])

    def effective_ridge(self, lam: float) -> float:
        """Return the effective ridge kappa of the regression of one column on all rows of these data at lam."""
        mu = np.atleast_1d(ridge_of_contrasts(lam, self.n))
        unused, _ = self._theory.unused(np.log(mu))
        return float((mu / row_weight(self.rows, 1 - unused, self._gap(1 - unused)))[0]) / self.size_of(self.n)

    def rows_of(self, _n: int) -> RowScales:
        """Return the law of so many rows, which for independent rows is the same for any number of them."""
        return self.rows

    def size_of(self, _n: int) -> float:
        """Return the variance of the contrasts of so many rows over that of the rows, 1 for independent ones."""
        return 1.0

    def mean_factors(self, n: int) -> Array:
        """Return what the mean of n rows adds to the error and to what is reported, in units of the contrasts, (2,)."""
        return np.full(2, 1 + 1 / n)

    def _gap(self, share: Array) -> Array:
        return np.asarray(self.rows.present - share)

    def _curve(self, n: int) -> tuple[Array, Array]:
        """Return log lam, ascending, and the logarithms of both errors (2, points) of n rows, their mean known.

        Nodes crowd where these rows would be interpolated, because lam falls to zero there.
        """
        ratio, rows = (self.n - 1) / (n - 1), self.rows_of(n)
        log_mu = self._nodes(ratio)
        mu = np.exp(log_mu)
        unused, slope = self._theory.unused(log_mu)
        share = 1 - unused
        reached = (ratio * share < self.rows.present * (1 - 1e-9)) & (share > 0) & (unused > 0)
        log_mu, mu, unused, share, slope = (values[reached] for values in (log_mu, mu, unused, share, slope))
        if not len(mu):
            return mu, np.zeros((2, 0))
        weight = row_weight(self.rows, share, self._gap(share))
        own = row_response(self.rows, weight, share)
        kappa = mu / weight
        # Along the path dg/dy = -second/first, which gives d log kappa/d log mu.
        growth = 1 + own.second / (own.first * weight) * slope
        spread = -slope / growth
        factor = weight * own.first + own.second * spread
        other_weight = row_weight(rows, ratio * share, rows.present - ratio * share)
        other = row_response(rows, other_weight, ratio * share)
        other_factor = other_weight * other.first + other.second * ratio * spread
        lam, fewer = kappa * other_weight, factor / other_factor
        error = np.exp(self._theory.log_gcv(log_mu) + self._log_excess(log_mu)) * fewer
        reported = np.exp(self._theory.log_gcv(log_mu)) * fewer
        gcv = reported * other.train_ratio() / own.train_ratio() * (unused / (1 - ratio * share)) ** 2
        keep = (growth > 0) & (error > 0) & np.append(True, lam[1:] > np.maximum.accumulate(lam)[:-1])
        return np.log(lam[keep]), np.log(np.stack([error, gcv])[:, keep])

    def _nodes(self, ratio: float) -> Array:
        low, high = self._theory.log_range
        grid = np.linspace(low, high, POINTS)
        full = ratio * (1 - self._theory.unused(grid)[0]) >= self.rows.present
        if not full.any() or full.all():
            return grid
        last = int(np.flatnonzero(full)[-1])
        if last + 1 == len(grid):
            return grid[-1:]
        left, right = grid[last], grid[last + 1]
        for _ in range(50):
            middle = (left + right) / 2
            inside = ratio * (1 - float(self._theory.unused(np.array([middle]))[0][0])) >= self.rows.present
            left, right = (middle, right) if inside else (left, middle)
        return np.asarray(right + np.geomspace(MIN_DISTANCE_TO_INTERPOLATION, high - right, POINTS))


def elliptical_theory(
    X: CenteredRows, theory: DataTheory, rows: RowScales, anchor: float, seed: int
) -> EllipticalTheory:
    """Measure the leave-one-out errors of the rows of X (N, d), from which `EllipticalTheory` predicts.

    `theory` is the Gaussian one of the same rows, and `rows` the law of their scales. All rows are left out, one by
    one, at one ridge, the `anchor`; where there are more than MAX_SAMPLED_ROWS, so many of them, chosen at random, show
    how much larger or smaller the error is at the other ridges. That ratio hardly depends on which rows they are.
    """
    n, centered = X.n, X.rows.centered()
    log_mu = np.linspace(*theory.log_range, LEFT_OUT)
    lams = np.exp(log_mu) * ((n - 1) / n)
    if n <= MAX_SAMPLED_ROWS:
        errors = _left_out(centered, centered.all_rows(), lams)
    else:
        some = centered.take(np.sort(stream(seed, "rows left out").permutation(n)[:MAX_SAMPLED_ROWS]))
        errors = _left_out(centered, some, np.append(lams, anchor))
        errors = errors[:-1] / errors[-1] * loo_means(X, anchor)[0].mean()
    log_excess = np.log(errors / (1 + 1 / n)) - theory.log_gcv(log_mu)
    return EllipticalTheory(n, rows, theory, CubicSpline(log_mu, log_excess))


def _left_out(centered: RowBlocks, some: Array, lams: Array) -> Array:
    """Return the mean squares (n_lams,) of the errors of `some` of the rows, each predicted by fits to all others."""
    path = fit_path(centered, lams)
    errors = np.empty(len(lams))
    for i in range(len(lams)):
        residuals, known_mean = path.residual_pair(i, some)
        errors[i] = np.mean(refitted_mean(known_mean, residuals, centered.n) ** 2)
    return errors


def empirical_elliptical_errors(covariance: Empirical, rows: RowScales, n: int, lams: Array) -> Array:
    """Return the mean test errors of n rows about their mean, and what GCV reports, (2, n_lams), by this covariance.

    NaN where the solver did not converge. The covariance of the data is taken as exact, as in `empirical_errors`.
    """
    try:
        curve = masked.learning_curve(
            covariance, [(n - 1) / covariance.d], ridge_of_contrasts(lams, n), row_scales=rows
        )
    except ConvergenceError:
        return np.full((2, len(lams)), np.nan)
    return np.stack([curve.mean_test_error[:, 0], curve.mean_gcv_error[:, 0]]) * (1 + 1 / n)
