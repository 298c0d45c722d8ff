"""Compiles kernels with numba, and keeps what was compiled where there is a place for it.

Only kernels import this file, and theory imports its kernels inside the functions that run them: numba takes a third of
a second to load.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def cached_njit(**options: Any) -> Callable[[Kernel], Kernel]:
    """Returns numba's decorator for kernels: compiled once per machine, and run without Python's lock.

    `options` go to `numba.njit`. What a kernel calls must stand in its own file, because the cache sees no changes
    elsewhere. Where neither the installed package nor the home can be written to, numba finds no place for its cache
    and refuses the function; it is then compiled anew in each process.
    """

    def decorated(function: Kernel) -> Kernel:
        try:
            return cast(Kernel, njit(cache=True, nogil=True, **options)(function))
        except RuntimeError as error:
            if "no locator available" not in str(error):
                raise
            return cast(Kernel, njit(nogil=True, **options)(function))

    return decorated
