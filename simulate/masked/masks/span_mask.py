"""Fits ridge regressions of spans of coordinates on their complements, one span at a time."""

from dataclasses import replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from simulate.masked.draw import draw
from simulate.masked.sampler import Inputs
from theory.core import Array, Positive, checked
from theory.core.checks import finite_array, shown
from theory.models import SpanMask, SpanWindows


@checked
def fit_span(C: Array, lam: Positive, span: NDArray[np.intp]) -> tuple[Array, Array]:
    """Fit the predictor (b, d - b) of the span from the other coordinates in order, and its train errors (b,).

    C = X'X/n (d, d) holds all that the regression argmin (1/n) |X_B - X_out a'|^2 + lam |a|^2 needs of the data.
    ValueError unless C is square, lam > 0, and `span` holds some but not all of 0..d-1, each once.
    """
    C = finite_array("C", C, 2)
    if C.shape[0] != C.shape[1]:
        raise ValueError(f"C must be a square matrix, got shape {C.shape}")
    if (
        span.ndim != 1
        or not 0 < len(np.unique(span)) == span.size < len(C)
        or not 0 <= span.min() <= span.max() < len(C)
    ):
        last = len(C) - 1
        raise ValueError(f"span must hold some but not all of the rows 0..{last} of C, each once, got {shown(span)}")
    others = np.setdiff1d(np.arange(len(C)), span)
    inner, cross = C[np.ix_(others, others)], C[np.ix_(others, span)]
    a = np.asarray(np.linalg.solve(inner + lam * np.eye(len(others)), cross), float).T
    return a, _errors(a, C, span, others)


@checked
def span_errors(model: SpanMask | SpanWindows, d: int, rng: Generator, inputs: Inputs = "gaussian") -> Array:
    """Measure test and train errors per masked coordinate of the span or of each window, (2, spans).

    One inverse serves all windows: with Q = (X'X/n + lam)^-1 the residuals x_B - a x_out of the regression of
    `fit_span` are R x, R = Q_BB^-1 Q_B, by the formula for the inverse of a matrix in blocks.
    """
    covariance, X = draw(model, d, rng, inputs)
    model = replace(model, covariance=covariance)  # at this size the span is checked and the windows are placed
    C, Sigma, errors = X.T @ X / len(X), covariance.matrix, []
    Q = np.linalg.inv(C + model.lam * np.eye(d))
    for span in _spans(model):
        R = np.linalg.solve(Q[np.ix_(span, span)], Q[span])
        errors.append([np.vdot(R @ moments, R) / len(span) for moments in (Sigma, C)])
    return np.array(errors).T


def _spans(model: SpanMask | SpanWindows) -> list[NDArray[np.intp]]:
    if isinstance(model, SpanMask):
        return [np.array(model.span)]
    return [np.arange(start, start + model.length) for start in model.starts]


def _errors(a: Array, moments: Array, span: NDArray[np.intp], others: NDArray[np.intp]) -> Array:
    """Return mean squares (b,) of x_B - a x_out under the second moments of x."""
    explained = a @ moments[np.ix_(others, others)]
    return np.asarray(
        np.diagonal(moments)[span]
        - 2 * np.einsum("bj,jb->b", a, moments[np.ix_(others, span)])
        + np.einsum("bj,bj->b", explained, a)
    )
