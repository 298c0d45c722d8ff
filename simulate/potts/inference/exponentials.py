"""Exponentials and the logarithms of their sums, for compiled loops that fill the vector units of the processor.

The exponential of the C library is one call for each number, and no loop with a call is turned into vector operations.
"""

from math import factorial
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic, overload

from simulate.core.kernels import cached_njit

NATURAL_LOG_2, PER_LOG_2 = 0.6931471805599453, 1.4426950408889634  # ln(2) and 1/ln(2)
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
# Coefficients of the polynomials of (2^r - 1)/r whose largest error on |r| <= 1/2, as a share of 2^r, is least: 3e-18,
# in single precision 2e-9.
T0, T1, T2, T3 = 0.6931471805599453, 0.2402265069591013, 0.055504108664820084, 0.00961812910759412
T4, T5, T6, T7 = 0.0013333558146774612, 0.00015403530457111888, 1.5252733493136247e-05, 1.3215435282409789e-06
T8, T9, T10 = 1.0178199568333082e-07, 7.073783231317461e-09, 4.4347718064792675e-10
U0, U1, U2 = map(np.float32, (0.6931472028549388, 0.24022647913615713, 0.055503324713257404))
U3, U4, U5 = map(np.float32, (0.009618437360672348, 0.001339887435431923, 0.0001535336091734662))
MIN_POWER, MIN_POWER_SINGLE = -1022.0, np.float32(-126.0)
MAX_POWER, MAX_POWER_SINGLE = 1023.0, np.float32(127.0)
# Between 1/MAX_SUM and MAX_SUM neither the product of eight sums of exponentials overflows nor the weight of a sample
# divided by one.
SUMS_OF_A_LOGARITHM = 8  # a logarithm of a product of so many sums takes an eighth of the time
MAX_SUM, MAX_SUM_SINGLE = 1e38, 1e30
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


def power_of_two(x: Any) -> Any:
    """Return 2^x to less than two units of the last digit, for compiled code only.

    It takes less time than `exponential`, since the integer nearest to x leaves a rest without a digit lost. It is
    never zero or infinite: less than 2^-1022 or more than 2^1023 does not come back, in single precision less than
    2^-126 or more than 2^127. It is NaN if x is.
    """
    raise NotImplementedError("power_of_two is called from compiled code only")


def _power_double(x: Any) -> Any:
    x = MIN_POWER if x < MIN_POWER else x  # this order keeps NaN
    x = MAX_POWER if x > MAX_POWER else x
    shifted = x + ROUNDING
    r = x - (shifted - ROUNDING)
    # Pairs of terms do not wait for each other, as they would where each is multiplied by r and added to the next.
    r2 = r * r
    r4 = r2 * r2
    low, middle = (T1 * r + T0) + (T3 * r + T2) * r2, (T5 * r + T4) + (T7 * r + T6) * r2
    p = low + r4 * (middle + r4 * ((T9 * r + T8) + T10 * r2))
    return _number(_bits(p * r + 1.0) + (_bits(shifted) << np.int64(52)))


def _power_single(x: Any) -> Any:
    x = MIN_POWER_SINGLE if x < MIN_POWER_SINGLE else x
    x = MAX_POWER_SINGLE if x > MAX_POWER_SINGLE else x
    shifted = x + ROUNDING_SINGLE
    r = x - (shifted - ROUNDING_SINGLE)
    r2 = r * r
    p = (U1 * r + U0) + r2 * ((U3 * r + U2) + (U5 * r + U4) * r2)
    return _number(np.int32(_bits(p * r + np.float32(1.0)) + (_bits(shifted) << np.int32(23))))


@overload(power_of_two, jit_options={"fastmath": {"contract"}})
def _power_typed(x: Any) -> Any:
    return {types.float64: _power_double, types.float32: _power_single}.get(x)


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
            if i % SUMS_OF_A_LOGARITHM == SUMS_OF_A_LOGARITHM - 1:
                logs, product = logs + np.log(product), 1.0
        loss += weights[mu] * (logs - own[mu] + np.log(product))
        for i in range(n_sites):
            total[mu * n_sites + i] = weights[mu] / total[mu * n_sites + i]
    return loss
