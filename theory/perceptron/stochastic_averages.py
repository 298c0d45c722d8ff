"""The two averages of stochastic binary weights: over the field of one pattern, and over the mean of one weight.

Both are averages over a standard Gaussian z, shared by all replicas, of averages that are tilted by the Boltzmann
weight. `refine` multiplies the number of panels of every grid, which is how the solver verifies them.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from theory.core.arrays import Array
from theory.models.perceptron import StochasticPerceptron
from theory.numerics import ConvergenceError, graded_edges, panelled_legendre

HALF_WIDTH = 9.0  # standard deviations after which a Gaussian weight, 1e-18, is left out
MOST_NODES = 1_000_000  # most nodes of one grid
ORDER = 16
ADVICE = (
    "the parameters are too extreme for the quadrature: take a squared_norm farther from 0 and 1, or a smaller beta"
)


@dataclass(frozen=True)
class PatternAverage:
    """The average over the field of one pattern, h = sqrt(q) z + sqrt(Q - q) u with Q the squared norm.

    `z`, `weights` (Z,) are the grid of the Gaussian z, `u` and `tilted` (Z, U) the nodes of u and their probabilities
    under exp(-u^2/2) Phi(h/sqrt(1 - Q))^beta, `log_probability` (Z, U) is log Phi(h/sqrt(1 - Q)), and `log_norm` (Z,)
    the logarithm of the Gaussian average of Phi^beta over u.
    """

    z: Array
    weights: Array
    u: Array
    tilted: Array
    log_probability: Array
    log_norm: Array

    def mean(self, values: Array) -> Array:
        """Average values (Z, U) over u, as (Z,)."""
        return np.asarray((self.tilted * values).sum(axis=1))


@dataclass(frozen=True)
class WeightAverage:
    """The average over the mean m of one weight, with the density exp(A m^2/2 + sqrt(qhat) z m) on [-1, 1].

    `z`, `weights` (Z,) are the grid of the Gaussian z, of which the half z > 0 counts twice: all that is averaged is
    even in z. `m` (M,) are the nodes, `tilted` (Z, M) their probabilities, `log_norm` (Z,) the logarithm of the norm.
    """

    z: Array
    weights: Array
    m: Array
    tilted: Array
    log_norm: Array

    def mean(self, values: Array) -> Array:
        """Average values (M,) over m, as (Z,)."""
        return np.asarray(self.tilted @ values)


def pattern_average(model: StochasticPerceptron, q: float, refine: int = 1) -> PatternAverage:
    """Set up the average over the field of one pattern, with a grid of u around the mode for every z.

    The tilted density of u is log-concave, and for beta above 10 its mode is at u up to 15 standard deviations.
    Newton's method finds it from u = 0 without safeguard, because the slope of the logarithm is convex and decreasing.
    With w the width of the mode, the density falls off at least as fast as a Gaussian of width w on the left, where
    panels no longer than the step of Phi suffice, and as one of width 1 on the right, where panels grow from w.
    """
    Q, beta = model.squared_norm, model.beta
    scale, gain = np.sqrt(1 - Q), np.sqrt((Q - q) / (1 - Q))
    # The average over u changes with z as a step of Phi^beta, which the width of u smooths.
    sharpness = np.sqrt((1 - Q) / (1 + 2 * np.log1p(beta)) + Q - q) / np.sqrt(q)
    z, weights = _gaussian(-HALF_WIDTH, 2 * min(1.0, sharpness), refine)
    offset = np.sqrt(q) * z / scale
    mode = _mode(offset, gain, beta)
    width = 1 / np.sqrt(1 + beta * gain**2 * _mills_slope(offset + gain * mode))
    n_left = refine * int(np.clip(np.ceil(HALF_WIDTH * width.max() * gain / 1.5), 3, MOST_NODES))
    n_right = refine * (1 + max(2, int(np.ceil(np.log2(HALF_WIDTH / width.min())))))
    _require_nodes(len(z) * (n_left + n_right) * ORDER / refine**2)
    left, left_weights = panelled_legendre(np.linspace(-HALF_WIDTH, 0, n_left + 1), ORDER)
    # Right of the mode lie the edges 0, w, w r, ..., with r such that the last one is the reach.
    growth = (HALF_WIDTH / width[:, None]) ** (np.arange(n_right) / (n_right - 1))
    edges = np.concatenate([np.zeros((len(z), 1)), width[:, None] * growth], axis=1)
    unit, unit_weights = panelled_legendre([-1.0, 1.0], ORDER)
    middle, half = (edges[:, 1:] + edges[:, :-1]) / 2, np.diff(edges) / 2
    right = (middle[:, :, None] + half[:, :, None] * unit).reshape(len(z), -1)
    right_weights = (half[:, :, None] * unit_weights).reshape(len(z), -1)
    u = mode[:, None] + np.concatenate([width[:, None] * left, right], axis=1)
    lengths = np.concatenate([width[:, None] * left_weights, right_weights], axis=1)
    log_probability = log_ndtr(offset[:, None] + gain * u)
    tilted, log_norm = _tilted(beta * log_probability - u * u / 2, lengths)
    return PatternAverage(z, weights, u, tilted, log_probability, log_norm - np.log(2 * np.pi) / 2)


def weight_average(curvature: float, qhat: float, refine: int = 1) -> WeightAverage:
    """Set up the average over the mean of one weight, A = `curvature`, with an integral that is split at m = 0.

    Panels resolve the Gaussian of width 1/sqrt(-A) where A is negative, and near the ends -1 and 1 the exponential
    growth, at a rate of at most |A| + 9 sqrt(qhat).
    """
    field = np.sqrt(qhat)
    narrow = np.sqrt(max(1.0, -curvature))
    z, weights = _gaussian(0.0, 2 * min(1.0, narrow / max(field, 1e-300)), refine)
    # Beyond this place a Gaussian is zero in double precision, whatever z.
    stop = 1.0 if curvature > -1 else min(1.0, HALF_WIDTH * (field / -curvature + 1 / narrow))
    _require_nodes(len(z) * stop * narrow * ORDER / refine)
    edges = np.linspace(0.0, stop, 1 + max(1, int(np.ceil(stop * narrow / 3))))
    if stop == 1.0:
        rate = abs(curvature) + HALF_WIDTH * field
        edges = np.union1d(edges, graded_edges(1.0, 0.0, min(1.0, 10 / max(rate, 1e-300))))
    edges = np.interp(np.arange(refine * (len(edges) - 1) + 1) / refine, np.arange(len(edges)), edges)
    half, half_lengths = panelled_legendre(edges, ORDER)
    m, lengths = np.concatenate([-half[::-1], half]), np.concatenate([half_lengths[::-1], half_lengths])
    _require_nodes(len(z) * len(m) / refine**2)
    tilted, log_norm = _tilted(curvature * m * m / 2 + field * z[:, None] * m, lengths)
    return WeightAverage(z, 2 * weights, m, tilted, log_norm)


def _gaussian(start: float, panel: float, refine: int) -> tuple[Array, Array]:
    """Nodes and weights of the standard Gaussian from `start` to its reach."""
    count = np.ceil((HALF_WIDTH - start) / panel)
    _require_nodes(count * ORDER)
    z, lengths = panelled_legendre(np.linspace(start, HALF_WIDTH, refine * int(count) + 1), ORDER)
    return z, lengths * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)


def _require_nodes(count: float) -> None:
    if not count <= MOST_NODES:
        what = f"averages of stochastic weights need {count:.2g} nodes"
        raise ConvergenceError.of(what, None, np.inf, 0.0, advice=ADVICE)


def _tilted(exponent: Array, lengths: Array) -> tuple[Array, Array]:
    """Return the probabilities of nodes of these lengths along the last axis, and the logarithm of their norm."""
    top = exponent.max(axis=1)
    density = lengths * np.exp(exponent - top[:, None])
    norm = density.sum(axis=1)
    return density / norm[:, None], top + np.log(norm)


def _mills(x: Array) -> Array:
    """Return the ratio phi(x)/Phi(x) of the Gaussian density and distribution function."""
    return np.asarray(np.exp(-x * x / 2 - log_ndtr(x)) / np.sqrt(2 * np.pi))


def _mills_slope(x: Array) -> Array:
    """Minus the derivative of phi/Phi, which lies between 0 and 1."""
    ratio = _mills(x)
    return np.asarray(np.clip(ratio * (x + ratio), 0.0, 1.0))


def _mode(offset: Array, gain: float, beta: float) -> Array:
    """Return the mode of beta log Phi(offset + gain u) - u^2/2 for every offset."""
    u = np.zeros_like(offset)
    for _ in range(200):
        x = offset + gain * u
        step = (beta * gain * _mills(x) - u) / (1 + beta * gain**2 * _mills_slope(x))
        u = u + step
        if np.max(abs(step)) <= 1e-9 * (1 + np.max(abs(u))):
            break
    return u
