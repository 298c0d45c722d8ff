"""Bulks where offsets differ, rows are unlike or nothing commutes: by bisection on the closed-form share N(nu).

Points in a gap are told from points in a bulk by their certified roots. Between two neighboring points a gap can lie
only on a level of N (see `levels`) that no gap was found on yet, and such an interval is bisected in log nu until the
gap is hit, the root is seen to pass smoothly, or the interval closes. Every level is sought at once. A bulk between two
gaps has the difference of their levels as its mass, exactly, however narrow it is.
"""

from dataclasses import dataclass, replace

import numpy as np

from theory.core.arrays import Array, ComplexArray
from theory.random_matrix.spectral.boundary import boundaries
from theory.random_matrix.spectral.bulk import Interval
from theory.random_matrix.spectral.classified_points import MIN_RELATIVE_WIDTH, Points, between
from theory.random_matrix.spectral.dense_branch import extreme_edge
from theory.random_matrix.spectral.ensemble import CommutingEnsemble, Ensemble, Indices, Mask
from theory.random_matrix.spectral.equation import share_below, solve
from theory.random_matrix.spectral.levels import LEVEL_TOLERANCE, gap_levels
from theory.random_matrix.spectral.resolve import Span

MAX_ROUNDS = 120  # of bisection in log nu: an interval of 16 decades is down to rounding in less than 60
MAX_FORCED_SHARE, MAX_MOVED_SHARE = 0.3, 0.5  # of |Im h|, see `_smooth`


@dataclass(frozen=True)
class Ends:
    """Both ends of the support of the modes that have variance, and the shares below them."""

    low: float
    high: float
    is_atom: bool  # fewer samples than modes of the least offset, or as many
    atom: float  # mass of the eigenvalues that coincide at `low`
    total: float


def bulks(ensemble: Ensemble, extra: Array) -> list[Span]:
    """Find all bulks with their edges and masses; `extra` are points to look at besides."""
    search = Search(_with_variance(ensemble))
    return search.spans(search.points(extra))


def _with_variance(ensemble: Ensemble) -> Ensemble:
    """Leave out common eigenvectors without variance, whose eigenvalues are their offsets."""
    if not isinstance(ensemble, CommutingEnsemble) or (ensemble.sigma > 0).all():
        return ensemble
    seen = ensemble.sigma > 0
    return replace(ensemble, sigma=ensemble.sigma[seen], offset=ensemble.offset[seen], weights=ensemble.weights[seen])


class Search:
    """Finds all gaps of one ensemble, in which every mode has variance if it is a commuting one."""

    def __init__(self, ensemble: Ensemble) -> None:
        self.ensemble, self.atoms = ensemble, ensemble.atoms
        low, high = extreme_edge(ensemble, "left"), extreme_edge(ensemble, "right")
        atom = float(self.atoms[self.atoms[:, 0] <= low.nu * (1 + 1e-12), 1].sum()) if low.is_atom else 0.0
        equation = ensemble.at(np.array([2 * high.nu]), traced=False)
        self.weights, null = equation.weights, float(equation.below[0])
        self.ends = Ends(low.nu, high.nu, low.is_atom, atom, float(self.weights.sum()) + null)
        self.levels = gap_levels(ensemble, self.weights, null)

    def points(self, extra: Array) -> Points:
        """Evaluate until no interval can hold another gap."""
        ends, empty = self.ends, np.zeros((2, len(self.weights)))
        sides = np.array([ends.low, ends.high])
        found = Points(sides, np.zeros(2, complex), np.array([ends.atom, ends.total]), np.zeros(2, bool), empty)
        first = np.unique(np.concatenate([self._first(), extra]))
        new = self.evaluate(first[(first > ends.low) & (first < ends.high)])
        dead: set[tuple[float, float]] = set()  # intervals whose middle lies within rounding of an edge
        for _ in range(MAX_ROUNDS):
            found = found.joined(new)
            left = self._open(found)
            left = np.array([i for i in left if (found.nu[i], found.nu[i + 1]) not in dead], dtype=np.intp)
            if not len(left):
                break
            middle = between(found.nu[left], found.nu[left + 1])
            new = self.evaluate(middle, np.where(found.inside[left], found.h[left], found.h[left + 1]))
            dead |= {(found.nu[i], found.nu[i + 1]) for i in left[~np.isin(middle, new.nu)]}
        return found

    def evaluate(self, nu: Array, start: ComplexArray | None = None) -> Points:
        """Find the roots at nu, by Newton's method from `start` where that is the root of a bulk, else from above.

        Points whose root is not certified are left out: they lie within rounding of an edge.
        """
        equation = self.ensemble.at(nu, traced=False)
        # The root of a gap is real; moved below the axis it can lead to that of a bulk.
        guess = None if start is None else np.where(start.imag < 0, start, start.real - 0.3j * (abs(start) + 1e-3))
        found = solve(equation, guess)
        points = Points(nu, found.h, share_below(equation, found), found.inside, equation.a)
        return points.take(found.certified)

    def spans(self, points: Points) -> list[Span]:
        """Make a span of all that lies between two gaps of different levels."""
        gaps = np.flatnonzero(~points.inside)
        before, behind = gaps[:-1], gaps[1:]
        mass = points.share[behind] - points.share[before] - self._atoms_between(points.nu[before], points.nu[behind])
        kept = mass > LEVEL_TOLERANCE
        before, behind, mass = before[kept], behind[kept], mass[kept]
        edges = np.column_stack([points.nu[before], points.nu[behind]])
        seen = behind > before + 1  # else the bulk is narrower than what floating-point numbers resolve
        # Both ends of the support are edges themselves, unless the lower one is an atom.
        left = np.flatnonzero(seen & ((before > 0) | self.ends.is_atom))
        right = np.flatnonzero(seen & (behind < len(points.nu) - 1))
        gap = np.concatenate([before[left], behind[right]])
        if len(gap):
            bulk = np.concatenate([before[left] + 1, behind[right] - 1])
            found = boundaries(self.ensemble, self.evaluate, points.nu[gap], points.take(bulk))
            edges[left, 0], edges[right, 1] = found[: len(left)], found[len(left) :]
        return [self._span(points, *row) for row in zip(before, behind, mass, edges, strict=True)]

    def _span(self, points: Points, before: int, behind: int, mass: float, edges: Array) -> Span:
        inner = slice(before + 1, behind)
        hard = self.ends.is_atom and before == 0 and edges[0] <= self.ends.low * (1 + MIN_RELATIVE_WIDTH)
        return Span(
            Interval(float(edges[0]), float(edges[1]), 0.0, bool(hard)),
            float(points.share[before]),
            float(mass),
            points.nu[inner],
            points.h[inner],
            points.share[inner],
        )

    def _atoms_between(self, low: Array, high: Array) -> Array:
        """Return the mass of the atoms between the ends of intervals."""
        sums = np.concatenate([[0.0], np.cumsum(self.atoms[:, 1])])
        place = self.atoms[:, 0]
        return np.asarray(sums[np.searchsorted(place, high)] - sums[np.searchsorted(place, low, side="right")])

    def _first(self) -> Array:
        """Return where to look first: evenly in log nu, and between the places where bulks sit for many samples."""
        ends = self.ends
        # A support may begin at zero, where there is no logarithm.
        least = max(ends.low, 1e-16 * ends.high)
        if not isinstance(self.ensemble, CommutingEnsemble):
            return np.geomspace(least, ends.high, 18)[1:-1]
        places = np.sort(self.ensemble.distinct.sigma + self.ensemble.distinct.offset)
        return np.concatenate([np.geomspace(least, ends.high, 34)[1:-1], np.sqrt(places[1:] * places[:-1])])

    def _open(self, found: Points) -> Indices:
        """Return the left ends of the intervals that are to be bisected."""
        nu, share, inside = found.nu, found.share, found.inside
        rise = np.diff(share)
        wide = np.diff(nu) > MIN_RELATIVE_WIDTH * nu[1:]
        if self.levels is None:
            passed = rise > LEVEL_TOLERANCE
        else:
            gaps = np.sort(share[~inside])
            near = np.searchsorted(gaps, self.levels - LEVEL_TOLERANCE) < np.searchsorted(
                gaps, self.levels + LEVEL_TOLERANCE
            )
            left = self.levels[~near]
            passed = np.searchsorted(left, share[1:] + LEVEL_TOLERANCE) > np.searchsorted(
                left, share[:-1] - LEVEL_TOLERANCE
            )
        empty = ~inside
        both = empty[1:] & empty[:-1]
        atoms = self._atoms_between(nu[:-1], nu[1:])
        # Between two points in gaps there is a bulk if N rises by more than the atoms there.
        wanted = np.where(both, rise - atoms > LEVEL_TOLERANCE, passed & (rise > 0)) & wide
        candidates = np.flatnonzero(wanted & inside[1:] & inside[:-1])
        if len(candidates):
            smooth = self._smooth(found, candidates)
            wanted[candidates[smooth]] = False
        return np.flatnonzero(wanted)

    def _smooth(self, found: Points, left: Indices) -> Mask:
        """Tell between which neighbors in a bulk the root passes so smoothly that no gap fits in.

        From nu to a gap h changes by |Im h| at least. By the Cauchy-Schwarz inequality it changes by no more than
        f sqrt(m)/(1 - sqrt(m)), with m that of the gap and f^2 the mean of da^2 weighted with |t|^2: f < .3 |Im h|
        excludes gaps with m < .59. In the others h passes a cusp, across which it moves by more than its imaginary part
        on either side.
        """
        one, two = found.take(left), found.take(left + 1)
        change = np.square(two.a - one.a)
        smooth = abs(two.h - one.h) < -MAX_MOVED_SHARE * np.maximum(one.h.imag, two.h.imag)
        for side in (one, two):
            square = 1 / (np.square(side.h.real[:, None] + side.a) + np.square(side.h.imag)[:, None])
            forced = np.sqrt(((square * change) @ self.weights) / (square @ self.weights))
            smooth &= forced < -MAX_FORCED_SHARE * side.h.imag
        return np.asarray(smooth)
