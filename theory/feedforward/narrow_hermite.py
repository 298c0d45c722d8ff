"""The kernel of any activation from its Hermite coefficients, by a quadrature that finds kinks and is checked."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from theory.core.arrays import Array
from theory.feedforward.narrow_kernels import Pair
from theory.models.feedforward.narrow import activation_values
from theory.numerics import Solution
from theory.numerics.normal_panels import ORDER, normal_panels, normal_rule

Function = Callable[[Array], Array]
SERIES_LENGTHS = (64, 512, 4096)  # numbers of coefficients that are tried, the longest only where the variance is one
COEFFICIENT_TOLERANCE = 1e-9  # of coefficients relative to the size of the function, n nodes against 2 n
N_KEPT_EXPANSIONS = 8  # expansions at other variances: those of one Jacobian by differences
NEGLIGIBLE_POWER = 1e-13  # share of the power that rounding errors leave out


class HermiteKernel:
    """The tail sum_{2 <= l <= L} c_l q^l + remainder, c_l = mu_l^2/l!, of a function.

    The remainder, which is the power that the first L coefficients leave out, is kept in the gap, where its own part
    of order q^L is neglected; `error` bounds what that does.
    """

    contact = 1.0

    def __init__(self, activation: Function) -> None:
        self.activation = activation
        self._own = expand(activation)
        self._recent: dict[float, Expansion] = {}
        self.mean, self.power = self._own.mean, self._own.power
        c = self._own.coefficients**2
        self.linear_power, self.quadratic_power = float(c[1]), 2 * float(c[2])
        self.c = np.where(np.arange(len(c)) >= 2, c, 0.0)
        self.remainder = self._own.remainder
        if self.power - self.linear_power <= 1e-10 * (self.power + self.mean**2):
            raise ValueError("activation must not be linear: a sum of linear units shows nothing of any one of them")

    def _at(self, variance: float) -> "Expansion":
        """Return the expansion at a variance; the last ones are kept, since they are asked for again and again."""
        if variance == 1.0:
            return self._own
        if variance not in self._recent:
            if len(self._recent) == N_KEPT_EXPANSIONS:
                del self._recent[next(iter(self._recent))]
            self._recent[variance] = expand(self.activation, variance, SERIES_LENGTHS[:-1])
        return self._recent[variance]

    def slope(self, q: Array, _p: Array) -> Array:
        """Return the first derivative of the tail."""
        return _polynomial(np.arange(1.0, len(self.c)) * self.c[1:], q)

    def curvature(self, q: Array, _p: Array) -> Array:
        """Return the second derivative of the tail."""
        order = np.arange(2.0, len(self.c))
        return _polynomial(order * (order - 1) * self.c[2:], q)

    def gap(self, q: Array, p: Array) -> Array:
        """tail(1) - tail(q), with all digits where p is small."""
        # Far from q = 1 there is no cancellation; near it p stands as a factor: 1 - q^l = p (1 + q + ... + q^(l-1)).
        behind = np.cumsum(self.c[::-1])[::-1]
        return np.asarray(p * _polynomial(behind[1:], q) + self.remainder)

    def error(self, q: Array, p: Array) -> Array:
        """Return a bound for the absolute errors of gap and of p times the slope."""
        # The terms left out are c_l (q^l) in the gap and p l c_l q^(l-1) in p times the slope, the c_l of sum R.
        length = len(self.c)
        at = np.maximum(length, 1 / np.maximum(p, 1e-300))
        return np.asarray(self.remainder * (q**length + p * at * q ** (length - 1)))

    def pair(self, A: float, B: float, rho: float) -> Pair:
        """Return the tail of arguments with variances A and B and covariance rho, with derivatives."""
        a, b = self._at(A), self._at(B)
        length = min(len(a.coefficients), len(b.coefficients))
        product = a.coefficients[:length] * b.coefficients[:length]
        root = math.sqrt(A * B)
        c, order = rho / root, np.arange(float(length))
        lost = math.sqrt(a.remainder * b.remainder / (a.power * b.power)) * abs(c) ** (length - 2) * length**2
        raised = a.coefficients[: length - 2] * b.coefficients[2:length] * np.sqrt((order[1:-1]) * order[2:])
        # By the heat equation, d mu_l/dB = (l mu_l + mu_(l+2))/(2 B); the first part cancels that of the correlation.
        by_second = _polynomial(np.where(order[:-2] >= 2, raised, 0.0), np.array(c)) / (2 * B)
        used = np.where(order >= 2, product, 0.0)
        first = _polynomial(order[1:] * used[1:], np.array(c))
        second = _polynomial(order[2:] * order[1:-1] * used[2:], np.array(c))
        value = _polynomial(used, np.array(c))
        return Pair(float(value), float(by_second), float(first) / root, float(second) / root**2, lost)

    def own(self, A: float) -> tuple[float, float]:
        """Return the tail of one argument of variance A with itself, and its derivative by A."""
        one = self._at(A)
        mu = one.coefficients * np.array([1.0, 1.0, math.sqrt(2), math.sqrt(6)] + [0.0] * (len(one.coefficients) - 4))
        value = one.power - float(mu[1]) ** 2
        linear = one.square_growth - float(mu[0] * mu[2] + mu[1] * (mu[1] + mu[3])) / A
        return value, linear

    def slope_at(self, A: float) -> tuple[float, float]:
        """Return E f'(h) for h of variance A, and its derivative by A, which is E f'''(h)/2 by the heat equation."""
        one, root = self._at(A).coefficients, math.sqrt(A)
        return float(one[1]) / root, math.sqrt(6) * float(one[3]) / (2 * root**3)

    def mixed(self, A: float, B: float, rho: float) -> float:
        """Return the derivative of the tail by rho and by B."""
        a, b = self._at(A).coefficients, self._at(B).coefficients
        length = min(len(a), len(b))
        order, root = np.arange(float(length)), math.sqrt(A * B)
        raised = a[: length - 2] * b[2:length] * np.sqrt(order[1:-1] * order[2:]) * order[:-2]
        return float(_polynomial(np.where(order[:-2] >= 2, raised, 0.0)[1:], np.array(rho / root))) / (2 * B * root)

    def own_slope(self, A: float) -> tuple[float, float]:
        """Return E f'(h)^2 - (E f'(h))^2 and its derivative by A; infinite for a function with kinks or jumps."""
        one = self._at(A)
        if one.remainder > 0:
            return math.inf, math.inf
        c, order = one.coefficients, np.arange(float(len(one.coefficients)))
        used = np.where(order >= 2, order * c, 0.0)
        value = float(used @ c) / A
        growth = (order * c)[:-2] + np.sqrt(order[1:-1] * order[2:]) * c[2:]
        return value, float(used[:-2] @ growth) / A**2 - value / A


@dataclass(frozen=True)
class Expansion:
    """Hermite coefficients of f(sqrt(A) z): mu_l/sqrt(l!), what they leave out, and the growth of E f^2 with A."""

    coefficients: Array
    mean: float
    power: float  # E f^2 - mean^2
    remainder: float
    square_growth: float  # d E f^2/dA
    residual: float
    nodes: int


def expand(activation: Function, variance: float = 1.0, lengths: tuple[int, ...] = SERIES_LENGTHS) -> Expansion:
    """Expand f(sqrt(A) z) in normalized Hermite polynomials of a standard normal z, to as many terms as it needs.

    ValueError where the function is not finite or grows too fast, ConvergenceError where n nodes and 2 n disagree.
    """
    width = math.sqrt(variance)

    def function(z: Array) -> Array:
        return activation_values(activation, width * z)

    # Panels that end at kinks and jumps, where Gauss-Hermite nodes would converge like a power of their number.
    edges = normal_panels(function)
    for length in lengths:
        # Near z = 0 the polynomial of degree l has the wavelength 2 pi/sqrt(l): a panel holds about one.
        fine = _refined(edges, 6.0 / math.sqrt(length))
        z, f, weights = _nodes(function, fine, 2 * ORDER)
        coefficients = _coefficients(z, f * weights, length)
        square = float(weights @ f**2)
        mean, power = float(coefficients[0]), square - float(coefficients[0]) ** 2
        remainder = power - float(np.sum(coefficients[1:] ** 2))
        if remainder <= NEGLIGIBLE_POWER * square:
            remainder = 0.0
            break
    z1, f1, weights1 = _nodes(function, fine, ORDER)
    coarse = _coefficients(z1, f1 * weights1, length)
    scale = math.sqrt(square)
    residual = float(abs(coarse - coefficients).max()) / scale
    what, advice = "Hermite coefficients of an activation", "the activation varies too fast"
    Solution.verified(coefficients, residual, COEFFICIENT_TOLERANCE, len(z), what=what, advice=advice)
    # Even and odd functions have zeros here. They must be exact: whether q = 0 is ever unstable depends on one of them.
    coefficients = np.where(abs(coefficients) > 1e-14 * scale, coefficients, 0.0)
    growth = float(weights @ (f**2 * (z**2 - 1))) / (2 * variance)
    return Expansion(coefficients, mean, power, remainder, growth, residual, len(z))


def _refined(edges: Array, widest: float) -> Array:
    """Divide panels that are wider than `widest`, so that polynomials of high degree are resolved too."""
    parts = np.maximum(1, np.ceil(np.diff(edges) / widest)).astype(int)
    inner = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(edges[:-1], edges[1:], parts, strict=True)]
    return np.append(np.concatenate(inner), edges[-1])


def _nodes(function: Function, edges: Array, order: int) -> tuple[Array, Array, Array]:
    z, weights = normal_rule(edges, order)
    return z, function(z), weights


def _coefficients(z: Array, weighted: Array, length: int) -> Array:
    """Return sum_i weighted_i h_l(z_i) for l < length, h_l the normalized Hermite polynomials."""
    found = np.empty(length)
    # The normalized polynomials stay finite where those with integer coefficients overflow.
    before, now = np.zeros_like(z), np.ones_like(z)
    for order in range(length):
        found[order] = weighted @ now
        before, now = now, (z * now - math.sqrt(order) * before) / math.sqrt(order + 1)
    return found


def _polynomial(coefficients: Array, q: Array) -> Array:
    """Evaluate sum_l coefficients_l q^l; of a few q without the terms that q^l makes smaller than rounding errors."""
    q = np.asarray(q, float)
    if q.size > 64:
        return np.asarray(np.polynomial.polynomial.polyval(q, coefficients))
    largest = float(abs(q).max())
    if 0 < largest < 1:
        coefficients = coefficients[: 8 + int(90.0 / -math.log(largest))]
    with np.errstate(under="ignore"):
        powers = q.reshape(-1, 1) ** np.arange(len(coefficients))
    return np.asarray((powers @ coefficients).reshape(q.shape))
