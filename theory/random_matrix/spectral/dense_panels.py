"""The density of one bulk of a dense ensemble from shares alone, which cost a tridiagonal form without its vectors.

In the angle of a bulk the share of eigenvalues below is analytic, as its derivative is, the density. On a panel both
are polynomials: that of the share goes through its two ends and 16 points between them, and the density is its slope.
It has to meet the share at one more point, where the product of the distances to these is largest. Points that are
known already, from the search for gaps or from the panel of which this is one half, are taken where they lie well. The
density of one node a panel is then computed from its own trace, as a check: a panel on which the two differ was not
resolved, and the bulk is left to others.
"""

from dataclasses import dataclass

import numpy as np
from numpy.polynomial import legendre

from theory.core.arrays import Array, ComplexArray
from theory.random_matrix.spectral.bulk import PANEL_NODES, POINTS, TO_SERIES, Bulk, angles
from theory.random_matrix.spectral.ensemble import DenseEnsemble
from theory.random_matrix.spectral.equation import share_below, solve
from theory.random_matrix.spectral.resolve import GapFoundError, Span, is_met, panel_error
from theory.random_matrix.spectral.tridiagonal import solved_inside

CANDIDATES = np.cos((np.arange(64) + 0.5) * np.pi / 64)  # places in a panel from -1 to 1 for new points
# A known point is taken where the product of its distances to those before is at least this share of the largest.
KNOWN_SHARE = 0.3
NEAREST = 1e-3  # distance of two points of a panel, in its half width, below which rounding of shares is amplified
CHECKED_NODES = (2, 13)  # of a panel, in turn: near its ends a slope is less exact than in the middle
CHECK_TOLERANCE = 4e-9  # of the mass by which the density of a checked node may be off over its panel
FIRST_ERROR, USUAL_FALL = 1e-2, 1e-4  # of the errors of panels: expected of quarters, and by halving at least
LEAST_INSIDE = 1e-9  # share beside those of both ends from which on a point outside the support is in a gap


class _UnsureError(Exception):
    """A root is certified neither as that of a bulk nor as that of a gap."""


@dataclass
class _Known:
    """The points of a bulk: angles, ascending, masses of the bulk at larger angles, and the roots h."""

    phi: Array
    under: Array
    h: ComplexArray
    residual: float = 0.0

    def add(self, phi: Array, under: Array, h: ComplexArray, residual: float) -> None:
        order = np.argsort(np.concatenate([self.phi, phi]), kind="stable")
        self.phi, self.under = np.concatenate([self.phi, phi])[order], np.concatenate([self.under, under])[order]
        self.h = np.concatenate([self.h, h])[order]
        self.residual = max(self.residual, residual)

    def guess(self, phi: Array) -> ComplexArray:
        return np.interp(phi, self.phi, self.h.real) + 1j * np.interp(phi, self.phi, self.h.imag)


@dataclass(frozen=True)
class _Panel:
    left: float
    right: float
    left_under: float
    right_under: float
    parent: float  # the error of the panel that this one is half of, or what was expected of it

    @property
    def mass(self) -> float:
        return self.left_under - self.right_under


def resolved_by_shares(ensemble: DenseEnsemble, span: Span, noise: float) -> tuple[Bulk, float] | None:
    """Resolve one bulk; its residual comes with it. None where that is not certain; GapFoundError as `resolve` does.

    `noise` is the relative error of a density by the rounding of nu. Sigma must have full rank.
    """
    if not len(span.nu):
        return None
    phi = span.interval.angle(span.nu)[::-1]
    known = _Known(phi, (span.share - span.start)[::-1], span.h[::-1])
    try:
        done = _panels(ensemble, span, known, noise)
    except _UnsureError:
        return None
    left, right = (np.array([getattr(panel, name) for panel, *_ in done]) for name in ("left", "right"))
    under = np.array([panel.left_under for panel, *_ in done] + [0.0])
    values, h = np.array([one for _, one, _ in done]), np.array([one for *_, one in done])
    checked = np.resize(CHECKED_NODES, len(done)), np.arange(len(done))
    at = angles(left, right)[checked[1], checked[0]]
    found, traces, _ = solved_inside(ensemble, span.interval.position(at), h[checked[1], checked[0]])
    off = abs(traces.imag / np.pi * span.interval.stretch(at) - values[checked[1], checked[0]]) * (right - left)
    if not found.inside.all() or off.max() > CHECK_TOLERANCE + noise * span.mass:
        return None
    bulk = Bulk(span.interval, np.append(left, right[-1]), under, values, h)
    return bulk, max(known.residual, float(found.residual.max()), float(off.sum()))


def _panels(
    ensemble: DenseEnsemble, span: Span, known: _Known, noise: float
) -> list[tuple[_Panel, Array, ComplexArray]]:
    """Return all panels, ascending in the angle, with the densities and roots at their nodes."""
    quarters = np.linspace(0, np.pi, 5)
    under = np.array([span.mass, *_evaluated(ensemble, span, known, quarters[1:-1]), 0.0])
    waiting = [
        _Panel(*row, FIRST_ERROR) for row in zip(quarters[:-1], quarters[1:], under[:-1], under[1:], strict=True)
    ]
    done = []
    while waiting:
        panel = waiting.pop()
        values, h, error = _fitted(ensemble, span, known, panel)
        nu = span.interval.position(np.array([panel.left, panel.right]))
        if is_met(error, panel.mass, panel.parent, noise, float(nu.min()), float(nu.max())):
            done.append((panel, values, h))
            continue
        center = (panel.left + panel.right) / 2
        middle = float(_evaluated(ensemble, span, known, np.array([center]))[0])
        # An error may be small by chance, and that of the halves no smaller without being noise.
        error = max(error, USUAL_FALL * panel.parent)
        waiting.append(_Panel(panel.left, center, panel.left_under, middle, error))
        waiting.append(_Panel(center, panel.right, middle, panel.right_under, error))
    return sorted(done, key=lambda one: one[0].left)


def _fitted(ensemble: DenseEnsemble, span: Span, known: _Known, panel: _Panel) -> tuple[Array, ComplexArray, float]:
    """Return densities and roots at the nodes of a panel, and the error of the former as a mass."""
    half, center = (panel.right - panel.left) / 2, (panel.right + panel.left) / 2
    within = np.flatnonzero((known.phi > panel.left) & (known.phi < panel.right))
    chosen, new = _places((known.phi[within] - center) / half)
    _evaluated(ensemble, span, known, center + half * new)
    within = np.flatnonzero((known.phi > panel.left) & (known.phi < panel.right))
    x, under, h = (known.phi[within] - center) / half, known.under[within], known.h[within]
    taken = np.isin(np.round(x, 9), np.round(chosen[:-1], 9))  # the last one is a check
    places, shares = np.concatenate([[-1.0], x[taken], [1.0]]), [panel.left_under, *under[taken], panel.right_under]
    # The shares less the straight line between the ends, whose differences are smaller.
    line = (panel.left_under - panel.right_under) / 2
    series = np.linalg.solve(legendre.legvander(places, len(places) - 1), np.array(shares) + line * places)
    values = np.asarray((line - legendre.legval(POINTS, legendre.legder(series))) / half, float)
    missed = abs(legendre.legval(x[~taken], series) - line * x[~taken] - under[~taken]).max(initial=0.0)
    order = int(taken.sum()) - 1
    roots = legendre.legval(POINTS, np.linalg.solve(legendre.legvander(x[taken], order), h[taken]))
    return values, roots, max(panel_error(values @ TO_SERIES[:, -2:], half), float(missed))


def _places(known: Array) -> tuple[Array, Array]:
    """Choose 17 places between -1 and 1 as Leja's points, far from those before; those that are new come after all."""
    places = np.concatenate([known, CANDIDATES])
    is_known = np.arange(len(places)) < len(known)
    logs = np.log(abs(places * places - 1) + 1e-300)
    chosen: list[int] = []
    for _ in range(PANEL_NODES + 1):
        best = int(np.argmax(logs))
        if len(known) and logs[: len(known)].max() > logs[best] + np.log(KNOWN_SHARE):
            best = int(np.argmax(logs[: len(known)]))
        chosen.append(best)
        gaps = abs(places - places[best])
        logs += np.log(gaps + 1e-300)
        logs[gaps < NEAREST] = -np.inf
    picked = np.array(chosen)
    return places[picked], places[picked[~is_known[picked]]]


def _evaluated(ensemble: DenseEnsemble, span: Span, known: _Known, phi: Array) -> Array:
    """Add points to the known ones, and return the masses of the bulk at larger angles."""
    nu = span.interval.position(phi)
    found, _, share = solved_inside(ensemble, nu, known.guess(phi), traced=False)
    h, residual = found.h.copy(), found.residual.copy()
    for row in np.flatnonzero(~found.inside):
        equation = ensemble.at(nu[row : row + 1], traced=False)
        other = solve(equation)
        h[row], residual[row], share[row] = other.h[0], other.residual[0], share_below(equation, other)[0]
        if not other.certified[0]:
            raise _UnsureError
        if other.outside[0]:
            if span.start + LEAST_INSIDE < share[row] < span.start + span.mass - LEAST_INSIDE:
                raise GapFoundError(nu[row : row + 1])
            raise _UnsureError
    under = share - span.start
    known.add(phi, under, h, float(residual.max(initial=0.0)))
    return np.asarray(under)
