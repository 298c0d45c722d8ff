"""Compiled passes over the fields of narrow networks, which turn them into the derivatives of the energy by them.

Fields are arrays (chains C, units K, samples n), so that the innermost loops run along the samples.
"""

import math
from functools import cache

import numpy as np
from scipy.special import erf

from simulate.core.kernels import cached_njit
from theory.core.arrays import Array

MAX_FIELD = 9.0  # from here on erf(h/sqrt(2)) is one to the last digit
NODES_PER_UNIT = 512  # of the table in each unit of the field: cubic Taylor series then have an error below 1e-13
SIXTH = 1.0 / 6.0


@cache
def erf_table() -> Array:
    """Return erf(h/sqrt(2)) and its slope, side by side, at h = 0, 1/NODES_PER_UNIT, ..., MAX_FIELD, (nodes, 2)."""
    h = np.arange(round(MAX_FIELD * NODES_PER_UNIT) + 1) / NODES_PER_UNIT
    return np.column_stack([erf(h * math.sqrt(0.5)), math.sqrt(2 / math.pi) * np.exp(-0.5 * h * h)])


# Multiplications and additions may be fused, but NaN is still seen, as the bound on the field needs.
@cached_njit(fastmath={"contract"})
def pull_erf(fields: Array, labels: Array, readout: Array, beta: float, center: bool, table: Array) -> Array:
    """Replace the fields of erf units by the derivatives of beta/2 sum (y - s)^2 by them; return the squares (C,).

    Values and slopes are Taylor series about the nearest node h of the table: the slope of erf(h/sqrt(2)) is g, and the
    derivatives of g are -h g, (h^2 - 1) g and -(h^3 - 3 h) g.
    """
    squares, s = np.empty(len(fields)), np.empty(len(labels))
    for c in range(len(fields)):
        s[:] = 0.0
        for k in range(len(readout)):
            own, v = fields[c, k], readout[k]
            for r in range(len(labels)):
                size = abs(own[r])
                size = size if size < MAX_FIELD else MAX_FIELD  # a field that is not a number goes there too
                place = np.uint32(size * NODES_PER_UNIT + 0.5)
                h = place * (1.0 / NODES_PER_UNIT)
                E, g, t = table[place, 0], table[place, 1], size - h
                first, second = h * t, t * t * (h * h - 1.0)
                value = E + t * g * (1.0 - 0.5 * first + SIXTH * second)
                s[r] += v * math.copysign(value, own[r])  # a choice by the sign would be mispredicted half of the time
                # The slope takes the place of its field, so that no second array of this size is needed.
                own[r] = g * (1.0 - first + 0.5 * second - SIXTH * first * (second - 2.0 * t * t))
        squares[c] = _pull(fields[c], s, labels, readout, beta, center)
    return squares


@cached_njit()
def pull_relu(fields: Array, labels: Array, readout: Array, beta: float, center: bool) -> Array:
    """Replace the fields of ReLU units by the derivatives of the same energy by them; return the squares (C,)."""
    squares, s = np.empty(len(fields)), np.empty(len(labels))
    for c in range(len(fields)):
        s[:] = 0.0
        for k in range(len(readout)):
            own, v = fields[c, k], readout[k]
            for r in range(len(labels)):
                s[r] += v * max(own[r], 0.0)
                own[r] = 1.0 if own[r] > 0 else 0.0
        squares[c] = _pull(fields[c], s, labels, readout, beta, center)
    return squares


@cached_njit()
def _pull(slopes: Array, s: Array, labels: Array, readout: Array, beta: float, center: bool) -> float:
    """Multiply the slopes (K, n) of one chain by the derivative of the energy by their values, and sums squares.

    With `center` the mean output over the samples is subtracted; labels must have the mean zero then.
    """
    total, shift = 0.0, 0.0
    if center:
        for r in range(len(labels)):
            shift += s[r] / len(labels)
    for r in range(len(labels)):
        s[r] -= labels[r] + shift
        total += s[r] * s[r]
    for k in range(len(readout)):
        own, factor = slopes[k], beta * readout[k]
        for r in range(len(labels)):
            own[r] *= factor * s[r]
    return total
