"""Compiles every kernel: once per machine, and without Python's lock, so that threads run side by side."""

from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

Kernel = TypeVar("Kernel", bound=Callable[..., object])


def compiled(function: Kernel) -> Kernel:
    """Compiles `function`. What it calls must be in its own file, because the cache sees no changes elsewhere."""
    return cast(Kernel, njit(cache=True, nogil=True, error_model="numpy")(function))
