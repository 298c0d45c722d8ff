"""The law of eigenvalues: bulks, atoms, and everything that is asked of them."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from theory.core import Array, Count, DataFrame, SolverResult, checked, checks, table
from theory.core.arrays import ComplexArray
from theory.numerics import ConvergenceError
from theory.random_matrix.spectral.bulk import Bulk
from theory.random_matrix.spectral.ensemble import CommutingEnsemble, Ensemble, Indices
from theory.random_matrix.spectral.equation import MAX_RESIDUAL, resolvent
from theory.random_matrix.spectral.law_variable import Variable
from theory.random_matrix.spectral.real_branch import ADVICE

Map = Callable[[Array], Array]
Piece = Bulk | tuple[float, ...]  # a bulk, or position and mass of an atom


@dataclass(frozen=True, eq=False, repr=False)
class SpectralLaw(SolverResult):
    """The limiting law of the eigenvalues x of a random matrix at n = alpha d: its bulks and atoms, of total mass 1.

    The Stieltjes transform is g(z) = tr (x - z)^-1/d, so that Im g has the sign of Im z, g ~ -1/z at infinity, and Im
    g(x + i0)/pi is the density. Methods take arrays of any shape, and raise ValueError for what is not finite.

    `residual` is the largest of five numbers: the residual of the scalar equation at the nodes, |mass - 1|, the
    relative gap of the mean, the difference between what the density of a bulk sums to and its mass (for a dense
    ensemble of full rank, by how much densities differ from the slope of the shares at one node a panel, as a mass),
    and for a limit d -> infinity the integral of the change of the density when the nodes of its spectrum are doubled,
    up to 1e-7.
    Edges and masses are closed forms, exact to rounding. The fourth number is below 1e-8 as a rule. It is up to 1e-7
    (in one or two of a hundred random spectra with condition numbers to 1e12) where rounding of nu shows in the
    density, because a bulk, or a feature in it, is narrow compared with the nu at which it lies.
    """

    edges: Array  # (k, 2), left and right end of every bulk, ascending
    masses: Array  # (k,), of the bulks
    atoms: Array  # (m, 2), position and mass of the eigenvalues that coincide, ascending
    ensemble: Ensemble = field(repr=False)
    bulks: tuple[Bulk, ...] = field(repr=False)  # in nu, the eigenvalues of S
    variable: Variable = field(repr=False)  # x(nu)

    def density(self, x: ArrayLike) -> Array:
        """Return the density of the continuous part at x: 0 outside the bulks, infinite at a hard edge of one."""
        return self._mapped(x, self._density_of_nu, self.variable.slope)

    def cumulative(self, x: ArrayLike) -> Array:
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

    def quantiles(self, p: ArrayLike) -> Array:
        """Return the least x with cumulative(x) >= p, for shares p from 0 to 1; the converse of `cumulative`."""
        p = _real("p", p)
        if np.any((p < 0) | (p > 1)):
            raise ValueError(f"p must lie in [0, 1], got a minimum of {p.min()} and a maximum of {p.max()}")
        pieces: list[Piece] = sorted([*self.bulks, *map(tuple, self._nu_atoms)], key=_begin)
        masses = np.array([piece.mass if isinstance(piece, Bulk) else piece[1] for piece in pieces])
        tops = np.cumsum(masses)
        # The tops of the pieces are rounded sums: a p at the top of a piece must not fall into the next one.
        which = np.minimum(np.searchsorted(tops, p * (1 - 1e-15) if p.size else p), len(pieces) - 1)
        nu = np.empty(p.shape)
        for number, piece in enumerate(pieces):
            here, below = which == number, tops[number] - masses[number]
            if isinstance(piece, Bulk):
                phi = piece.quantile(np.clip(p[here] - below, 0, piece.mass))
                nu[here] = piece.interval.position(phi)
            else:
                nu[here] = piece[0]
        return self.variable.forward(nu)

    @checked
    def positions(self, d: Count) -> Array:
        """Return where the d eigenvalues of one matrix should sit, ascending: the quantiles (i - 1/2)/d."""
        checks.fits_in_memory(f"the positions of {d} eigenvalues", d)
        return self.quantiles((np.arange(d) + 0.5) / d)

    def stieltjes(self, z: ArrayLike) -> ComplexArray:
        """Return g(z) anywhere; a real z inside a bulk is taken as z + i0. Raises ValueError at an atom."""
        points = _complex("z", z)
        # g at the conjugate of z is the conjugate of g: the upper half plane is enough.
        upper = np.where(points.imag < 0, points.conj(), points).ravel()
        if np.isin(upper, self.atoms[:, 0]).any():
            raise ValueError("z must not be the position of an atom, where the transform is infinite")
        places = np.concatenate([self.edges.ravel(), self.atoms[:, 0]])
        far = abs(upper) > 1e20 * abs(places).max()  # there 1/(x - z) = -1/z to all digits
        value = np.empty(upper.shape, complex)
        value[far] = -1 / upper[far]
        value[~far] = self.variable.stieltjes(upper[~far], self._resolvent)
        shaped = value.reshape(points.shape)
        return np.where(points.imag < 0, shaped.conj(), shaped)

    @checked
    def mean(self, power: int = 1) -> float:
        """Return the mean of x^power, for a power from 0 to 100."""
        if not 0 <= power <= 100:
            raise ValueError(f"power must lie in [0, 100], got {power}")
        total = sum(mass * self.variable.forward(np.array(nu)) ** power for nu, mass in self._nu_atoms)
        total += sum(bulk.integral(lambda nu: self.variable.forward(nu) ** power) for bulk in self.bulks)
        return float(total)

    @property
    def total_mass(self) -> float:
        """The mass of bulks and atoms together, which is 1 to rounding or to `residual`."""
        return float(self.masses.sum() + self.atoms[:, 1].sum())

    def to_frame(self) -> DataFrame:
        """Tabulate a row for each bulk and each atom, an atom having equal ends."""
        rows = np.concatenate([np.column_stack([self.edges, self.masses]), self.atoms[:, [0, 0, 1]]])
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        return table(left=rows[:, 0], right=rows[:, 1], mass=rows[:, 2], atom=rows[:, 0] == rows[:, 1])

    @property
    def _nu_atoms(self) -> Array:
        return self.ensemble.atoms

    def _mapped(self, x: ArrayLike, of_nu: Map, slope: Map) -> Array:
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
        # With a dense ensemble each point costs an eigendecomposition, which the series saves.
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
            found, trace = resolvent(self.ensemble, nu[places], np.concatenate([h for _, h in starts]))
            # Within rounding of an edge no complex root is left, and the value of the series is kept.
            sure = found.inside & found.certified
            density[places[sure]] = trace[sure].imag / np.pi
        return density

    def _resolvent(self, nu: ComplexArray) -> ComplexArray:
        value = np.empty(nu.shape, complex)
        # On the real axis the equation is real, and a root in a gap is certified as a real one.
        for kept, points in ((nu.imag > 0, nu), (nu.imag <= 0, nu.real)):
            if kept.any():
                found, trace = resolvent(self.ensemble, points[kept])
                if not found.certified.all():
                    what = f"Stieltjes transform at {nu[kept][~found.certified][:3]}"
                    worst = float(found.residual.max())
                    raise ConvergenceError.of(what, found.h, worst, MAX_RESIDUAL, advice=ADVICE)
                value[kept] = trace
        return value


def _begin(piece: Piece) -> tuple[float, float]:
    return (piece.interval.low, 1.0) if isinstance(piece, Bulk) else (piece[0], 0.0)


def _complex(name: str, value: ArrayLike) -> ComplexArray:
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "iufcO" or np.ma.is_masked(value):
            raise TypeError
        points = np.asarray(given, complex)
    except Exception:  # the conversion of a stranger's object may raise anything
        raise ValueError(f"{name} must be complex numbers, got {checks.shown(value)}") from None
    if not np.isfinite(points).all():
        raise ValueError(f"{name} must be finite, got {points[~np.isfinite(points)].flat[0]}")
    return points


def _real(name: str, value: ArrayLike) -> Array:
    points = checks.real_array(name, value)
    if not np.isfinite(points).all():
        raise ValueError(f"{name} must be finite, got {points[~np.isfinite(points)].flat[0]}")
    return points
