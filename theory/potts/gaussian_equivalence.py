"""Errors of masked ridge regression on Potts data, computed as if their contrasts were Gaussian.

The Gaussian has the mean and the covariance of the data; `heteroskedasticity` measures what that leaves out.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Self

import numpy as np
from numpy.typing import NDArray

from theory.core import Array, DataFrame, NonNegative, Real, Several, SolverResult, Within, checked, table
from theory.models import AR1, ContrastPopulation
from theory.potts.contrasts import ring_correlation
from theory.random_matrix import RidgeMoments, ridge_moments, shrinkage, solve_effective_ridge, solve_ridge_equation

if TYPE_CHECKING:
    from theory.numerics import Solution


BOUNDS = Within(1e-150, 1e150, closed=(True, True))  # beyond these, alpha lam and its like leave the range of floats
SampleRatio = Annotated[float, BOUNDS]


@dataclass(frozen=True, eq=False)
class LinearPredictors:
    """The ridge predictors of the contrasts y of S sites from the u contrasts x of the others, in Sxx's eigenbasis.

    Sxx = sum_k w_k v_k v_k^T is the covariance of x and Sxy its covariance with y. `eigenvalues` (S, u) are w_k,
    `loadings` (S, u) are |v_k^T Sxy|^2, and `variance` (S,) is tr Syy.
    """

    eigenvalues: Array
    loadings: Array
    variance: Array

    @classmethod
    def of(cls, population: ContrastPopulation) -> Self:
        """Return the predictors of all sites of a population."""
        return cls(*population.conditional_modes, population.variances)

    def at(self, sites: NDArray[np.intp]) -> Self:
        """Return the predictors of some of the sites."""
        return type(self)(self.eigenvalues[sites], self.loadings[sites], self.variance[sites])

    @cached_property
    def ranks(self) -> NDArray[np.intp]:
        """The ranks of Sxx, (S,)."""
        return np.asarray(np.count_nonzero(self.eigenvalues, axis=1))

    @cached_property
    def noise(self) -> Array:
        """The variance tr(Syy - Sxy^T Sxx^+ Sxy) that no linear prediction explains, (S,); never below zero."""
        return np.asarray(np.maximum(self.variance - self._over_eigenvalues(self.loadings).sum(axis=1), 0.0))

    def errors(self, kappa: Array) -> Array:
        """Return the errors on the population of the predictors (Sxx + kappa)^-1 Sxy, (S,), for ridges kappa (S,)."""
        shrinkage = np.divide(
            kappa[:, None], self.eigenvalues + kappa[:, None], out=np.zeros_like(self.loadings), where=self._resolved
        )
        return np.asarray(self.noise + self._over_eigenvalues(self.loadings * shrinkage**2).sum(axis=1))

    def moments(self, kappa: Array) -> RidgeMoments:
        """Return the moments, per dimension, of each Sxx at its own kappa, (S,); all Sxx must have the same rank."""
        total = self.eigenvalues + kappa[:, None]
        p = np.divide(self.eigenvalues, total, out=np.zeros_like(total), where=self._resolved)
        t = np.divide(kappa[:, None], total, out=np.zeros_like(total), where=self._resolved)
        df2, spread = (p * p).mean(axis=1), (p * t).mean(axis=1)
        return RidgeMoments(df2 + spread, df2, t.mean(axis=1), spread, float(self._resolved[0].mean()))

    @cached_property
    def scale(self) -> float:
        """The geometric mean of the positive eigenvalues, and zero if there is none."""
        return float(np.exp(np.log(self.eigenvalues[self._resolved]).mean())) if self._resolved.any() else 0.0

    @cached_property
    def _resolved(self) -> NDArray[np.bool_]:
        return self.eigenvalues > 0

    def _over_eigenvalues(self, values: Array) -> Array:
        return np.divide(values, self.eigenvalues, out=np.zeros_like(values), where=self._resolved)


@dataclass(frozen=True, eq=False, repr=False)
class ContrastRegression(SolverResult):
    """Errors of ridge regression that predicts each site of a Potts model from all others; all arrays are (L,).

    The errors are squared, summed over the C - 1 contrasts of a site, without a factor 1/2: |x_i - prediction|^2 of
    one-hot vectors. They include the irreducible part `noise`, which no linear prediction explains; `variance` is the
    error of predicting the mean. `effective_ridge` is kappa, the ridge that acts on the population covariance, and
    `lam` the one that acts on the sample, with `alpha` samples per dimension. `residual` is that of the equation for
    kappa, the largest over the sites.
    """

    alpha: float
    lam: float
    effective_ridge: Array = field(repr=False)
    test_error: Array = field(repr=False)
    train_error: Array = field(repr=False)
    noise: Array = field(repr=False)
    variance: Array = field(repr=False)

    @property
    def mean_test_error(self) -> float:
        """The mean of the test error over the sites."""
        return float(self.test_error.mean())

    @property
    def mean_train_error(self) -> float:
        """The mean of the train error over the sites."""
        return float(self.train_error.mean())

    @property
    def explained(self) -> Array:
        """The share of the variance that the best linear prediction explains (R^2), (L,)."""
        return 1 - self.noise / self.variance

    def to_frame(self) -> DataFrame:
        """Return a table with one row for each site; needs pandas."""
        return table(
            site=np.arange(len(self.test_error)),
            test_error=self.test_error,
            train_error=self.train_error,
            noise=self.noise,
            explained=self.explained,
        )


@checked
def contrast_regression(population: ContrastPopulation, alpha: SampleRatio, lam: Real) -> ContrastRegression:
    """Compute the errors of masked ridge regression on the contrasts of a Potts model, in the Gaussian equivalent.

    Every site is masked in turn, and its C - 1 contrasts are predicted from the u = (L-1)(C-1) contrasts of the other
    sites. There are n = alpha d samples with d = L (C-1), centered by the mean of the population. The prediction is
    argmin_A (1/n) |X_i - X_others A|^2 + lam |A|^2, the convention of `MaskedRidge`. In the convention of
    arXiv:2304.07235, half a sum over samples plus u lam'/2 |A|^2, the same ridge is lam' = n lam/u and the errors are
    half of these.

    Let Sxx be the covariance of the others and kappa its effective ridge. Then the test error of a site is
    E = (noise + B)/(1 - df2/alpha_u) with alpha_u = n/u and the bias B = kappa^2 tr Sxy' Sxx^-1 (Sxx + kappa)^-2 Sxy;
    the train error is (lam/kappa)^2 E. The first call for a population decomposes L matrices (u, u). ConvergenceError
    where the equation for kappa is not solved; ValueError for lam <= 0.

    >>> from theory.potts import ring_contrasts
    >>> ring = ring_contrasts(n_sites=8, color_couplings=np.eye(3), beta=1.0)
    >>> point = contrast_regression(ring, alpha=4.0, lam=0.01)
    >>> bool(point.noise[0] < point.test_error[0] < point.variance[0])
    True
    """
    if lam <= 0:
        raise ValueError(f"lam must be positive, got {lam!r}; for lam -> 0 see ridgeless_contrast_regression")
    return _regression(population, alpha, BOUNDS.check("lam", lam))


@checked
def ridgeless_contrast_regression(population: ContrastPopulation, alpha: SampleRatio) -> ContrastRegression:
    """Compute the limit lam -> 0 of `contrast_regression`: interpolation of minimum norm, or least squares.

    The fit interpolates where n = alpha d is below the rank of the covariance Sxx of the other sites, and is that of
    least squares above. Derived here: below the rank kappa solves df1(kappa) = n, the degrees of freedom that fit all
    samples, and above it kappa = 0; the errors are those of `contrast_regression` at this kappa. ValueError where n
    equals that rank, since the error diverges there.
    """
    ranks, d = LinearPredictors.of(population).ranks, population.covariance.size
    diverging = ranks[abs(alpha * d - ranks) < 1e-9 * ranks]
    if diverging.size:
        raise ValueError(f"alpha must differ from {diverging[0]}/{d}, where the error diverges, got {alpha!r}")
    return _regression(population, alpha, 0.0)


@checked
def ring_test_error(n_colors: Several, beta: float, alpha: SampleRatio, lam: NonNegative) -> float:
    """Compute the test error of a site of the infinite ferromagnetic ring as `contrast_regression` defines it.

    With U = identity the C - 1 contrasts of a site are independent copies of an AR(1) process, divided by C, whose
    correlation is mu = `ring_correlation`; hence E = ((C-1)/C) E_AR1(mu, alpha, C lam). The value lam = 0 means the
    limit lam -> 0. Derived here: the errors of the C - 1 independent copies add up, and data of variance 1/C with the
    ridge lam are data of variance 1 with the ridge C lam. ConvergenceError where the equation for the effective ridge
    is not solved; ValueError at alpha = 1 without a ridge, where the error diverges.
    """
    C = n_colors
    correlation = ring_correlation(C, beta)
    if correlation == 1:
        raise ValueError(f"beta must be smaller: neighbors on the ring agree within rounding, got {beta!r}")
    spectrum = AR1(math.inf, correlation).spectrum
    lam = lam and BOUNDS.check("lam", lam)
    if lam == 0 and alpha >= 1:
        if alpha == 1:
            raise ValueError("alpha must differ from 1 at lam = 0, where the error diverges")
        return float((C - 1) / C / spectrum.mean(1 / spectrum.eigenvalues) * alpha / (alpha - 1))
    kappa = solve_effective_ridge(spectrum, np.array([alpha]), np.array([C * lam])).value
    p, t = shrinkage(spectrum, kappa)
    # Both factors stay of order one at any kappa: the square of a mean of small t would underflow.
    error = spectrum.mean(p * (t / spectrum.mean(t)[..., None])) * (kappa / spectrum.mean(t))
    factor = alpha / ridge_moments(spectrum, kappa).above_df2(np.array([alpha]))
    return float((C - 1) / C * (error * factor)[0])


def _regression(population: ContrastPopulation, alpha: float, lam: float) -> ContrastRegression:
    of = LinearPredictors.of(population)
    samples = alpha * population.n_sites / (population.n_sites - 1)  # n/u, where alpha is n/d
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
        train[kappa > 0] = 0.0  # the fit interpolates
    return ContrastRegression(
        alpha,
        lam,
        kappa,
        test,
        train,
        of.noise,
        population.variances,
        residual=max(solve.residual for solve in solves),
        iterations=max(solve.iterations for solve in solves),
        converged=all(solve.converged for solve in solves),
    )
