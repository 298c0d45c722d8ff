"""Losses that are not convex, with exact proximal operators, and their saddle points by a route of their own."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit


def bend(x):
    """Second derivative of 1/(1 + e^x)."""
    s = expit(x)
    return s * (1 - s) * (2 * s - 1)


def force(x):
    """Minus the first derivative of 1/(1 + e^x)."""
    return expit(x) * expit(-x)


class Sigmoid:
    """The loss 1/(1 + e^t), whose prox jumps where V > 6 sqrt 3. `slope` lacks what a jump adds, and can be scaled.

    The two outer branches of x - V force(x) = t end where 1 + V l'' = 0; each is found by bisection and Newton steps,
    and the prox is that of smaller energy.
    """

    name = "sigmoid"

    def __init__(self, slope=None, jumps_declared=False):
        self.factor, self.declared = slope, jumps_declared

    def value(self, t):
        return expit(-t)

    def prox(self, t, V):
        t = np.asarray(t, float)
        ends = self.spinodals(V)
        if ends is None:
            return _root(t, t, t + V / 4, V)
        first, second = (x - V * force(x) for x in ends)
        left = _root(np.minimum(t, first), np.minimum(t, ends[0]), np.full_like(t, ends[0]), V)
        right = _root(np.maximum(t, second), np.full_like(t, ends[1]), np.maximum(t, second) + V / 4, V)
        energies = [(x - t) ** 2 / (2 * V) + expit(-x) for x in (left, right)]
        return np.where((t < second) | ((t <= first) & (energies[0] <= energies[1])), left, right)

    def force(self, t, prox, V):
        return force(prox)

    def slope(self, t, prox, V):
        return None if self.factor is None else -self.factor * bend(prox) / (1 + V * bend(prox))

    def breakpoints(self, V):
        return [(common_tangent(V)[0], 0.0)] if self.declared and self.spinodals(V) else []

    @staticmethod
    def spinodals(V):
        """The two x between which 1 + V l'' < 0, from the roots of a cubic in the logistic function; None if none."""
        s = np.roots([-2.0, 3.0, -1.0, 1.0 / V])  # s (1 - s)(2 s - 1) + 1/V = 0
        s = np.sort(s[(abs(s.imag) < 1e-12) & (s.real > 0) & (s.real < 0.5)].real)
        return tuple(np.log(s / (1 - s)).tolist()) if len(s) == 2 and s[1] - s[0] > 1e-9 else None


def _root(t, low, high, V):
    """Roots of the rising function x - t - V force(x) between bounds."""
    for _ in range(14):
        middle = (low + high) / 2
        falls = middle - t < V * force(middle)
        low, high = np.where(falls, middle, low), np.where(falls, high, middle)
    x = (low + high) / 2
    for _ in range(4):
        step = (x - t - V * force(x)) / np.maximum(1 + V * bend(x), 1e-8)
        x = np.clip(x - step, low, high)
    for _ in range(40):  # near a spinodal, where Newton's steps fail
        open_ = abs(x - t - V * force(x)) > 1e-13 * (1 + abs(t))
        if not open_.any():
            break
        middle = (low + high) / 2
        falls = middle - t < V * force(middle)
        low, high = np.where(falls, middle, low), np.where(falls, high, middle)
        x = np.where(open_, (low + high) / 2, x)
    return x


def common_tangent(V):
    """The jump (t, x-, x+): x^2/2 + V l(x) has there two tangents of the same slope t and the same intercept."""
    first, second = Sigmoid.spinodals(V)

    def branches(t):
        def gap(x):
            return x - t - V * force(x)

        return brentq(gap, t - 1e-12, first, xtol=1e-14), brentq(gap, second, t + V / 4 + 1e-12, xtol=1e-14)

    def excess(t):
        a, b = ((x - t) ** 2 / (2 * V) + expit(-x) for x in branches(t))
        return a - b

    low, high = second - V * force(second), first - V * force(first)
    t = brentq(excess, low + 1e-9, high - 1e-9, xtol=1e-14)
    return (t, *branches(t))


def averages_over_prox(V, q):
    """E M_V, E f^2 and E f h/q of the sigmoid loss for h ~ N(0, q), as integrals over x = prox with t(x) = x - V force.

    The interval that the jump leaves out is left out; no prox is computed and no derivative of one.
    """
    s = np.sqrt(q)
    jump = common_tangent(V)[1:] if Sigmoid.spinodals(V) else (0.0, 0.0)
    far = 9 * s + V
    pieces = [np.linspace(-far, jump[0], 6001), np.linspace(jump[1], far, 6001)]
    nodes, weights = np.polynomial.legendre.leggauss(8)
    totals = np.zeros(3)
    for edges in pieces:
        half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
        x = (middle[:, None] + half[:, None] * nodes).ravel()
        t = x - V * force(x)
        density = np.exp(-((t / s) ** 2) / 2) / np.sqrt(2 * np.pi) / s * (1 + V * bend(x))
        w = (half[:, None] * weights).ravel() * density
        f = force(x)
        totals += [w @ (expit(-x) + V * f**2 / 2), w @ f**2, w @ (f * t) / q]
    return totals
