"""The square-lattice Potts ferromagnet S = sum over neighbors of delta(s_i, s_j) on cylinders and tori, exactly."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from theory.models import checks
from theory.models.arrays import Array
from theory.numerics import Solution, verified
from theory.potts.row_transfer import RowTransfer

MAX_STATES = 2**18  # of a row of a cylinder
MAX_TORUS_STATES = 2**14  # of a row of a torus: a trace needs all of them
BLOCK = 2**22  # numbers in a block of vectors
KRYLOV = 20  # vectors between two restarts
ROUNDING = 1e-13
TINY = np.finfo(float).tiny  # for starts whose weight underflows at a large beta


@dataclass(frozen=True)
class Cylinder:
    """Bulk of an infinitely long cylinder; the energy is that of -S.

    `residual` is |A v - t v|/t of the leading eigenvector, |v| = 1.
    """

    circumference: int
    n_colors: int
    beta: float
    log_partition_function_per_site: float
    energy_per_site: float
    residual: float


@dataclass(frozen=True)
class Torus:
    """A periodic lattice of rows * columns sites; the energy is that of -S."""

    rows: int
    columns: int
    n_colors: int
    beta: float
    log_partition_function: float
    energy_per_site: float


def cylinder(circumference: int, n_colors: int, beta: float, *, tol: float = 1e-12) -> Cylinder:
    """log Z and energy per site of a cylinder of `circumference` sites and infinite length.

    The energy is the exact derivative of the leading eigenvalue (Hellmann and Feynman). At the critical beta it is that
    of the infinite lattice at every circumference, by self-duality. A width of 2 has double bonds, as in `torus_graph`.
    """
    W = int(checks.dimension(circumference, least=2, name="circumference"))
    tol = checks.positive("tol", tol)
    row = _row(W, n_colors, beta, MAX_STATES)
    problem = f"cylinder of {W} sites, {row.n_colors} colors, beta = {row.beta}"
    solution = verified(_leading(row, tol), problem, check=True, advice="raise tol, or narrow the cylinder")
    value, vector = solution.value
    along = float(np.sum(vector * row.apply_score(vector))) / value
    energy = -(float(vector[:, 0] ** 2 @ row.matches) + along) / W
    return Cylinder(W, row.n_colors, row.beta, float(np.log(value)) / W + row.log_unit, energy, solution.residual)


def torus(rows: int, columns: int, n_colors: int, beta: float) -> Torus:
    """log Z and energy per site of a finite periodic lattice: Z = trace A^length over the states of the shorter row.

    States that differ by a shift or a reflection of the row or by a permutation of colors share their term. Widths of 2
    have double bonds, as in `SquareLatticePotts`.
    """
    shape = [int(checks.dimension(size, least=2, name=name)) for size, name in ((rows, "rows"), (columns, "columns"))]
    width, length = sorted(shape)
    row = _row(width, n_colors, beta, MAX_TORUS_STATES)
    starts, sizes = row.orbits()
    pieces = np.array_split(starts, -(-len(starts) * row.n_states // BLOCK))
    log_terms, along = np.hstack([_closed(row, piece, length) for piece in pieces])
    log_terms = log_terms + np.log(sizes)
    log_trace = float(logsumexp(log_terms))
    energy = -float(np.exp(log_terms - log_trace) @ (row.matches[starts] + along)) / width
    return Torus(shape[0], shape[1], row.n_colors, row.beta, log_trace + width * length * row.log_unit, energy)


def _row(width: int, n_colors: int, beta: float, most: int) -> RowTransfer:
    q = int(checks.dimension(n_colors, least=2, name="n_colors"))
    if q**width > most:
        raise ValueError(f"a row of {width} sites with {q} colors has {q}^{width} states, more than {most}; narrow it")
    return RowTransfer(width, q, checks.non_negative("beta", beta))


def _leading(row: RowTransfer, tol: float, max_iter: int = 200) -> Solution[tuple[float, Array]]:
    """The largest eigenvalue and its eigenvector (states, 1), by restarted Lanczos iteration.

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
        if residual <= tol:
            return Solution((value, vector), "converged", residual, tol, iteration + 1)
    return Solution((value, vector), "max_iter", residual, tol, max_iter)


def _krylov(row: RowTransfer, start: Array) -> tuple[Array, Array]:
    """An orthonormal basis of start, A start, A^2 start, ... and its image, (states, up to KRYLOV)."""
    basis, images = [start / np.linalg.norm(start)], [row.apply(start / np.linalg.norm(start))]
    while len(basis) < KRYLOV:
        fresh = images[-1]
        for _ in range(2):  # once leaves rounding errors
            for known in basis:
                fresh = fresh - known * np.sum(known * fresh)
        size = np.linalg.norm(fresh)
        if size <= ROUNDING * np.linalg.norm(images[-1]):  # nothing new: the basis is closed under A
            break
        basis.append(fresh / size)
        images.append(row.apply(basis[-1]))
    return np.hstack(basis), np.hstack(images)


def _closed(row: RowTransfer, starts: NDArray[np.int64], length: int) -> Array:
    """Of each start s, log (A^length)_ss and the mean matches between two rows of a torus through s: (2, starts)."""
    vectors = np.zeros((row.n_states, len(starts)))
    vectors[starts, np.arange(len(starts))] = 1
    log_scale = np.zeros(len(starts))
    for _ in range((length - 1) // 2):
        vectors = row.apply(vectors)
        top = np.maximum(vectors.max(axis=0), TINY)
        vectors, log_scale = vectors / top, log_scale + np.log(top)
    image = row.apply(vectors)
    half = vectors if length % 2 else image  # the other half of the length, from s to here
    trace = np.maximum(np.sum(half * image, axis=0), TINY)
    return np.stack([np.log(trace) + 2 * log_scale, np.sum(half * row.apply_score(vectors), axis=0) / trace])
