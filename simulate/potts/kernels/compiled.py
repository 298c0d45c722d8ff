"""Compiles every kernel of the samplers once per machine, without Python's lock, so that threads run side by side."""

from collections.abc import Callable
from typing import TypeVar

from simulate.core.kernels import cached_njit

Kernel = TypeVar("Kernel", bound=Callable[..., object])


def compiled(function: Kernel) -> Kernel:
    """Compiles `function`. What it calls must be in its own file, because the cache sees no changes elsewhere.

    The only exception is `eight.add_eight`, which is no function of Python.
    """
    return cached_njit(error_model="numpy")(function)
