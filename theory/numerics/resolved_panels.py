"""Panels on which given functions are polynomials to rounding, found by halving those on which they are not."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import legvander
from numpy.typing import NDArray

from theory.core.arrays import Array
from theory.numerics.quadrature import panelled_legendre

ORDER = 16
TAIL = 3  # of the last Legendre coefficients, which must have vanished
MIN_WIDTH = 1e-13  # of a panel, relative to 1 + |place|: a function that is not resolved there jumps or has a kink
SHARP_WIDTH = 1e-5  # relative, of panels around a place that show whether a function jumps or has a kink there
MAX_PANELS = 20_000
ENDS = np.array([-1.0, 1.0]) * (1 - 1e-13)  # of a panel [-1, 1], from within
END_SLACK = 30  # of a polynomial at the ends of its panel, in tolerances of its coefficients

Tolerance = Callable[[Array], Array]  # of the coefficients, at the middles of panels


class ResolvedPanels(NamedTuple):
    """The edges of panels, and the `sharp` places among them where a function jumps or has a kink."""

    edges: Array
    sharp: Array


def resolved_panels(function: Callable[[Array], Array], edges: Array, tolerance: Tolerance) -> ResolvedPanels:
    """Halve panels until the function is resolved on each, then join neighbors on which it still is.

    `function` maps places (n,) to values (..., n). It counts as resolved where the last of its 16 Legendre
    coefficients are below the tolerance at the middle of the panel, so that Gauss-Legendre rules of 16 nodes integrate
    its products with functions as smooth as that. Halving ends at a relative width of 1e-13: what is not resolved
    there is sharp. ValueError for a function that would need more than 20,000 panels.
    """
    low, high = np.asarray(edges[:-1], float), np.asarray(edges[1:], float)
    done: list[tuple[float, float]] = []
    while len(low):
        bad = ~_resolved(function, low, high, tolerance) & (high - low > MIN_WIDTH * (1 + abs(low)))
        done += list(zip(low[~bad].tolist(), high[~bad].tolist(), strict=True))
        if len(done) + 2 * bad.sum() > MAX_PANELS:
            raise ValueError(f"the function must be smooth but for a few jumps and kinks: {MAX_PANELS} panels are few")
        middle = (low[bad] + high[bad]) / 2
        low, high = np.concatenate((low[bad], middle)), np.concatenate((middle, high[bad]))
    return _joined(function, sorted(done), tolerance)


def _resolved(function: Callable[[Array], Array], low: Array, high: Array, tolerance: Tolerance) -> NDArray[np.bool_]:
    """Tell on which panels the last coefficients vanish, and the polynomial is the function at both ends too.

    A jump between an end and the first node would not show in the coefficients.
    """
    nodes = np.concatenate((_rule()[0], ENDS))
    x = (low + high)[:, None] / 2 + (high - low)[:, None] / 2 * nodes
    values = np.asarray(function(x.ravel()), float)
    values = values.reshape(-1, *x.shape)
    coefficients = values[..., :ORDER] @ _rule()[1]
    missed = abs(coefficients @ legvander(ENDS, ORDER - 1).T - values[..., ORDER:])
    limit = tolerance((low + high) / 2)
    worst = abs(coefficients[..., -TAIL:]).max(axis=(0, 2))
    return np.asarray((worst <= limit) & (missed.max(axis=(0, 2)) <= END_SLACK * limit))


@cache
def _rule() -> tuple[Array, Array]:
    """Return the nodes on [-1, 1], and the matrix (16, 16) from values there to Legendre coefficients."""
    x, weights = panelled_legendre([-1.0, 1.0], ORDER)
    return x, weights[:, None] * legvander(x, ORDER - 1) * (np.arange(ORDER) + 0.5)


def _reproduced(
    function: Callable[[Array], Array], low: float, high: float, places: Array, tolerance: Tolerance
) -> bool:
    """Tell whether the polynomial through 16 nodes between two places is the function at other places there too."""
    values, wanted = (np.asarray(function(at), float) for at in (panelled_legendre([low, high], ORDER)[0], places))
    found = values @ _rule()[1] @ legvander((2 * places - low - high) / (high - low), ORDER - 1).T
    return bool(np.all(abs(found - wanted) <= 2 * tolerance(places)))


def _joined(
    function: Callable[[Array], Array], panels: list[tuple[float, float]], tolerance: Tolerance
) -> ResolvedPanels:
    """Join neighbors from the left as long as one polynomial is the function at the nodes of all of them."""
    edges, start, places = [panels[0][0]], panels[0][0], panelled_legendre(panels[0], ORDER)[0]
    for a, b in panels[1:]:
        own = panelled_legendre([a, b], ORDER)[0]
        both = np.append(places, own)
        if _reproduced(function, start, b, both, tolerance):
            places = both
            continue
        edges.append(a)
        start, places = a, own
    inner = np.array(edges[1:])
    near = SHARP_WIDTH * (1 + abs(inner))
    sharp = inner[~_resolved(function, inner - near, inner + near, tolerance)] if len(inner) else inner
    return ResolvedPanels(np.array([*edges, panels[-1][1]]), sharp)
