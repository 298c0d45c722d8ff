"""The edge between a point in a gap and one in a bulk: by bisection, and then as the double root of the equation."""

from collections.abc import Callable

import numpy as np

from theory.core.arrays import Array, ComplexArray
from theory.random_matrix.row_response import inverse_weights
from theory.random_matrix.spectral.classified_points import MIN_RELATIVE_WIDTH, Points, between
from theory.random_matrix.spectral.ensemble import CommutingEnsemble, Ensemble, Indices

BISECTIONS_BETWEEN_ATTEMPTS = 6  # between two attempts at the double root
MAX_DOUBLE_ROOT_ATTEMPTS = 12  # the 72 bisections between them reduce any interval to rounding
DOUBLE_ROOT_TOLERANCE = 1e-9  # relative error of a double root, which rounding keeps from falling further

Evaluate = Callable[[Array, ComplexArray], Points]


def boundaries(ensemble: Ensemble, evaluate: Evaluate, gap: Array, bulk: Points) -> Array:
    """Find the edge between each point of `gap` (k,), outside the support, and the point of `bulk` beside it."""
    empty, full, h = gap.copy(), bulk.nu.copy(), bulk.h.copy()
    edge = np.full(len(empty), np.nan)
    for _ in range(MAX_DOUBLE_ROOT_ATTEMPTS):
        active = np.flatnonzero(np.isnan(edge))
        if not len(active):
            break
        # Bisection only brings Newton's method within reach: at an edge Im h vanishes like a square root, and is lost
        # in rounding before the edge is found to all digits.
        _bisect(evaluate, empty, full, h, active)
        edge[active] = _double_roots(ensemble, empty[active], full[active], h[active].real)
        closed = np.isnan(edge) & (abs(full - empty) <= MIN_RELATIVE_WIDTH * np.maximum(full, empty))
        edge[closed] = (full[closed] + empty[closed]) / 2
    return np.where(np.isnan(edge), (full + empty) / 2, edge)


def _bisect(evaluate: Evaluate, empty: Array, full: Array, h: ComplexArray, active: Indices) -> None:
    for _ in range(BISECTIONS_BETWEEN_ATTEMPTS):
        middle = between(np.minimum(empty[active], full[active]), np.maximum(empty[active], full[active]))
        found = evaluate(middle, h[active]).sorted()
        # A root that is not certified lies within rounding of the edge, and is left out.
        place = np.minimum(np.searchsorted(found.nu, middle), len(found.nu) - 1)
        inside = (found.inside[place] & (found.nu[place] == middle)) if len(found.nu) else np.zeros(len(middle), bool)
        full[active[inside]], h[active[inside]] = middle[inside], found.h[place[inside]]
        empty[active[~inside]] = middle[~inside]


def _double_roots(ensemble: Ensemble, empty: Array, full: Array, h: Array) -> Array:
    """Solve P = P_h = 0 near [full, empty], P = h - g(<1/(h + a)>/alpha), by Newton's method in (h, nu); nan elsewhere.

    Steps that leave the interval by more than its width do not count: then it is still too wide.
    """
    nu, error = full.copy(), np.full(len(full), np.inf)
    reach, going = 2 * abs(full - empty), np.ones(len(full), bool)
    one_by_one = not isinstance(ensemble, CommutingEnsemble)
    for _ in range(20):
        here = np.flatnonzero(going)
        if not len(here):
            break
        by_h, by_nu = _newton_step(ensemble, h[here], nu[here])
        with np.errstate(all="ignore"):
            new = np.maximum(abs(by_h / h[here]), abs(by_nu / nu[here]))
        lost = ~(abs(nu[here] + by_nu - full[here]) <= reach[here]) | (one_by_one & (new > 0.1))
        # Below the tolerance a step that is no shorter than the last one is rounding.
        ended = ~lost & ((new < 1e-15) | ((new < DOUBLE_ROOT_TOLERANCE) & (new >= error[here])))
        h[here], nu[here] = np.where(lost, h[here], h[here] + by_h), np.where(lost, nu[here], nu[here] + by_nu)
        error[here] = np.where(lost, np.inf, new)
        going[here] = ~lost & ~ended
    slack = MIN_RELATIVE_WIDTH * nu
    between_both = (nu >= np.minimum(empty, full) - slack) & (nu <= np.maximum(empty, full) + slack)
    return np.where((error < DOUBLE_ROOT_TOLERANCE) & between_both, nu, np.nan)


def _newton_step(ensemble: Ensemble, h: Array, nu: Array) -> tuple[Array, Array]:
    equation = ensemble.at(nu)
    with np.errstate(all="ignore"):
        t, c, w = 1 / (h[:, None] + equation.a), equation.c, equation.weights / equation.alpha
        square = t * t
        t1, t2, t3 = t @ w, square @ w, (square * t) @ w
        c2, c3 = (c * square) @ w, (c * square * t) @ w
        g, slope, bend = inverse_weights(ensemble.rows, t1)
        P, P_h, P_nu = h - g, 1 - slope * t2, slope * c2
        P_hh, P_hnu = 2 * (slope * t3 - bend * t2**2), 2 * (bend * c2 * t2 - slope * c3)
        # In h alone Newton's method would divide by P_h, which vanishes at the edge; with nu as a second unknown the
        # determinant there is -P_nu P_hh, which does not.
        determinant = P_h * P_hnu - P_nu * P_hh
        return (P_nu * P_h - P_hnu * P) / determinant, (P_hh * P - P_h * P_h) / determinant
