"""Measures one replicate of masked regression on a table with holes: draws, fits, and averages over rows to predict."""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from simulate.masked.draw import at_size, sample_size
from simulate.masked.holes.draw import with_holes
from simulate.masked.holes.own_rows import OwnRows
from simulate.masked.holes.pairwise import Pairwise
from simulate.masked.holes.patterns import Patterns
from simulate.masked.sampler import Inputs, sample
from theory.core.arrays import Array
from theory.models import Dropout, MissingEntries

NEW_PATTERNS = 30  # of new rows with holes, for the pairwise covariance; the average over values is exact


def hole_errors(model: MissingEntries, d: int, rng: Generator, inputs: Inputs) -> Array:
    """Measure the error (d,) of every column at the holes that `model.rows` says, for one table that is drawn.

    Errors are averaged exactly over the values of the rows that are predicted, and over their patterns of holes for
    the own rows; those of new rows with holes by the pairwise covariance are means over 30 patterns that are drawn,
    and those at the holes of the table itself are means over these holes, NaN for a column that has none. ValueError
    where a column is not seen, or where the ridge is not above the least one of the table that was drawn.
    """
    covariance = at_size(model.covariance, d)
    X = sample(covariance, sample_size(model.alpha, d), rng, inputs, model.row_scales)
    seen = with_holes(X, model.missing_rates, rng)[1]
    counts = seen.sum(axis=0)
    if counts.min() == 0:
        raise ValueError(
            f"missing_rates must leave entries in every column, got none in column {int(counts.argmin())} of the table "
            f"drawn: raise alpha or d"
        )
    values, Sigma = np.where(seen, X, 0.0), covariance.matrix
    if model.method == "own_rows":
        return _own_rows(model, OwnRows(values, seen).predictor(model.lam), Sigma)
    pairwise = Pairwise(values, Patterns.of(seen), counts / len(seen))
    pairwise.require(model.lam)
    if model.rows == "table":
        squares = (pairwise.fill(model.lam, left_out=False)[0] - X) ** 2
        with np.errstate(invalid="ignore"):
            return np.asarray(squares.sum(axis=0) / (~seen).sum(axis=0))
    ridged = pairwise.covariance + model.lam * np.eye(d)
    if model.rows == "complete":
        return _errors(_regressions(np.asarray(np.linalg.inv(ridged), dtype=np.float64)), Sigma)
    new = with_holes(np.ones((NEW_PATTERNS, d)), model.missing_rates, rng)[1]
    return np.asarray(np.mean([_of_pattern(ridged, Sigma, one) for one in new], axis=0))


def mean_hole_error(model: MissingEntries, d: int, rng: Generator, inputs: Inputs) -> float:
    """Measure the mean of `hole_errors` over the columns that have holes."""
    return float(np.nanmean(hole_errors(model, d, rng, inputs)))


def _own_rows(model: MissingEntries, weights: Array, Sigma: Array) -> Array:
    """Average over rows to predict, in which column k is missing, and the others are seen as `model.rows` says."""
    d = len(Sigma)
    rates = np.broadcast_to(model.seen_rates, d)
    if not isinstance(model.missing_rates, Dropout):
        if model.rows == "complete":
            return _errors(weights * rates if model.rescaled else weights, Sigma)
        shown = np.outer(rates, rates)
        np.fill_diagonal(shown, rates)
        cross = np.einsum("kj,j,jk->k", weights, rates, Sigma)
        return np.asarray(np.diagonal(Sigma) - 2 * cross + np.einsum("kj,jl,kl->k", weights, shown * Sigma, weights))
    errors = np.full(d, np.nan)
    for k in range(d):
        length, share = np.asarray(model.missing_rates.lengths, dtype=np.intp), model.missing_rates.shares
        fitted = np.where(length > k, share, 0.0)
        chosen = np.where(length <= k, share, 0.0) if model.rows == "table" else fitted
        if model.rows == "complete":
            factors = np.array([fitted[length > j].sum() for j in range(d)]) / fitted.sum()
            errors[k] = _errors(weights[k] * factors if model.rescaled else weights[k], Sigma, k)
        elif chosen.sum() > 0:
            of_lengths = [_errors(np.where(np.arange(d) < end, weights[k], 0.0), Sigma, k) for end in length]
            errors[k] = float(np.dot(chosen, np.ravel(of_lengths)) / chosen.sum())
    return errors


def _errors(weights: Array, Sigma: Array, k: int | None = None) -> Array:
    """Compute E (x_k - w_k.x)^2 of complete rows for all columns (d, d), or of one column k for its weights (d,)."""
    rows = np.atleast_2d(weights)
    gaps = np.eye(len(Sigma))[slice(None) if k is None else [k]] - rows
    found = np.einsum("kj,jl,kl->k", gaps, Sigma, gaps)
    return np.asarray(found if k is None else found[0])


def _regressions(precision: Array) -> Array:
    """Return the weights (d, d) of every column on all others that belong to the inverse of a covariance."""
    weights = -precision / np.diagonal(precision)[:, None]
    np.fill_diagonal(weights, 0)
    return weights


def _of_pattern(ridged: Array, Sigma: Array, seen: NDArray[np.bool_]) -> Array:
    """Return the error of every column from the columns seen in a new row, itself left out where it is one of them."""
    weights = np.zeros_like(Sigma)
    inverse = np.asarray(np.linalg.inv(ridged[np.ix_(seen, seen)]), dtype=np.float64)
    weights[np.ix_(seen, seen)] = _regressions(inverse)
    weights[np.ix_(~seen, seen)] = ridged[np.ix_(~seen, seen)] @ inverse
    return _errors(weights, Sigma)
