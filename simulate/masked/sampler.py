"""Rows of inputs with a given covariance: Gaussian by the fastest exact route, or with other independent factors.

Gaussian rows are drawn by whatever linear map of white noise has the covariance and is the same on every machine. Other
factors z make another law for each map, so there the map is always the symmetric root, x = Sigma^(1/2) z.
"""

import math
from collections.abc import Callable
from functools import singledispatch
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from scipy.linalg import cholesky_banded, solve_banded

from simulate.masked.row_dependence import at_rows, dependent_rows, symmetric_root
from simulate.masked.row_scales import scaled_rows
from theory.core import Array, Count, checked
from theory.core.checks import fits_in_memory
from theory.models import (
    AR1,
    Blocks,
    Covariance,
    Diagonal,
    EqualScales,
    Equicorrelated,
    GaussianFreeField,
    IndependentRows,
    Isotropic,
    PowerLaw,
    RowDependence,
    RowScales,
    Scaled,
    Spiked,
    TridiagonalPrecision,
    TwoLevel,
)

Inputs = Literal["gaussian", "rademacher", "uniform", "student"]  # laws of the independent factors, see `sample`
STUDENT_DEGREES = 5  # degrees of freedom of Student's law: its fourth moment exists (kurtosis 9), the fifth does not


@checked
def sample(
    covariance: Covariance,
    n: Count,
    rng: Generator,
    inputs: Inputs = "gaussian",
    row_scales: RowScales = EqualScales(),  # noqa: B008  # a frozen record without fields
    row_dependence: RowDependence = IndependentRows(),  # noqa: B008  # likewise
) -> Array:
    """Draw n rows (n, d) with mean 0 and the given covariance, independent ones unless `row_dependence` is given.

    `inputs` is "gaussian", or the law of independent factors z of unit variance in x = Sigma^(1/2) z (with the
    symmetric root): "rademacher" (signs), "uniform", or "student" (t with 5 degrees of freedom, scaled). `row_scales`
    is the law of the rows' scales tau of mean 1: whole rows are multiplied by sqrt(tau). The scales are drawn after the
    rows. `row_dependence` is the covariance T between the rows, which are T^(1/2) times independent ones before they
    are scaled; for other inputs than "gaussian" this root is the symmetric one too. ValueError for an unknown law, n
    < 1, an rng that is no Generator, a dependence that has no law of n rows, or d = infinity (take
    `covariance.resized(d)`); MemoryError for more rows than the memory holds.

    >>> from simulate.core import stream
    >>> sample(AR1(d=4, correlation=0.7), 1000, stream(0, "docstring")).shape
    (1000, 4)
    """
    if not covariance.is_finite:
        raise ValueError(f"covariance must have a finite d to be sampled, got d = {covariance.d}: use resized(d)")
    fits_in_memory(f"n = {n} rows of {covariance!r}", n * covariance.size)
    dependence = at_rows(row_dependence, n)
    if inputs == "gaussian":
        rows = dependent_rows(dependence, n, lambda count: _gaussian(covariance, count, rng))
    else:
        rows = symmetric_root(dependence, times_root(covariance, FACTORS[inputs](rng, (n, int(covariance.d)))))
    return scaled_rows(rows, row_scales, rng)


def _signs(rng: Generator, shape: tuple[int, int]) -> Array:
    return np.where(rng.integers(0, 2, size=shape, dtype=bool), 1.0, -1.0)


def _uniform(rng: Generator, shape: tuple[int, int]) -> Array:
    return rng.uniform(-np.sqrt(3), np.sqrt(3), size=shape)


def _student(rng: Generator, shape: tuple[int, int]) -> Array:
    return np.asarray(rng.standard_t(STUDENT_DEGREES, size=shape)) * math.sqrt(1 - 2 / STUDENT_DEGREES)


FACTORS: dict[Inputs, Callable[[Generator, tuple[int, int]], Array]] = {
    "rademacher": _signs,
    "student": _student,
    "uniform": _uniform,
}


@singledispatch
def _gaussian(covariance: Any, n: int, rng: Generator) -> Array:
    """Draw Gaussian rows of any record by its symmetric root; the covariance may be singular.

    Eigenvectors alone would do for half the price. But their signs, and those of equal eigenvalues altogether, differ
    between processors and versions of LAPACK, and with them every number of a simulation; the root is the same.
    """
    return np.asarray(times_root(covariance, rng.standard_normal((n, len(covariance.eigenvalues)))))


def has_own_map(covariance: Covariance) -> bool:
    """Say whether rows of the record are drawn by a map of its family, which costs less than that by eigenvectors."""
    return _gaussian.dispatch(type(covariance)) is not _gaussian.dispatch(object)


@singledispatch
def times_root(covariance: Any, noise: Array) -> Array:
    """Return the product noise @ Sigma^(1/2), by the eigenvectors of any record; may overwrite `noise`."""
    return np.asarray((noise @ covariance.eigenvectors) * np.sqrt(covariance.eigenvalues) @ covariance.eigenvectors.T)


@times_root.register(Isotropic)
@times_root.register(Diagonal)
@times_root.register(TwoLevel)
def _independent(covariance: Covariance, noise: Array) -> Array:
    noise *= np.sqrt(covariance.variances)
    return noise


@times_root.register
def _power_law_root(covariance: PowerLaw, noise: Array) -> Array:
    independent = covariance.rotation is None
    return (
        _independent(covariance, noise) if independent else np.asarray(times_root.dispatch(object)(covariance, noise))
    )


@times_root.register
def _lattice(covariance: GaussianFreeField, noise: Array) -> Array:
    """Return the root of a lattice field: every wave number of a row is multiplied by the root of its variance."""
    shape = (covariance.side,) * covariance.dimension
    axes = tuple(range(1, covariance.dimension + 1))
    roots = np.sqrt(covariance.mode_grid()[..., : covariance.side // 2 + 1])
    modes = np.fft.rfftn(noise.reshape(-1, *shape), axes=axes)
    modes *= roots
    return np.asarray(np.fft.irfftn(modes, s=shape, axes=axes)).reshape(noise.shape)


@times_root.register(Equicorrelated)
@times_root.register(Blocks)
def _exchangeable(covariance: Equicorrelated | Blocks, noise: Array) -> Array:
    """Return the root of blocks: within each it has one eigenvalue for the mean and one for the deviations from it."""
    r, size = covariance.correlation, covariance.block_size if isinstance(covariance, Blocks) else int(covariance.d)
    blocks = noise.reshape(len(noise), -1, size)
    means = blocks.mean(axis=2, keepdims=True)
    root = np.sqrt(1 - r)
    blocks *= root
    blocks += (np.sqrt(1 + (size - 1) * r) - root) * means
    return noise


@_gaussian.register(Isotropic)
@_gaussian.register(Diagonal)
@_gaussian.register(TwoLevel)
@_gaussian.register(PowerLaw)
@_gaussian.register(GaussianFreeField)
@_gaussian.register(Equicorrelated)
@_gaussian.register(Blocks)
def _by_root(covariance: Covariance, n: int, rng: Generator) -> Array:
    """Draw Gaussian rows of families whose symmetric root costs no more than another map."""
    return np.asarray(times_root(covariance, rng.standard_normal((n, int(covariance.d)))))


@_gaussian.register
def _autoregression(covariance: AR1, n: int, rng: Generator) -> Array:
    """Draw Gaussian rows by the recursion x_0 = z_0, x_k = r x_(k-1) + sqrt(1 - r^2) z_k."""
    r = covariance.correlation
    columns = rng.standard_normal((int(covariance.d), n))
    columns[1:] *= np.sqrt(1 - r * r)
    for previous, current in pairwise(columns):
        current += r * previous
    return columns.T.copy()


@_gaussian.register
def _markov(covariance: TridiagonalPrecision, n: int, rng: Generator) -> Array:
    """Draw Gaussian rows x = U^-1 z, U the bidiagonal Cholesky factor of the precision U'U."""
    d = int(covariance.d)
    noise = rng.standard_normal((n, d))
    bands = np.full((2, d), covariance.off_diagonal)
    bands[1] = covariance.diagonal
    return np.asarray(solve_banded((0, 1), cholesky_banded(bands), noise.T)).T.copy()


@_gaussian.register
def _scaled(covariance: Scaled, n: int, rng: Generator) -> Array:
    rows = _gaussian(covariance.base, n, rng)
    rows *= covariance.scales
    return np.asarray(rows)


@_gaussian.register
def _spiked(covariance: Spiked, n: int, rng: Generator) -> Array:
    """Draw Gaussian rows of the base, plus an independent amplitude along each spike."""
    rows = _gaussian(covariance.base, n, rng)
    strengths = np.asarray(covariance.strengths)
    amplitudes = rng.standard_normal((n, len(strengths))) * np.sqrt(strengths)
    return np.asarray(rows + amplitudes @ covariance.directions)
