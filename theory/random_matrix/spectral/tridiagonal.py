"""Roots, shares and densities of a dense ensemble at real nu inside a bulk, by one reduction to tridiagonal form each.

With Sigma whitened, the scalar equation and the share below nu need traces and the determinant of h + A at a complex h,
A = Sigma^-1/2 (Lam D - nu) Sigma^-1/2, and the density the trace of (h + A)^-1 Sigma^-1. For A = Q T Q^T with T
tridiagonal the first take O(d) and the last O(d^2), given Q: a third of what eigenvectors cost. The pivots of h + T
all have negative imaginary parts, as h has, so that none vanishes and the argument of the determinant is their sum.
"""

import math
from typing import Any

import numpy as np
from scipy.linalg.lapack import dorghr, dsytrd

from theory.core.arrays import Array, ComplexArray
from theory.core.kernels import cached_njit
from theory.random_matrix.row_response import inverse_weights
from theory.random_matrix.spectral.ensemble import DenseEnsemble
from theory.random_matrix.spectral.equation import MAX_RESIDUAL, SMALL_IMAGINARY_PART, Branch

NEWTON_STEPS = 25
CLOSE = 1e-7  # of a step, relative to h and to Im h, after which one more is the last
BLOCK = 32  # columns that LAPACK reduces at once


def solved_inside(
    ensemble: DenseEnsemble, nu: Array, start: ComplexArray, traced: bool = True
) -> tuple[Branch, ComplexArray, Array]:
    """Return roots, tr (S - nu)^-1/d and shares below at nu (points,), from starts near the roots.

    Where no root with Im h < 0 is certified the branch is neither inside nor outside: such points need `solve`. Sigma
    must have full rank. The traces, which need Q, are zero unless `traced`.
    """
    inner, inverse = ensemble.whitened
    d, n = len(inverse), len(nu)
    h, residual, share, trace = start.astype(complex), np.full(n, np.inf), np.zeros(n), np.zeros(n, complex)
    inside = np.zeros(n, bool)
    for row, point in enumerate(nu):
        matrix = np.array(inner, order="F")
        matrix[np.diag_indices(d)] -= point * inverse
        reflectors, diagonal, beside, tau, _ = dsytrd(matrix, lower=1, lwork=BLOCK * d, overwrite_a=1)
        found = _root(ensemble, diagonal, beside, complex(h[row]))
        if found is None:
            continue
        h[row], residual[row], inside[row] = *found, True
        pivots = np.empty(d, complex)
        _pivots(diagonal, beside, h[row], pivots)
        if traced:
            turn, _ = dorghr(reflectors, tau, lwork=BLOCK * d, overwrite_a=1)
            trace[row] = _weighted_trace(pivots, beside, turn, inverse) / d
        share[row] = _share(ensemble, pivots, complex(h[row]), _traces(diagonal, beside, h[row], pivots)[0])
    return Branch(h, residual, inside, np.zeros(n, bool)), trace, share


def _root(ensemble: DenseEnsemble, diagonal: Array, beside: Array, h: complex) -> tuple[complex, float] | None:
    """Return the root that Newton's method finds from h, and its residual, if it is surely that inside a bulk."""
    n, rows = ensemble.alpha * len(diagonal), ensemble.rows
    pivots, ended = np.empty(len(diagonal), complex), False
    for _ in range(NEWTON_STEPS):
        first, second = _traces(diagonal, beside, h, pivots)
        weight, slope, _ = (complex(each) for each in inverse_weights(rows, np.array(first / n)))
        step = (h - weight) / (1 - h * slope * second / n / weight)
        if ended or not math.isfinite(abs(step)):
            break
        new = h - step
        h = new if new.imag < 0 else complex(new.real, 0.3 * h.imag)
        ended = abs(step) <= CLOSE * abs(h) and abs(step) <= 0.01 * abs(h.imag)
    residual = abs(h - weight) / (abs(h) + abs(weight))
    sure = ended and h.imag < -SMALL_IMAGINARY_PART * abs(h) and abs(step) < -0.1 * h.imag
    return (h, residual) if sure and residual < MAX_RESIDUAL else None


def _share(ensemble: DenseEnsemble, pivots: ComplexArray, h: complex, first: complex) -> float:
    """Return the share of eigenvalues below nu at a root, as `share_below` does."""
    d, alpha, rows = len(pivots), ensemble.alpha, ensemble.rows
    falling = -float(np.angle(pivots).sum()) / (math.pi * d)
    if rows.alike:
        rising, product = abs(math.atan2(h.imag, h.real)) / math.pi, -h.imag
    else:
        delta = first / (alpha * d)
        rising, product = float(abs(np.angle(1 + rows.nodes * delta)) @ rows.probabilities) / math.pi, (h * delta).imag
    return falling - alpha * (rising - product / math.pi)


@cached_njit(error_model="numpy")
def _pivots(diagonal: Any, beside: Any, h: Any, pivots: Any) -> None:
    """Write the pivots of h + T from its first row on."""
    pivots[0] = h + diagonal[0]
    for k in range(1, len(diagonal)):
        pivots[k] = h + diagonal[k] - beside[k - 1] * beside[k - 1] / pivots[k - 1]


@cached_njit(error_model="numpy")
def _traces(diagonal: Any, beside: Any, h: Any, pivots: Any) -> Any:
    """Return the traces of (h + T)^-1 and of its square; the pivots are overwritten.

    An entry of the diagonal of the inverse has the pivots from both ends: 1/(p + p' - h - T_kk). The trace of the
    square is the derivative in h, of which steps are made, by that of the recursion.
    """
    d = len(diagonal)
    _pivots(diagonal, beside, h, pivots)
    one, first, second = 1.0 + 0.0 * h, 0.0 * h, 0.0 * h
    slope, bend = one, 0.0 * h
    for k in range(d):
        if k:
            ratio = beside[k - 1] * beside[k - 1] / (pivots[k - 1] * pivots[k - 1])
            bend = ratio * (bend - 2.0 * slope * slope / pivots[k - 1])
            slope = one + ratio * slope
        logarithmic = slope / pivots[k]
        second += logarithmic * logarithmic - bend / pivots[k]
    back = h + diagonal[d - 1]
    first += one / pivots[d - 1]
    for k in range(d - 2, -1, -1):
        turned = beside[k] * beside[k] / back
        first += one / (pivots[k] - turned)
        back = h + diagonal[k] - turned
    return first, second


@cached_njit(error_model="numpy")
def _weighted_trace(pivots: Any, beside: Any, turn: Any, weights: Any) -> Any:
    """Return the trace of (h + A)^-1 diag(weights) for A = Q T Q^T, Q (d, d) = `turn` in columns.

    Each row q of Q gives x^T P^-1 x with h + T = L P L^T and L x = q, all rows at once.
    """
    d = len(pivots)
    real, imaginary = turn[:, 0].copy(), np.zeros(d)
    total = 0.0 * pivots[0]
    for k in range(d):
        if k:
            factor = beside[k - 1] / pivots[k - 1]
            up, across = factor.real, factor.imag
            column = turn[:, k]
            for j in range(d):
                kept = real[j]
                real[j] = column[j] - up * kept + across * imaginary[j]
                imaginary[j] = -up * imaginary[j] - across * kept
        square, mixed = 0.0, 0.0
        for j in range(d):
            square += weights[j] * (real[j] * real[j] - imaginary[j] * imaginary[j])
            mixed += weights[j] * real[j] * imaginary[j]
        total += (square + 2j * mixed) / pivots[k]
    return total
