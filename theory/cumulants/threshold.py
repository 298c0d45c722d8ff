"""The statistical scale: up to how many samples per dimension the norm of the likelihood ratio stays bounded."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from scipy.optimize import brentq

from theory.core import Array, SolverResult, Within, checked, checks
from theory.cumulants.overlap import log_overlap, log_overlap_slope
from theory.models import SpikedCumulant
from theory.numerics import Solution

TOL = 1e-9
# The logarithm of the gap 1 - lambda. For sign spikes the best overlap comes exponentially near to one as beta grows.
GRID = np.concatenate(
    [np.linspace(-690, -40, 300), np.linspace(-39.95, -1, 800), np.log(np.linspace(0.37, 0.9999, 400))]
)
MAX_GAMMA = 1e100
LOG_BETAS = (math.log(1e-6), math.log(1e100) - 1e-9)  # the range in which a beta is searched


@dataclass(frozen=True, eq=False, repr=False)
class LikelihoodRatioThreshold(SolverResult):
    """The number of samples per dimension, gamma_LR = n/d, up to which the norm of the likelihood ratio is bounded.

    Below gamma_LR strong detection is impossible: no test tells H1 from H0 with both errors tending to zero. Above it
    the norm diverges exponentially in d, and that divergence alone proves nothing: rare overlaps may cause it.

    `overlap` is the overlap lambda of two spikes that makes the norm diverge first, and `gap` = 1 - lambda. For sign
    spikes the gap is tiny: where a smaller one makes no difference, the least one that is tried, 1e-300, is returned.
    `residual` is the relative residual of the equation of the minimum, `iterations` the number of its
    evaluations after the grid.
    """

    gamma: float
    overlap: float
    gap: float


@dataclass(frozen=True, eq=False, repr=False)
class LikelihoodRatioRate(SolverResult):
    """The exponential rate lim (1/d) log ||L_n||^2 at n = gamma d; zero up to `LikelihoodRatioThreshold.gamma`.

    `overlap` is the overlap of two spikes that dominates the norm, 0 where the rate vanishes.
    """

    rate: float
    overlap: float


@checked
def likelihood_ratio_threshold(model: SpikedCumulant) -> LikelihoodRatioThreshold:
    """Compute gamma_LR, the largest n/d for which ||L_n||^2 stays bounded as d grows.

    gamma_LR = min over lambda in (0, 1) of s(lambda)/log f(lambda), where exp(-d s) is the probability that two spikes
    have the overlap lambda: s = log 2 + (1+l)/2 log((1+l)/2) + (1-l)/2 log((1-l)/2) for sign spikes, and
    -log(1 - l^2)/2 on the sphere (arXiv:2312.14922). The d of the model plays no part. The minimum is searched
    on a grid in log(1 - lambda), and each local one is refined as a root of the derivative.

    ConvergenceError where no root could be verified, or log f vanishes in floating-point numbers (a tiny beta).

    >>> round(likelihood_ratio_threshold(SpikedCumulant(d=math.inf, beta=5.0)).gamma, 10)
    1.9333145905
    >>> round(likelihood_ratio_threshold(SpikedCumulant(d=math.inf, beta=5.0, prior="sphere")).gamma, 10)
    4.4917642665
    """

    def gamma(gap: Array) -> Array:
        with np.errstate(divide="ignore", over="ignore"):
            return np.asarray(_cost(model, gap) / log_overlap(model, gap))

    def balance(gap: Array) -> Array:
        slopes = log_overlap_slope(model, gap) / log_overlap(model, gap)
        return np.asarray(slopes * _cost(model, gap) / _cost_slope(model, gap) - 1)

    value, gap, residual, count = _lowest(gamma, balance)
    advice = None if math.isfinite(value) else "log f vanishes in floating-point numbers: take a larger beta"
    Solution.verified(value, residual, TOL, count, what="likelihood_ratio_threshold", advice=advice)
    return LikelihoodRatioThreshold(value, 1 - gap, gap, residual=residual, iterations=count, converged=True)


@checked
def likelihood_ratio_beta(model: SpikedCumulant, gamma: Annotated[float, Within(0.0, MAX_GAMMA)]) -> float:
    """Compute the signal-to-noise ratio beta at which the norm stays bounded up to just n = gamma d samples.

    It inverts `likelihood_ratio_threshold`, which falls as beta grows; the d and the beta of the model play no part.
    Source: arXiv:2312.14922, Fig. 7, which gives about 10.7 at n = d by a condition at the overlap one; here the
    minimum over all overlaps is inverted. ValueError for a gamma that is not positive, or belongs to no beta from 1e-6
    to 1e100 (with signs as latent variables it begins at 0.006 for sign spikes, and at 1.002 on the sphere, where it
    stays above one for every beta); ConvergenceError where the inverse could not be verified to a relative 1e-9.

    >>> round(likelihood_ratio_beta(SpikedCumulant(d=math.inf, beta=1.0), gamma=1.0), 6)
    10.782592
    """

    def excess(log_beta: float) -> float:
        return math.log(likelihood_ratio_threshold(replace(model, beta=math.exp(log_beta))).gamma / gamma)

    ends = [excess(end) for end in LOG_BETAS]
    if not ends[0] >= 0 >= ends[1]:
        least, most = (gamma * math.exp(end) for end in reversed(ends))
        raise ValueError(f"gamma must lie in [{least:.4g}, {most:.4g}], got {checks.shown(gamma)}")
    root, report = brentq(excess, *LOG_BETAS, xtol=1e-13, rtol=1e-14, full_output=True)
    residual = abs(excess(root))
    what = "likelihood_ratio_beta"
    return math.exp(Solution.verified(root, residual, TOL, report.iterations, what=what, otherwise="unverified").value)


@checked
def likelihood_ratio_rate(
    model: SpikedCumulant, gamma: Annotated[float, Within(0.0, MAX_GAMMA)]
) -> LikelihoodRatioRate:
    """Compute lim (1/d) log ||L_n||^2 at n = gamma d, max over lambda of gamma log f(lambda) - s(lambda), or zero.

    Symbols as in `likelihood_ratio_threshold`, at which the rate begins to rise. Derived here: Laplace's method for the
    mean of f(lambda)^n over overlaps of probability exp(-d s). ValueError for a gamma that is not positive and finite;
    ConvergenceError where the maximum could not be verified.

    >>> model = SpikedCumulant(d=math.inf, beta=5.0)
    >>> likelihood_ratio_rate(model, gamma=1.9).rate, round(likelihood_ratio_rate(model, gamma=2.5).rate, 6)
    (0.0, 0.203054)
    """
    samples = gamma

    def loss(gap: Array) -> Array:
        return np.asarray(_cost(model, gap) - samples * log_overlap(model, gap))

    def balance(gap: Array) -> Array:
        return np.asarray(samples * log_overlap_slope(model, gap) / _cost_slope(model, gap) - 1)

    value, gap, residual, count = _lowest(loss, balance)
    if value >= 0:
        return LikelihoodRatioRate(0.0, 0.0, residual=0.0, iterations=count, converged=True)
    Solution.verified(-value, residual, TOL, count, what="likelihood_ratio_rate")
    return LikelihoodRatioRate(-value, 1 - gap, residual=residual, iterations=count, converged=True)


def _lowest(objective: Callable[[Array], Array], balance: Callable[[Array], Array]) -> tuple[float, float, float, int]:
    """Return (least value, its gap, residual, evaluations of the balance) over overlaps from 0 to 1.

    `balance` has the sign of the slope of the objective against the gap, and its size is the relative residual. Where
    the values fall down to the smallest gap, they have reached their limit there to all digits.
    """
    values = objective(np.exp(GRID))
    values = np.where(np.isnan(values), math.inf, values)
    count, best = 0, (float(values[0]), math.exp(GRID[0]), 0.0 if math.isfinite(values[0]) else math.inf)
    inner = values[1:-1]
    for i in np.flatnonzero((inner < math.inf) & (inner <= values[:-2]) & (inner < values[2:])) + 1:
        low, high = GRID[i - 1], GRID[i + 1]
        if not balance(np.exp(low)) <= 0 <= balance(np.exp(high)):
            continue  # equal values by rounding
        root, report = brentq(lambda u: float(balance(np.exp(u))), low, high, xtol=1e-13, rtol=1e-14, full_output=True)
        gap = math.exp(root)
        count += report.function_calls
        value = float(objective(np.array(gap)))
        if value < best[0]:
            best = (value, gap, abs(float(balance(np.array(gap)))))
    return *best, count


def _cost(model: SpikedCumulant, gap: Array) -> Array:
    """Compute s(lambda) at lambda = 1 - gap: the rate at which the probability of the overlap falls with d."""
    if model.prior == "sphere":
        return np.asarray(-0.5 * np.log(gap * (2 - gap)))
    near = np.log(2) + 0.5 * gap * np.log(gap / 2) + (1 - gap / 2) * np.log1p(-gap / 2)
    overlap = 1 - gap  # the other form does not cancel at small overlaps
    far = overlap * _cost_slope(model, gap) + 0.5 * np.log(gap * (2 - gap))
    return np.asarray(np.where(gap < 0.5, near, far))


def _cost_slope(model: SpikedCumulant, gap: Array) -> Array:
    """Compute d s/d lambda at lambda = 1 - gap: lambda/(1 - lambda^2) on the sphere, artanh(lambda) for signs."""
    if model.prior == "sphere":
        return np.asarray((1 - gap) / (gap * (2 - gap)))
    return np.asarray(0.5 * np.log((2 - gap) / gap))
