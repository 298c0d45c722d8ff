"""Filters of gradient training as sums of ridges: phi(s) = sum_j w_j/(s + L_j) with complex ridges L_j.

A linear model that is trained by gradient steps from zero has the coefficients phi(C) c, where C is the matrix of
second moments of its inputs, c that of inputs and target, and the filter phi(s) = (1 - psi(s))/s follows from the
residual psi of the optimizer, which is e^(-ts) for gradient flow and a polynomial otherwise. With psi written as an
integral around the spectrum, and the integral as a sum, training is a weighted sum of ridge regressions, and all that
is known of ridge regression becomes known of training.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import hankel

from theory.core import Array, Count, checked, checks
from theory.core.arrays import ComplexArray

MOST_EXPONENTIAL_POLES = 14  # double precision resolves no more: the error falls by 9.3 a pole and is 2e-13 here
TALBOT_NODES = 18  # in the upper half plane: error 1e-14 of e^z on the negative axis
LEAST_TALBOT_STEPS = 20
NEGLIGIBLE_RESIDUAL = 1e-14  # of a descent at the top of the spectrum, where Talbot nodes know only e^(-mu), u > 0
ELLIPSE_GROWTH = 4.0  # the residual polynomial grows by e^4 from the spectrum to the ellipse around it
NODES_A_STEP = 4.8  # of the upper half of this ellipse: the trapezoidal rule has an error of e^-38


@dataclass(frozen=True, eq=False)
class Filter:
    """A filter phi(s) = 2 Re sum_j w_j/(s + L_j), whose ridges `ridges` L (N,) lie in the upper half plane.

    `weights` are the complex w (N,). Their sum, doubled and real, is 1, so that nothing of the target is left out of
    the sum. `error` is the largest difference between s phi(s) and its sum, measured on a grid of the spectrum.
    """

    ridges: ComplexArray
    weights: ComplexArray
    error: float

    def __call__(self, s: Array) -> Array:
        """Evaluate phi at eigenvalues s (...)."""
        return np.asarray(2 * (self.weights / (np.asarray(s)[..., None] + self.ridges)).sum(-1).real)

    @property
    def whole(self) -> tuple[ComplexArray, ComplexArray]:
        """The ridges and weights (2 N,) of both half planes, the conjugates last."""
        return np.concatenate([self.ridges, self.ridges.conj()]), np.concatenate([self.weights, self.weights.conj()])

    def shifted(self, lam: float) -> "Filter":
        """Return the filter of training with a ridge lam, phi(s + lam)."""
        return Filter(self.ridges + lam, self.weights, self.error)


@lru_cache(maxsize=16)
@checked
def exponential_poles(n: Count = MOST_EXPONENTIAL_POLES) -> tuple[ComplexArray, ComplexArray]:
    """Compute poles -zeta_j and weights w_j with e^(-x) = 1 - x sum_j w_j/(x + zeta_j) for all x >= 0.

    Both have shape (n/2,), in the upper half plane; the sum runs over them and their conjugates. It is the best
    rational approximation of degree n on the half line, by the method of Caratheodory and Fejer: the half line is
    mapped to the circle, and the singular vectors of the Hankel matrix of Chebyshev coefficients hold the poles
    (Trefethen, Weideman and Schmelzer, BIT 46, 653 (2006)). Its error is about 9.3^-n, and 2e-13 for n = 14, beyond
    which rounding wins. Poles of such an error may be 1e-5 apart, by the rounding of each processor: they stand for
    the sum, not for themselves. Raises ValueError unless n is even and at most 14.

    >>> zeta, w = exponential_poles(14)
    >>> f"{zeta[0]:.4f} {2 * w.sum().real:.9f}"
    '5.6232+1.1941j 1.000000000'
    """
    if n % 2 or n > MOST_EXPONENTIAL_POLES:
        raise ValueError(f"n must be even and at most {MOST_EXPONENTIAL_POLES}, got {n}")
    degree, points, scale = 75, 1024, 9.0  # of the Chebyshev series, on the circle, and of the map of the half line
    circle = np.exp(2j * np.pi * np.arange(points) / points)
    t = circle.real
    series = np.fft.fft(np.exp(scale * (t - 1) / (t + 1 + 1e-16))).real / points
    analytic = np.polyval(series[degree::-1], circle)
    left, singular, right = np.linalg.svd(hankel(series[1 : degree + 1]))
    u, v = left[::-1, n], right[n]
    padding = np.zeros(points - degree)
    ratio = np.fft.fft(np.concatenate([u, padding])) / np.fft.fft(np.concatenate([v, padding]))
    rational = analytic - singular[n] * circle**degree * ratio
    roots = np.roots(v)
    outside = roots[abs(roots) > 1]
    numerator = (np.fft.fft(rational * np.polyval(np.poly(outside), circle)).real / points)[n::-1]
    residues = [np.polyval(numerator, q) / np.polyval(np.poly(outside[outside != q]), q) for q in outside]
    zeta = scale * (outside - 1) ** 2 / (outside + 1) ** 2
    weights = -4 * np.array(residues) / (outside**2 - 1)  # minus the residue of the approximation over its pole
    upper = np.argsort(-zeta.real)
    upper = upper[zeta[upper].imag > 0]
    return np.asarray(zeta[upper], dtype=complex), np.asarray(weights[upper], dtype=complex)


@lru_cache(maxsize=16)
def unit_flow(n: int = MOST_EXPONENTIAL_POLES) -> Filter:
    """Build the filter of gradient flow at the time 1, by which that of every time is known with its error."""
    zeta, weights = exponential_poles(n)
    unit = Filter(zeta, weights, 0.0)
    x = np.concatenate([[0.0], np.geomspace(1e-8, 1e4, 400)])
    return Filter(zeta, weights, float(abs(np.exp(-x) - 1 + x * unit(x)).max()))


def flow_filter(time: float, n: int = MOST_EXPONENTIAL_POLES) -> Filter:
    """Build the filter (1 - e^(-ts))/s of gradient flow at the time t > 0: its ridges are zeta_j/t, its weights w_j."""
    unit = unit_flow(n)
    return Filter(unit.ridges / time, unit.weights, unit.error)


def pair_weights(ridges: ComplexArray, weights: ComplexArray) -> ComplexArray:
    """Return w_i w_j/(L_i - L_j) for all pairs of different ridges, (N, N), with a zero diagonal."""
    gaps = ridges[:, None] - ridges
    np.fill_diagonal(gaps, 1.0)
    pairs = weights[:, None] * weights / gaps
    np.fill_diagonal(pairs, 0.0)
    return np.asarray(pairs)


@dataclass(frozen=True)
class Recursion:
    """The residual polynomial psi of `steps` steps of size `step` with momentum, psi_0 = 1, psi_1 = 1 - step s.

    In step k = 2, 3, ... psi becomes (1 - step s) psi + b (psi - psi before) for the heavy ball with b = `momentum`,
    which is gradient descent at b = 0. Where `momentum` is None the method is Nesterov's, and psi becomes
    (1 - step s) (psi + b (psi - psi before)) with b = (k - 1)/(k + 2).
    """

    step: float
    steps: int
    momentum: float | None

    def __call__(self, s: NDArray[Any]) -> NDArray[Any]:
        """Evaluate psi at real or complex s (...)."""
        earlier: NDArray[Any] = np.ones_like(s)
        now = 1 - self.step * s
        for k in range(2, self.steps + 1):
            if self.momentum is None:
                ahead = now + (k - 1) / (k + 2) * (now - earlier)
                earlier, now = now, (1 - self.step * s) * ahead
            else:
                earlier, now = now, (1 - self.step * s) * now + self.momentum * (now - earlier)
        return now


def polynomial_filter(residual: Recursion, top: float) -> Filter:
    """Build the filter of an optimizer for a spectrum within [0, top], on which its residual must stay bounded by 1.

    Plain descent of many steps is e^(-mu) in u = -log(1 - step s), and takes the few nodes of Talbot's contour of the
    exponential. Any other polynomial takes a trapezoidal rule on an ellipse around the spectrum (Bernstein's), whose
    number of nodes grows with the degree; MemoryError where their pairs do not fit.
    """
    reach = residual.step * top
    # Beyond step s = 1 the residual of descent has alternating signs, and nothing may be left of it.
    smooth = reach <= 1 or (reach - 1) ** residual.steps < NEGLIGIBLE_RESIDUAL
    if residual.momentum == 0 and residual.steps >= LEAST_TALBOT_STEPS and smooth:
        return _measured(residual, *_talbot(residual), top)
    pairs = (2 * NODES_A_STEP * residual.steps) ** 2
    checks.fits_in_memory(f"the filter of {residual.steps} steps", 4 * pairs, "take fewer steps, or a Flow")
    return _measured(residual, *_ellipse(residual, top), top)


def short_descent_filter(residual: Recursion, top: float, n: Count) -> Filter:
    """Build the filter of plain descent from n poles, those of the best rational approximation of the exponential.

    It serves where the cost grows fast with the number of ridges. Its error is 3e-10 for n = 10 and a hundred steps or
    more, 6e-9 at twenty and 3e-7 at eight; the weights are scaled so that their sum is 1.
    """
    zeta, weights = exponential_poles(n)
    ridges, found = _carried(residual, zeta, zeta * weights)
    return _measured(residual, ridges, found / (2 * found.sum().real), top)


def _talbot(residual: Recursion) -> tuple[ComplexArray, ComplexArray]:
    n = 2 * TALBOT_NODES
    theta = np.pi * (2 * np.arange(TALBOT_NODES) + 1) / n
    # The contour and its constants are those of Trefethen, Weideman and Schmelzer, BIT 46, 653 (2006).
    cotangent = 1 / np.tan(0.6407 * theta)
    z = n * (0.5017 * theta * cotangent - 0.6122 + 0.2645j * theta)
    slope = n * (0.5017 * cotangent - 0.5017 * 0.6407 * theta / np.sin(0.6407 * theta) ** 2 + 0.2645j)
    return _carried(residual, z, np.exp(z) * slope / n / 1j)


def _carried(residual: Recursion, z: ComplexArray, residues: ComplexArray) -> tuple[ComplexArray, ComplexArray]:
    """Carry e^z ~ sum residues/(z_j - z) to ridges and weights of descent, by e^(-mu) with s = (1 - e^(-u))/step."""
    m, step = residual.steps, residual.step
    shrunk = np.exp(z / m)
    ridges = (shrunk - 1) / step
    return np.asarray(ridges, dtype=complex), residues * shrunk / (m * step * ridges)


def _ellipse(residual: Recursion, top: float) -> tuple[ComplexArray, ComplexArray]:
    count = int(np.ceil(NODES_A_STEP * max(residual.steps, 2)))
    theta = np.pi * (np.arange(count) + 0.5) / count
    angle = ELLIPSE_GROWTH / max(residual.steps, 2) + 1j * theta
    z = top / 2 * (1 + np.cosh(angle))
    slope = top / 2 * np.sinh(angle) / count / 2  # dz/(2 pi i) at nodes pi/count apart
    return np.asarray(-z.conj(), dtype=complex), (residual(z) * slope / z).conj()


def _measured(residual: Recursion, ridges: ComplexArray, weights: ComplexArray, top: float) -> Filter:
    found = Filter(ridges, weights, 0.0)
    s = top * np.concatenate([[0.0], np.geomspace(1e-8, 1, 200), (1 - np.cos(np.linspace(0, np.pi, 200))) / 2])
    return Filter(ridges, weights, float(abs(1 - residual(s) - s * found(s)).max()))
