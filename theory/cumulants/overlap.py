"""The overlap function f: what one sample adds to the likelihood-ratio norm at a given overlap of two spikes."""

import math

import numpy as np
from numpy.typing import ArrayLike

from theory.core import Array, checked, checks
from theory.models import AtomicLatent, SpikedCumulant

SERIES_UP_TO = 0.3  # of |x|: below, f - 1 is summed as a series in x, which keeps its relative precision
SERIES_BITS = 42.0  # the terms left out are below exp(-42) = 6e-19


@checked
def overlap_function(model: SpikedCumulant, overlaps: ArrayLike) -> Array:
    """Compute f(lambda), the mean over H0 of the product of the likelihood ratios of one sample for two spikes.

    lambda = u.v in [-1, 1] is the overlap of the two unit vectors, an array of any shape, which f keeps. With
    x = r lambda (arXiv:2312.14922),

        f = sum_k x^k h_k^2/k! = E_{g,g'} (1 - x^2)^(-1/2) exp([2 x g g' - x^2 (g^2 + g'^2)]/(2 (1 - x^2))),

    where h_k = E He_k(g) and g, g' are independent latent variables. The n samples of a data set multiply:
    ||L_n||^2 = E f(lambda)^n over two independent spikes. ValueError for overlaps beyond +-1.

    >>> overlap_function(SpikedCumulant(d=10, beta=2.0), [0.3, -1.0]).round(12)
    array([1.00029057, 1.0915321 ])
    """
    x = np.asarray(overlaps, dtype=float)
    if x.size and not (x.min() >= -1 and x.max() <= 1):
        raise ValueError(f"overlaps must lie in [-1, 1], got {checks.shown(overlaps)}")
    return np.asarray(np.exp(log_overlap(model, 1 - abs(x), np.sign(x))))


def log_overlap(model: SpikedCumulant, gap: ArrayLike, sign: ArrayLike = 1.0) -> Array:
    """Compute log f at |lambda| = 1 - `gap`, with the `sign` of lambda.

    The gap keeps its precision where lambda is as near to one as the best overlaps of sign spikes are.
    """
    return _terms(model, np.asarray(gap, float), np.asarray(sign, float), slope=False)


def log_overlap_slope(model: SpikedCumulant, gap: ArrayLike) -> Array:
    """Compute d log f/d lambda at lambda = 1 - `gap` > 0."""
    return _terms(model, np.asarray(gap, float), np.asarray(1.0), slope=True)


def log_coefficients(model: SpikedCumulant, order: int) -> Array:
    """Compute log(r^k h_k^2/k!) for k = 0 to `order`, (order + 1,): the series of f; -inf where h_k vanishes."""
    with np.errstate(divide="ignore"):
        moments = 2 * np.log(abs(model.latent.normalized_moments(order)))
    log_share = math.log(model.beta) - math.log1p(model.beta)
    return np.asarray(moments + log_share * np.arange(order + 1))


def _terms(model: SpikedCumulant, gap: Array, sign: Array, *, slope: bool) -> Array:
    gap, sign = np.broadcast_arrays(gap, sign)
    x = model.latent_share * (1 - gap)
    small = x <= SERIES_UP_TO
    found = np.empty(x.shape)
    found[small] = _series(model.latent, (sign * x)[small], slope=slope)
    # 1 - x = (1 - r) + r gap does not cancel.
    rest = model.noise_share + model.latent_share * gap
    found[~small] = _closed_form(model.latent, x[~small], rest[~small], sign[~small], slope=slope)
    return np.asarray(found * model.latent_share if slope else found)


def _series(latent: AtomicLatent, x: Array, *, slope: bool) -> Array:
    """Compute log f, or its slope in x, from the series of f; |He_k(g)/sqrt(k!)| < 1.09 exp(g^2/4) bounds its end."""
    largest = max(map(abs, latent.atoms))
    order = math.ceil((largest**2 / 2 + SERIES_BITS) / -math.log(SERIES_UP_TO)) + 1
    c = latent.normalized_moments(order) ** 2
    above = np.polynomial.polynomial.polyval(x, np.concatenate([[0.0], c[1:]]))
    if not slope:
        return np.asarray(np.log1p(above))
    return np.asarray(np.polynomial.polynomial.polyval(x, np.arange(1, order + 1) * c[1:]) / (1 + above))


def _closed_form(latent: AtomicLatent, x: Array, rest: Array, sign: Array, *, slope: bool) -> Array:
    """Compute log f, or its slope in x, at x > 0 with `rest` = 1 - x, as a sum over pairs of atoms.

    A negative overlap is a positive one with g' -> -g'. The exponent is written as
    -x^2 (g - g')^2/(2 (1 - x^2)) + g g' x/(1 + x), in which nothing cancels as x tends to one.
    """
    total, weighted = np.full(x.shape, -np.inf), np.zeros(x.shape)
    with np.errstate(over="ignore", invalid="ignore"):
        for a, p in zip(latent.atoms, latent.probabilities, strict=True):
            for atom, q in zip(latent.atoms, latent.probabilities, strict=True):
                b = sign * atom
                apart = (a - b) ** 2 / (rest * (1 + x))
                log_term = math.log(p * q) - x**2 * apart / 2 + a * b * x / (1 + x)
                if slope:
                    # d/dx of the exponent, the two parts of it in turn; where the term vanishes so does its share.
                    turn = a * b / (1 + x) ** 2 - x * apart / (rest * (1 + x))
                    weighted += np.where(log_term > -700, np.exp(np.maximum(log_term, -700)) * turn, 0.0)
                total = np.logaddexp(total, log_term)
        if slope:
            return np.asarray(x / (rest * (1 + x)) + weighted / np.exp(total))
    return np.asarray(total - 0.5 * (np.log(rest) + np.log1p(x)))
