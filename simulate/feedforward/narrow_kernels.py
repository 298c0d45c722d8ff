"""Compiled passes over the fields of narrow networks, which turn them into the derivatives of the energy by them.

Fields are arrays (chains C, units K, samples n), so that the innermost loops run along the samples.
"""

import math
from functools import cache

import numpy as np
from scipy.special import erf

from simulate.core.kernels import cached_njit
from theory.models.arrays import Array

LAST = 9.0  # from here on erf(h/sqrt(2)) is one to the last digit
NODES = 512  # of the table in each unit of the field: cubic interpolation then has an error below 1e-13


@cache
def erf_table() -> Array:
    """Returns erf(h/sqrt(2)) and its slope at h = 0, 1/NODES, ... up to LAST and one place more, (2, nodes)."""
    h = np.arange(round(LAST * NODES) + 2) / NODES
    return np.array([erf(h * math.sqrt(0.5)), math.sqrt(2 / math.pi) * np.exp(-0.5 * h * h)])


@cached_njit()
def pull_erf(fields: Array, labels: Array, readout: Array, beta: float, table: Array) -> Array:
    """Replaces the fields of erf units by the derivatives of beta/2 sum (y - s)^2 by them; returns the squares (C,).

    Values and slopes are read from the table by cubic Hermite interpolation: the slope of erf(h/sqrt(2)) is g, and that
    of g is -h g.
    """
    squares, s = np.empty(len(fields)), np.empty(len(labels))
    values, slopes = table[0], table[1]
    for c in range(len(fields)):
        s[:] = 0.0
        for k in range(len(readout)):
            own, v = fields[c, k], readout[k]
            for r in range(len(labels)):
                size = abs(own[r])
                size = size if size < LAST else LAST  # a field that is not a number goes there too
                place = int(size * NODES)
                t = size * NODES - place
                h, width = place / NODES, 1.0 / NODES
                E0, E1, g0, g1 = values[place], values[place + 1], slopes[place], slopes[place + 1]
                a, b = t * t * (3.0 - 2.0 * t), t * (1.0 - t) * width
                value = E0 + a * (E1 - E0) + b * ((1.0 - t) * g0 - t * g1)
                s[r] += v * (value if own[r] > 0 else -value)
                own[r] = g0 + a * (g1 - g0) + b * (t * (h + width) * g1 - (1.0 - t) * h * g0)
        squares[c] = _pull(fields[c], s, labels, readout, beta)
    return squares


@cached_njit()
def pull_relu(fields: Array, labels: Array, readout: Array, beta: float) -> Array:
    """Replaces the fields of ReLU units by the derivatives of the same energy by them; returns the squares (C,)."""
    squares, s = np.empty(len(fields)), np.empty(len(labels))
    for c in range(len(fields)):
        s[:] = 0.0
        for k in range(len(readout)):
            own, v = fields[c, k], readout[k]
            for r in range(len(labels)):
                s[r] += v * max(own[r], 0.0)
                own[r] = 1.0 if own[r] > 0 else 0.0
        squares[c] = _pull(fields[c], s, labels, readout, beta)
    return squares


@cached_njit()
def _pull(slopes: Array, s: Array, labels: Array, readout: Array, beta: float) -> float:
    """Multiplies the slopes (K, n) of one chain by the derivative of the energy by their values, and sums squares."""
    total = 0.0
    for r in range(len(labels)):
        s[r] -= labels[r]
        total += s[r] * s[r]
    for k in range(len(readout)):
        own, factor = slopes[k], beta * readout[k]
        for r in range(len(labels)):
            own[r] *= factor * s[r]
    return total
