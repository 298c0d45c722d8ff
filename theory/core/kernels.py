"""Compiles kernels with numba, and keeps what was compiled where there is a place for it.

Only kernels import this file, and theory imports its kernels inside the functions that run them: numba takes a third of
a second to load.
"""

# mypy: allow-untyped-calls
# The classes of numba's cache have no types.

import ast
import hashlib
import inspect
import io
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

ROOT = Path(__file__).resolve().parents[2]  # where the packages lie
PACKAGES = ("theory", "simulate")  # whose files are followed from import to import
STARTED = time.time()  # a file that changed later than this may not be what was imported


def cached_njit(**options: Any) -> Callable[[Kernel], Kernel]:
    """Return numba's decorator for kernels: compiled once per machine, and run without Python's lock.

    `options` go to `numba.njit`. A kernel is compiled anew when its own file has changed or any file of ours that this
    one imports, directly or through others, and when what was kept is damaged. Where neither the installed package nor
    the home can be written to, there is no place to keep it, and it is compiled anew in each process.
    """

    def decorated(function: Kernel) -> Kernel:
        kernel = njit(nogil=True, **options)(function)
        try:
            kernel._cache = _KernelCache(function)
        except RuntimeError as error:
            if "no locator available" not in str(error):
                raise
        return cast(Kernel, kernel)

    return decorated


@cache
def source_digest(path: Path) -> bytes:
    """Return a digest of the file at `path` and of all files of our packages that it imports, through others too.

    Where one of them has changed since this process began, or cannot be read, nobody knows what was imported: the
    digest is then a random one, under which nothing is found, now or later.
    """
    try:
        files = sources(path)
        if max(file.stat().st_mtime for file in files) > STARTED:
            return os.urandom(32)
    except (OSError, SyntaxError, ValueError):
        return os.urandom(32)
    digest = hashlib.sha256()
    for file, content in sorted(files.items()):
        digest.update(f"{file.name} {len(content)} ".encode() + content)
    return digest.digest()


def sources(path: Path) -> dict[Path, bytes]:
    """Return the contents of the file at `path` and of all files of our packages that it imports, through others too.

    OSError, SyntaxError or ValueError for a file that cannot be read.
    """
    found, todo = dict[Path, bytes](), {path}
    while todo:
        file = todo.pop()
        found[file] = file.read_bytes()
        todo |= _imported(found[file]) - found.keys()
    return found


def _imported(content: bytes) -> set[Path]:
    """Return the files of our packages that are imported anywhere in a file with this content."""
    found = set[Path | None]()
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.Import):
            found.update(_file_of(alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.update(_file_of(f"{node.module}.{alias.name}") or _file_of(f"{node.module}") for alias in node.names)
    return {file for file in found if file is not None}


def _file_of(module: str) -> Path | None:
    """Return the file of a module of our packages; None for other modules, and for names within a module."""
    if module.partition(".")[0] not in PACKAGES:
        return None
    path = ROOT.joinpath(*module.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


class _KernelCache(FunctionCache):
    """What numba compiled of one kernel, in files that are known to be whole and to belong to today's sources."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        source = Path(inspect.getfile(function)).resolve()
        self._cache_file = _WholeFiles(self._cache_path, self._impl.filename_base, source)


class _WholeFiles(IndexDataCacheFile):
    """The index and the code of one kernel, each followed by a digest of itself and of the sources.

    A file that does not end with it is as good as none: it is cut off, damaged, of other sources, or of numba alone,
    which looks at the kernel's own file only. Numba passes over what stands at the end.
    """

    def __init__(self, folder: str, name: str, source: Path) -> None:
        super().__init__(folder, name, None)
        self._source = source

    def save(self, key: object, data: object) -> None:
        """Keep compiled code where the disk takes it; where it is full or read-only the kernel runs all the same."""
        with suppress(OSError):
            super().save(key, data)

    def _load_index(self) -> dict[Any, str]:
        # The stamp is made here, at the first call of a kernel, since reading the sources would slow imports down.
        self._source_stamp = source_digest(self._source)
        return super()._load_index() if self._is_whole(Path(self._index_path)) else {}

    def _load_data(self, name: str) -> object:
        path = Path(self._data_path(name))
        if not self._is_whole(path):
            raise FileNotFoundError(path)  # what `load` takes for a kernel that is not kept
        return super()._load_data(name)

    def _is_whole(self, path: Path) -> bool:
        try:
            content = path.read_bytes()
        except OSError:
            return False
        end = hashlib.sha256().digest_size
        return content[-end:] == self._digest(content[:-end])

    def _digest(self, content: bytes) -> bytes:
        return hashlib.sha256(source_digest(self._source) + content).digest()

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[BinaryIO]:
        with super()._open_for_write(filepath) as file:
            content = io.BytesIO()
            yield content
            file.write(content.getvalue() + self._digest(content.getvalue()))
