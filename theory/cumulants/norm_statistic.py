"""A test in polynomial time whose power is known: the degree-4 part of the likelihood ratio on the sphere."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from theory.core import Count, OpenShare, Result, checked
from theory.models import SpikedCumulant

NODES = 16  # of Gauss-Hermite quadrature, exact for polynomials of degree 31; the cube of He_4 has degree 12


@dataclass(frozen=True, eq=False, repr=False)
class NormTest(Result):
    """The law of the statistic T4 of n samples, and what a test that rejects H0 for extreme values of it achieves.

    `mean` is E T4 under H1 (under H0 it is 0), with the sign of h_4; the test rejects on that side. `deviation` and
    `skewness` belong to H0, `spiked_deviation` and `spiked_skewness` to H1; a deviation is a standard deviation. `snr`
    is |mean|/deviation. All are exact for every n and d; only the powers assume something of the law of T4.
    """

    n: int
    mean: float
    deviation: float
    snr: float
    skewness: float
    spiked_deviation: float
    spiked_skewness: float

    @checked
    def power(self, level: OpenShare = 0.05) -> float:
        """Compute the power Phi(snr - z) for Gaussian T4 with the deviation of H0 under both laws.

        z is the Gaussian quantile of 1 - `level`, and the test rejects beyond z times the deviation of H0. At small
        n/d^2 the statistic is skewed, and neither level nor power are those of a Gaussian: see `corrected_power`.
        ValueError for a level outside (0, 1).
        """
        return float(ndtr(self.snr - _quantile(level)))

    @checked
    def corrected_power(self, level: OpenShare = 0.05) -> float:
        """Compute the power of the same test from the exact mean, deviation and skewness under H1.

        This is the first order of Edgeworth's expansion, whose error falls as 1/n at fixed d.
        """
        threshold = (_quantile(level) - self.snr) * self.deviation / self.spiked_deviation
        return _upper_tail(threshold, math.copysign(1.0, self.mean) * self.spiked_skewness)

    @checked
    def corrected_level(self, level: OpenShare = 0.05) -> float:
        """Compute how often the test with the Gaussian threshold of `level` rejects under H0, to first order."""
        return _upper_tail(_quantile(level), math.copysign(1.0, self.mean) * self.skewness)


@checked
def norm_test(model: SpikedCumulant, n: Count) -> NormTest:
    """Compute the exact mean, deviation and skewness of T4 of `n` samples under both laws.

    T4 = sum (3 R^2/(d (d + 2)) - 6 R/d + 3) over the samples, with R = |x|^2, is proportional to the part of degree 4
    of the likelihood ratio if the spike is uniform on the sphere. It depends on the norms alone, so its law is the same
    for every spike, and the prior of the model plays no part. With e4 = 3/(d (d + 2)) its variance under H0 is 24 n e4
    and its mean under H1 n r^2 h_4 e4, hence snr^2 = n e4 r^4 h_4^2/24, which tends to kappa r^4 h_4^2/8 at
    n = kappa d^2 (kappa r^4/2 for a latent variable of signs). snr^2 is what degree 4 adds to the low-degree norm for
    spikes on the sphere, so the test has a power once n is of order d^2; it needs n d operations only. Derived here:
    the mean of He_4(u.x) over unit vectors u is 3 R^2/(d (d + 2)) - 6 R/d + 3.

    The moments under H1 follow from R = Q + y^2, where Q is chi^2 with d - 1 degrees of freedom and y the coordinate
    along the spike. ValueError for n below 1 or above 2^63 - 1, and an infinite d or one above 10^9.

    >>> test = norm_test(SpikedCumulant(d=20, beta=10.0), n=4 * 20**2)
    >>> round(test.mean / test.deviation, 4), round(test.power(), 4), round(test.corrected_power(), 4)
    (-1.1144, 0.2979, 0.2942)
    """
    count, d = n, model.size
    if d > 10**9:
        raise ValueError(f"model must have d <= 10^9, got d = {d}")
    e4, c = 3 / (d * (d + 2.0)), d - 1.0
    # The moments of He_2(y) and He_4(y), by quadrature over the Gaussian part of y.
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    p = np.outer(model.latent.probabilities, weights / weights.sum()).ravel()
    r, rest = math.sqrt(model.latent_share), math.sqrt(model.noise_share)
    y = np.add.outer(r * np.array(model.latent.atoms), rest * nodes).ravel()
    two, four = y**2 - 1, y**4 - 6 * y**2 + 3
    mu = model.latent_share**2 * model.latent.hermite_moment(4)
    # T4/e4 of one sample is P(Q) + 2 (Q - c) He_2(y) + He_4(y), where P = Q^2 - 2 (c + 2) Q + c (c + 2) has the moments
    # 0, 8 c (c + 2) and 64 c (c + 2) (c + 8), and E P (Q - c)^2 = 8 c (c + 2), E (Q - c)^3 = 8 c.
    second = 8 * c * (c + 2) + 8 * c * (p @ two**2) + p @ four**2
    third = (
        64 * c * (c + 2) * (c + 8)
        + 24 * c * (c + 2) * mu
        + 96 * c * (c + 2) * (p @ two**2)
        + 64 * c * (p @ two**3)
        + 24 * c * (p @ (two**2 * four))
        + p @ four**3
    )
    variance = float(second - mu**2)
    skewness = float(third - 3 * second * mu + 2 * mu**3) / variance**1.5
    # Under H0 the same with c = d and without y.
    null_variance, null_skewness = 8 * d * (d + 2.0), 64 * d * (d + 2.0) * (d + 8) / (8 * d * (d + 2.0)) ** 1.5
    root = math.sqrt(count)
    return NormTest(
        n=count,
        mean=count * e4 * mu,
        deviation=root * e4 * math.sqrt(null_variance),
        snr=root * abs(mu) / math.sqrt(null_variance),
        skewness=null_skewness / root,
        spiked_deviation=root * e4 * math.sqrt(variance),
        spiked_skewness=skewness / root,
    )


@checked
def norm_test_samples(model: SpikedCumulant, power: OpenShare, level: OpenShare = 0.05) -> float:
    """Compute the number n of samples from which on the test by T4 has the given `power` at the given `level`.

    n = 24 (z_level + z_power)^2/(e4 r^4 h_4^2), from Phi(snr - z_level) = power with the symbols of `norm_test`; it is
    a real number, and infinite where h_4 = 0. Derived here: the power of `NormTest` is set to the one that is wanted,
    and solved for n. ValueError unless 0 < level < power < 1, and for an infinite d.

    >>> round(norm_test_samples(SpikedCumulant(d=20, beta=10.0), power=0.5) / 20**2, 3)  # in units of d^2
    8.715
    """
    wanted = _quantile(level) - _quantile(power)
    if not power > level:
        raise ValueError(f"power must be larger than level = {level:g}, got {power:g}")
    d, mu = float(model.size), model.latent_share**2 * abs(model.latent.hermite_moment(4))
    squared = mu * mu
    with np.errstate(over="ignore"):
        return float(np.divide(8 * d * (d + 2) * wanted**2, squared)) if squared > 0 else math.inf


def _quantile(level: float) -> float:
    """Return the Gaussian quantile of 1 - `level`."""
    return -float(ndtri(level))


def _upper_tail(threshold: float, skewness: float) -> float:
    """Compute P(Z > threshold) of a standardized Z with this skewness to first order, kept within [0, 1]."""
    density = math.exp(-0.5 * threshold**2) / math.sqrt(2 * math.pi)
    return float(min(max(ndtr(-threshold) + skewness / 6 * (threshold**2 - 1) * density, 0.0), 1.0))
