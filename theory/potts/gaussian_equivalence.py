"""Masked ridge regression of Potts data, as if their contrasts were Gaussian with the same mean and covariance."""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from theory.models import AR1, checks
from theory.models.arrays import Array
from theory.models.frames import table
from theory.models.potts.one_hot_contrasts import ContrastPopulation
from theory.numerics import Solution
from theory.potts.contrasts import ring_correlation
from theory.potts.predictors import LinearPredictors
from theory.random_matrix import ridge_moments, shrinkage, solve_effective_ridge, solve_ridge_equation

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class ContrastRegression:
    """Errors of predicting each masked site: squared, summed over its C - 1 contrasts, without a factor 1/2.

    That is |x_i - prediction|^2 of one-hot vectors; the irreducible part is included. All arrays are (L,).
    """

    alpha: float
    lam: float
    effective_ridge: Array = field(repr=False)
    test_error: Array = field(repr=False)
    train_error: Array = field(repr=False)
    noise: Array = field(repr=False)  # what no linear prediction explains
    variance: Array = field(repr=False)
    residual: float
    iterations: int
    converged: bool

    @property
    def mean_test_error(self) -> float:
        """Mean over sites."""
        return float(self.test_error.mean())

    @property
    def mean_train_error(self) -> float:
        """Mean over sites."""
        return float(self.train_error.mean())

    @property
    def explained(self) -> Array:
        """R^2 of the best linear prediction, (L,)."""
        return 1 - self.noise / self.variance

    def to_frame(self) -> "pd.DataFrame":
        """One row a site."""
        return table(
            site=np.arange(len(self.test_error)),
            test_error=self.test_error,
            train_error=self.train_error,
            noise=self.noise,
            explained=self.explained,
        )


def contrast_regression(population: ContrastPopulation, alpha: float, lam: float) -> ContrastRegression:
    """Every site masked in turn and its C - 1 contrasts predicted from the u = (L-1)(C-1) of the other sites.

    n = alpha d samples, d = L (C-1), centered by the population mean; argmin_A (1/n) |X_i - X_others A|^2 + lam |A|^2,
    the convention of `MaskedRidge`. The penalty u lam'/2 |A|^2 beside half a sum over samples (arXiv:2304.07235) is
    lam' = n lam/u = `ridge_per_unknown(lam, alpha, L)`, and that convention's errors are half of these.

    With kappa the effective ridge of the others' covariance Sxx, E = (noise + B)/(1 - df2/alpha_u), alpha_u = n/u and
    B = kappa^2 tr Sxy' Sxx^-1 (Sxx + kappa)^-2 Sxy; the train error is (lam/kappa)^2 E. Costs L decompositions of
    u x u matrices once for a population. Raises ConvergenceError.
    """
    checks.record("population", population, ContrastPopulation)
    lam = checks.real("lam", lam)
    if lam <= 0:
        raise ValueError(f"lam must be positive, got {lam!r}; for lam -> 0 see ridgeless_contrast_regression")
    return _regression(population, checks.positive("alpha", alpha), lam)


def ridgeless_contrast_regression(population: ContrastPopulation, alpha: float) -> ContrastRegression:
    """The limit lam -> 0 of `contrast_regression`: minimum norm for n below the rank of Sxx, least squares above.

    ValueError where n equals that rank: the error diverges.
    """
    checks.record("population", population, ContrastPopulation)
    alpha = checks.positive("alpha", alpha)
    ranks, d = LinearPredictors.of(population).ranks, population.covariance.size
    diverging = ranks[abs(alpha * d - ranks) < 1e-9 * ranks]
    if diverging.size:
        raise ValueError(f"alpha must differ from {diverging[0]}/{d}, where the error diverges, got {alpha!r}")
    return _regression(population, alpha, 0.0)


def ring_test_error(n_colors: int, beta: float, alpha: float, lam: float) -> float:
    """Test error of a site of the infinite ring with U = identity, in the conventions of `contrast_regression`.

    Its contrasts are C - 1 independent copies of AR(1)/C with correlation mu = `ring_correlation`, so that
    E = ((C-1)/C) E_AR1(mu, alpha, C lam). lam = 0 is the limit lam -> 0. Raises ConvergenceError.
    """
    C = int(checks.dimension(n_colors, least=2, name="n_colors"))
    spectrum = AR1(math.inf, ring_correlation(C, beta)).spectrum
    alpha, lam = checks.positive("alpha", alpha), checks.non_negative("lam", lam)
    if lam == 0 and alpha >= 1:
        if alpha == 1:
            raise ValueError("alpha must differ from 1 at lam = 0, where the error diverges")
        return float((C - 1) / C / spectrum.mean(1 / spectrum.eigenvalues) * alpha / (alpha - 1))
    kappa = solve_effective_ridge(spectrum, np.array([alpha]), np.array([C * lam])).value
    p, t = shrinkage(spectrum, kappa)
    error = kappa * spectrum.mean(p * t) / spectrum.mean(t) ** 2
    factor = alpha / ridge_moments(spectrum, kappa).above_df2(np.array([alpha]))
    return float((C - 1) / C * (error * factor)[0])


def _regression(population: ContrastPopulation, alpha: float, lam: float) -> ContrastRegression:
    of = LinearPredictors.of(population)
    samples = alpha * population.n_sites / (population.n_sites - 1)  # for each unknown
    kappa, test, train = (np.zeros(population.n_sites) for _ in range(3))
    solves: list[Solution[Array]] = []
    for rank in np.unique(of.ranks):  # nearly always the same for all sites
        sites = np.flatnonzero(of.ranks == rank)
        alike = of.at(sites)
        alphas, lams = np.full(len(sites), samples), np.full(len(sites), lam)
        solves.append(solve_ridge_equation(alike.moments, alphas, lams, alike.scale))
        kappa[sites] = solves[-1].value
        at = alike.moments(kappa[sites])
        test[sites] = alike.errors(kappa[sites]) * (samples / at.above_df2(alphas))
        train[sites] = test[sites] * (at.above_df1(alphas) / samples) ** 2
    if lam == 0:
        train[kappa > 0] = 0.0  # interpolation
    evidence = (max(s.residual for s in solves), max(s.iterations for s in solves), all(s.converged for s in solves))
    return ContrastRegression(alpha, lam, kappa, test, train, of.noise, population.variances, *evidence)
