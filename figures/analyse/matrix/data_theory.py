"""Predicts the learning curve from one data set, by Gaussian theory without the noise of its covariance.

The theory of n rows needs Sigma only through functions of the effective ridge kappa, and the ridge path of all N rows
measures these: at its ridge mu the effective ridge is kappa(mu), and the errors of n rows at the same kappa differ from
those of N only by the variance factor 1/(1 - df2/n). With lam = kappa (1 - df1/n), df1 = N (1 - mu/kappa),
1 - df2/N = d mu/d kappa and 1 - df2/n = d lam/d kappa,

    lam(mu) = (N/n) mu - (N/n - 1) kappa(mu),    E(n, lam) = E_gcv(mu) d mu/d lam.

At n = N this is generalized cross-validation; the empirical covariance put in the place of Sigma would be wrong by
O(d/N) there. Derived from the deterministic equivalents of arXiv:2601.23208.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.interpolate import CubicSpline

from figures.analyse.matrix.centered_rows import CenteredRows, ridge_of_contrasts
from figures.analyse.matrix.plan import MIN_ROWS
from simulate.masked import fit_path
from theory import masked
from theory.core.arrays import Array
from theory.models import Empirical
from theory.numerics import ConvergenceError

Predict = Callable[[int, Array], Array]  # (training rows, lams) -> mean test errors
PredictBoth = Callable[[int, Array], Array]  # the same with what GCV reports, (2, n_lams)

NODES = 256  # values of mu, 15 to 30 for each decade
BISECTIONS = 60


@dataclass(frozen=True, eq=False)
class DataTheory:
    """Mean test errors at any number of training rows, from the ridge path of `n` rows."""

    n: int
    log_range: tuple[float, float] = field(repr=False)  # range of log mu
    _log_kappa: CubicSpline = field(repr=False)
    _log_error: CubicSpline = field(repr=False)

    def mean_test_error(self, n: int, lams: Array) -> Array:
        """Predict the error of a fit to n rows about their mean, (n_lams,); NaN where these data do not reach so far.

        A new row is predicted about the mean of n rows, which adds 1/n of the error.
        """
        ratio = (self.n - 1) / (n - 1)
        log_mu = self._matching_ridge(ratio, ridge_of_contrasts(lams, n))
        mu, kappa = np.exp(log_mu), np.exp(self._log_kappa(log_mu))
        slope = ratio - (ratio - 1) * kappa / mu * self._log_kappa(log_mu, 1)  # the derivative d lam/d mu
        errors = np.exp(self._log_error(log_mu)) / np.where(slope > 0, slope, np.nan)
        return np.asarray(errors * (1 + 1 / n))

    def effective_ridge(self, lam: float) -> float:
        """Return the effective ridge kappa of the regression of one column on all n rows of these data at lam."""
        return float(np.exp(self._log_kappa(np.log(ridge_of_contrasts(lam, self.n)))))

    def degrees_of_freedom(self, lam: float) -> float:
        """Return df1 of the regression of one column on all n rows of these data at lam, between 0 and d - 1."""
        return (self.n - 1) * (1 - float(ridge_of_contrasts(lam, self.n)) / self.effective_ridge(lam))

    def unused(self, log_mu: Array) -> tuple[Array, Array]:
        """Return the share 1 - df1/N of the rows that fits to all rows leave unused at ridges mu, and minus its slope.

        The second is the derivative of df1/N in log mu, which is negative. Both need no law of the rows.
        """
        unused = np.exp(log_mu - self._log_kappa(log_mu))
        return unused, -unused * (1 - self._log_kappa(log_mu, 1))

    def log_gcv(self, log_mu: Array) -> Array:
        """Return the logarithm of the GCV error of all rows at ridges mu, their mean taken as known."""
        return np.asarray(self._log_error(log_mu))

    def _matching_ridge(self, ratio: float, lams: Array) -> Array:
        """Return log mu where lam(mu) is `lams`, by bisection; NaN where the ends of the range do not enclose it."""
        low, high = (np.full(len(lams), end) for end in self.log_range)
        enclosed = (self._lam(ratio, low) <= lams) & (self._lam(ratio, high) >= lams)
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            above = self._lam(ratio, middle) > lams
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        return np.where(enclosed, (low + high) / 2, np.nan)

    def _lam(self, ratio: float, log_mu: Array) -> Array:
        return np.asarray(ratio * np.exp(log_mu) - (ratio - 1) * np.exp(self._log_kappa(log_mu)))


def data_theory(X: CenteredRows, lams: Array, smallest_n: int) -> DataTheory:
    """Measure the ridge path of the rows of X (N, d), from which `DataTheory` predicts.

    It reaches ridges within the range of `lams` and at least `smallest_n` training rows.
    """
    rows = X.contrasts()
    n = rows.n
    squares = sum(float(np.vdot(block, block)) for block in rows) if rows.known is None else rows.known.trace
    trace = squares / n
    low = 0.3 * float(np.min(lams)) * min(1.0, smallest_n / n)  # because mu >= lam n/N
    high = 3 * (float(np.max(lams)) + trace)  # because mu <= kappa <= lam + tr Sigma/n
    mus = np.geomspace(low, high, NODES)
    path = fit_path(rows, mus)
    varies = path.train_error[-1] > 0
    # This is 1 - df/n of the d regressions with d - 1 unknowns each: mu over their effective ridges.
    freedom = np.sqrt(path.train_error[:, varies] / path.gcv_error[:, varies]).mean(axis=1)
    log_mu = np.log(mus)
    return DataTheory(
        n=n + 1,
        log_range=(log_mu[0], log_mu[-1]),
        _log_kappa=CubicSpline(log_mu, log_mu - np.log(freedom)),
        _log_error=CubicSpline(log_mu, np.log(path.gcv_error.mean(axis=1))),
    )


def empirical_errors(covariance: Empirical, n: int, lams: Array) -> Array:
    """Return the mean test errors (n_lams,) of n rows about their mean, by the theory with this covariance.

    NaN where the solver did not converge. An estimate from N rows makes the small eigenvalues too small, so that the
    errors come out too low by a relative O(d/N).
    """
    try:
        curve = masked.learning_curve(covariance, [(n - 1) / covariance.d], ridge_of_contrasts(lams, n))
    except ConvergenceError:
        return np.full(len(lams), np.nan)
    return np.asarray(curve.mean_test_error[:, 0] * (1 + 1 / n))


def trusted(predict: Predict) -> Predict:
    """Return the same prediction with NaN below MIN_ROWS rows, where a limit of many rows says nothing."""

    def predicted(n: int, lams: Array) -> Array:
        return predict(n, lams) if n >= MIN_ROWS else np.full(len(lams), np.nan)

    return predicted
