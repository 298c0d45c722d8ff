"""Measures one replicate of each quantity: draws n = round(alpha d) rows, fits them, averages over test inputs.

Every replicate is (model, d, rng) -> value for a record of masked regression, the same that `theory.masked.solve`
takes: `MaskedRidge`, `MaskedRegression` (fitted at lam = 0), `RandomMasks`, `SpanMask` or `SpanWindows`, and for test
errors `MissingEntries`. The covariance
is resized where its d differs; `inputs` is the law of the factors (see `sample`), to be fixed with functools.partial.
"""

import numpy as np
from numpy.random import Generator

from simulate.masked.draw import draw
from simulate.masked.fit import MaskedFit, fit
from simulate.masked.holes.replicate import hole_errors, mean_hole_error
from simulate.masked.masks.random_masks import coordinate_errors
from simulate.masked.masks.span_mask import span_errors
from simulate.masked.sampler import Inputs
from theory.core import Array, checked
from theory.models import Covariance, MaskedRegression, MaskedRidge, MissingEntries, RandomMasks, SpanMask, SpanWindows

MaskedProblem = MaskedRidge | MaskedRegression | RandomMasks | SpanMask | SpanWindows


@checked
def mean_test_error(
    model: MaskedProblem | MissingEntries, d: int, rng: Generator, inputs: Inputs = "gaussian"
) -> float:
    """Measure the population error of the fits of one data set, averaged over the masked coordinates.

    `theory.masked.solve(model).mean_test_error` predicts it. ValueError for another record, or a size d that its
    covariance cannot have.

    >>> from simulate.core import stream
    >>> from theory.models import AR1
    >>> model = MaskedRidge(AR1(d=40, correlation=0.7), alpha=2.0, lam=0.01)
    >>> 0.5 < mean_test_error(model, 40, stream(0, "docstring")) < 0.8
    True
    """
    if isinstance(model, MaskedRidge | MaskedRegression):
        covariance, fitted = _fitted(model, d, rng, inputs)
        return fitted.mean_test_error(covariance)
    if isinstance(model, MissingEntries):
        return mean_hole_error(model, d, rng, inputs)
    return float(_errors_under_masks(model, d, rng, inputs)[0].mean())


@checked
def mean_train_error(model: MaskedProblem, d: int, rng: Generator, inputs: Inputs = "gaussian") -> float:
    """Measure the mean squared residual on the rows that were fitted, averaged over the masked coordinates."""
    if isinstance(model, MaskedRidge | MaskedRegression):
        return _fitted(model, d, rng, inputs)[1].mean_train_error
    return float(_errors_under_masks(model, d, rng, inputs)[1].mean())


@checked
def mean_gcv_error(model: MaskedRidge | MaskedRegression, d: int, rng: Generator, inputs: Inputs = "gaussian") -> float:
    """Measure the error that generalized cross-validation reports, averaged over the masked coordinates."""
    return _fitted(model, d, rng, inputs)[1].mean_gcv_error


@checked
def mean_loo_error(model: MaskedRidge | MaskedRegression, d: int, rng: Generator, inputs: Inputs = "gaussian") -> float:
    """Measure the error that leaving one row out reports, averaged over the masked coordinates."""
    return float(_fitted(model, d, rng, inputs)[1].loo_error.mean())


@checked
def coordinate_test_errors(
    model: MaskedRidge | MaskedRegression | RandomMasks | MissingEntries,
    d: int,
    rng: Generator,
    inputs: Inputs = "gaussian",
) -> Array:
    """Measure the population error of each masked coordinate, (d,), of the fits of one data set.

    For `MissingEntries` they are errors at the holes of the rows that the record says.
    """
    if isinstance(model, MissingEntries):
        return hole_errors(model, d, rng, inputs)
    if isinstance(model, RandomMasks):
        return np.asarray(coordinate_errors(model, d, rng, inputs)[0])
    covariance, fitted = _fitted(model, d, rng, inputs)
    return fitted.test_error(covariance)


@checked
def effective_ridge(
    model: MaskedRidge | MaskedRegression, d: int, rng: Generator, inputs: Inputs = "gaussian"
) -> float:
    """Measure the effective ridge kappa = n/tr (XX'/n + lam)^-1 of the rows drawn.

    >>> from simulate.core import stream
    >>> from simulate.masked import effective_ridge
    >>> from theory import masked
    >>> from theory.models import AR1, MaskedRidge
    >>> model = MaskedRidge(AR1(d=400, correlation=0.7), alpha=2.0, lam=0.01)
    >>> print(f"{effective_ridge(model, 400, stream(0, 'example')):.4f} {masked.solve(model).effective_ridge:.4f}")
    0.0190 0.0190
    """
    return _fitted(model, d, rng, inputs)[1].effective_ridge


def _errors_under_masks(model: RandomMasks | SpanMask | SpanWindows, d: int, rng: Generator, inputs: Inputs) -> Array:
    """Return test and train errors, (2, coordinates or windows)."""
    if isinstance(model, RandomMasks):
        return coordinate_errors(model, d, rng, inputs)
    return span_errors(model, d, rng, inputs)


def _fitted(
    model: MaskedRidge | MaskedRegression, d: int, rng: Generator, inputs: Inputs
) -> tuple[Covariance, MaskedFit]:
    covariance, X = draw(model, d, rng, inputs)
    return covariance, fit(X, 0.0 if isinstance(model, MaskedRegression) else model.lam)
