"""Complex effective ridges of the minors of Sigma, of which each regression of a finite d has one of its own."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theory.core.arrays import Array, ComplexArray
from theory.models import Covariance, Spectrum
from theory.models.conventions import samples_per_unknown
from theory.numerics import Solution, verified
from theory.random_matrix.complex_ridge import ADVICE, TOLERANCE, complex_diagonal

TAYLOR_ORDER = 7  # of the resolvents about the ridge of all of Sigma, from which that of a minor is O(1/d) away
TAYLOR_STEPS = 5  # of Newton's method with them, which costs next to nothing
ROUNDING = 1e-15  # of a step, which needs no second one after it
MAX_STEPS = 30  # with the resolvents themselves; one is enough where d is large

Diagonals = tuple[ComplexArray, ComplexArray, ComplexArray, ComplexArray, ComplexArray]


@dataclass(frozen=True, eq=False)
class Minors:
    """What is known at the ridges of the minors, each at that of its own coordinate: arrays are (N, c)."""

    ridge: Solution[ComplexArray]
    slope: ComplexArray  # dL/dkappa
    resolvent: ComplexArray  # [R]_kk, R = (Sigma + kappa)^-1
    inside: ComplexArray  # [Sigma R]_kk
    covered: ComplexArray  # [R Sigma R]_kk


def minor_ridges(covariance: Covariance, alpha: float, ridges: ComplexArray, start: ComplexArray) -> Minors:
    """Solve L = kappa (1 - df1/alpha) for every minor of Sigma, without one row and column, at complex ridges L (N,).

    `start` (N,) are the effective ridges of Sigma itself. The trace of the minor's resolvent is tr R - (R^2)_kk/R_kk
    with R = (Sigma + kappa)^-1. Newton's method goes to the root with the Taylor series
    of the resolvents about `start`, and the resolvents themselves, at N d^2 operations for each evaluation, confirm it
    or take further steps. Raises ValueError for an infinite d or d = 1, and ConvergenceError.
    """
    if not covariance.is_finite:
        raise ValueError("exact_size needs a finite d: at d = infinity there is nothing to correct")
    spectrum, d = covariance.spectrum, covariance.size
    if d < 2:
        raise ValueError(f"exact_size needs d of at least 2, got {d}")
    n = samples_per_unknown(alpha, d) * (d - 1)

    def equation(kappa: ComplexArray, at: Diagonals) -> tuple[ComplexArray, ComplexArray]:
        one, two, three, trace, trace2 = at
        ratio = two / one
        minor = trace - ratio
        slope = -trace2 + 2 * three / one - ratio**2
        left = 1 - (d - 1 - kappa * minor) / n
        return kappa * left, left + kappa * (minor + kappa * slope) / n

    target = ridges[:, None]
    kappa = np.repeat(start[:, None], spectrum.n_coordinates, axis=1)
    series = _taylor(spectrum, d, start)
    with np.errstate(all="ignore"):
        for _ in range(TAYLOR_STEPS):
            found, slope = equation(kappa, _summed(series, kappa - start[:, None]))
            kappa = kappa - (found - target) / slope
    if not np.isfinite(kappa).all():  # outside the radius of convergence, which happens for very small d
        kappa = np.repeat(start[:, None], spectrum.n_coordinates, axis=1)
    iterations, size = TAYLOR_STEPS, np.inf
    for _ in range(MAX_STEPS):
        *at, inside, covered = _diagonals(spectrum, d, kappa)
        found, slope = equation(kappa, (at[0], at[1], at[2], at[3], at[4]))
        step = (found - target) / slope
        iterations += 1
        before, size = size, float(np.max(abs(step) / abs(kappa)))
        if size <= ROUNDING or max(before, size) <= TOLERANCE:
            break
        kappa = kappa - step
    residual = float(np.max(abs(found - target) / (abs(target) + abs(kappa))))
    solution = Solution.judged(kappa, residual, 1e-12, iterations, admissible=bool(np.all(kappa.imag >= 0)))
    what = f"complex effective ridges of the minors for alpha = {alpha:g}"
    return Minors(verified(solution, what, True, ADVICE), slope, at[0], inside, covered)


def _taylor(spectrum: Spectrum, d: int, start: ComplexArray) -> tuple[list[ComplexArray], list[ComplexArray]]:
    """Return the diagonals (N, c) and the traces (N, 1) of (-1)^m R^(m+1) at `start`, m = 0, 1, ..."""
    resolvent = 1 / (spectrum.eigenvalues + start[:, None])
    power, diagonals, traces = resolvent, [], []
    for _ in range(TAYLOR_ORDER + 1):
        diagonals.append(complex_diagonal(spectrum, power))
        traces.append(d * (power @ spectrum.weights)[:, None])
        power = -power * resolvent
    return diagonals, traces


def _summed(series: tuple[list[ComplexArray], list[ComplexArray]], shift: ComplexArray) -> Diagonals:
    """Sum the series of R and of its derivatives -R^2 and 2 R^3 at start + shift (N, c)."""
    (one, first, second), (trace, first_trace, _) = (_derivatives(terms, shift) for terms in series)
    return one, -first, second / 2, trace, -first_trace


def _derivatives(terms: list[ComplexArray], shift: ComplexArray) -> list[ComplexArray]:
    value, first, second = (np.zeros_like(shift) for _ in range(3))
    for m in reversed(range(len(terms))):  # by Horner's rule
        second = second * shift + 2 * first
        first = first * shift + value
        value = value * shift + terms[m]
    return [value, first, second]


def _diagonals(spectrum: Spectrum, d: int, kappa: ComplexArray) -> ComplexArray:
    """Return [R]_kk, [R^2]_kk, [R^3]_kk, tr R, tr R^2, [Sigma R]_kk and [R Sigma R]_kk at kappa (N, c)."""
    return np.moveaxis(np.array([_one_ridge(spectrum, d, row) for row in kappa]), 1, 0)


def _one_ridge(spectrum: Spectrum, d: int, kappa: ComplexArray) -> ComplexArray:
    # Real and imaginary parts on their own: complex division and powers would take most of the time.
    s = spectrum.eigenvalues
    real, imaginary = s + kappa.real[:, None], kappa.imag[:, None]
    scale = 1 / (real * real + imaginary * imaginary)
    real *= scale
    imaginary = -imaginary * scale
    real2, imaginary2 = real * real - imaginary * imaginary, 2 * real * imaginary

    def on_axis(parts: tuple[Array, Array]) -> ComplexArray:
        if spectrum.loadings is not None:
            a, b = (np.einsum("cr,cr->c", part, spectrum.loadings) for part in parts)
            return np.asarray(a + 1j * b)
        return np.asarray(np.diagonal(parts[0]) + 1j * np.diagonal(parts[1])) if spectrum.axes else mean(parts)

    def mean(parts: tuple[Array, Array]) -> NDArray[np.complex128]:
        return np.asarray(parts[0] @ spectrum.weights + 1j * (parts[1] @ spectrum.weights))

    first, second = (real, imaginary), (real2, imaginary2)
    third = real * real2 - imaginary * imaginary2, real * imaginary2 + imaginary * real2
    inside, covered = ((s * parts[0], s * parts[1]) for parts in (first, second))
    traces = d * mean(first), d * mean(second)
    return np.array([on_axis(first), on_axis(second), on_axis(third), *traces, on_axis(inside), on_axis(covered)])
