"""Ridge regression of spans of coordinates on their complements, one span at a time."""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from simulate.masked.masks.problem import SpanMask
from simulate.masked.replicate import draw
from theory.models.arrays import Array


def fit_span(C: Array, lam: float, span: NDArray[np.intp]) -> tuple[Array, Array]:
    """Predictor (b, d - b) of the span from the other coordinates in order, and its train errors (b,).

    C = X'X/n holds all that the regression argmin (1/n) |X_B - X_out a'|^2 + lam |a|^2 needs of the data.
    """
    others = np.setdiff1d(np.arange(len(C)), span)
    inner, cross = C[np.ix_(others, others)], C[np.ix_(others, span)]
    a = np.asarray(np.linalg.solve(inner + lam * np.eye(len(others)), cross), float).T
    return a, _errors(a, C, span, others)


def span_errors(model: SpanMask, d: int, rng: Generator, inputs: str = "gaussian") -> Array:
    """(2, windows): test and train error per masked coordinate of each window of one data set."""
    covariance, X = draw(model.ridge, d, rng, inputs)
    if model.length >= d:
        raise ValueError(f"length must be below d = {d}, got {model.length}")
    C, Sigma, errors = X.T @ X / len(X), covariance.matrix, []
    for start in range(0, d - model.length + 1, model.step):
        span = np.arange(start, start + model.length)
        a, train = fit_span(C, model.ridge.lam, span)
        test = _errors(a, Sigma, span, np.setdiff1d(np.arange(d), span))
        errors.append((test.mean(), train.mean()))
    return np.array(errors).T


def span_test_error(model: SpanMask, d: int, rng: Generator, inputs: str = "gaussian") -> float:
    """Mean over the windows and their coordinates."""
    return float(span_errors(model, d, rng, inputs)[0].mean())


def span_train_error(model: SpanMask, d: int, rng: Generator, inputs: str = "gaussian") -> float:
    """Mean over the windows and their coordinates."""
    return float(span_errors(model, d, rng, inputs)[1].mean())


def _errors(a: Array, moments: Array, span: NDArray[np.intp], others: NDArray[np.intp]) -> Array:
    """(b,) mean squares of x_B - a x_out under the second moments of x."""
    explained = a @ moments[np.ix_(others, others)]
    return np.asarray(
        np.diagonal(moments)[span]
        - 2 * np.einsum("bj,jb->b", a, moments[np.ix_(others, span)])
        + np.einsum("bj,bj->b", explained, a)
    )
