"""One place where arguments are checked: every message names the argument, the value and what is allowed."""

import math
import os
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Record = TypeVar("Record")

NUMBERS = "iufO"  # kinds of dtype; objects are numbers if float() says so: fractions, numbers of mpmath or sympy


def record(name: str, value: Record, kind: type) -> Record:
    """`value` itself if it is one of the records `kind`, else ValueError."""
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be a record of theory.models ({kind.__name__}), got {type(value).__name__}")
    return value


def real(name: str, value: Any) -> float:
    """`value` as a finite float, or ValueError; text, truth values and complex numbers are none."""
    try:
        given = np.asarray(value)
        if given.ndim or given.dtype.kind not in NUMBERS:
            raise TypeError
        number = float(given[()])
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be a real number, got {value!r}") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {value!r}")
    return number


def between(
    name: str, value: Any, low: float = -math.inf, high: float = math.inf, *, closed: tuple[bool, bool] = (False, False)
) -> float:
    """`value` as a float in the interval from `low` to `high`; `closed` says which ends belong to it."""
    number = real(name, value)
    if not ((number > low or (closed[0] and number == low)) and (number < high or (closed[1] and number == high))):
        interval = f"{'[' if closed[0] else '('}{low:g}, {high:g}{']' if closed[1] else ')'}"
        raise ValueError(f"{name} must lie in {interval}, got {value!r}")
    return number


def positive(name: str, value: Any) -> float:
    """`value` as a finite float above zero."""
    return between(name, value, 0.0)


def non_negative(name: str, value: Any) -> float:
    """`value` as a finite float, zero allowed."""
    return between(name, value, 0.0, closed=(True, False))


def dimension(value: Any, *, infinite: bool = False, least: int = 1, name: str = "d") -> float | int:
    """`value` as an int of at least `least`, or inf where the family has a limit d -> infinity."""
    number = value.item() if isinstance(value, np.generic | np.ndarray) and value.ndim == 0 else value
    if isinstance(number, bool) or not isinstance(number, int | float) or number != number:
        raise ValueError(f"{name} must be an integer, got {value!r}")
    if number == math.inf and infinite:
        return math.inf
    if math.isinf(number) or int(number) != number or number < least:
        allowed = f"an integer of at least {least}" + (" or infinity" if infinite else "")
        raise ValueError(f"{name} must be {allowed}, got {value!r}")
    return int(number)


def fits_in_memory(what: str, count: float) -> None:
    """MemoryError with both sizes, before anything is allocated, if `count` doubles exceed the machine's memory."""
    needed, present = 8 * count, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > present:
        raise MemoryError(f"{what} needs {needed / 1e9:.3g} GB, this machine has {present / 1e9:.3g} GB")


def finite_array(name: str, value: Any, ndim: int) -> NDArray[np.float64]:
    """A read-only float copy of `value` with `ndim` axes, all finite; errors say where one is not."""
    array = _real_array(name, value)
    if array.ndim != ndim or array.size == 0:
        raise ValueError(f"{name} must be a non-empty array with {ndim} axes, got shape {array.shape}")
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name} must be finite, got {array[where]} at index {where}")
    array.setflags(write=False)
    return array


def colors(name: str, value: Any, n_colors: int, n_sites: int | None = None) -> NDArray[np.integer[Any]]:
    """`value` as integers (..., L) from 0 to n_colors - 1; ValueError names the first that is not. Not copied."""
    array = np.asarray(value)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be integers (colors from 0 to {n_colors - 1}), got dtype {array.dtype}")
    if array.ndim == 0 or array.shape[-1] == 0 or (n_sites is not None and array.shape[-1] != n_sites):
        raise ValueError(f"{name} must have shape (..., {n_sites or 'sites'}), got {array.shape}")
    if array.size and (array.min() < 0 or array.max() >= n_colors):
        where = tuple(int(i) for i in np.argwhere((array < 0) | (array >= n_colors))[0])
        raise ValueError(f"{name} must be colors from 0 to {n_colors - 1}, got {array[where]} at index {where}")
    return array


def _real_array(name: str, value: Any) -> NDArray[np.float64]:
    if np.ma.is_masked(value):
        raise ValueError(f"{name} must have no masked entries, got {np.ma.getmaskarray(value).sum()} of them")
    try:
        given = np.asarray(value)
        if given.dtype.kind in NUMBERS:
            return np.array(given, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be an array of real numbers, got {type(value).__name__}") from None
    what = f"dtype {given.dtype}" if given.ndim else type(value).__name__
    raise ValueError(f"{name} must be an array of real numbers, got {what}")
