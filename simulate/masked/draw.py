"""Draws the rows of one replicate of a model."""

import numpy as np
from numpy.random import Generator

from simulate.masked.sampler import Inputs, sample
from theory.core import Array, checks
from theory.models import Covariance, MaskedRegression, MaskedRidge, MaskedTraining, SampledRows


def draw(model: SampledRows, d: int, rng: Generator, inputs: Inputs) -> tuple[Covariance, Array]:
    """Return the covariance at size d and n = round(alpha d) rows; ValueError for n < 1 or a size it cannot have."""
    n = sample_size(model.alpha, d)
    covariance = at_size(model.covariance, d)
    if not isinstance(model, MaskedRidge | MaskedRegression | MaskedTraining):
        return covariance, sample(covariance, n, rng, inputs)
    return covariance, sample(covariance, n, rng, inputs, model.row_scales, model.row_dependence)


def at_size(covariance: Covariance, d: int) -> Covariance:
    """Return the covariance itself where it has d coordinates, to use what it has cached, else its resized record."""
    return covariance if covariance.d == d else covariance.resized(d)


def sample_size(alpha: float, d: int) -> int:
    """Return n = round(alpha d); ValueError where that is no row at all, or more than an array can index."""
    d = checks.count("d", d)
    if alpha * d > checks.MAX_INDEX:
        raise ValueError(f"alpha * d must be at most 2^63 - 1 samples, got alpha = {alpha}, d = {d}")
    n = round(alpha * d)
    if n < 1:
        raise ValueError(f"alpha * d must round to at least 1 sample, got alpha = {alpha}, d = {d}")
    checks.fits_in_memory(f"n = {n} rows of d = {d} numbers", n * d)
    return n


def second_moment_rows(n: int, d: int, rng: Generator) -> Array:
    """Draw d rows of d numbers whose X'X/d has the law of that of n >= d rows of independent standard normals.

    This is Bartlett's decomposition of the Wishart law: Z'Z = T'T with T upper triangular, whose entries above the
    diagonal are standard normals and whose squared diagonal entries have chi-square laws of n, n - 1, ... degrees of
    freedom. Whatever depends on the rows by their second moments alone, such as the fit of all regressions, has the
    same law, at the price of d instead of n rows.
    """
    triangle = np.triu(rng.standard_normal((d, d)), 1)
    np.fill_diagonal(triangle, np.sqrt(rng.chisquare(n - np.arange(d))))
    return np.asarray(triangle * np.sqrt(d / n))
