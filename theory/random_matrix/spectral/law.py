"""The law of eigenvalues: bulks, atoms, and everything that is asked of them."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from theory.models import checks
from theory.models.arrays import Array
from theory.models.frames import table
from theory.numerics import ConvergenceError, Solution
from theory.random_matrix.spectral.bulk import Bulk
from theory.random_matrix.spectral.ensemble import CommutingEnsemble, ComplexArray, Ensemble, Indices
from theory.random_matrix.spectral.equation import resolvent
from theory.random_matrix.spectral.variable import Variable

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class SpectralLaw:
    """Limiting law of the eigenvalues x of a random matrix, n = alpha d; total mass 1.

    Stieltjes convention: g(z) = tr (x - z)^-1/d, so Im g has the sign of Im z, g ~ -1/z at infinity, and
    Im g(x + i0)/pi is the density. On arrays of any shape; ValueError for what is not finite.
    """

    edges: Array  # (k, 2), left and right end of every bulk, ascending
    masses: Array  # (k,), of the bulks
    atoms: Array  # (m, 2), position and mass of the eigenvalues that coincide, ascending
    residual: float  # the largest of: scalar equation at the nodes, |mass - 1|, relative gap of the mean of S
    converged: bool
    ensemble: Ensemble = field(repr=False)
    bulks: tuple[Bulk, ...] = field(repr=False)  # in nu, the eigenvalues of S
    variable: Variable = field(repr=False)  # x(nu)

    def density(self, x: Any) -> Array:
        """Of the continuous part: 0 outside the bulks and at their square-root edges, infinite at a hard one."""
        return self._mapped(x, self._density_of_nu, self.variable.slope)

    def cumulative(self, x: Any) -> Array:
        """Return the share of eigenvalues <= x; an atom counts at its own position."""
        points = _real("x", x)
        nu = np.where(self.variable.reached(points), self.variable.inverse(points), np.inf)
        total = np.zeros(nu.shape)
        for position, mass in self.atoms:  # compared in x: on the way to nu and back the last digits can change
            total += np.where(points >= position, mass, 0.0)
        for bulk in self.bulks:
            ends = bulk.interval
            total += bulk.mass * (nu >= ends.high)
            within = (nu > ends.low) & (nu < ends.high)
            total[within] += bulk.below(ends.angle(nu[within]))
        return np.minimum(total, 1.0)

    def quantiles(self, p: Any) -> Array:
        """The least x with cumulative(x) >= p, 0 <= p <= 1."""
        p = _real("p", p)
        if np.any((p < 0) | (p > 1)):
            raise ValueError(f"p must lie in [0, 1], got a minimum of {p.min()} and a maximum of {p.max()}")
        pieces: list[Any] = sorted([*self.bulks, *map(tuple, self._nu_atoms)], key=_begin)
        masses = np.array([piece.mass if isinstance(piece, Bulk) else piece[1] for piece in pieces])
        tops = np.cumsum(masses)
        which = np.minimum(np.searchsorted(tops, p * (1 - 1e-15) if p.size else p), len(pieces) - 1)
        nu = np.empty(p.shape)
        for number, piece in enumerate(pieces):
            here, below = which == number, tops[number] - masses[number]
            if isinstance(piece, Bulk):
                nu[here] = piece.quantile(np.clip(p[here] - below, 0, piece.mass))
            else:
                nu[here] = piece[0]
        return self.variable.forward(nu)

    def positions(self, d: int) -> Array:
        """Where the d eigenvalues of one matrix should sit, ascending: the quantiles (i - 1/2)/d."""
        d = int(checks.dimension(d))
        return self.quantiles((np.arange(d) + 0.5) / d)

    def stieltjes(self, z: Any) -> ComplexArray:
        """g(z) anywhere; real z inside a bulk is taken as z + i0. ValueError at an atom."""
        points = np.asarray(z, complex)
        if not np.isfinite(points).all():
            raise ValueError("z must be finite")
        upper = np.where(points.imag < 0, points.conj(), points).ravel()
        if np.isin(upper, self.atoms[:, 0]).any():
            raise ValueError("z is the position of an atom, where the transform is infinite")
        value = self.variable.stieltjes(upper, self._resolvent).reshape(points.shape)
        return np.where(points.imag < 0, value.conj(), value)

    def mean(self, power: int = 1) -> float:
        """The moment of x^power."""
        total = sum(mass * self.variable.forward(np.array(nu)) ** power for nu, mass in self._nu_atoms)
        total += sum(bulk.integral(lambda nu: self.variable.forward(nu) ** power) for bulk in self.bulks)
        return float(total)

    @property
    def total_mass(self) -> float:
        """Bulks and atoms together: 1 to rounding, or to `residual`."""
        return float(self.masses.sum() + self.atoms[:, 1].sum())

    def to_frame(self) -> "pd.DataFrame":
        """One row a bulk or atom, an atom having equal ends."""
        rows = np.concatenate([np.column_stack([self.edges, self.masses]), self.atoms[:, [0, 0, 1]]])
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        return table(left=rows[:, 0], right=rows[:, 1], mass=rows[:, 2], atom=rows[:, 0] == rows[:, 1])

    @property
    def _nu_atoms(self) -> Array:
        return self.ensemble.atoms

    def _mapped(self, x: Any, of_nu: Any, slope: Any) -> Array:
        points = _real("x", x)
        value = np.zeros(points.shape)
        seen = self.variable.reached(points)
        nu = self.variable.inverse(points[seen])
        value[seen] = of_nu(nu) * slope(nu)
        return value

    def _density_of_nu(self, nu: Array) -> Array:
        density = np.zeros(nu.shape)
        lows = np.array([bulk.interval.low for bulk in self.bulks])
        which = np.searchsorted(lows, nu, side="right") - 1
        # a dense ensemble pays an eigendecomposition a point, which the series saves
        polished = isinstance(self.ensemble, CommutingEnsemble) or len(nu) * self.ensemble.size**3 < 1e9
        starts: list[tuple[Indices, ComplexArray]] = []
        for number in np.unique(which[which >= 0]):
            bulk, here = self.bulks[number], np.flatnonzero(which == number)
            ends = bulk.interval
            if ends.hard:
                density[here[nu[here] == ends.low]] = np.inf
            within = here[(nu[here] > ends.low) & (nu[here] < ends.high)]
            phi = ends.angle(nu[within])
            density[within] = bulk.density(phi)
            if polished and not bulk.narrow:
                starts.append((within, bulk.guess(phi)))
        if starts:
            places = np.concatenate([place for place, _ in starts])
            found = resolvent(self.ensemble, nu[places], np.concatenate([h for _, h in starts]))
            # within rounding of an edge no complex root is left: there the series stays
            sure = found.inside & found.certified
            density[places[sure]] = found.trace[sure].imag / np.pi
        return density

    def _resolvent(self, nu: ComplexArray) -> ComplexArray:
        value = np.empty(nu.shape, complex)
        for kept, points in ((nu.imag > 0, nu), (nu.imag <= 0, nu.real)):
            if kept.any():
                found = resolvent(self.ensemble, points[kept])
                if not found.certified.all():
                    worst = float(found.residual.max())
                    solution = Solution(found.h, "max_iter", worst, 1e-11, 0)
                    raise ConvergenceError(f"Stieltjes transform at {nu[kept][~found.certified][:3]}", solution)
                value[kept] = found.trace
        return value


def _begin(piece: Any) -> tuple[float, float]:
    return (piece.interval.low, 1.0) if isinstance(piece, Bulk) else (piece[0], 0.0)


def _real(name: str, value: Any) -> Array:
    try:
        points = np.asarray(value, float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be real numbers, got {type(value).__name__}") from None
    if not np.isfinite(points).all():
        raise ValueError(f"{name} must be finite, got {points[~np.isfinite(points)].flat[0]}")
    return points
