"""Minimizes a smooth convex loss of labels and fields plus a ridge: by truncated Newton steps, then by whole ones."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from simulate.glm.newton import Expansion, newton
from simulate.glm.samples import Numbers, Pulls
from simulate.glm.truncated_newton import TOLERANCE, truncated_newton
from theory.core import Array

SMALL = 2e6  # samples times columns times the smaller of both: whole steps take no longer, and give more digits
FEWEST_PRODUCTS = 200  # after which whole steps take over, or one for each column if these are more
PRODUCTS_PER_SAMPLE = 0.5  # the same where there are fewer samples than columns, and whole steps cost less


class Minimum(NamedTuple):
    """The minimizer of a penalized loss: u and the offsets b, the residual, the steps, fields and losses if known."""

    u: Array
    b: Array
    residual: float
    iterations: int | None
    fields: Array | None = None
    losses: Array | None = None


def smooth_minimum(
    X: Array,
    y: Array,
    offsets: Array,
    weights: Array,
    ridge: float,
    loss: Callable[[Array, Array], Array],
    expand: Callable[[Array, Array], Expansion],
    force: Callable[[Array, Array], Array],
    *,
    name: str,
    largest_move: float = np.inf,
) -> Minimum:
    """Minimize (ridge/2) |v|^2 + sum_i weights_i loss(h_i, y_i), h = X v + offsets b, by steps of Newton's method.

    X is (n, p); `expand` tells what the loss is near fields, and `force` minus its slope alone. Truncated steps come
    first, whose residual proves that the relative error of v is at most 2e-10 where there are no offsets. Where they
    end before, since rounding or the condition of the problem keeps them from it, and for small problems, whole steps
    take over; they end at 1e-12 of the sum of the absolute terms of the gradient. Raises FitError if that does not fall
    below 1e-9.
    """
    n, p = X.shape
    q, start, steps = p + offsets.shape[1], None, 0
    if n * q * min(n, q) > SMALL:
        own: dict[Any, tuple[Numbers, Numbers]] = {
            kind: (y.astype(kind, copy=False), weights.astype(kind, copy=False)) for kind in (np.float32, np.float64)
        }

        def pulls(h: Numbers, rows: slice) -> Pulls:
            labels, kappa = own[h.dtype.type]
            at = expand(h, labels[rows])
            curvature = kappa[rows] * at.curvature
            return Pulls(kappa[rows] * at.force, curvature, lambda moved: np.multiply(curvature, moved, out=moved))

        def slopes(h: Numbers, rows: slice) -> Numbers:
            labels, kappa = own[h.dtype.type]
            return np.multiply(kappa[rows], force(h, labels[rows]))

        most = max(FEWEST_PRODUCTS, q) if n >= q else PRODUCTS_PER_SAMPLE * n
        options: Any = {"largest_move": largest_move, "max_products": most}
        found = truncated_newton(X, offsets, ridge, pulls, slopes=slopes, **options)
        if found.residual <= TOLERANCE:
            return Minimum(found.v, found.b, found.residual, found.steps, found.fields)
        if np.isfinite(found.residual):
            start, steps = np.concatenate((np.sqrt(ridge) * found.v, found.b)), found.steps
    u, b, left, taken = newton(
        X / np.sqrt(ridge),
        offsets,
        weights,
        lambda h: loss(h, y),
        lambda h: expand(h, y),
        name=name,
        largest_move=largest_move,
        start=start,
    )
    return Minimum(u / np.sqrt(ridge), b, left, steps + taken)
