"""What one noisy number tells about an entry of a signal: the posterior of a mixture of normal laws.

Observed is y = A theta + sqrt(A) z, z standard normal, of a theta that is normal with mean mu_k and variance v_k with
probability s_k. Given the component k theta is normal with mean (mu_k + v_k y)/(1 + A v_k) and variance
v_k/(1 + A v_k), and the components have the odds of their shares times the densities of y.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from theory.core.arrays import Array
from theory.glm.quadrature import normal_nodes


class Entry(NamedTuple):
    """The law of an entry: the shares, means and variances of its components, (K,) each; variance 0 if K > 2."""

    shares: Array
    means: Array
    variances: Array

    @property
    def power(self) -> float:
        """The mean square of the entry."""
        return float(self.shares @ (self.means**2 + self.variances))

    @property
    def variance(self) -> float:
        """The variance of the entry."""
        return float(self.shares @ ((self.means - self.shares @ self.means) ** 2 + self.variances))


class Knowledge(NamedTuple):
    """What is known of an entry at a precision: the mean of its posterior variance, that of the square, and nats.

    `information` is the mutual information of the entry and what is observed of it, in nats.
    """

    variance: float
    squared_variance: float
    information: float


def knowledge(entry: Entry, precision: float) -> Knowledge:
    """Average the posterior variance of an entry, its square, and the information, over what may be observed.

    >>> signs = Entry(np.array([0.5, 0.5]), np.array([1.0, -1.0]), np.zeros(2))
    >>> round(knowledge(signs, 2.0).variance, 9)  # E 1/cosh(A + sqrt(A) z)^2
    0.231018222
    """
    if precision == 0:
        return Knowledge(entry.variance, entry.variance**2, 0.0)
    if len(entry.shares) > 2:
        return _knowledge_of_values(entry, precision)
    A = precision
    spread = A + A * A * entry.variances  # of y in each component
    if len(entry.shares) == 1:
        left = float(entry.variances[0] / (1 + A * entry.variances[0]))
        return Knowledge(left, left**2, 0.5 * math.log1p(A * float(entry.variances[0])))
    bends = _bends(entry, A, spread)
    total = np.zeros(3)
    for share, mean, width in zip(entry.shares, A * entry.means, np.sqrt(spread), strict=True):
        z, weights = normal_nodes([((place - mean) / width, extent / width) for place, extent in bends])
        y = mean + width * z
        first, second = (float(one) * (mu + v * y) for one, mu, v in _posterior(entry, A))
        kept = entry.variances / (1 + A * entry.variances)
        log_first, log_second = _log_weights(entry, A, spread, y)
        odds = expit(log_first - log_second)
        left = odds * kept[0] + (1 - odds) * kept[1] + odds * (1 - odds) * (first - second) ** 2
        # -log p(y) of what is observed in units of its noise, less that of the noise itself.
        surprise = -np.logaddexp(log_first, log_second) - 0.5 * (1 + math.log(A))
        total += share * np.array([weights @ left, weights @ left**2, weights @ surprise])
    return Knowledge(*total.tolist())


def _knowledge_of_values(entry: Entry, A: float) -> Knowledge:
    """Return the averages of `knowledge` for an entry that has one of some values.

    The posterior weight of the value mu is exp(mu y - A mu^2/2) times its share: logarithms that are lines in y, and
    the values change places where the largest of these lines bends.
    """
    mu, level = entry.means, np.log(entry.shares) - 0.5 * A * entry.means**2
    bends = _bends_of_lines(mu, level)
    total = np.zeros(3)
    for share, mean in zip(entry.shares.tolist(), mu.tolist(), strict=True):
        z, weights = normal_nodes([((y - A * mean) / math.sqrt(A), width / math.sqrt(A)) for y, width in bends])
        y = A * mean + math.sqrt(A) * z
        lines = level[:, None] + mu[:, None] * y
        top = lines.argmax(axis=0)
        chances = np.exp(lines - lines.max(axis=0))
        gaps = mu[:, None] - mu[top]  # from the likeliest value: a small variance keeps its digits
        first, second = (np.sum(chances * gaps**k, axis=0) / chances.sum(axis=0) for k in (1, 2))
        left = np.maximum(second - first**2, 0.0)
        told = mean * y - 0.5 * A * mean**2 - lines.max(axis=0) - np.log(chances.sum(axis=0))
        total += share * np.array([weights @ left, weights @ left**2, weights @ told])
    return Knowledge(*total.tolist())


def _bends_of_lines(slopes: Array, levels: Array) -> list[tuple[float, float]]:
    """Return the places y at which the largest of the lines level + slope y changes, and the widths of the changes."""
    bends: list[tuple[float, float]] = []
    now = int(np.argmin(slopes))
    while True:
        later = np.flatnonzero(slopes > slopes[now])
        if not len(later):
            return bends
        places = (levels[now] - levels[later]) / (slopes[later] - slopes[now])
        next_line = int(later[np.argmin(places)])
        bends.append((float(places.min()), float(1 / (slopes[next_line] - slopes[now]))))
        now = next_line


def _posterior(entry: Entry, A: float) -> list[tuple[float, float, float]]:
    return [(1 / (1 + A * float(v)), float(mu), float(v)) for mu, v in zip(entry.means, entry.variances, strict=True)]


def _log_weights(entry: Entry, A: float, spread: Array, y: Array) -> tuple[Array, Array]:
    """Return the logarithms of share times density of y for both components, without the factor 1/sqrt(2 pi)."""
    first, second = (
        math.log(share) - 0.5 * math.log(width) - 0.5 * (y - A * mu) ** 2 / width
        for share, mu, width in zip(entry.shares.tolist(), entry.means.tolist(), spread.tolist(), strict=True)
    )
    return first, second


def _bends(entry: Entry, A: float, spread: Array) -> list[tuple[float, float]]:
    """Return where the odds of the components change, and on what scale of y: at even odds, and where they turn."""
    inverse, centers = 0.5 / spread, A * entry.means
    square = float(inverse[1] - inverse[0])
    slope = float(2 * (inverse[0] * centers[0] - inverse[1] * centers[1]))
    level = float(inverse[1] * centers[1] ** 2 - inverse[0] * centers[0] ** 2)
    level += math.log(float(entry.shares[0] / entry.shares[1])) - 0.5 * math.log(float(spread[0] / spread[1]))
    if not square:
        return [(-level / slope, 1 / abs(slope))] if slope else []
    turn, rest = -slope / (2 * square), slope**2 - 4 * square * level
    bends = [(turn, 1 / math.sqrt(abs(square)))]
    if rest > 0:
        half = math.sqrt(rest) / (2 * abs(square))
        bends += [(turn + side * half, 1 / math.sqrt(rest)) for side in (1, -1)]
    return bends
