"""Measures one replicate of what depends on single rows: the next row, folds of rows, and the corrected error.

As in `simulate.masked.replicate` every one is (model, d, rng) -> value for a record whose `row_dependence` says how the
rows depend on each other; what else it takes is fixed with functools.partial.
"""

from numpy.random import Generator
from scipy.linalg import cho_factor, cho_solve

from simulate.masked.blocked import blocked_error
from simulate.masked.draw import draw
from simulate.masked.fit import MaskedFit, fit
from simulate.masked.row_dependence import Stationary, at_rows
from simulate.masked.sampler import Inputs
from theory.core import Array, Count, NonNegativeCount, Several, checked
from theory.models import Covariance, IndependentRows, MaskedRegression, MaskedRidge


@checked
def mean_corrected_error(
    model: MaskedRidge | MaskedRegression,
    d: int,
    rng: Generator,
    centered: bool = False,
    inputs: Inputs = "gaussian",
) -> float:
    """Measure the error that GCV reports when it knows how the rows depend, averaged over the masked coordinates.

    It does not know the rows' scales. With `centered` the means of the columns are subtracted before rows are fitted.

    >>> from simulate.core import stream
    >>> from theory.models import AR1, AR1Rows
    >>> model = MaskedRidge(AR1(d=60, correlation=0.6), alpha=2.0, lam=0.1, row_dependence=AR1Rows(120, 0.9))
    >>> 0.7 < mean_corrected_error(model, 60, stream(0, "docstring")) < 1.0
    True
    """
    _, X, fitted = _fitted(model, d, rng, inputs, centered)
    return float(fitted.corrected_error(model.row_dependence.resized(len(X)), centered).mean())


@checked
def mean_next_row_error(
    model: MaskedRidge | MaskedRegression, d: int, rng: Generator, steps: Count = 1, inputs: Inputs = "gaussian"
) -> float:
    """Measure the error on the row that comes `steps` after the last one fitted, averaged over the masked coordinates.

    Given the rows X that were fitted, that row is Gaussian with the mean c'T^-1 X and (1 - c'T^-1 c) times their
    covariance, c its covariances with them, so that the error is averaged over it exactly. ValueError for a dependence
    that has no order in time, and for rows of unlike scale.
    """
    if not model.row_scales.alike:
        raise ValueError(f"model must have rows of equal scale before a next row, got {model.row_scales!r}")
    covariance, X, fitted = _fitted(model, d, rng, inputs)
    dependence = at_rows(model.row_dependence, len(X))
    if isinstance(dependence, IndependentRows):
        return fitted.mean_test_error(covariance)
    if not isinstance(dependence, Stationary):
        raise ValueError(f"model must have rows in time for one that comes next, got {dependence!r}")
    near = dependence.next_row(steps)
    weights = cho_solve(cho_factor(dependence.matrix), near)
    expected = (weights @ X)[None, :]
    left = 1 - float(near @ weights)
    return fitted.mean_test_error(expected) + left * fitted.mean_test_error(covariance)


@checked
def mean_fold_error(
    model: MaskedRidge | MaskedRegression,
    d: int,
    rng: Generator,
    folds: Several,
    gap: NonNegativeCount = 0,
    inputs: Inputs = "gaussian",
) -> float:
    """Measure the error that contiguous blocks of rows, left out in turn with a gap, report (see `blocked_error`)."""
    _, X = draw(model, d, rng, inputs)
    try:
        return blocked_error(X, _ridge(model), folds, gap).mean_error
    except ValueError as refused:
        raise ValueError(f"{refused}, of round(alpha d) for alpha = {model.alpha} and d = {d}") from None


def _ridge(model: MaskedRidge | MaskedRegression) -> float:
    return 0.0 if isinstance(model, MaskedRegression) else model.lam


def _fitted(
    model: MaskedRidge | MaskedRegression, d: int, rng: Generator, inputs: Inputs, centered: bool = False
) -> tuple[Covariance, Array, MaskedFit]:
    covariance, X = draw(model, d, rng, inputs)
    if centered:
        X = X - X.mean(axis=0)
    return covariance, X, fit(X, _ridge(model))
