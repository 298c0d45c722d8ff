"""The equations of groups of binary solutions at a given overlap, in a single unknown."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln, log_ndtr, logsumexp

from theory.core import Array
from theory.perceptron.discrete_saddle import hazard
from theory.perceptron.gaussian_average import gaussian_grid

STEP, REACH = 0.1, 9.0
MAX_RELATIVE_STEP = 0.3  # step over the length on which H varies


class Output(NamedTuple):
    """Averages over a pattern: E <g>^2, the log probability, and alpha E A^2 of sums and of differences."""

    squared_mean: float
    log_success: float
    sums: float
    differences: float


class Weights(NamedTuple):
    """Averages over a site: E <m>^2, E <m m'>, the logarithm of the normalization, E C^2 of sums and differences."""

    squared_mean: float
    product: float
    log_partition: float
    sums: float
    differences: float


@dataclass(frozen=True)
class BinaryGroups:
    """The equations of y copies of binary weights at mutual overlap q1, in the single unknown q0."""

    alpha: float
    margin: float
    copies: int
    overlap: float
    step: float = STEP

    def output(self, q0: float) -> Output:
        """Return the averages over a pattern at the overlap q0 of two groups.

        The weight Phi^y moves the mass of z1 far up where z0 is very negative. It is log-concave: z1 is therefore
        written as its mode, found by Newton's method for every z0, plus t on a fixed grid.
        """
        y, scale = self.copies, math.sqrt(1 - self.overlap)
        z0, weights = gaussian_grid(self.step, REACH)
        slope = math.sqrt(max(self.overlap - q0, 0.0)) / scale
        offset = (math.sqrt(q0) * z0 - self.margin) / scale
        step = min(self.step, MAX_RELATIVE_STEP * self.step / STEP / slope) if slope else self.step
        half = math.ceil(REACH / step)
        t = np.arange(-half, half + 1) * step
        z1 = _modes(offset, slope, y)[:, None] + t
        h = offset[:, None] + slope * z1
        logs = y * log_ndtr(h) - z1**2 / 2
        top = logs.max(axis=1, keepdims=True)
        law = np.exp(logs - top)
        total = law.sum(axis=1)
        law /= total[:, None]
        ratio = hazard(-h)
        g = ratio / scale
        curvature = -(ratio**2 + h * ratio) / scale**2
        mean_g = (law * g).sum(axis=1)
        differences = (law * curvature).sum(axis=1)
        sums = differences + y * (law * (g - mean_g[:, None]) ** 2).sum(axis=1)
        log_success = top[:, 0] + np.log(total) + math.log(step) - math.log(2 * math.pi) / 2
        return Output(
            float(weights @ mean_g**2),
            float(weights @ log_success),
            self.alpha * float(weights @ sums**2),
            self.alpha * float(weights @ differences**2),
        )

    def weights(self, linear: float, extra: float) -> Weights:
        """Return the averages over a site at qhat0 = `linear` and qhat1 - qhat0 = `extra`.

        Integrated over z1, the copies of one weight are y spins with a mean-field coupling: the sum m of the spins has
        the law binomial(m) exp(m sqrt(qhat0) z0 + m^2 extra/2), whatever the sign of `extra`.
        """
        y = self.copies
        z0, weights = gaussian_grid(self.step, REACH)
        up = np.arange(y + 1)
        m = (2 * up - y)[:, None]
        exponents = (
            (gammaln(y + 1) - gammaln(up + 1) - gammaln(y - up + 1))[:, None]
            + m * math.sqrt(linear) * z0
            + m**2 * extra / 2
        )
        logs = logsumexp(exponents, axis=0)
        law = np.exp(exponents - logs)
        mean = (law * m).sum(axis=0)
        spread = (law * (m - mean) ** 2).sum(axis=0)
        product = (spread + mean**2 - y) / (y * (y - 1))
        return Weights(
            float(weights @ (mean / y) ** 2),
            float(weights @ product),
            float(weights @ logs),
            float(weights @ (spread / y) ** 2),
            float(weights @ (1 - product) ** 2),
        )

    def conjugates(self, q0: float) -> tuple[float, float]:
        """Return qhat0 and qhat1 - qhat0, the latter such that the copies have their mutual overlap."""
        linear = self.alpha * self.output(q0).squared_mean

        def gap(extra: float) -> float:
            return self.weights(linear, extra).product - self.overlap

        reach = 1.0
        while gap(reach) < 0:
            reach *= 2
        low = -1.0
        while gap(low) > 0:
            low *= 2
        return linear, float(brentq(gap, low, reach, xtol=1e-15, rtol=1e-14))

    def update(self, x: Array) -> Array:
        """Return the next q0."""
        return np.array([self.weights(*self.conjugates(float(x[0]))).squared_mean])


def _modes(offset: Array, slope: float, y: int) -> Array:
    """Return where y log Phi(offset + slope z) - z^2/2 is largest.

    Its derivative is convex and positive at z = 0, so that Newton's method rises to the zero without passing it.
    """
    z = np.zeros_like(offset)
    for _ in range(60):
        h = offset + slope * z
        ratio = hazard(-h)
        move = (y * slope * ratio - z) / (1 + y * slope**2 * ratio * (ratio + h))
        z = z + move
        if np.max(np.abs(move)) < 1e-3:  # only the center of a grid is needed
            break
    return z
