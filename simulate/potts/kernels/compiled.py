"""Compiles every kernel of the samplers once per machine, without Python's lock, so that threads run side by side."""

from collections.abc import Callable
from typing import TypeVar

from simulate.core.kernels import cached_njit

Kernel = TypeVar("Kernel", bound=Callable[..., object])


def compiled(function: Kernel) -> Kernel:
    """Compile `function`, whose divisions by zero give infinity or NaN as numpy's do."""
    return cached_njit(error_model="numpy")(function)
