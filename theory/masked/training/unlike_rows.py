"""Effective ridges of rows of different scale at complex ridges, and what follows for the errors along training."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from theory.core.arrays import Array, ComplexArray
from theory.models import RowScales, Spectrum
from theory.numerics import Solution, verified
from theory.numerics.filters import Filter
from theory.random_matrix.complex_ridge import ADVICE, TOLERANCE, solve_complex_ridge
from theory.random_matrix.effective_ridge import solve_effective_ridge
from theory.random_matrix.row_response import inverse_weights

Excess = Callable[[ComplexArray, ComplexArray], tuple[ComplexArray, ComplexArray]]  # of delta, at ridges L; its slope

TURNS = (6, 60, 600)  # steps in which the argument of the ridge is turned from zero to its own
STEPS_A_TURN = 6  # of Newton's method, before the last turn
STEPS_AT_LAST = 40


@dataclass(frozen=True, eq=False)
class UnlikeRidges:
    """What is known at complex ridges L (N,): kappa, the weight g = L/kappa, and delta = df1(kappa)/(alpha g)."""

    kappa: Solution[ComplexArray]
    weight: ComplexArray
    delta: ComplexArray


def solve_unlike_ridges(spectrum: Spectrum, alpha: float, ridges: ComplexArray, rows: RowScales) -> UnlikeRidges:
    """Solve delta g(delta) = df1(L/g(delta))/alpha, g = E[tau/(1 + tau delta)], at complex ridges L (N,).

    It is the equation of rows of different scale tau at a complex ridge, for the delta = tr Sigma Q/n of Q =
    (X'X/n + L)^-1, which is analytic in L. Newton's method follows it from the real root at |L| while the argument of L
    is turned to its own. Raises ConvergenceError.
    """
    seen = spectrum.eigenvalues > 0
    s, weights = spectrum.eigenvalues[seen], spectrum.weights[seen]
    sizes: Array = np.abs(ridges)
    real = solve_effective_ridge(spectrum, np.array(alpha), sizes, row_scales=rows).value
    freedom = (s / (s + real[:, None])) @ weights / alpha
    start = (freedom * real / sizes).astype(complex)

    def excess(delta: ComplexArray, target: ComplexArray) -> tuple[ComplexArray, ComplexArray]:
        g, second, _ = inverse_weights(rows, delta)
        left = 1 / (s + (target / g)[:, None])
        value = delta * g - (s * left) @ weights / alpha
        return value, g - delta * second + (s * left * left) @ weights * target * second / g**2 / alpha

    for turns in TURNS:  # more of them where large turns end on another branch
        delta, iterations = _turned(start, sizes, np.angle(ridges), excess, turns)
        g = inverse_weights(rows, delta)[0]
        kappa = ridges / g
        residual = float(np.max(abs(excess(delta, ridges)[0]) / (1 + abs(delta * g))))
        admissible = bool(np.all(kappa.imag >= 0) and np.all(delta.imag <= 0))
        solution = Solution.judged(kappa, residual, 1e-12, iterations, admissible=admissible)
        if solution.converged:
            break
    found = verified(solution, f"complex ridge of rows of different scale for alpha = {alpha:g}", True, ADVICE)
    return UnlikeRidges(found, np.asarray(g), np.asarray(delta))


def _turned(start: ComplexArray, sizes: Array, angles: Array, excess: Excess, turns: int) -> tuple[ComplexArray, int]:
    """Follow the root delta while the argument of the ridges of these sizes is turned from zero to `angles`."""
    delta, made = start, 0
    with np.errstate(all="ignore"):  # what leaves the range of numbers has no small residual
        for turn in range(1, turns + 1):
            target = sizes * np.exp(1j * angles * turn / turns)
            for _ in range(STEPS_A_TURN if turn < turns else STEPS_AT_LAST):
                value, slope = excess(delta, target)
                step = value / slope
                delta, made = delta - step, made + 1
                if np.all(abs(step) <= TOLERANCE * abs(delta)):
                    break
    return delta, made


def complex_ridges(spectrum: Spectrum, alpha: float, ridges: ComplexArray, rows: RowScales) -> ComplexArray:
    """Solve for the complex effective ridges (N,) of rows that are alike or of different scale."""
    if rows.alike:
        return solve_complex_ridge(spectrum, alpha, ridges).value
    return solve_unlike_ridges(spectrum, alpha, ridges, rows).kappa.value


def unlike_pairs(
    found: Filter, spectrum: Spectrum, alpha: float, rows: RowScales, at: UnlikeRidges
) -> tuple[ComplexArray, ComplexArray, ComplexArray]:
    """Return w_i w_j/((kappa_i - kappa_j)(1 - c m)), w_i^2/(1 - c m) of one ridge, and the train factors of pairs.

    Here m_ij = tr Sigma^2 R_i R_j/n and c_ij = E[tau^2/((1 + tau delta_i)(1 + tau delta_j))]/(g_i g_j), and a pair has
    the train error E[tau/((1 + tau delta_i)(1 + tau delta_j))] times its test error: the residual of a fitted row is
    that of the row left out, over 1 + tau delta, at each of the two ridges. Arrays are (2 N, 2 N) and (2 N,), over
    both halves of the plane. Derived here from the equations for one ridge.
    """
    kappa, g, delta = (np.concatenate([x, x.conj()]) for x in (at.kappa.value, at.weight, at.delta))
    weights = found.whole[1]
    s, p = spectrum.eigenvalues, spectrum.weights
    inside = s / (s + kappa[:, None])
    moments = (inside * p) @ inside.T / alpha
    kept = 1 / (1 + rows.nodes * delta[:, None])
    scaled = rows.nodes * kept
    squares = (scaled * rows.probabilities) @ scaled.T / (g[:, None] * g)
    on_rows = (kept * rows.probabilities * rows.nodes) @ kept.T
    left = 1 - squares * moments
    gaps = kappa[:, None] - kappa
    np.fill_diagonal(gaps, 1.0)
    pairs = weights[:, None] * weights / (gaps * left)
    np.fill_diagonal(pairs, 0.0)
    return np.asarray(pairs), weights**2 / np.diagonal(left), np.asarray(on_rows)
