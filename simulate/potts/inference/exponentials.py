"""Exponentials and the logarithms of their sums, for compiled loops that fill the vector units of the processor.

The exponential of the C library is one call for each number, and no loop with a call is turned into vector operations.
"""

from math import factorial
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic, overload

from simulate.core.kernels import cached_njit

PER_LOG_2 = 1.4426950408889634  # 1/ln(2)
# ln(2) comes in two parts, of which the first times n is exact: so what remains of x - n ln(2) keeps its digits.
LOG_2, LOG_2_REST = float.fromhex("0x1.62e42fefa3800p-1"), 5.497923018708371e-14
LOG_2_SINGLE, LOG_2_REST_SINGLE = np.float32(0.693359375), np.float32(-2.12194440e-4)
# Added to a number of moderate size they leave no digits for a fraction: the last bits of the sum are an integer.
ROUNDING, ROUNDING_SINGLE = 1.5 * 2.0**52, np.float32(1.5 * 2.0**23)
# Beyond these 2^n would be no normal number.
MIN_EXPONENT, MIN_EXPONENT_SINGLE = -708.0, np.float32(-87.0)
MAX_EXPONENT, MAX_EXPONENT_SINGLE = 709.0, np.float32(88.0)
# Coefficients of the Taylor series; on |r| <= ln(2)/2 the first term left out is 2e-16, in single precision 5e-9.
C2, C3, C4, C5, C6, C7, C8, C9, C10, C11, C12 = (1 / factorial(k) for k in range(2, 13))
S1, S2, S3, S4, S5, S6, S7 = (np.float32(1 / factorial(k)) for k in range(1, 8))
# Between 1/MAX_SUM and MAX_SUM neither the product of four sums of exponentials overflows nor the weight of a sample
# divided by one.
MAX_SUM, MAX_SUM_SINGLE = 1e60, 1e26
INTEGERS = {types.float32: types.int32, types.float64: types.int64}
FLOATS = {integer: real for real, integer in INTEGERS.items()}


def _read_as(kinds: Any) -> Any:
    """Return what reads the bits of a number as one of the type that `kinds` gives for its own."""

    def typed(_typing_context: Any, x: Any) -> Any:
        if x not in kinds:
            return None

        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.bitcast(arguments[0], context.get_value_type(kinds[x]))

        return kinds[x](x), generate

    return intrinsic(typed)


_bits: Any = _read_as(INTEGERS)
_number: Any = _read_as(FLOATS)


def exponential(x: Any) -> Any:
    """Return exp(x) to a unit of the last digit, for compiled code only.

    It is never zero or infinite: less than exp(-708) or more than exp(709) does not come back, in single precision
    less than exp(-87) or more than exp(88). It is NaN if x is.
    """
    raise NotImplementedError("exponential is called from compiled code only")


def _double(x: Any) -> Any:
    x = MIN_EXPONENT if x < MIN_EXPONENT else x  # this order keeps NaN
    x = MAX_EXPONENT if x > MAX_EXPONENT else x
    shifted = x * PER_LOG_2 + ROUNDING
    n = shifted - ROUNDING
    r = (x - n * LOG_2) - n * LOG_2_REST
    p = ((((C12 * r + C11) * r + C10) * r + C9) * r + C8) * r + C7
    p = (((((p * r + C6) * r + C5) * r + C4) * r + C3) * r + C2) * r + 1.0
    # The integer n is added to the exponent of the polynomial.
    return _number(_bits(p * r + 1.0) + (_bits(shifted) << np.int64(52)))


def _single(x: Any) -> Any:
    x = MIN_EXPONENT_SINGLE if x < MIN_EXPONENT_SINGLE else x
    x = MAX_EXPONENT_SINGLE if x > MAX_EXPONENT_SINGLE else x
    shifted = x * np.float32(PER_LOG_2) + ROUNDING_SINGLE
    n = shifted - ROUNDING_SINGLE
    r = (x - n * LOG_2_SINGLE) - n * LOG_2_REST_SINGLE
    p = ((((S7 * r + S6) * r + S5) * r + S4) * r + S3) * r + S2
    return _number(np.int32(_bits((p * r + S1) * r + S1) + (_bits(shifted) << np.int32(23))))


@overload(exponential, jit_options={"fastmath": {"contract"}})
def _typed(x: Any) -> Any:
    return {types.float64: _double, types.float32: _single}.get(x)


@cached_njit(inline="always")
def all_moderate(sums: Any, size: int) -> bool:
    """Say whether the first `size` sums of exponentials are numbers that `log_sums` takes without their maxima off."""
    limit = MAX_SUM if sums.itemsize == 8 else MAX_SUM_SINGLE
    moderate = 0
    for k in range(size):
        moderate += (sums[k] >= 1 / limit) & (sums[k] <= limit)
    return moderate == size


@cached_njit(inline="always", error_model="numpy")
def log_sums(weights: Any, own: Any, total: Any, n_sites: int) -> float:
    """Return sum_mu w_mu (sum_i log(total) - own), and turn each total into w_mu / total."""
    loss = 0.0
    for mu in range(len(weights)):
        logs, product = 0.0, 1.0
        for i in range(n_sites):
            product *= total[mu * n_sites + i]
            if i % 4 == 3:  # a logarithm of a product of four takes a fourth of the time
                logs, product = logs + np.log(product), 1.0
        loss += weights[mu] * (logs - own[mu] + np.log(product))
        for i in range(n_sites):
            total[mu * n_sites + i] = weights[mu] / total[mu * n_sites + i]
    return loss
