"""The limit d -> infinity of covariances whose symbol has one pole, on the nodes that resolve every resolvent alike.

The symbol is s(angle) = scale/(least + 4 |amplitude| sin^2(angle/2)): that of a first-order autoregression, of a
tridiagonal precision, and of a free field on a ring. Near a unit root it is a narrow peak, of which equidistant angles
see little. In Jacobi's variable u, tan(angle/2) = k' sc(u, k) with k'^2 = min s/max s, it is

    s = max s dn(u, k)^2,        d angle = 2 k' du/dn(u, k),        u in (0, K),

and all poles of s/(s + kappa), whatever kappa >= 0, lie on the line Im u = K' (derived here: on it dn is imaginary).
Midpoints in u average these functions with an error of exp(-2 pi N K'/K) for N nodes, where K grows with the logarithm
of the condition number alone. These are the nodes of E. I. Zolotarev's rational approximations.
"""

import math

import numpy as np

from theory.core import Array
from theory.models.spectrum import Spectrum, homogeneous

MIN_NODES = 32
NODES_PER_PERIOD = 24  # nodes over K: an error of exp(-48 pi K'), where K' is pi/2 or more
TERMS = np.arange(-16, 17)  # of the series of dn, whose terms fall by exp(-pi) at least


def one_pole_circle(scale: float, least: float, amplitude: float, times: int = 1) -> Spectrum:
    """Compute the modes of the symbol scale/(least + 4 |amplitude| sin^2(angle/2)) for d -> infinity, least > 0.

    There are `times` as many nodes as the means of smooth functions need.
    """
    most = least + 4 * abs(amplitude)
    period, other = _periods(math.sqrt(least / most), math.sqrt(4 * abs(amplitude) / most))
    count = times * max(MIN_NODES, math.ceil(NODES_PER_PERIOD * period))
    root = delta_amplitude((np.arange(count) + 0.5) / count, period, other)
    return homogeneous(scale / least * root * root, 1 / root)


def _periods(complement: float, modulus: float) -> tuple[float, float]:
    """Return the quarter periods K and K' of a modulus k > 0 and k' = (1 - k^2)^(1/2) > 0; K' is infinite at k = 0."""
    return math.pi / 2 / _mean(complement), math.pi / 2 / _mean(modulus) if modulus else math.inf


def _mean(number: float) -> float:
    """Return the arithmetic-geometric mean of 1 and a number."""
    one = 1.0
    while abs(one - number) > 1e-15 * one:
        one, number = (one + number) / 2, math.sqrt(one * number)
    return one


def delta_amplitude(share: Array, period: float, other: float) -> Array:
    """Compute dn at u = share K, share in (0, 1), to its own rounding, from the quarter periods K and K'.

    Where K' < K it is a sum of hyperbolic secants, all positive, so that no digit of a small dn is lost; elsewhere,
    where dn is of order 1, it is a sum of cosines.
    """
    if other < period:
        places = math.pi * period / (2 * other) * (share[:, None] - 2 * TERMS)
        return np.asarray(math.pi / (2 * other) * (1 / np.cosh(np.clip(places, -700, 700))).sum(axis=1))
    orders = TERMS[TERMS > 0]
    nome = math.exp(-math.pi * other / period)
    heights = nome**orders / (1 + nome ** (2 * orders))
    return np.asarray(math.pi / (2 * period) * (1 + 4 * np.cos(math.pi * share[:, None] * orders) @ heights))
