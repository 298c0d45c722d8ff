"""Compiled softmax of the logits of a block of contexts: the derivative of the masked loss, and the loss.

Exponentials are taken many at a time by the vector unit, in double precision, and are exact to two units in the last
place. Sums are not reordered here: the argument of an exponential is reduced in two steps that have to stay two.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.kernels import cached_njit
from theory.core.arrays import Array

LOG2_E = 1.4426950408889634
# ln 2 in two parts: products of the first one with whole numbers below 2^20 are exact.
LN2_FIRST, LN2_REST = 6.93147180369123816490e-01, 1.90821492927058770002e-10
MIN_EXPONENT = -708.0  # exp of less than this is below all normal numbers, and counts as 3e-308 beside a sum >= 1
Integers = NDArray[np.integer[Any]]

_compiled = cached_njit(fastmath={"contract"})


@_compiled
def softmax_residuals(
    logits: Array,
    fields: Array,
    sites: Integers,
    weights: Array,
    targets: Array,
    first: int,
    found: Array,
    by_fields: Array,
    with_loss: bool,
) -> float:
    """Return the loss of a block, and write its derivatives by the logits (C, contexts) to `found`.

    The block begins with the context `first` of all `sites`; where these end, derivatives are zero. The `fields` (L,
    C) are added to the logits first, unless they are empty, and the derivatives by them to `by_fields`. Without
    `with_loss` log x <= x - 1 stands for the logarithm of the sum over colors: what comes back is a bound of the loss
    that is as finite as the loss is, and a tenth of the time of a step is saved.
    """
    C, n = logits.shape
    count = min(n, len(sites) - first)
    top, norm, total = np.empty(n), np.empty(n), 0.0
    powers, exponents = np.empty((C, n)), np.empty(n, np.int64)
    twos = exponents.view(np.float64)
    if len(fields):
        for r in range(count):
            for c in range(C):
                logits[c, r] += fields[sites[first + r], c]
    for r in range(n):
        top[r] = logits[0, r]
    for c in range(1, C):
        for r in range(n):
            top[r] = logits[c, r] if logits[c, r] > top[r] else top[r]
    norm[:] = 0.0
    for c in range(C):
        row, x = powers[c], logits[c]
        for r in range(n):
            y = x[r] - top[r]
            y = y if y > MIN_EXPONENT else MIN_EXPONENT
            k = np.floor(y * LOG2_E + 0.5)
            exponents[r] = np.int64(np.int32(k) + 1023) << 52
            y = (y - k * LN2_FIRST) - k * LN2_REST
            # The series of exp to the order 13, whose rest is below 5e-18 for |y| <= ln(2)/2.
            p = y / 6227020800 + 1 / 479001600
            p = ((p * y + 1 / 39916800) * y + 1 / 3628800) * y + 1 / 362880
            p = ((p * y + 1 / 40320) * y + 1 / 5040) * y + 1 / 720
            p = ((p * y + 1 / 120) * y + 1 / 24) * y + 1 / 6
            row[r] = ((p * y + 0.5) * y + 1.0) * y + 1.0
        # The numbers that have these exponents are powers of two.
        for r in range(n):
            row[r] *= twos[r]
            norm[r] += row[r]
    for r in range(count):
        s = first + r
        log_norm = top[r] + (math.log(norm[r]) if with_loss else norm[r] - 1.0)
        for c in range(C):
            total += weights[s] * targets[s, c] * (log_norm - logits[c, r])
            found[c, r] = weights[s] * (powers[c, r] / norm[r] - targets[s, c])
    for r in range(count, n):
        found[:, r] = 0.0
    if len(fields):
        for r in range(count):
            for c in range(C):
                by_fields[sites[first + r], c] += found[c, r]
    return total
