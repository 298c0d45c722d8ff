"""The square-lattice Potts ferromagnet S = sum over neighbors of delta(s_i, s_j) on cylinders and tori, exactly."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from theory.core import Array, NonNegative, Positive, Result, Several, SolverResult, checked
from theory.numerics import Solution, verified

MAX_STATES = 2**18  # that a row of a cylinder may have
MAX_LENGTH = 10**6  # rows of a torus, each of which takes a multiplication
MAX_TORUS_STATES = 2**14  # that a row of a torus may have: its trace needs all of them
BLOCK = 2**22  # numbers in a block of vectors that are propagated together
KRYLOV = 20  # vectors of the Lanczos basis between two restarts
ROUNDING = 1e-13  # a relative size below which a direction is rounding error
MIN_WEIGHT = np.finfo(float).tiny  # stands for weights that underflow at a large beta


class RowTransfer:
    """The transfer matrix A = D K D of a periodic row of `width` sites, for the ferromagnet of q colors.

    D holds half of the weight of the bonds within a row and K that of the bonds between two rows, so A is symmetric and
    positive. It is in units of exp(width * log_unit), in which no entry exceeds one. Vectors have the shape (q^width,
    any number). `states` (q^width, width) lists the states of a row, and `matches` (q^width,) counts their equal
    neighbors.
    """

    def __init__(self, width: int, n_colors: int, beta: float) -> None:
        self.width, self.n_colors, self.beta = width, n_colors, beta
        self.n_states = n_colors**width
        places = np.unravel_index(np.arange(self.n_states), (n_colors,) * width)
        self.states = np.stack(places, axis=1).astype(np.int64)
        self.matches = (self.states == np.roll(self.states, 1, axis=1)).sum(axis=1).astype(float)
        self._half = np.exp(0.5 * beta * (self.matches - width))[:, None]
        # A bond between two rows is the matrix kept * identity + mixed, whose rows sum to one; the derivative of its
        # weight by beta is match * identity.
        self._match = 1 / (1 + (n_colors - 1) * np.exp(-beta))
        self._kept, self._mixed = -np.expm1(-beta) * self._match, np.exp(-beta) * self._match
        self.log_unit = 2 * beta - float(np.log(self._match))

    def apply(self, vectors: Array) -> Array:
        """Apply A to vectors."""
        return self._with_score(vectors)[0]

    def apply_score(self, vectors: Array) -> Array:
        """Apply B, the sum over the bonds between two rows of the derivative of A by the beta of that bond."""
        return self._with_score(vectors)[1]

    def _with_score(self, vectors: Array) -> tuple[Array, Array]:
        image = self._half * vectors
        score = np.zeros_like(image)
        for site in range(self.width):
            score = self._bond(score, site) + self._match * image
            image = self._bond(image, site)
        return self._half * image, self._half * score

    def _bond(self, vectors: Array, site: int) -> Array:
        shaped = vectors.reshape(self.n_colors**site, self.n_colors, -1)
        mixed = self._kept * shaped + self._mixed * shaped.sum(axis=1, keepdims=True)
        return np.asarray(mixed.reshape(vectors.shape))

    def orbits(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return one state, by its index, of each class of equivalent states, and the size of the class.

        States are equivalent if they differ by a shift, a reflection, or a permutation of the colors.
        """
        powers = self.n_colors ** np.arange(self.width)[::-1]
        smallest = np.full(self.n_states, self.n_states)
        for mirrored in (self.states, self.states[:, ::-1]):
            for shift in range(self.width):
                smallest = np.minimum(smallest, self._relabeled(np.roll(mirrored, shift, axis=1)) @ powers)
        representatives, sizes = np.unique(smallest, return_counts=True)
        return representatives, sizes

    def _relabeled(self, states: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the states with their colors numbered in the order in which they first occur."""
        everyone = np.arange(len(states))
        names = np.full((len(states), self.n_colors), -1)
        known = np.zeros(len(states), dtype=np.int64)
        relabeled = np.empty_like(states)
        for site in range(self.width):
            color = states[:, site]
            fresh = names[everyone, color] < 0
            names[everyone[fresh], color[fresh]] = known[fresh]
            known += fresh
            relabeled[:, site] = names[everyone, color]
        return relabeled


@dataclass(frozen=True, repr=False)
class Cylinder(SolverResult):
    """The bulk properties of an infinitely long cylinder of the square lattice; the energy is that of -S.

    `residual` is |A v - t v|/t for the leading eigenvalue t of the transfer matrix A and its eigenvector v, |v| = 1.
    """

    circumference: int
    n_colors: int
    beta: float
    log_partition_function_per_site: float
    energy_per_site: float


@dataclass(frozen=True, repr=False)
class Torus(Result):
    """The exact thermodynamics of a periodic square lattice of rows * columns sites; the energy is that of -S."""

    rows: int
    columns: int
    n_colors: int
    beta: float
    log_partition_function: float
    energy_per_site: float


@checked
def cylinder(circumference: Several, n_colors: Several, beta: NonNegative, *, tol: Positive = 1e-12) -> Cylinder:
    """Compute log Z and the energy per site of a ferromagnetic cylinder of infinite length, by its transfer matrix.

    `circumference` sites form a periodic row; a row of 2 has double bonds, as in `torus_graph`. log Z per site is the
    log of the leading eigenvalue over the circumference, and the energy its exact derivative (Hellmann and Feynman). At
    the critical beta the energy is that of the infinite lattice at every circumference, by self-duality. Source: the
    method of transfer matrices (H. A. Kramers and G. H. Wannier, Phys. Rev. 60, 252 (1941)), applied here to rows of q
    colors.

    ConvergenceError where the relative residual of the eigenvector stays above `tol`; ValueError where a row has more
    than 2^18 states.

    >>> from theory.potts import square_lattice_critical_beta, square_lattice_critical_energy
    >>> critical = cylinder(4, n_colors=3, beta=square_lattice_critical_beta(3))
    >>> abs(critical.energy_per_site - square_lattice_critical_energy(3)) < 1e-9
    True
    """
    W = circumference
    row = _row("circumference", W, n_colors, beta, MAX_STATES)
    problem = f"cylinder of {W} sites, {row.n_colors} colors, beta = {row.beta}"
    solution = verified(_leading(row, tol), problem, check=True, advice="raise tol, or narrow the cylinder")
    value, vector = solution.value
    along = float(np.sum(vector * row.apply_score(vector))) / value
    energy = -(float(vector[:, 0] ** 2 @ row.matches) + along) / W
    log_partition_function = float(np.log(value)) / W + row.log_unit
    return Cylinder(
        W,
        row.n_colors,
        row.beta,
        log_partition_function,
        energy,
        residual=solution.residual,
        iterations=solution.iterations,
        converged=solution.converged,
    )


@checked
def torus(rows: Several, columns: Several, n_colors: Several, beta: NonNegative) -> Torus:
    """Compute log Z and the energy per site of a finite periodic lattice exactly.

    The partition function is Z = trace A^length, where A is the transfer matrix of the shorter row. States of the row
    that differ by a shift, a reflection, or a permutation of colors contribute the same, so one of each class is
    propagated. A width of 2 has double bonds, as in `SquareLatticePotts`. Source: the method of transfer matrices
    (H. A. Kramers and G. H. Wannier, Phys. Rev. 60, 252 (1941)), applied here to rows of q colors. ValueError where a
    row has more than 2^14 states.
    """
    width, length = sorted((rows, columns))
    if length > MAX_LENGTH:
        name = "rows" if rows == length else "columns"
        raise ValueError(f"{name} must be at most {MAX_LENGTH}, got {length}; see cylinder for infinite length")
    row = _row("the smaller of rows and columns", width, n_colors, beta, MAX_TORUS_STATES)
    starts, sizes = row.orbits()
    pieces = np.array_split(starts, -(-len(starts) * row.n_states // BLOCK))
    log_terms, along = np.hstack([_closed(row, piece, length) for piece in pieces])
    log_terms = log_terms + np.log(sizes)
    log_trace = float(logsumexp(log_terms))
    energy = -float(np.exp(log_terms - log_trace) @ (row.matches[starts] + along)) / width
    return Torus(rows, columns, row.n_colors, row.beta, log_trace + width * length * row.log_unit, energy)


def _row(name: str, width: int, q: int, beta: float, most: int) -> RowTransfer:
    if width * math.log(q) > math.log(most) + 1e-9:  # q^width itself may have more digits than fit into memory
        raise ValueError(
            f"n_colors or {name} must be smaller: a row of {width} sites with {q} colors has "
            f"{q}^{width} states, more than {most}"
        )
    return RowTransfer(width, q, beta)


def _leading(row: RowTransfer, tol: float, max_iter: int = 200) -> Solution[tuple[float, Array]]:
    """Compute the largest eigenvalue and its eigenvector (states, 1), by restarted Lanczos iteration.

    The start treats all states alike and the iteration keeps symmetries: the other states that become degenerate with
    the leading one at a low temperature never appear.
    """
    vector, residual, value = np.full((row.n_states, 1), row.n_states**-0.5), np.inf, 1.0
    for iteration in range(max_iter):
        basis, images = _krylov(row, vector)
        values, rotations = np.linalg.eigh(basis.T @ images)
        value, best = float(values[-1]), rotations[:, -1:]
        vector = basis @ best
        residual = float(np.linalg.norm(images @ best - value * vector)) / value
        if residual <= tol or iteration + 1 == max_iter:
            break
    return Solution.judged((value, vector), residual, tol, iteration + 1, otherwise="max_iter")


def _krylov(row: RowTransfer, start: Array) -> tuple[Array, Array]:
    """Return an orthonormal basis of start, A start, A^2 start, ... and its image under A, (states, up to KRYLOV)."""
    basis, images = [start / np.linalg.norm(start)], [row.apply(start / np.linalg.norm(start))]
    while len(basis) < KRYLOV:
        fresh = images[-1]
        for _ in range(2):  # one pass would leave rounding errors that are not orthogonal
            for known in basis:
                fresh = fresh - known * np.sum(known * fresh)
        size = np.linalg.norm(fresh)
        if size <= ROUNDING * np.linalg.norm(images[-1]):  # A maps the basis into itself
            break
        basis.append(fresh / size)
        images.append(row.apply(basis[-1]))
    return np.hstack(basis), np.hstack(images)


def _closed(row: RowTransfer, starts: NDArray[np.int64], length: int) -> Array:
    """Return, for each start s, log (A^length)_ss and the mean of equal neighbors in adjacent rows: (2, starts)."""
    vectors = np.zeros((row.n_states, len(starts)))
    vectors[starts, np.arange(len(starts))] = 1
    log_scale = np.zeros(len(starts))
    for _ in range((length - 1) // 2):
        vectors = row.apply(vectors)
        top = np.maximum(vectors.max(axis=0), MIN_WEIGHT)
        vectors, log_scale = vectors / top, log_scale + np.log(top)
    image = row.apply(vectors)
    half = vectors if length % 2 else image  # what the other half of the torus gives, from s to this row
    trace = np.maximum(np.sum(half * image, axis=0), MIN_WEIGHT)
    return np.stack([np.log(trace) + 2 * log_scale, np.sum(half * row.apply_score(vectors), axis=0) / trace])
