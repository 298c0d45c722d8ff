"""Low-degree norms of the spiked Wishart model: there n of order d is enough for tests in polynomial time."""

import math
from typing import Annotated

import numpy as np
from scipy.special import gammaln

from theory.core import Array, Count, Within, checked
from theory.cumulants.low_degree import Degree, LowDegreeNorm, log_overlap_moments, summed
from theory.models import SpikedWishart

MAX_RATIO = 1e100


@checked
def wishart_low_degree_norm(model: SpikedWishart, n: Count, degree: Degree) -> LowDegreeNorm:
    """Compute ||L_n^{<=D}||^2 of the spiked Wishart model, where D = `degree` counts powers as in `low_degree_norm`.

    Two spikes of overlap lambda and one sample give E_H0 L_u L_v = (1 - beta^2 lambda^2)^(-1/2), and n samples its
    power n. The term of degree 2 k is Gamma(n/2 + k)/(Gamma(n/2) k!) beta^(2k) E lambda^(2k); those of odd degree
    vanish. Source: arXiv:2312.14922, theorem 8, for large n and d; the terms at finite n are derived here by expanding
    (1 - beta^2 lambda^2)^(-n/2). All terms are positive, and the sum is taken of logarithms. As the degree grows the
    norm tends to that of the whole likelihood ratio, which is finite only for beta < 1.

    ValueError for n that is no integer from 1 to 2^63 - 1, a degree that is none from 0 to 1000, and an infinite d.

    >>> model = SpikedWishart(d=50, beta=1.0)
    >>> [round(wishart_low_degree_norm(model, n=25, degree=D).norm, 9) for D in (1, 2, 4)]
    [1.0, 1.25, 1.3499]
    """
    D = degree
    k = np.arange(0, D + 1, 2) / 2
    powers = np.full(D + 1, -math.inf)
    # The logarithms of n/2 + j with j < k, in the place of a difference of two large values of log Gamma.
    rising = np.concatenate([[0.0], np.cumsum(np.log(n / 2 + k[:-1]))])
    powers[::2] = rising - gammaln(k + 1) + 2 * k * math.log(model.beta)
    return summed(powers + log_overlap_moments(model, D))


@checked
def wishart_low_degree_limit(
    beta: Annotated[float, Within(0.0, MAX_RATIO)], gamma: Annotated[float, Within(0.0, MAX_RATIO)], degree: Degree
) -> LowDegreeNorm:
    """Compute the limit of `wishart_low_degree_norm` as n = gamma d and d grow at a fixed degree D, for either prior.

    It is sum_{k <= D/2} (2k - 1)!!/(2k)!! (beta^2 gamma)^k (arXiv:2312.14922, theorem 8, where gamma stands for d/n and
    the sum is written up to k = D; derived here, its term k has the degree 2 k in the samples). For growing D it tends
    to (1 - beta^2 gamma)^(-1/2) below the threshold beta = sqrt(d/n), and to infinity from there on: beyond, already
    the largest eigenvalue of the sample covariance shows the spike.

    ValueError for beta or gamma outside (0, 1e100), and for a degree that is no integer from 0 to 1000.

    >>> [round(wishart_low_degree_limit(beta=1.0, gamma=0.5, degree=D).norm, 9) for D in (2, 4, 60)]
    [1.25, 1.34375, 1.414213562]
    """
    D = degree
    terms = np.full(D + 1, -math.inf)
    k = np.arange(0, D + 1, 2) / 2
    terms[::2] = _log_central(k) + k * (2 * math.log(beta) + math.log(gamma))
    return summed(terms)


def _log_central(k: Array) -> Array:
    """Return log (2k - 1)!!/(2k)!! for k = 0, 1, 2, ..."""
    return np.concatenate([[0.0], np.cumsum(np.log1p(-1 / (2 * k[1:])))])
