"""The loss 1/(1 + exp(t)) of a margin t: a smooth count of wrong labels, which is not convex."""

import math

import numpy as np
from scipy.special import expit

from theory.core.arrays import Array

LARGEST_CONVEX = 6 * math.sqrt(3)  # response V up to which x^2/2 + V l(x) is convex
HALVINGS, STEPS = 14, 40


class Sigmoid:
    """The loss 1/(1 + exp(t)) with its proximal operator, which jumps at responses V above 6 sqrt(3).

    The stationary points x = t + V f(x), f = exp(x)/(1 + exp(x))^2, lie on two rising branches; each root is found by
    halving and Newton's steps between bounds, and that of less energy is the prox.
    """

    name = "sigmoid"

    def value(self, t: Array) -> Array:
        return np.asarray(expit(-t))

    def derivative(self, t: Array) -> Array:
        return np.asarray(-expit(t) * expit(-t))

    def prox(self, t: Array, V: float) -> Array:
        t = np.asarray(t, float)
        ends = _ends_of_branches(V)
        if ends is None:
            return _root(t, t, t + V / 4, V)
        first, second = (x + V * self.derivative(np.array(x)) for x in ends)
        left = _root(np.minimum(t, first), np.minimum(t, ends[0]), np.full_like(t, ends[0]), V)
        right = _root(np.maximum(t, second), np.full_like(t, ends[1]), np.maximum(t, second) + V / 4, V)
        energies = [(x - t) ** 2 / (2 * V) + expit(-x) for x in (left, right)]
        return np.where((t < second) | ((t <= first) & (energies[0] <= energies[1])), left, right)

    def force(self, _t: Array, prox: Array, _V: float) -> Array:
        return -self.derivative(prox)

    def slope(self, _t: Array, prox: Array, V: float) -> Array:
        bend = _bend(prox)
        return np.asarray(-bend / (1 + V * bend))

    def breakpoints(self, _V: float) -> list[tuple[float, float]]:
        return []


def _bend(x: Array) -> Array:
    s = expit(x)
    return np.asarray(s * (1 - s) * (2 * s - 1))


def _ends_of_branches(V: float) -> tuple[float, float] | None:
    """Return the two x between which 1 + V l'' < 0.

    With s the logistic function of x they solve s (1 - s)(1 - 2 s) = 1/V, a cubic in s - 1/2 whose roots are cosines of
    a third of an angle. Written so, they stay two where they merge, and neither loses digits where V is large.
    """
    if V <= LARGEST_CONVEX:
        return None
    third = math.asin(LARGEST_CONVEX / V) / 3
    low = math.sin(third / 2) ** 2 + math.sin(third) / math.sqrt(12)
    return math.log(low) - math.log1p(-low), -2 * math.atanh(2 * math.sin(third) / math.sqrt(3))


def _root(t: Array, low: Array, high: Array, V: float) -> Array:
    """Return the roots of the rising function x - t - V f(x) between bounds."""

    def excess(x: Array) -> Array:
        return np.asarray(x - t - V * expit(x) * expit(-x))

    for _ in range(HALVINGS):
        middle = (low + high) / 2
        falls = excess(middle) < 0
        low, high = np.where(falls, middle, low), np.where(falls, high, middle)
    x = (low + high) / 2
    for _ in range(4):
        x = np.clip(x - excess(x) / np.maximum(1 + V * _bend(x), 1e-8), low, high)
    for _ in range(STEPS):  # at the end of a branch, where Newton's steps fail
        open_ = abs(excess(x)) > 1e-13 * (1 + abs(t))
        if not open_.any():
            break
        middle = (low + high) / 2
        falls = excess(middle) < 0
        low, high = np.where(falls, middle, low), np.where(falls, high, middle)
        x = np.where(open_, (low + high) / 2, x)
    return np.asarray(x)
