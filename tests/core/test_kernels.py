"""Kernels are cached where there is a place for it, and compiled without a cache where there is none."""

from pathlib import Path

import numpy as np
import pytest
from numba.core import caching

from simulate.core.kernels import cached_njit

ROOT = Path(__file__).resolve().parents[2]


def add(x, y):
    """The sum of two arrays."""
    return x + y


def is_cached(kernel):
    """Whether numba keeps what it compiled on disk."""
    return isinstance(kernel._cache, caching.FunctionCache)


def test_a_place_for_the_cache_is_used():
    assert is_cached(cached_njit()(add))


def test_without_a_place_kernels_are_compiled_all_the_same(monkeypatch):
    """As where the package is installed read-only and the home cannot be written to: numba refuses the function."""
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    kernel = cached_njit(error_model="numpy")(add)
    assert not is_cached(kernel)
    np.testing.assert_array_equal(kernel(np.ones(3), np.ones(3)), np.full(3, 2.0))


def test_other_errors_are_passed_on(monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("something else")

    monkeypatch.setattr("theory.core.kernels.njit", fail)
    with pytest.raises(RuntimeError, match="something else"):
        cached_njit()(add)


def test_no_kernel_asks_for_a_cache_in_another_way():
    paths = [path for wing in ("theory", "simulate") for path in (ROOT / wing).rglob("*.py")]
    files = [path for path in paths if "cache=True" in path.read_text(encoding="utf-8")]
    assert files == [ROOT / "theory" / "models" / "kernels.py"]
