"""Estimates a covariance whose eigenvalues are corrected for the noise of the sample."""

from typing import Any

import numpy as np
from scipy.optimize import nnls

from simulate.masked.contrasts import contrasts
from theory.core import Array, checked
from theory.models import Empirical

RIDGES, NODES = 120, 200  # at which the sample is looked at, and possible eigenvalues
SUM_WEIGHT = 100.0  # of the equations for the number of the eigenvalues and for their sum, which hold almost exactly
ZERO = 1e-12  # eigenvalues below this share of the largest are rounding


@checked
def population_covariance(X: Any) -> Empirical:
    """Estimate the covariance (d, d) of the rows of X (n, d), independent and of unknown mean, without their noise.

    The sample covariance spreads the eigenvalues: the small ones are too small, the more so the closer n is to d, and
    errors of regressions computed from it are too low. Here the sample's eigenvectors are kept and its eigenvalues are
    replaced by those of the population. With the sample's eigenvalues l the mean share 1 - df/n = 1 - (1/n) sum l/(l +
    mu) of the rows that a ridge mu leaves unused gives an effective ridge kappa = mu/(1 - df/n), and the law of
    Marchenko and Pastur says that the population's eigenvalues s have (1/n) sum s/(s + kappa) = df/n at every mu. These
    equations are linear in the numbers of eigenvalues on a grid, and are solved by least squares with no number below
    zero (after El Karoui, Ann. Statist. 36, 2757 (2008), on the negative axis). Columns are in units of their
    standard deviations, so that the result follows their units.

    What is right is what depends on the eigenvalues: for a chain AR(1) of 30 columns and 110 rows the best error of
    masked regression for n and 4 n rows and the limit are right to 2 % on average, where the sample covariance gives 15
    to 30 % too little. The eigenvectors are still the sample's: as a matrix it is no nearer to the truth than the
    sample covariance, and where columns differ in what the others explain of them errors stay too low (by 5 % for 30
    columns of a model of four factors). `figures.analyse.rows_needed` predicts errors of more rows without this
    covariance and that fault. For n at most d eigenvalues below a limit cannot be told apart, and errors of more rows
    are too low by up to a fifth. ValueError as in `contrasts`, for fewer than three rows, and for columns of one value.

    >>> from simulate.masked import sample
    >>> from theory import masked
    >>> from theory.models import AR1
    >>> X = sample(AR1(40, 0.7), 80, np.random.default_rng(0))
    >>> found = masked.conditional_variances(population_covariance(X)).mean()
    >>> of_sample = masked.conditional_variances(Empirical(np.cov(X.T))).mean()
    >>> print(f"{found:.3f}, by the sample covariance {of_sample:.3f}")
    0.360, by the sample covariance 0.182
    """
    rows = contrasts(X)
    if len(rows) < 2:
        raise ValueError(f"X must have at least 3 rows, got {len(rows) + 1}")
    scales = np.sqrt((rows * rows).mean(axis=0))
    size = abs(np.asarray(X, dtype=float)).max(axis=0)
    if (scales <= ZERO * size).any():
        raise ValueError(
            f"X must have columns that vary, got one value in column {int((scales <= ZERO * size).argmax())}"
        )
    rows = rows / scales
    found, vectors = np.linalg.eigh(rows.T @ rows / len(rows))
    found = np.where(found > ZERO * found[-1], found, 0.0)
    corrected = _population_eigenvalues(found, len(rows))
    return Empirical((vectors * corrected) @ vectors.T * scales[:, None] * scales)


def _population_eigenvalues(found: Array, n: int) -> Array:
    """Return the population's eigenvalues (d,), ascending, for those that a sample of n rows of known mean has."""
    d = len(found)
    mu = np.geomspace(1e-2 * found[found > 0].min(), 10 * found[-1], RIDGES)
    used = (found / (found + mu[:, None])).sum(axis=1) / n
    kappa = mu / (1 - used)
    least = max(0.1 * found[0], 0.1 * kappa.min(), 1e-6 * found.mean())
    nodes = np.geomspace(least, 1.3 * found[-1], NODES)
    sums = SUM_WEIGHT * np.stack([np.ones(NODES), nodes / found.mean()])
    equations = np.vstack([nodes / (nodes + kappa[:, None]), sums])
    weights, _ = nnls(equations, np.concatenate([n / d * used, [SUM_WEIGHT, SUM_WEIGHT]]))
    weights /= weights.sum()
    below = np.append(0.0, np.cumsum(weights))
    # Each eigenvalue is the mean of its d-th part of the law.
    sums_below = np.interp(np.linspace(0, 1, d + 1), below, np.append(0.0, np.cumsum(weights * nodes)))
    eigenvalues = np.diff(sums_below)
    return np.asarray(eigenvalues * (found.sum() / eigenvalues.sum()))
