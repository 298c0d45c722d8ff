"""The norm of the likelihood ratio: the second moment that decides whether a hidden direction can go unnoticed."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, logsumexp, poch

from theory.core import Array, Count, Result, checked
from theory.cumulants.overlap import log_overlap
from theory.models import SpikedCumulant
from theory.numerics import Solution, graded_edges, panelled_legendre

LARGEST_SUM = 10**6  # terms of the binomial sum, which takes a second or two then
LARGEST_DIMENSION = 10**12  # largest dimension of the integral over the sphere
LARGEST_EXPONENT = 600.0  # up to here f^n - 1 is summed itself, above only its logarithm
TOL = 1e-9  # relative, of log ||L||^2, and of the mass of the law of overlaps, for the integral over the sphere
MIN_PANEL_WIDTH = 1e-11  # panel relative to its angle
SMALLEST_EXCESS = 1e-200  # below, the relative change is not asked for


@dataclass(frozen=True, eq=False, repr=False)
class LikelihoodRatioNorm(Result):
    """The squared norm ||L_n||^2 = E_H0 L_n^2 of the likelihood ratio of n samples.

    `log_norm` is its natural logarithm, and `excess` is ||L_n||^2 - 1 to its own relative precision, or infinite where
    no floating-point number holds it. `residual` is the change of the answer between two quadratures for the prior
    "sphere", and 0 for the finite sum of "signs".
    """

    log_norm: float
    excess: float

    @property
    def norm(self) -> float:
        """The squared norm itself, 1 + excess; infinite beyond floating-point numbers."""
        return 1 + self.excess


@checked
def likelihood_ratio_norm(model: SpikedCumulant, n: Count) -> LikelihoodRatioNorm:
    """Compute ||L_n||^2, the second moment under H0 of the likelihood ratio of `n` samples, exactly.

    ||L_n||^2 = E f(lambda)^n over the overlap lambda of two independent spikes (see `overlap_function`). For sign
    spikes lambda = (2 K - d)/d with K ~ Bin(d, 1/2), so that the mean is a sum of d + 1 terms. On the sphere lambda has
    a density proportional to (1 - lambda^2)^((d-3)/2), and the mean is an integral over the angle, on panels graded
    around each maximum of the integrand. Both are computed in logarithms, since norms are exponential in d. Source:
    arXiv:2312.14922, theorem 2, whose sum is over sign spikes; the integral over the sphere is derived here from the
    density of one coordinate of a uniform unit vector.

    If the norm stays bounded as n and d grow, no test distinguishes H1 from H0 with vanishing errors; an unbounded norm
    alone proves nothing. ValueError for n below 1 or above 2^63 - 1, an infinite d, and for d beyond 10^6 (signs) or
    10^12 (sphere); ConvergenceError where two quadratures differ.

    >>> round(likelihood_ratio_norm(SpikedCumulant(d=20, beta=1.0), n=50).norm, 10)
    1.0044119319
    >>> round(likelihood_ratio_norm(SpikedCumulant(d=20, beta=1.0, prior="sphere"), n=50).norm, 10)
    1.0040552753
    """
    count = float(n)
    return _sum_over_signs(model, count) if model.prior == "signs" else _integral_over_sphere(model, count)


def _sum_over_signs(model: SpikedCumulant, n: float) -> LikelihoodRatioNorm:
    d = model.size
    if d > LARGEST_SUM:
        raise ValueError(f"model must have d <= {LARGEST_SUM} for the sum over sign spikes, got d = {d}")
    k = np.arange(d + 1.0)
    log_weights = -gammaln(k + 1) - gammaln(d - k + 1)
    log_weights -= logsumexp(log_weights)  # log d! - d log 2 would be rounded by 1e-9 at d = 10^6, as would every norm
    # Of the agreeing and the disagreeing signs the fewer ones give the gap 1 - |lambda| without cancellation.
    gaps, signs = 2 * np.minimum(k, d - k) / d, np.sign(2 * k - d)
    return LikelihoodRatioNorm(*_mean_power(log_weights, n * log_overlap(model, gaps, signs))[:2])


def _mean_power(log_weights: Array, exponents: Array) -> tuple[float, float, float]:
    """Return (log of the mean, mean - 1, mean of |power - 1|) of the powers exp(exponents)."""
    log_terms = log_weights + exponents
    if log_terms.max() < LARGEST_EXPONENT:
        # Where a power overflows the one that is subtracted does not count.
        least = np.exp(log_weights) * np.expm1(np.minimum(exponents, LARGEST_EXPONENT))
        terms = np.where(exponents < LARGEST_EXPONENT, least, np.exp(np.minimum(log_terms, LARGEST_EXPONENT)))
        excess = float(terms.sum())
        return math.log1p(excess), excess, float(abs(terms).sum())
    log_norm = float(logsumexp(log_terms))
    return log_norm, math.inf, math.inf


def _integral_over_sphere(model: SpikedCumulant, n: float) -> LikelihoodRatioNorm:
    d = model.size
    if d > LARGEST_DIMENSION:
        raise ValueError(f"model must have d <= {LARGEST_DIMENSION:g} for the integral over the sphere, got d = {d}")
    edges = _edges(model, n, d)
    halved = np.sort(np.append(edges, (edges[1:] + edges[:-1]) / 2))
    (log_rough, rough, _), mass = _on_panels(model, n, d, edges)
    (log_norm, excess, size), _ = _on_panels(model, n, d, halved)
    small = math.isfinite(excess)
    gap = abs(rough - excess) / max(size, SMALLEST_EXCESS) if small else abs(log_rough / log_norm - 1)
    residual = max(gap, abs(mass - 1))
    what, advice = "likelihood_ratio_norm", "two quadratures differ: take a smaller n or d"
    Solution.verified(log_norm, residual, TOL, len(edges), what=what, advice=advice)
    return LikelihoodRatioNorm(log_norm, excess, residual=residual)


def _on_panels(model: SpikedCumulant, n: float, d: int, edges: Array) -> tuple[tuple[float, float, float], float]:
    """Return what `_mean_power` does, by Gauss-Legendre panels in the angle, and the mass of the law of overlaps."""
    angle, weights = panelled_legendre(edges)
    # Angles beyond pi/2 are those below it with the other sign of the overlap, so the density counts twice.
    log_density = math.log(2 * poch((d - 1) / 2, 0.5) / math.sqrt(math.pi)) + (d - 2) * _log_sine(angle)
    log_weights = np.log(weights) + log_density
    mass = float(np.exp(log_weights).sum())
    log_weights -= math.log(2 * mass)
    exponents = [n * _log_overlap_at(model, angle, sign) for sign in (1.0, -1.0)]
    return _mean_power(np.tile(log_weights, 2), np.concatenate(exponents)), mass


def _log_overlap_at(model: SpikedCumulant, angle: Array, sign: float) -> Array:
    """Compute log f at lambda = +-cos(angle), with 1 - |lambda| = 2 sin^2(angle/2)."""
    return log_overlap(model, 2 * np.sin(angle / 2) ** 2, sign)


def _log_sine(angle: Array) -> Array:
    """Compute log sin(angle), which d multiplies; near pi/2, where it is small, as that of a cosine."""
    near = angle > 0.8
    turned = np.log1p(-2 * np.sin((angle - math.pi / 2) / 2) ** 2)
    return np.asarray(np.where(near, turned, np.log(np.sin(np.where(near, 1.0, angle)))))


def _edges(model: SpikedCumulant, n: float, d: int) -> Array:
    """Return panels of (0, pi/2) that begin at every maximum of the integrand with its own width, and double."""

    def exponent(angle: Array) -> Array:
        return np.asarray((d - 2) * _log_sine(angle) + n * _log_overlap_at(model, angle, 1.0))

    # Divided by n + d the exponent is a smooth function, at most steep near the ends: no grid point need be finer. A
    # negative overlap gives no larger f, and no maximum that would matter beside that of the positive one.
    fine = np.geomspace(1e-12, math.pi / 4, 400)
    grid = np.unique(np.concatenate([fine, math.pi / 2 - fine]))
    values = exponent(grid)
    peaks = [0.0, math.pi / 2]  # f is steep near the pole, if not largest there
    for i in np.flatnonzero((values[1:-1] > values[:-2]) & (values[1:-1] >= values[2:])) + 1:
        best = minimize_scalar(lambda t: -float(exponent(np.array(t))), bounds=(grid[i - 1], grid[i + 1]),
                               method="bounded", options={"xatol": 1e-12})  # fmt: skip
        peaks.append(float(best.x))
    largest = max(map(abs, model.latent.atoms))
    smallest = 0.5 / math.sqrt(d + n * (1 + largest**2) / model.noise_share)
    edges = []
    for peak in peaks:
        least = max(smallest, MIN_PANEL_WIDTH * peak)  # which is finer than any peak away from the pole, up to n = 2^63
        edges += [graded_edges(peak, end, least) for end in (0.0, math.pi / 2) if peak != end]
    inner = np.sort(np.concatenate(edges))
    inner = inner[(inner > smallest / 2) & (inner < math.pi / 2 - smallest / 2)]
    kept = inner[np.append(True, np.diff(inner) > np.maximum(smallest, MIN_PANEL_WIDTH * inner[1:]) / 4)]
    return np.concatenate([[0.0], kept, [math.pi / 2]])
