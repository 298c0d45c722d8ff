"""The checks of all arguments: every message names the argument, the value and what is allowed."""

import inspect
import math
import os
from collections.abc import Callable, Collection, Mapping
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from theory.core import foreign
from theory.core.arrays import Array

Record = TypeVar("Record")
Function = TypeVar("Function", bound=Callable[..., Any])
Shaped = TypeVar("Shaped", bound=NDArray[Any])
MAX_SHOWN_CHARACTERS = 80  # characters of a value in a message

MAX_INDEX = 2**63 - 1  # the largest size that numpy can index
NUMBERS = "iufO"  # kinds of dtype; objects are numbers if float() says so: fractions, numbers of mpmath or sympy


def shown(value: Any) -> str:
    """Return `value` as it stands in a message: short, on one line, and whatever the object does without failing."""
    if isinstance(value, np.ndarray) and value.size > 4:
        return f"an array of shape {value.shape}"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a stranger's object may raise anything when it is shown
        return f"an object of type {type(value).__name__}"
    return text if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[: MAX_SHOWN_CHARACTERS - 4]} ..."


def instance(name: str, value: Record, kind: type, what: str) -> Record:
    """Return `value` itself if it is an instance of `kind`, which the message calls `what`; else ValueError."""
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be {what}, got {type(value).__name__}")
    return value


def record(name: str, value: Record, kind: type) -> Record:
    """Return `value` itself if it is one of the records `kind`, else ValueError."""
    return instance(name, value, kind, f"a record of {_home(kind)} ({kind.__name__})")


def _home(kind: type) -> str:
    """Return the package in which users find a class: theory.models for its records, else that of the subject."""
    module = kind.__module__
    return "theory.models" if module.startswith("theory.models") else ".".join(module.split(".")[:2])


def flag(name: str, value: Any) -> bool:
    """Return `value` as True or False; numbers and text are refused, since "no" would mean yes."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def choice(name: str, value: Any, allowed: Collection[Any]) -> Any:
    """Return `value` itself if it is one of the `allowed` ones, else raise ValueError that lists them."""
    for one in allowed:
        if type(one) is type(value) and one == value:
            return value
    raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {shown(value)}")


def function(name: str, value: Function, count: int | None = None) -> Function:
    """Return `value` itself if it can be called, with `count` arguments where that is known and its signature tells."""
    if not callable(value):
        raise ValueError(f"{name} must be a function, got {shown(value)}")
    if count is not None:
        try:
            inspect.signature(value).bind(*[None] * count)
        except TypeError:
            raise ValueError(f"{name} must be a function of {count} arguments, got {shown(value)}") from None
        except ValueError:  # builtins have no signature that could be asked
            pass
    return value


def number(name: str, value: Any) -> float:
    """Return `value` as a float, which may be infinite but not NaN; ValueError for text, truth values and others.

    Objects are numbers if float() says so: fractions, and numbers of mpmath or sympy.
    """
    if type(value) is float and value == value:  # what comes most often is told at once; NaN equals nothing
        return value
    try:
        given = np.asarray(value)
        if given.ndim or given.dtype.kind not in NUMBERS or np.ma.is_masked(value):
            raise TypeError
        converted = float(given[()])
    except Exception:  # the conversion of a stranger's object may raise anything
        raise ValueError(f"{name} must be a real number, got {shown(value)}") from None
    if math.isnan(converted):
        raise ValueError(f"{name} must be a real number, got nan")
    return converted


def real(name: str, value: Any) -> float:
    """Return `value` as a finite float; ValueError for text, truth values and complex numbers."""
    try:
        converted = number(name, value)
    except ValueError as refused:
        if str(refused).endswith("got nan"):
            raise ValueError(f"{name} must be finite, got {shown(value)}") from None
        raise
    if not math.isfinite(converted):
        raise ValueError(f"{name} must be finite, got {shown(value)}")
    return converted


def integer(name: str, value: Any) -> int:
    """Return `value` as an int, which 3.0 is too; ValueError for True, 3.5 and text."""
    converted = value.item() if isinstance(value, np.generic | np.ndarray) and value.ndim == 0 else value
    if isinstance(converted, bool) or not isinstance(converted, int | float) or converted % 1 != 0:
        raise ValueError(f"{name} must be an integer, got {shown(value)}")
    return int(converted)


def between(
    name: str, value: Any, low: float = -math.inf, high: float = math.inf, *, closed: tuple[bool, bool] = (False, False)
) -> float:
    """Return `value` as a float in the interval from `low` to `high`; `closed` says which ends belong to it."""
    number = real(name, value)
    if not ((number > low or (closed[0] and number == low)) and (number < high or (closed[1] and number == high))):
        interval = f"{'[' if closed[0] else '('}{low:g}, {high:g}{']' if closed[1] else ')'}"
        raise ValueError(f"{name} must lie in {interval}, got {shown(value)}")
    return number


def positive(name: str, value: Any) -> float:
    """Return `value` as a finite float above zero, or raise ValueError."""
    return between(name, value, 0.0)


def non_negative(name: str, value: Any) -> float:
    """Return `value` as a finite float that is not negative, or raise ValueError."""
    return between(name, value, 0.0, closed=(True, False))


def dimension(value: Any, *, infinite: bool = False, least: int = 1, name: str = "d") -> float | int:
    """Return `value` as an int of at least `least`, or inf where the family has a limit d -> infinity."""
    number = value.item() if isinstance(value, np.generic | np.ndarray) and value.ndim == 0 else value
    if isinstance(number, bool) or not isinstance(number, int | float) or number != number:  # NaN equals nothing
        raise ValueError(f"{name} must be an integer, got {shown(value)}")
    if number == math.inf and infinite:
        return math.inf
    if number in (math.inf, -math.inf) or int(number) != number or number < least:
        allowed = f"an integer of at least {least}" + (" or infinity" if infinite else "")
        raise ValueError(f"{name} must be {allowed}, got {shown(value)}")
    if number > MAX_INDEX:
        raise ValueError(f"{name} must be an integer of at most 2^63 - 1, got {shown(value)}")
    return int(number)


def count(name: str, value: Any, *, least: int = 1) -> int:
    """Return `value` as an int of at least `least`; ValueError for truth values, fractions, text and infinity."""
    return int(dimension(value, least=least, name=name))


def fits_in_memory(what: str, count: float, instead: str = "") -> None:
    """Raise MemoryError with both sizes, before anything is allocated, if `count` doubles exceed the memory.

    `instead` says what takes less, for the end of the message.
    """
    needed, present = 8 * count, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > present:
        advice = f"; {instead}" if instead else ""
        raise MemoryError(f"{what} needs {needed / 1e9:.3g} GB, this machine has {present / 1e9:.3g} GB{advice}")


def finite_array(name: str, value: Any, ndim: int) -> Array:
    """Return a read-only float copy of `value` with `ndim` axes; ValueError says where an entry is not finite."""
    array = np.array(real_array(name, value))
    if array.ndim != ndim or array.size == 0:
        raise ValueError(f"{name} must be a non-empty array with {ndim} axes, got shape {array.shape}")
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        column = foreign.labelled(value, where[-1]) if ndim == 2 else ""
        raise ValueError(f"{name} must be finite, got {array[where]} at index {where}{column}")
    array.setflags(write=False)
    return array


def numbers(name: str, value: Any) -> Array:
    """Return `value` as a float array of any shape, where infinity is a number; ValueError for nan."""
    array = real_array(name, value)
    if np.isnan(array).any():
        raise ValueError(f"{name} must be numbers, got nan")
    return array


def shaped(name: str, array: Shaped, shape: tuple[int, ...], why: str = "") -> Shaped:
    """Return `array` itself if it has this shape; ValueError, in which `why` follows the shape, for any other one."""
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}{why}, got {array.shape}")
    return array


def last_axis(name: str, value: Any, size: int, *, finite: bool = True) -> Array:
    """Return `value` as a float array (..., size), not copied if it is one; ValueError says what is wrong with it."""
    array = real_array(name, value)
    if array.ndim == 0 or array.shape[-1] != size:
        raise ValueError(f"{name} must have shape (..., {size}), got {array.shape}")
    if finite and not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)][0]}")
    return array


def mapping(name: str, value: Any) -> Mapping[str, Any]:
    """Return `value` itself if it is a mapping, such as a dict, else raise ValueError."""
    return instance(name, value, Mapping, "a mapping")


def colors(name: str, value: Any, n_colors: int, n_sites: int | None = None) -> NDArray[np.integer[Any]]:
    """Return `value` as integers (..., L) from 0 to n_colors - 1, not copied; ValueError names the first other one."""
    array = _converted(name, value, "integers")
    if array.dtype.kind not in "iu":
        cure = f": {foreign.OF_LETTERS}" if foreign.is_text(array) else ""
        what = f"dtype {array.dtype}"
        if array.ndim and array.dtype.kind == "O":
            what, cure = objects(array, "integers")
        raise ValueError(f"{name} must be integers (colors from 0 to {n_colors - 1}), got {what}{cure}")
    if array.ndim == 0 or array.shape[-1] == 0 or (n_sites is not None and array.shape[-1] != n_sites):
        raise ValueError(f"{name} must have shape (..., {n_sites or 'sites'}), got {array.shape}")
    if array.size and (array.min() < 0 or array.max() >= n_colors):
        where = tuple(int(i) for i in np.argwhere((array < 0) | (array >= n_colors))[0])
        got = f"{array[where]} at index {where}"
        raise ValueError(f"{name} must be colors from 0 to {n_colors - 1}, got {got} with n_colors = {n_colors}")
    return array


def real_array(name: str, value: Any) -> Array:
    """Return `value` as a float array of any shape, not copied if it is one; ValueError for masked cells and text."""
    array = _converted(name, value, "real numbers")
    if array.dtype.kind not in NUMBERS:
        _refuse_kind(name, value, array, "real numbers")
    try:
        if array.dtype.kind == "O" and any(entry is None for entry in array.flat):  # numpy would make NaN of it
            raise TypeError
        return np.asarray(array, dtype=float)
    except Exception:  # the entries may be any objects
        pass
    return _refuse_kind(name, value, array, "real numbers")


def integer_array(name: str, value: Any) -> NDArray[Any]:
    """Return `value` as an array of integers of any width and shape, not copied where it is one."""
    array = _converted(name, value, "integers")
    if array.dtype.kind not in "iu":
        _refuse_kind(name, value, array, "integers")
    return array


def bool_array(name: str, value: Any) -> NDArray[np.bool_]:
    """Return `value` as an array of truth values of any shape, not copied where it is one."""
    array = _converted(name, value, "truth values")
    if array.dtype.kind != "b":
        _refuse_kind(name, value, array, "truth values")
    return array


def _converted(name: str, value: Any, entries: str) -> NDArray[Any]:
    if np.ma.is_masked(value):
        raise ValueError(f"{name} must have no masked entries, got {np.ma.getmaskarray(value).sum()} of them")
    value = foreign.plain(name, value, entries)
    try:
        return np.asarray(value)
    except Exception:  # ragged lists, or an object whose conversion raises anything
        raise ValueError(f"{name} must be an array of {entries}, got {type(value).__name__}") from None


def _refuse_kind(name: str, value: Any, array: NDArray[Any], entries: str) -> NoReturn:
    what = f"dtype {array.dtype}" if array.ndim else type(value).__name__
    cure = f": {foreign.OF_TEXT}" if array.ndim and foreign.is_text(array) else ""
    if array.ndim and array.dtype.kind == "O":
        what, cure = objects(array, entries)
    raise ValueError(f"{name} must be an array of {entries}, got {what}{cure}")


def objects(array: NDArray[Any], entries: str) -> tuple[str, str]:
    """Return what a message says of an array of objects in the place of `entries`, and behind a colon the cure."""
    index, cure = foreign.stranger(array, entries)
    what = f"dtype {array.dtype}" + ("" if index is None else f" with {shown(array[index])} at index {index}")
    return what, f": {cure}"
