"""The compiled kernel of the hinge loss: coordinate descent in the multipliers of the samples, with shrinking.

The method is that of LIBLINEAR (Hsieh et al., ICML 2008), here with offsets.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.kernels import cached_njit

Numbers = NDArray[Any]  # in single precision


@cached_njit(error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def descend(
    Z: Numbers,
    y: Numbers,
    offsets: Numbers,
    weights: Numbers,
    softness: float,
    a: Numbers,
    u: Numbers,
    b: Numbers,
    tolerance: float,
    most_sweeps: int,
) -> int:
    """Lower the dual problem of `hinge` from the multipliers a, with u = sum a y z and offsets b, all in place.

    All arrays are in single precision; Z is (n, p). Offsets follow the sums of a y as by a spring of this softness; how
    far these are from zero moves its rest after each sweep. The descent ends where no slope by a multiplier that may
    still move differs by more than the tolerance from another, or after `most_sweeps` through the samples, whose number
    is returned. Samples that press against their bound are left out until the others have ended.
    """
    n, p = Z.shape
    k = offsets.shape[1]
    order = np.arange(n)
    squares = np.empty(n, np.float32)
    for i in range(n):
        square = np.float32(0.0)
        for j in range(p):
            square += Z[i, j] * Z[i, j]
        for j in range(k):
            square += np.float32(softness) * offsets[i, j] * offsets[i, j]
        squares[i] = square
    soft = np.float32(softness)
    zero, one = np.float32(0.0), np.float32(1.0)
    infinite = np.float32(np.inf)
    top, bottom = infinite, -infinite
    size, state = n, np.uint64(88172645463325252)
    for sweep in range(most_sweeps):
        high, low = -infinite, infinite
        for s in range(size - 1):
            state ^= state << np.uint64(13)
            state ^= state >> np.uint64(7)
            state ^= state << np.uint64(17)
            other = s + np.int64((state >> np.uint64(33)) % np.uint64(size - s))
            order[s], order[other] = order[other], order[s]
        s = 0
        while s < size:
            i = order[s]
            row = Z[i]
            h = zero
            for j in range(p):
                h += row[j] * u[j]
            for j in range(k):
                h += offsets[i, j] * b[j]
            slope = y[i] * h - one
            at = a[i]
            projected = slope
            if at <= zero:
                if slope > top:
                    size -= 1
                    order[s], order[size] = order[size], order[s]
                    continue
                projected = min(slope, zero)
            elif at >= weights[i]:
                if slope < bottom:
                    size -= 1
                    order[s], order[size] = order[size], order[s]
                    continue
                projected = max(slope, zero)
            high, low = max(high, projected), min(low, projected)
            if projected != zero and squares[i] > zero:
                a[i] = min(max(at - slope / squares[i], zero), weights[i])
                move = (a[i] - at) * y[i]
                if move != zero:
                    for j in range(p):
                        u[j] += move * row[j]
                    for j in range(k):
                        b[j] += soft * move * offsets[i, j]
            s += 1
        for j in range(k):
            total = zero
            for i in range(n):
                total += a[i] * y[i] * offsets[i, j]
            b[j] += soft * total
        if high - low <= tolerance:
            if size == n:
                return sweep + 1
            size, top, bottom = n, infinite, -infinite
        else:
            top = high if high > zero else infinite
            bottom = low if low < zero else -infinite
    return most_sweeps
