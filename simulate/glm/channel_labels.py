"""Draws labels from a channel P(y | nu), and averages errors over them for given weights."""

import math
from itertools import pairwise

import numpy as np
from numpy.random import Generator
from scipy.integrate import quad
from scipy.special import ndtr

from theory.core import Array
from theory.models.glm import Additive, Flips, Logit, Poisson, Probit
from theory.models.glm.label_channels import AnyChannel

GRID_POINTS = 2000  # in a panel of a density, of which the distribution function is tabulated
REACH = 9.0  # standard deviations of the teacher's field


def draw_labels(channel: AnyChannel, nu: Array, noise: float, rng: Generator) -> Array:
    """Draw one label for each field nu; `noise` is the variance of the Gaussian noise before a sign is flipped.

    Named channels are drawn by what makes them (logistic noise, flips of signs, counts), others from a uniform number
    and the sums of their probabilities.
    """
    n = len(nu)
    if isinstance(channel, Logit):
        return _signs(nu + channel.temperature * rng.logistic(size=n))
    if isinstance(channel, Probit):
        return _signs(nu + math.sqrt(channel.noise) * rng.standard_normal(n))
    if isinstance(channel, Flips):
        y = _signs(nu + math.sqrt(noise) * rng.standard_normal(n))
        flipped = rng.random(n) < np.where(y > 0, channel.positive, channel.negative)
        return np.asarray(np.where(flipped, -y, y))
    if isinstance(channel, Poisson):
        return np.asarray(rng.poisson(np.exp(nu)), float)
    if isinstance(channel, Additive):
        return nu + draw_noise(channel, n, rng)
    total = np.cumsum([channel.probability(y, nu) for y in channel.values], axis=0)
    row = np.minimum(np.sum(rng.random(n) >= total, axis=0), len(channel.values) - 1)
    return np.asarray(np.array(channel.values)[row])


def draw_noise(channel: Additive, n: int, rng: Generator) -> Array:
    """Draw n numbers from a density, by its distribution function on a fine grid."""
    edges = channel.panels.edges
    parts = [np.linspace(a, b, GRID_POINTS) for a, b in pairwise(edges.tolist())]
    e = np.concatenate(parts)
    density = channel.of_noise(e)
    below = np.append(0.0, np.cumsum(np.diff(e) * (density[1:] + density[:-1]) / 2))
    return np.asarray(np.interp(rng.random(n) * below[-1], below, e))


def _signs(x: Array) -> Array:
    return np.where(x >= 0, 1.0, -1.0)


def mean_error(
    channel: AnyChannel, center: float, variance: float, offset: float, total: float, shared: float, rate: bool
) -> float:
    """Return P(y h < 0) of signs, else E (y - h)^2, or with `rate` E (y - exp(h))^2, for normal fields h and nu.

    h has the mean `center` and the `variance`, nu the mean `offset` and the variance `total`; both have the covariance
    `shared`. Given nu the mean over h is known, and that over nu is an adaptive quadrature.
    """
    slope, rest = shared / total, max(variance - shared**2 / total, 0.0)

    def given(nu: float) -> float:
        mean = center + slope * (nu - offset)
        if channel.kind == "signs":
            below = float(ndtr(-mean / math.sqrt(rest))) if rest > 0 else float(mean < 0)
            plus = float(channel.probability(1, np.array([nu]))[0])
            return plus * below + (1 - plus) * (1 - below)
        first, second = _moments(channel, nu)
        if rate:
            return second - 2 * first * math.exp(mean + rest / 2) + math.exp(2 * mean + 2 * rest)
        return second - 2 * first * mean + mean**2 + rest

    def integrand(z: float) -> float:
        return math.exp(-0.5 * z * z) / math.sqrt(2 * math.pi) * given(offset + math.sqrt(total) * z)

    turn = min(max(-offset / math.sqrt(total), -REACH), REACH)
    ends = (-REACH, turn, REACH)
    parts = (quad(integrand, a, b, limit=200, epsabs=1e-8) for a, b in pairwise(ends) if b > a)
    return float(sum(part[0] for part in parts))


def _moments(channel: AnyChannel, nu: float) -> tuple[float, float]:
    if isinstance(channel, Poisson):
        return math.exp(nu), math.exp(nu) + math.exp(2 * nu)
    assert channel.values is not None
    P = [float(channel.probability(y, np.array([nu]))[0]) for y in channel.values]
    return sum(p * y for p, y in zip(P, channel.values, strict=True)), sum(
        p * y**2 for p, y in zip(P, channel.values, strict=True)
    )
