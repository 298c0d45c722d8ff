"""Averages of the soft threshold over a normal law, in closed form and with all digits in its tails.

The soft threshold of B at l1 is sign(B) max(|B| - l1, 0), the minimum over w of w^2/2 - B w + l1 |w|; where weights
must not be negative it is max(B - l1, 0). All averages are made of E (z - t)_+^k over a standard normal z, k = 0, 1, 2.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from theory.core.arrays import Array

FAR = 5.0  # from which on E (z - t)_+^k, a difference of larger numbers, comes from a continued fraction instead
TERMS = 24  # of the fraction: enough for all digits at `FAR`
NORMAL = 1 / np.sqrt(2 * np.pi)
SMALLEST_WIDTH = 1e-100


class Tails(NamedTuple):
    """The averages E (z - t)_+^k over a standard normal z, for k = 0 (a probability), 1 and 2, each as t."""

    share: Array
    mean: Array
    square: Array


class Thresholded(NamedTuple):
    """Averages over B of the thresholded B: of its slope (the share that is not zero), itself, square and size."""

    share: Array
    mean: Array
    square: Array
    size: Array


def normal_tails(t: Array) -> Tails:
    """Compute E (z - t)_+^k over a standard normal z for k = 0, 1, 2.

    Beyond t = 5 the moments J_k of exp(-t u - u^2/2) over u > 0, of which they are multiples, have the ratios
    J_k/J_(k-1) = k/(t + J_(k+1)/J_k), which follow from integration by parts: run down from a large k.

    >>> [round(float(one), 9) for one in normal_tails(np.array(1.0))]
    [0.158655254, 0.083315471, 0.075339783]
    """
    t = np.asarray(t, float)
    density = NORMAL * np.exp(-0.5 * t * t)
    share = ndtr(-t)
    mean = density - t * share
    square = share - t * mean
    far = t > FAR
    if far.any():
        x = t[far]
        ratio = 0.5 * (np.sqrt(x * x + 4 * TERMS) - x)
        for k in range(TERMS - 1, 2, -1):
            ratio = k / (x + ratio)
        second = 2 / (x + ratio)
        first = 1 / (x + second)
        mean = np.array(mean)
        square = np.array(square)
        mean[far] = share[far] * first
        square[far] = share[far] * first * second
    return Tails(share, mean, square)


def soft_threshold(mean: Array, variance: Array, l1: float, non_negative: bool = False) -> Thresholded:
    """Average the soft threshold at `l1` of a normal B of this mean and variance.

    With `non_negative` only B > l1 counts.

    >>> found = soft_threshold(np.array(0.0), np.array(1.0), 1.0)
    >>> round(float(found.share), 9), round(float(found.square), 9)  # twice those of the tail of z beyond 1
    (0.317310508, 0.150679567)
    """
    width = np.sqrt(variance) + SMALLEST_WIDTH
    above = normal_tails((l1 - mean) / width)
    if non_negative:
        return Thresholded(above.share, width * above.mean, width**2 * above.square, width * above.mean)
    below = above if not np.any(mean) else normal_tails((l1 + mean) / width)
    return Thresholded(
        above.share + below.share,
        width * (above.mean - below.mean),
        width**2 * (above.square + below.square),
        width * (above.mean + below.mean),
    )
