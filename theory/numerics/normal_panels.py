"""Panels on which a user's function is averaged over a standard normal variable, found by halving."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from theory.core.arrays import Array
from theory.numerics.quadrature import panelled_legendre

RANGE = 12.5  # the normal law has no weight beyond it, unless a function grows as fast as the law falls
PANELS = 50
HALVINGS = 48  # of a panel, towards a kink or a jump
MOST_PANELS = 20_000  # that wait to be halved
ORDER = 16
MAX_PARTS = 64  # parts of a panel at first: no feature of more than about 1e-3 lies between their nodes
ROUNDING = 1e-15  # relative to the size of the function
OPEN_PANEL_TOLERANCE = 1e-12  # the same, of what the panels that were halved most often leave open


def normal_panels(function: Callable[[Array], Array], name: str = "activation", places: Sequence[float] = ()) -> Array:
    """Return edges of panels on which 16 Gauss-Legendre nodes integrate f and f^2 against the normal law.

    Panels are halved as long as their parts say something else than the whole, which leads to kinks and jumps wherever
    they are; the first panels are compared with 64 parts, so that narrow features are seen too, unless they are
    narrower than about 0.001 and do not end at one of the `places`, which are edges from the beginning. ValueError,
    which begins with `name`, where the average of f^2 does not exist, as at a pole, and where the function varies
    everywhere at the smallest scales.
    """
    inside = [place for place in places if abs(place) < RANGE]
    edges = np.unique(np.concatenate((np.linspace(-RANGE, RANGE, PANELS + 1), inside)))
    a, b = edges[:-1], edges[1:]
    settled, scale = [edges], 0.0
    for halving in range(HALVINGS):
        whole, parts = _moments(function, a, b, 1), _moments(function, a, b, max(2, MAX_PARTS >> halving))
        scale = max(scale, float(parts[:, 1].sum()))
        size = np.array([math.sqrt(scale), scale])
        gaps = abs(whole - parts)
        differs = (gaps > ROUNDING * size).any(axis=1)
        middle = (a + b) / 2
        settled.append(middle[differs])
        a, b = np.concatenate([a[differs], middle[differs]]), np.concatenate([middle[differs], b[differs]])
        if not a.size:
            break
        if len(a) > MOST_PANELS:
            raise ValueError(
                f"{name} must be a function in double precision that does not vary everywhere at the smallest "
                f"scales, got one that {MOST_PANELS} panels do not resolve (random, or of single precision?)"
            )
    if a.size and not (gaps.sum(axis=0) <= OPEN_PANEL_TOLERANCE * size).all():
        raise ValueError(
            f"{name} must have a square with a mean that a quadrature finds, got one with a pole or the like near "
            f"h = {float(a[gaps.repeat(2, axis=0)[: len(a), 1].argmax()]):.6g}"
        )
    ends = _moments(function, edges[[0, -2]], edges[[1, -1]], 1)[:, 1]
    if not ends.max() <= 1e-13 * scale:
        raise ValueError(f"{name} must grow more slowly than exp(h^2/4), got one whose square has no mean")
    return np.unique(np.concatenate(settled))


def normal_rule(edges: Array, order: int) -> tuple[Array, Array]:
    """Return Gauss-Legendre nodes on panels, and weights that hold the standard normal density."""
    z, weights = panelled_legendre(edges, order)
    return z, weights * np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)


def _moments(function: Callable[[Array], Array], a: Array, b: Array, parts: int) -> Array:
    """Return the integrals of f and f^2 against the normal law on panels [a, b], each in equal parts, (panels, 2)."""
    x, w = panelled_legendre(np.linspace(-1.0, 1.0, parts + 1), ORDER)
    z = (a + b)[:, None] / 2 + (b - a)[:, None] / 2 * x
    f = function(z.ravel()).reshape(z.shape)
    density = np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi) * ((b - a)[:, None] / 2) * w
    with np.errstate(over="ignore", invalid="ignore"):
        return np.stack([(f * density).sum(axis=1), (f * f * density).sum(axis=1)], axis=1)
