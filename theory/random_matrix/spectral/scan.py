"""Bulk edges where offsets differ or nothing commutes: both ends exactly, gaps between them by a scan that is verified.

The physical root is computed on a set of points, real in a gap and complex in a bulk; every change is bisected and then
polished as the double root F = F_h = 0. A gap narrower than the spacing can be passed over: the nodes of the bulks then
find points without density, from which the scan is refined, and a bulk that is missed shows in the total mass.
"""

import numpy as np

from theory.models.spectrum import Array
from theory.numerics import ConvergenceError, Solution
from theory.random_matrix.spectral.ensemble import CommutingEnsemble, Ensemble
from theory.random_matrix.spectral.equation import Branch, resolvent
from theory.random_matrix.spectral.real_branch import extreme_edge

POINTS = {True: 400, False: 60}  # of a first scan: commuting, dense
BISECTIONS = 10


def ends(ensemble: Ensemble) -> tuple[float, float, bool]:
    """Both ends of the support, and whether the lower one is an atom."""
    low, high = extreme_edge(ensemble, "left"), extreme_edge(ensemble, "right")
    return low.nu, high.nu, low.is_atom


def scan_points(ensemble: Ensemble, low: float, high: float, refine: int = 0) -> Array:
    """Where to look: evenly in nu and in log nu, and where small bulks sit in the limits h = 0 and h = 1."""
    commuting = isinstance(ensemble, CommutingEnsemble)
    count = POINTS[commuting] * 4**refine
    rise = np.geomspace(1e-8, 1, count)
    points = [low + (high - low) * np.linspace(0, 1, count), low + (high - low) * rise, high - (high - low) * rise]
    if low > 0:
        points.append(np.geomspace(low, high, count))
    if isinstance(ensemble, CommutingEnsemble) and ensemble.size <= 500:
        atoms = ensemble.distinct
        points += [atoms.offset, atoms.sigma + atoms.offset]
    everything = np.unique(np.concatenate(points[:1] + points[3:] if not commuting else points))
    return everything[(everything > low) & (everything < high)]


def scanned_edges(ensemble: Ensemble, points: Array) -> Array:
    """Bulks (k, 2), from a scan over `points` (ascending, within the ends)."""
    low, high, atom = ends(ensemble)
    found = resolvent(ensemble, points)
    sure = found.certified
    points, inside, h = points[sure], found.inside[sure], found.h[sure]
    # both ends are known: a point outside next to them does not open a gap
    inside = np.concatenate([[not atom], inside, [True]])
    points = np.concatenate([[low], points, [high]])
    h = np.concatenate([h[:1], h, h[-1:]])
    changes = np.flatnonzero(inside[1:] != inside[:-1])
    edges = _between(ensemble, points, h, inside, changes)
    edges = np.concatenate([[] if atom else [low], edges, [high]])
    return np.asarray(edges.reshape(-1, 2))


def _between(ensemble: Ensemble, points: Array, h: Array, inside: Array, changes: Array) -> Array:
    """One edge for every pair of neighbors of which one is inside."""
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
    """nu with F = F_h = 0 near [full, empty], F = 1/h - 1 - <1/(h + a)>/alpha, by Newton's method in (h, nu)."""
    nu, error = full, np.inf
    for iteration in range(60):
        pencil = ensemble.at(np.array([nu]))
        t, c, w = 1 / (h + pencil.a[0]), pencil.c[0], pencil.weights / pencil.alpha
        F, F_h = 1 / h - 1 - w @ t, w @ t**2 - 1 / h**2
        jacobian = np.array([[F_h, -w @ (c * t**2)], [2 / h**3 - 2 * w @ t**3, 2 * w @ (c * t**3)]])
        step = np.linalg.solve(jacobian, [-F, -F_h])
        previous, error = error, max(abs(step[0] / h), abs(step[1] / nu))
        h, nu = h + step[0], nu + step[1]
        if error < 1e-15 or (error < 1e-11 and error >= previous):
            break
    reach = 3 * abs(full - empty) + 1e-12 * abs(nu)
    if not (abs(nu - full) <= reach and error < 1e-10):
        solution = Solution(nu, "inadmissible", float(error), 1e-10, iteration)
        raise ConvergenceError(f"edge between {full:.8g} and {empty:.8g}", solution)
    return float(nu)
