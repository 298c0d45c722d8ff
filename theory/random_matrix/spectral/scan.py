"""Bulk edges where offsets differ or nothing commutes: both ends exactly, gaps between them by a scan that is verified.

The physical root is computed on a set of points, real in a gap and complex in a bulk; every change is bisected and then
polished as the double root F = F_h = 0. A gap narrower than the spacing can be passed over: the nodes of the bulks then
find points without density, from which the scan is refined, and a bulk that is missed shows in the total mass.
"""

import numpy as np

from theory.models.arrays import Array
from theory.random_matrix.row_response import inverse_weights
from theory.random_matrix.spectral.ensemble import CommutingEnsemble, ComplexArray, Ensemble, Indices, Mask
from theory.random_matrix.spectral.equation import Branch, resolvent
from theory.random_matrix.spectral.real_branch import extreme_edge

POINTS = (60, 400)  # of a first scan, fewest and most
BISECTIONS = 12
MANY = 20  # offsets beyond which gaps between them are looked at coarsely


def ends(ensemble: Ensemble) -> tuple[float, float, bool]:
    """Find both ends of the support, and whether the lower one is an atom."""
    low, high = extreme_edge(ensemble, "left"), extreme_edge(ensemble, "right")
    return low.nu, high.nu, low.is_atom


def scan_points(ensemble: Ensemble, low: float, high: float, refine: int = 0) -> Array:
    """Choose where to look: evenly in nu and in log nu, and where small bulks sit in the limits h = 0 and h = 1."""
    commuting = isinstance(ensemble, CommutingEnsemble)
    affordable = 4e8 / ensemble.size ** (1 if commuting else 3)
    count = int(np.clip(affordable, *POINTS)) * 4**refine
    rise = np.geomspace(1e-8, 1, count)
    points: list[Array] = [low + (high - low) * np.linspace(0, 1, count), *_small_bulks(ensemble)]
    if low > 0:
        points.append(np.geomspace(low, high, count))
    if commuting:
        points += [low + (high - low) * rise, high - (high - low) * rise]
    everything = np.unique(np.concatenate(points))
    return everything[(everything > low) & (everything < high)]


def _small_bulks(ensemble: Ensemble) -> list[Array]:
    if ensemble.size > 500:
        return []
    if isinstance(ensemble, CommutingEnsemble):
        return [ensemble.distinct.offset, ensemble.distinct.sigma + ensemble.distinct.offset]
    levels = np.unique(ensemble.offset)  # with fewer samples than dimensions many gaps between them hold a bulk
    inner = np.linspace(0, 1, 33 if len(levels) <= MANY else 3)[1:-1]
    gaps = (levels[:-1, None] + np.diff(levels)[:, None] * inner).ravel() if ensemble.alpha < 1 else levels[:0]
    return [np.asarray(np.linalg.eigvalsh(ensemble.covariance + np.diag(ensemble.offset)), float), gaps]


def scanned_edges(ensemble: Ensemble, points: Array) -> Array:
    """Find the bulks (k, 2) by a scan over `points`, ascending and within the ends."""
    low, high, atom = ends(ensemble)
    found = resolvent(ensemble, points)
    sure = found.certified
    points, inside, h = points[sure], found.inside[sure], found.h[sure]
    # Both ends are known already: a point outside the support next to them does not open a gap.
    inside = np.concatenate([[not atom], inside, [True]])
    points = np.concatenate([[low], points, [high]])
    h = np.concatenate([h[:1], h, h[-1:]])
    changes = np.flatnonzero(inside[1:] != inside[:-1])
    edges = _between(ensemble, points, h, inside, changes)
    bulks = np.concatenate([[] if atom else [low], edges, [high]]).reshape(-1, 2)
    # A point within rounding of an end can look like a gap.
    return np.asarray(bulks[bulks[:, 1] - bulks[:, 0] > 1e-13 * bulks[:, 1]])


def _between(ensemble: Ensemble, points: Array, h: ComplexArray, inside: Mask, changes: Indices) -> Array:
    """Find the edge between every two neighbors of which one is inside the support."""
    full = np.where(inside[changes], points[changes], points[changes + 1])
    empty = np.where(inside[changes], points[changes + 1], points[changes])
    start = np.where(inside[changes], h[changes], h[changes + 1])
    for _ in range(BISECTIONS if len(changes) else 0):
        middle = (full + empty) / 2
        found: Branch = resolvent(ensemble, middle)
        start = np.where(found.inside, found.h, start)
        full, empty = np.where(found.inside, middle, full), np.where(found.inside, empty, middle)
    return np.array([_polished(ensemble, *edge) for edge in zip(full, empty, start.real, strict=True)])


def _polished(ensemble: Ensemble, full: float, empty: float, h: float) -> float:
    """Solve P = P_h = 0 near [full, empty], P = h - g(<1/(h + a)>/alpha), by Newton's method in (h, nu)."""
    nu, error, reach = full, np.inf, 5 * abs(full - empty)
    for _ in range(20):
        equation = ensemble.at(np.array([nu]))
        with np.errstate(all="ignore"):
            t, c, w = 1 / (h + equation.a[0]), equation.c[0], equation.weights / equation.alpha
            t1, t2, t3, c2, c3 = w @ t, w @ t**2, w @ t**3, w @ (c * t**2), w @ (c * t**3)
            g, slope, bend = (float(value) for value in inverse_weights(ensemble.rows, t1))
            P, P_h, P_nu = h - g, 1 - slope * t2, slope * c2
            P_hh, P_hnu = 2 * (slope * t3 - bend * t2**2), 2 * (bend * c2 * t2 - slope * c3)
            determinant = P_h * P_hnu - P_nu * P_hh
            by_h, by_nu = (P_nu * P_h - P_hnu * P) / determinant, (P_hh * P - P_h * P_h) / determinant
        if not abs(nu + by_nu - full) <= reach:
            break
        previous, error = error, max(abs(by_h / h), abs(by_nu / nu))
        h, nu = h + by_h, nu + by_nu
        if error < 1e-15 or (error < 1e-9 and error >= previous):
            break
    return float(nu) if error < 1e-9 else _bisected(ensemble, full, empty)


def _bisected(ensemble: Ensemble, full: float, empty: float) -> float:
    """Bisect for the edge down to the last digits that tell a complex root from two real ones."""
    for _ in range(40):
        middle = (full + empty) / 2
        full, empty = (middle, empty) if resolvent(ensemble, np.array([middle])).inside[0] else (full, middle)
    return (full + empty) / 2
