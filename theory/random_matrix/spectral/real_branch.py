"""The real branches nu(h) of the scalar equation beyond both ends of the support, and these ends themselves.

With h = 1/K, nu(h) right of the support is the root above all poles sigma h + offset, for h in (1, inf), and left of
the support the root below all of them, for h in (0, 1). The trace of an inverse is convex and a harmonic mean concave,
for matrices as for atoms: hence nu(h) is convex on the right and concave on the left, its one stationary point, m = 1,
is the edge, and from there to h = 1 it runs monotonically to infinity. No search over several minima is needed.

With rows of different scales tau up to tau_max both are taken along delta, of which h = E[tau/(1 + tau delta)] is a
falling function: delta in (-1/tau_max, 0) on the right, in (0, inf) on the left. Points with m < 1 belong to the
physical root, so that m passes 1 once there too.
"""

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from theory.core.arrays import Array
from theory.numerics import Solution
from theory.random_matrix.spectral.ensemble import Ensemble
from theory.random_matrix.spectral.real_modes import modes, shares, simplified
from theory.random_matrix.spectral.rising_root import rising_root

Side = Literal["right", "left"]
EDGE_TOLERANCE = 1e-9  # of |m - 1|; what is reached is rounding
ADVICE = "variances, alpha and lam are too far apart for double precision: take less extreme ones, or a finite d"


@dataclass(frozen=True)
class ExtremeEdge:
    """An end of the support, at the stationary point (h, nu) of its branch."""

    nu: float
    h: float  # 1/K there; 0 at an atom
    place: float  # the coordinate of h on the branch
    residual: float  # |m - 1|
    iterations: int

    @property
    def is_atom(self) -> bool:
        """Whether the support ends where eigenvalues coincide (fewer samples than modes of the least offset)."""
        return self.h == 0


@dataclass(frozen=True, eq=False)
class BranchPoint:
    """A point of a branch: m = 1 at the edge, m < 1 between the edge and infinity."""

    place: float  # the coordinate of h
    h: float
    nu: float
    m: float
    fall: float  # -dh/ddelta, h^2 where all rows are alike
    slope: float  # dnu/dh
    m_slope: float = math.nan  # dm/dh along the branch, where it was asked for
    diagonal: Array | None = field(default=None, repr=False)  # of G Sigma_D G, where it was at hand


@dataclass(frozen=True)
class _Excess:
    value: float  # log m
    derivative: float  # in the place
    point: BranchPoint


class RealBranch:
    """nu(h) outside the support; a point costs O(modes), or one eigendecomposition where nothing commutes."""

    def __init__(self, ensemble: Ensemble, side: Side = "right") -> None:
        if side not in ("right", "left"):
            raise ValueError(f"side must be 'right' or 'left', got {side!r}")
        if side == "right" and math.isinf(ensemble.rows.largest):
            raise ValueError(
                f"{ensemble.rows.field_name} must be bounded for a bulk that ends on the right, got {ensemble.rows}"
            )
        self.ensemble, self.side = simplified(ensemble), side
        self._scales, self._shares = ensemble.rows.nodes, ensemble.rows.probabilities
        self._largest = ensemble.rows.largest

    def at(self, place: float) -> BranchPoint:
        """Compute the point at h = 1 + exp(place) (right) or 1/(1 + exp(place)) (left).

        At h = 1, which is the place -infinity, nu diverges.
        """
        sign = 1.0 if self.side == "right" else -1.0
        excess, h, fall, bend = self._weights(math.exp(place))
        found = modes(self.ensemble, h)
        top, gaps = _root_above(sign * found.poles, found.residues, self.ensemble.alpha * excess)
        m2, trace, m3, m21 = (total / self.ensemble.alpha for total in found.moments(-sign / gaps))
        m = fall * m2
        slope = -(1 - m) / (fall * trace)
        return BranchPoint(place, h, sign * top, m, fall, slope, 2 * bend * m2 - 2 * fall * (m3 - slope * m21))

    def _weights(self, rise: float) -> tuple[float, float, float, float]:
        """Return |delta|, h, -dh/ddelta and half the slope of the latter in h, at exp(place) = `rise`."""
        tau, largest = self._scales, self._largest
        if self.ensemble.rows.alike:  # in plain numbers, since the steps of a threshold are many and small
            excess, h = (rise / (1 + rise), 1 + rise) if self.side == "right" else (rise, 1 / (1 + rise))
            return excess, h, h * h, h
        if self.side == "right":
            # This is tau/(1 + tau delta), in which nothing cancels next to the pole of the largest scale.
            excess, kept = rise / (1 + rise) / largest, tau * (1 + rise) / (1 + rise * (1 - tau / largest))
        else:
            excess, kept = rise, tau / (1 + tau * rise)
        h, fall, third = (float(power @ self._shares) for power in (kept, kept * kept, kept * kept * kept))
        return excess, h, fall, third / fall

    def edge(self) -> ExtremeEdge:
        """Find the end of the support, where m = 1 to rounding; raises ConvergenceError where that is not reached."""
        if (atom := self._atom()) is not None:
            return atom
        point, count = self.stationary()
        residual = abs(point.m - 1)
        edge = ExtremeEdge(point.nu, point.h, point.place, residual, count)
        what, evidence = f"{self.side} edge", (residual, EDGE_TOLERANCE, count)
        return Solution.verified(edge, *evidence, what=what, advice=ADVICE, otherwise="max_iter").value

    def stationary(self, tol: float = 1e-13) -> tuple[BranchPoint, int]:
        """Search the point with m = 1 until a step is below `tol`; the number of points tried comes with it."""

        def excess(place: float) -> _Excess:
            point = self.at(place)
            return _Excess(math.log(point.m), point.m_slope * self.stretch(place) / point.m, point)

        found, count = rising_root(excess, -0.5 * math.log(self.ensemble.alpha), tol=tol)
        return found.point, count

    def _atom(self) -> ExtremeEdge | None:
        """Return the end of the support at the least offset if its modes are no fewer than the samples, else None.

        Then nu falls to that offset as h -> 0 with m <= 1 all the way, and the support ends in an atom there.
        """
        ensemble = self.ensemble
        least = float(ensemble.offset.min())
        spread = float(abs(ensemble.offset).max())
        share = shares(ensemble)[ensemble.offset <= least + 1e-12 * spread].sum()
        if self.side == "right" or share < ensemble.alpha * ensemble.rows.present * (1 - 1e-12):
            return None
        return ExtremeEdge(least, 0.0, math.inf, 0.0, 0)

    def stretch(self, place: float) -> float:
        """Return dh/dplace."""
        rise = math.exp(place)
        fall = self._weights(rise)[2]
        return fall * rise / (1 + rise) ** 2 / self._largest if self.side == "right" else -fall * rise


def _root_above(poles: Array, residues: Array, target: float) -> tuple[float, Array]:
    """Find x above all poles with sum residues/(x - poles) = target > 0, and the gaps x - poles.

    The inverse of the left side is concave in x, so Newton's method on it rises monotonically from any point below the
    root; the largest pole is the origin, which keeps the digits of a small gap.
    """
    top = float(poles.max())
    below = top - poles
    gap = float(np.max(residues / target - below))  # each term alone gives a lower bound
    for _ in range(200):
        inverse = 1 / (gap + below)
        terms = residues * inverse
        total = float(terms.sum())
        step = (total / target - 1) * total / float(terms @ inverse)
        gap += step
        if step <= 4e-16 * gap:
            break
    return top + gap, gap + below
