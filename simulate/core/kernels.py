"""Compiles kernels with numba, in the way that theory and simulations share."""

from theory.core.kernels import cached_njit

__all__ = ["cached_njit"]
