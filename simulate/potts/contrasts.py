"""Fits masked ridge regression to contrasts of Potts data, every site from the others by one factorization."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.linalg.lapack import dpotrf, dpotri

from simulate.core.roots import symmetric_root
from theory.core import Array, Count, NonNegative, Result, Several, checked, checks
from theory.models.potts.batches import checked_samples
from theory.models.potts.one_hot_contrasts import ContrastPopulation, contrasts

# Inverse condition number from which on an inverse is as exact as eigenvectors, in a fifth of the time.
MIN_INVERSE_CONDITION = 1e-8


@dataclass(frozen=True, eq=False, repr=False)
class ContrastFit(Result):
    """Holds ridge regressions that predict the contrasts of each site from those of the others, fitted to n sequences.

    Site i has the predictor argmin_A (1/n) |X_i - X_others A|^2 + lam |A|^2, where X are contrasts less `mean`.
    `residual_map` W (L (C-1), L (C-1)) maps centered contrasts x to the residuals W x of all sites. Errors are squared
    and summed over the contrasts of a site, without a factor 1/2, (L,).
    """

    residual_map: Array = field(repr=False)
    train_error: Array
    mean: Array = field(repr=False)
    n_colors: int
    lam: float
    n: int

    @property
    def predictor(self) -> Array:
        """The matrix (L (C-1), L (C-1)) whose rows predict contrasts from those of the other sites."""
        return np.eye(len(self.residual_map)) - self.residual_map

    @property
    def mean_train_error(self) -> float:
        """The train error, averaged over the sites."""
        return float(self.train_error.mean())

    def test_error(self, target: ContrastPopulation | Any) -> Array:
        """Computes the test error of every site, (L,): exact for a population, a mean for held-out states (M, L)."""
        if isinstance(target, ContrastPopulation):
            if (target.n_colors, len(target.mean)) != (self.n_colors, len(self.mean)):
                raise ValueError(
                    f"target must have {self.n_colors} colors and {len(self.mean)} contrasts as the data that were "
                    f"fitted, got {target.n_colors} and {len(target.mean)}"
                )
            offset = target.mean - self.mean
            second = target.covariance.matrix + np.outer(offset, offset)
            return _by_site(np.einsum("ij,ij->i", self.residual_map @ second, self.residual_map), self.n_colors)
        n_sites = len(self.mean) // (self.n_colors - 1)
        x = contrasts(checked_samples("target", target, self.n_colors, n_sites), self.n_colors) - self.mean
        return _by_site(np.mean((x @ self.residual_map.T) ** 2, axis=0), self.n_colors)

    def mean_test_error(self, target: ContrastPopulation | Any) -> float:
        """Compute the test error, averaged over the sites."""
        return float(self.test_error(target).mean())


@checked
def fit_contrasts(states: Any, n_colors: Several, lam: NonNegative, mean: Any = None) -> ContrastFit:
    """Fit masked ridge regression to the contrasts of sequences `states` (n, L), all masked sites at once.

    `mean` (L (C-1),) is subtracted from the contrasts; None takes the mean of the data. With R = (X'X/n + lam)^-1 and
    its diagonal blocks R_ii, the residuals are W x with W = blockdiag(R_ii)^-1 R, and the train errors tr R_ii^-1 (R -
    lam R R)_ii R_ii^-1. `lam` = 0 gives least squares, of minimum norm where it is not unique: there R is the projector
    on the null space of X, or each site is solved by itself where that space is too small.
    """
    colors = checked_samples("states", states, n_colors)
    if colors.shape[1] < 2:
        raise ValueError(f"states must have at least 2 sites, got shape {colors.shape}")
    x = contrasts(colors, n_colors)
    center = x.mean(axis=0) if mean is None else checks.finite_array("mean", mean, 1)
    checks.shaped("mean", center, x.shape[1:], ", sites (n_colors - 1)")
    return _fit(x - center, np.asarray(center), n_colors, lam)


@checked
def fit_gaussian(population: ContrastPopulation, n: Count, lam: NonNegative, rng: Generator) -> ContrastFit:
    """Fit the regression of `fit_contrasts` to n Gaussian rows with the covariance of a population.

    The rows are drawn by `rng` around the population's mean, which is subtracted.
    """
    checks.fits_in_memory(f"{n} rows of {len(population.mean)} contrasts", 3 * float(n) * len(population.mean))
    root = symmetric_root(population.covariance.eigenvalues, population.covariance.eigenvectors)
    x = rng.standard_normal((n, len(root))) @ root
    return _fit(x, population.mean, population.n_colors, lam)


def _fit(x: Array, mean: Array, n_colors: int, lam: float) -> ContrastFit:
    second = x.T @ x / len(x)
    W = _residual_map(x, second, n_colors - 1, lam)
    train = _by_site(np.einsum("ij,ij->i", W @ second, W), n_colors)
    return ContrastFit(W, train, mean, n_colors, lam, len(x))


def _residual_map(x: Array, second: Array, block: int, lam: float) -> Array:
    n, d = x.shape
    if lam > 0 or n > d:
        inverse = _inverse(second + lam * np.eye(d))
        if inverse is not None:
            return _solved_blocks(inverse, block)
    # Without a ridge and with fewer rows than contrasts R projects on the null space of X: 1 - X' (X X')^-1 X.
    elif (gram := _inverse(x @ x.T)) is not None:
        projector = np.eye(d) - x.T @ gram @ x
        if _is_invertible(projector, block):
            return _solved_blocks(projector, block)
    return _by_eigenvectors(x, second, block, lam)


def _inverse(matrix: Array) -> Array | None:
    """Return the inverse of a positive matrix, None where it is not `MIN_INVERSE_CONDITION`."""
    # By Cholesky's method; the product of the two traces below is no less than the condition number.
    root, failed = dpotrf(matrix)
    if failed:
        return None
    upper, failed = dpotri(root)  # whose lower triangle is zero
    inverse = upper + upper.T
    inverse.flat[:: len(inverse) + 1] /= 2
    with np.errstate(over="ignore"):  # an infinite trace is that of a ridge near the largest number
        is_exact = not failed and np.trace(matrix) * np.trace(inverse) * MIN_INVERSE_CONDITION < 1
    return np.asarray(inverse) if is_exact else None


def _by_eigenvectors(x: Array, second: Array, block: int, lam: float) -> Array:
    """Return the map where matrices are singular or nearly so."""
    values, vectors = np.linalg.eigh(second)
    # Eigenvalues below are rounding errors of the largest, by the rule of numpy's matrix_rank.
    floor = values[-1] * len(values) * np.finfo(float).eps
    if lam > 0:
        return _solved_blocks((vectors / (np.maximum(values, 0) + lam)) @ vectors.T, block)
    null = vectors[:, values <= floor]
    if null.shape[1] == 0:
        return _solved_blocks((vectors / values) @ vectors.T, block)
    projector = null @ null.T
    return _solved_blocks(projector, block) if _is_invertible(projector, block) else _minimum_norm(x, block)


def _is_invertible(projector: Array, block: int) -> bool:
    """Say whether the blocks of a projector on its diagonal can be inverted."""
    return bool(np.linalg.eigvalsh(_blocks(projector, block)).min() > 1e-8)


def _solved_blocks(R: Array, block: int) -> Array:
    """Return blockdiag(R_ii)^-1 R, with exact unit blocks on its diagonal."""
    W = np.asarray((np.linalg.inv(_blocks(R, block)) @ R.reshape(-1, block, len(R))).reshape(R.shape), dtype=float)
    own = np.arange(len(R)).reshape(-1, block)
    # The product is the unit matrix there up to rounding, and the predictor has no entries in these places.
    W[own[:, :, None], own[:, None, :]] = np.eye(block)
    return W


def _minimum_norm(x: Array, block: int) -> Array:
    """Solve each site by the singular values of the others' contrasts, which works where R_ii is singular."""
    W = np.eye(x.shape[1])
    for start in range(0, x.shape[1], block):
        own = np.arange(start, start + block)
        others = np.delete(np.arange(x.shape[1]), own)
        W[np.ix_(own, others)] = -np.linalg.lstsq(x[:, others], x[:, own], rcond=None)[0].T
    return W


def _blocks(R: Array, block: int) -> Array:
    return np.asarray(np.einsum("iaib->iab", R.reshape(len(R) // block, block, -1, block)))


def _by_site(values: Array, n_colors: int) -> Array:
    return np.asarray(values.reshape(-1, n_colors - 1).sum(axis=1))
