"""Nodes for averages over a standard normal z of functions that bend at known places."""

from collections.abc import Iterable

import numpy as np

from theory.core.arrays import Array
from theory.numerics.quadrature import panelled_legendre

RANGE = 8.75  # the normal law beyond it is below 1e-17
MAX_PANEL_WIDTH = 2.5  # panels of this width integrate the bare density to rounding
GROWTH = 3.0  # of the panels away from a bend: its complex singularity then stays well outside their Bernstein ellipses
ORDER = 16
DENSITY_PANELS = np.linspace(-RANGE, RANGE, 1 + int(np.ceil(2 * RANGE / MAX_PANEL_WIDTH)))


def normal_nodes(bends: Iterable[tuple[float, float]], order: int = ORDER, *, halvings: int = 0) -> tuple[Array, Array]:
    """Return Gauss-Legendre nodes on panels and weights that hold the density; a bend is (place, width), 0 a kink.

    Around a bend of a finite width the panels grow geometrically from that width. All panels are then halved
    `halvings` times.
    """
    edges = DENSITY_PANELS.tolist()
    for place, width in bends:
        if abs(place) < 2 * RANGE + 20 * width:  # never for NaN
            edges += _graded(place, width)
    kept = np.array(sorted(edge for edge in edges if -RANGE <= edge <= RANGE))
    kept = kept[np.append(True, kept[1:] - kept[:-1] > 1e-12)]
    for _ in range(halvings):
        kept = np.sort(np.append(kept, (kept[1:] + kept[:-1]) / 2))
    z, weights = panelled_legendre(kept, order)
    return z, weights * np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)


def _graded(place: float, width: float) -> list[float]:
    edges = [place]
    while 0 < width < 2 * RANGE:
        edges += (place - width, place + width)
        width *= GROWTH
    return edges
