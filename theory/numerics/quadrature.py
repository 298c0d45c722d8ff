"""Quadrature rules: nodes and weights as plain arrays."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from theory.core.arrays import Array


@cache
def _legendre(order: int) -> tuple[Array, Array]:
    nodes, weights = np.polynomial.legendre.leggauss(order)
    return nodes, weights


def panelled_legendre(edges: Sequence[float] | Array, order: int = 16) -> tuple[Array, Array]:
    """Return Gauss-Legendre nodes and weights, `order` on each panel [edges[i], edges[i+1]], in ascending order."""
    edges = np.asarray(edges, float)
    nodes, weights = _legendre(order)
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    return (middle[:, None] + half[:, None] * nodes).ravel(), (half[:, None] * weights).ravel()


def graded_edges(start: float, stop: float, smallest: float, ratio: float = 2.0) -> Array:
    """Return edges of panels from `start`, near a singularity, to `stop`, each `ratio` times as long as the last."""
    length = abs(stop - start)
    count = max(1, int(np.ceil(np.log(max(length / smallest, 1.0)) / np.log(ratio))))
    distances = np.concatenate(([0.0], smallest * ratio ** np.arange(count)))
    distances = np.append(distances[distances < length * (1 - 1e-12)], length)
    return np.asarray(start + np.sign(stop - start) * distances)


def divided(edges: Array, times: int) -> Array:
    """Cut every panel into `times` panels of equal length."""
    pieces = np.arange(times * (len(edges) - 1) + 1) / times
    return np.interp(pieces, np.arange(len(edges)), edges)


def half_circle(count: int) -> Array:
    """Return the midpoints (j + 1/2) pi/count of (0, pi), which average even periodic functions geometrically fast."""
    return (np.arange(count) + 0.5) * np.pi / count
