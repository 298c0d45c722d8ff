"""The real branches nu(h) of the scalar equation beyond both ends of the support, and these ends themselves.

h = 1/K. Right of everything nu(h) is the root above all poles sigma h + offset, for h in (1, inf); left of everything
it is the root below them, for h in (0, 1). The trace of an inverse is convex and a harmonic mean concave, for matrices
as for atoms: hence nu(h) is convex on the right and concave on the left, its one stationary point, m = 1, is the edge,
and from there to h = 1 it runs monotonically to infinity. No search over several minima is needed.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from theory.models.spectrum import Array
from theory.numerics import Solution, verified
from theory.random_matrix.spectral.ensemble import Ensemble
from theory.random_matrix.spectral.real_modes import modes, shares, simplified

Side = Literal["right", "left"]
TOLERANCE = 1e-9  # of |m - 1|; what is reached is rounding


@dataclass(frozen=True)
class ExtremeEdge:
    """An end of the support, at the stationary point (h, nu) of its branch."""

    nu: float
    h: float  # 1/K there; 0 at an atom
    residual: float  # |m - 1|
    iterations: int

    @property
    def is_atom(self) -> bool:
        """Whether the support ends where eigenvalues coincide (fewer samples than modes of the least offset)."""
        return self.h == 0


@dataclass(frozen=True)
class BranchPoint:
    """A point of a branch: m = 1 at the edge, m < 1 between the edge and infinity."""

    h: float
    nu: float
    m: float
    slope: float  # dnu/dh
    m_slope: float  # dm/dh along the branch
    trace: float  # <sigma t^2>/alpha: dh/dnu = -h^2 trace/(1 - m), finite also at m = 0


class RealBranch:
    """nu(h) outside the support; a point costs O(modes), or one eigendecomposition where nothing commutes."""

    def __init__(self, ensemble: Ensemble, side: Side = "right") -> None:
        if side not in ("right", "left"):
            raise ValueError(f"side must be 'right' or 'left', got {side!r}")
        self.ensemble, self.side = simplified(ensemble), side

    def at(self, h: float) -> BranchPoint:
        """The point at h > 1 (right) or 0 < h < 1 (left)."""
        sign = 1.0 if self.side == "right" else -1.0
        found = modes(self.ensemble, h)
        top, gaps = _root_above(sign * found.poles, found.residues, self.ensemble.alpha * abs(1 - 1 / h))
        m2, trace, m3, m21 = (total / self.ensemble.alpha for total in found.moments(-sign / gaps))
        m = h * h * m2
        slope = -(1 - m) / (h * h * trace)
        return BranchPoint(h, sign * top, m, slope, 2 * h * m2 - 2 * h * h * (m3 - slope * m21), trace)

    def edge(self, max_iter: int = 200) -> ExtremeEdge:
        """The end of the support: m = 1 by Newton's method on log m, safeguarded by bisection, to rounding."""
        if self.side == "left" and (atom := _atom(self.ensemble)) is not None:
            return ExtremeEdge(atom, 0.0, 0.0, 0)
        place, low, high = -0.5 * math.log(self.ensemble.alpha), -math.inf, math.inf
        best, width = self.at(self.h_at(place)), 1.0
        for iteration in range(1, max_iter + 1):
            low, high = (place, high) if best.m < 1 else (low, place)
            growth = best.m_slope * self._stretch(place) / best.m
            proposal = place - math.log(best.m) / growth if growth > 0 else math.nan
            if not (low <= proposal <= high and abs(proposal - place) < 4 * width):
                width *= 2
                proposal = _inside(low, high, width)
            step, place = abs(proposal - place), proposal
            best = self.at(self.h_at(place))
            if step < 1e-13 * (1 + abs(place)) or best.m == 1:
                break
        residual = abs(best.m - 1)
        status: Literal["converged", "max_iter"] = "converged" if residual <= TOLERANCE else "max_iter"
        edge = ExtremeEdge(best.nu, best.h, residual, iteration)
        return verified(
            Solution(edge, status, residual, TOLERANCE, iteration), f"{self.side} edge of the support", True
        ).value

    def h_at(self, place: float) -> float:
        """h from a coordinate that is -inf at h = 1 and inf at the other end of its range."""
        return 1 + math.exp(place) if self.side == "right" else 1 / (1 + math.exp(place))

    def place_of(self, h: float) -> float:
        """The inverse of `h_at`."""
        return math.log(h - 1 if self.side == "right" else 1 / h - 1)

    def _stretch(self, place: float) -> float:
        h = self.h_at(place)
        return h - 1 if self.side == "right" else h * (h - 1)


def extreme_edge(ensemble: Ensemble, side: Side = "right") -> ExtremeEdge:
    """The right or left end of the support of the eigenvalues nu."""
    return RealBranch(ensemble, side).edge()


def _root_above(poles: Array, residues: Array, target: float) -> tuple[float, Array]:
    """x above all poles with sum residues/(x - poles) = target > 0, and the gaps x - poles.

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


def _inside(low: float, high: float, width: float) -> float:
    if math.isinf(low):
        return high - width
    return low + width if math.isinf(high) else (low + high) / 2


def _atom(ensemble: Ensemble) -> float | None:
    """The least offset where the modes that have it are no fewer than the samples: nu -> offset as h -> 0, m <= 1."""
    least = float(ensemble.offset.min())
    spread = float(abs(ensemble.offset).max())
    share = shares(ensemble)[ensemble.offset <= least + 1e-12 * spread].sum()
    return least if share >= ensemble.alpha * (1 - 1e-12) else None
