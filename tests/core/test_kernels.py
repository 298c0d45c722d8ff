"""Kernels are kept where there is a place for it, by all that they are compiled from, and else compiled again."""

import importlib
import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numba.core import caching, config

from simulate.core.kernels import cached_njit
from theory.core import kernels

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
    assert [path for path in paths if "cache=True" in path.read_text(encoding="utf-8")] == []
    asks = [path for path in paths if "import njit" in path.read_text(encoding="utf-8")]
    assert asks == [ROOT / "theory" / "core" / "kernels.py"]


def test_files_that_are_imported_are_found_through_others():
    found = kernels.sources(ROOT / "simulate" / "potts" / "kernels" / "sweeps.py")
    inner = ROOT / "simulate" / "potts" / "kernels"
    assert set(found) == {
        *(inner / name for name in ("sweeps.py", "draws.py", "rows_of_eight.py", "compiled.py")),
        ROOT / "simulate" / "core" / "kernels.py",
        ROOT / "simulate" / "core" / "cache_lines.py",
        ROOT / "theory" / "core" / "kernels.py",
    }
    assert found[inner / "rows_of_eight.py"] == (inner / "rows_of_eight.py").read_bytes()


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A package in a folder of its own, whose kernel calls that of a second file, which uses a number of a third."""
    folder = tmp_path / "toy"
    (folder / "inner").mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "inner" / "__init__.py").write_text("from toy.inner.numbers import FACTOR\n")
    (folder / "inner" / "numbers.py").write_text("FACTOR = 2.0\n")
    begin = "from simulate.core.kernels import cached_njit\n"
    (folder / "called.py").write_text(
        f"{begin}from toy.inner import FACTOR\n@cached_njit()\ndef times(x):\n    return FACTOR * x\n"
    )
    (folder / "caller.py").write_text(
        f"{begin}from toy import called\ntimes = called.times\n"
        "@cached_njit()\ndef kernel(x):\n    return times(x) + 1\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(kernels, "ROOT", tmp_path)
    monkeypatch.setattr(kernels, "PACKAGES", ("toy",))
    monkeypatch.setattr(config, "CACHE_DIR", "")  # the cache lies beside the files, whatever the environment says
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # or an edit within the same second goes unseen by Python
    yield folder
    forget()


def forget():
    """Leave nothing of the package in this process."""
    for name in [name for name in sys.modules if name.split(".")[0] == "toy"]:
        del sys.modules[name]
    importlib.invalidate_caches()
    kernels.source_digest.cache_clear()


def run_anew(monkeypatch, *, started=None):
    """Import the package as a process does that begins now; return what the kernel makes of 10, and cache hits."""
    forget()
    monkeypatch.setattr(kernels, "STARTED", time.time() + 1 if started is None else started)
    kernel = importlib.import_module("toy.caller").kernel
    return kernel(10.0), sum(kernel.stats.cache_hits.values())


def kept(folder, suffix):
    (path,) = (folder / "__pycache__").glob(f"caller.kernel-*.{suffix}")
    return path


def test_a_change_of_any_file_that_a_kernel_is_compiled_from_is_seen_with_a_warm_cache(toy, monkeypatch):
    assert run_anew(monkeypatch) == (21.0, 0)
    assert run_anew(monkeypatch) == (21.0, 1)

    numbers = toy / "inner" / "numbers.py"
    before = numbers.stat()
    numbers.write_text("FACTOR = 3.0\n")  # neither the size nor the time of the file tells
    os.utime(numbers, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert run_anew(monkeypatch) == (31.0, 0)
    assert run_anew(monkeypatch) == (31.0, 1)

    called = toy / "called.py"
    called.write_text(called.read_text().replace("FACTOR * x", "FACTOR * x - 1"))
    assert run_anew(monkeypatch) == (30.0, 0)
    assert run_anew(monkeypatch) == (30.0, 1)


def cut_off(content):
    return content[: len(content) // 2]


def emptied(_):
    return b""


def zeros(content):
    """What a file may hold after a power failure: its length is right."""
    return bytes(len(content))


def one_bit(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_a_damaged_file_of_the_cache_is_made_again(toy, monkeypatch, suffix):
    run_anew(monkeypatch)
    path = kept(toy, suffix)
    for damage in (cut_off, emptied, zeros, one_bit):
        path.write_bytes(damage(path.read_bytes()))
        assert run_anew(monkeypatch) == (21.0, 0), damage
    assert run_anew(monkeypatch) == (21.0, 1)


def test_code_of_earlier_sources_is_not_taken_for_that_of_todays(toy, monkeypatch):
    """As where a process ends between the index, which is written first, and the code."""
    run_anew(monkeypatch)
    early = kept(toy, "nbc").read_bytes()
    (toy / "inner" / "numbers.py").write_text("FACTOR = 3.0\n")
    run_anew(monkeypatch)
    kept(toy, "nbc").write_bytes(early)
    assert run_anew(monkeypatch) == (31.0, 0)


def test_where_a_file_changed_after_it_was_imported_nothing_is_kept_under_its_name(toy, monkeypatch):
    numbers = toy / "inner" / "numbers.py"
    assert run_anew(monkeypatch, started=numbers.stat().st_mtime - 1) == (21.0, 0)
    assert run_anew(monkeypatch) == (21.0, 0)
    numbers.unlink()
    kernels.source_digest.cache_clear()
    assert sys.modules["toy.caller"].kernel(10) == 21  # another type of argument: it is compiled again


def test_a_full_disk_stops_no_kernel(toy, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(caching.IndexDataCacheFile, "_save_data", full)
    assert run_anew(monkeypatch) == (21.0, 0)


def test_a_cache_of_numba_alone_and_ours_replace_each_other(toy, monkeypatch):
    """As where an earlier version of this project, which had numba's, runs in the same folder."""
    for cache in (kernels._KernelCache, caching.FunctionCache, kernels._KernelCache):
        monkeypatch.setattr(kernels, "_KernelCache", cache)
        assert run_anew(monkeypatch) == (21.0, 0)
