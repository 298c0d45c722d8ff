"""What one label tells about the field of a network: averages over its law for linear labels and for signs.

Given the data the field is sqrt(S) z plus an independent part, which together with the noise of the label has variance
v. With g the derivative of log P(y | sqrt(S) z) by the known part of the field, the equations need E g^2, E g'^2, and
the mean log likelihood E log P, all over z and y.
"""

import math
from typing import Protocol

import numpy as np
from scipy.special import log_ndtr

from theory.core.arrays import Array
from theory.numerics import panelled_legendre

# The normal density at 9.5 is 1e-20, below any rounding error of the sum.
NODES, WEIGHTS = panelled_legendre(np.linspace(-9.5, 9.5, 20), 16)


class Labels(Protocol):
    """The averages for one law of labels, arrays of the shape of S and v."""

    def response(self, S: Array, v: Array) -> Array:
        """E g^2."""

    def squared_slope(self, S: Array, v: Array) -> Array:
        """E g'^2, which is also the derivative of E g^2 by S at constant S + v."""

    def log_likelihood(self, S: Array, v: Array) -> Array:
        """E log P(y | z), up to a constant."""


class LinearLabels:
    """y is normal with mean sqrt(S) z and variance v: g = (y - sqrt(S) z)/v."""

    def response(self, _S: Array, v: Array) -> Array:
        """E g^2."""
        return np.asarray(1 / v)

    def squared_slope(self, _S: Array, v: Array) -> Array:
        """E g'^2."""
        return np.asarray(1 / v**2)

    def log_likelihood(self, _S: Array, v: Array) -> Array:
        """E log P(y | z), up to a constant."""
        return np.asarray(-0.5 * np.log(v))


class SignLabels:
    """y = +-1 with probability Phi(y u), u = z sqrt(S/v).

    Both labels give the same, so each average is 2 E Phi(u) (...) at y = 1. With u = t sqrt(S/(S + v)) the density of t
    and what decays in the average make one standard normal law together, whatever S and v are.
    """

    def _average(self, S: Array, v: Array, power_of_v: int, kind: str) -> Array:
        S, v = np.asarray(S)[..., None], np.asarray(v)[..., None]
        share = v / (S + v)
        u = np.sqrt(S / (S + v)) * NODES
        # In logarithms: far on the left Phi(u) underflows and phi/Phi is large, while the product decays.
        log_phi, log_tail = -0.5 * u * u - 0.5 * math.log(2 * math.pi), log_ndtr(u)
        log_weight = log_tail - 0.5 * share * NODES**2
        ratio = np.exp(log_phi - log_tail)
        factor = {
            "response": lambda: ratio**2,
            "squared_slope": lambda: (ratio * (ratio + u)) ** 2,
            "log_likelihood": lambda: log_tail,
        }[kind]()
        total = (np.exp(log_weight) * factor) @ WEIGHTS
        return np.asarray(2 * np.sqrt(share[..., 0] / (2 * math.pi)) * total / v[..., 0] ** power_of_v)

    def response(self, S: Array, v: Array) -> Array:
        """E g^2."""
        return self._average(S, v, 1, "response")

    def squared_slope(self, S: Array, v: Array) -> Array:
        """E g'^2."""
        return self._average(S, v, 2, "squared_slope")

    def log_likelihood(self, S: Array, v: Array) -> Array:
        """E log P(y | z), up to a constant."""
        return self._average(S, v, 0, "log_likelihood")


LAWS: dict[str, Labels] = {"linear": LinearLabels(), "sign": SignLabels()}
