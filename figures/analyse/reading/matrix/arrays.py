"""Reads numpy's own files: headers come first, pickled objects are never loaded, and large arrays stay in the file."""

import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tokenize import TokenError
from typing import Any, BinaryIO, cast

import numpy as np

from figures.analyse.errors import DataError
from figures.analyse.memory import MOST_CELLS, require_memory
from figures.analyse.reading.matrix.choices import Reading
from figures.analyse.reading.matrix.raw_rows import held_rows, mapped_rows
from figures.analyse.reading.matrix.record import Matrix
from figures.analyse.reading.opening import GZIP_MAGIC, open_binary
from figures.analyse.reading.tables.columns import numbered
from figures.analyse.wording import shown
from theory.core.arrays import Array

MAGIC = b"\x93NUMPY"
ARCHIVE = b"PK"  # how .npz files begin
FEWER = "take fewer rows, or fewer columns with --columns"
FOREIGN = {"c": "complex numbers", "U": "text", "S": "text", "M": "dates", "m": "time spans", "V": "records"}


def read_array(path: Path, how: Reading) -> Matrix:
    """Return the 2-dimensional array of a .npy file, or the one that is named or alone in a .npz file.

    One of more than MOST_CELLS numbers that is not compressed is mapped: its rows are read when they are needed.
    DataError for another shape, for anything but real numbers, and before anything is allocated for what is too large.
    """
    with _entry(path, how.array) as (file, what, note):
        shape, _ = _checked_header(path, file, what)
        names = numbered(shape[1])
        chosen = how.selected(path, names)
        if shape[0] * shape[1] > MOST_CELLS and is_mapped(path):
            with _format_errors(path):
                mapped = np.load(path, mmap_mode="r", allow_pickle=False)
            data = mapped_rows(mapped, chosen)
        else:
            data = held_rows(_values(path, file, shape, chosen))
    return Matrix(path, data, tuple(names[k] for k in chosen), (note,), positions=tuple(chosen))


def array_shape(path: Path, array: str | None = None) -> tuple[int, int, int]:
    """Return the rows and columns of the array, and the bytes of one of its numbers, from its header alone.

    The DataErrors are those of `read_array`.
    """
    with _entry(path, array) as (file, what, _):
        shape, dtype = _checked_header(path, file, what)
    if is_mapped(path) and path.stat().st_size < shape[0] * shape[1] * dtype.itemsize:
        raise DataError(path, "is damaged or cut off (its header says more numbers); save or copy it again")
    return *shape, dtype.itemsize


def is_mapped(path: Path) -> bool:
    """Say whether a file of numpy's can be mapped: it is neither an archive nor compressed."""
    with path.open("rb") as file:
        return not file.read(len(MAGIC)).startswith((GZIP_MAGIC, ARCHIVE))


@contextmanager
def _entry(path: Path, array: str | None) -> Iterator[tuple[BinaryIO, str, str]]:
    """Yield the bytes of the array as in a .npy file, and what it is called in messages and in the note on it."""
    with open_binary(path) as file:
        zipped = file.read(2) == ARCHIVE
        file.seek(0)
        if zipped:
            with _of_archive(path, file, array) as (member, name):
                yield member, f"array {name}", f"array {name}"
        elif array is not None:
            raise DataError(path, "holds a single array; leave out --array")
        else:
            yield file, "the array", "numpy array"


@contextmanager
def _of_archive(path: Path, file: BinaryIO, name: str | None) -> Iterator[tuple[BinaryIO, str]]:
    """Yield one array of a .npz file, the one of that name or the only one, with its name in quotes."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = [entry.removesuffix(".npy") for entry in archive.namelist() if entry.endswith(".npy")]
            listed = ", ".join(names) or "none"
            if name is None and len(names) != 1:
                raise DataError(path, f"holds {len(names)} arrays: say which with --array NAME, one of: {listed}")
            if name is not None and name not in names:
                raise DataError(path, f"holds no array {shown(name)}; it holds: {listed}")
            chosen = name if name is not None else names[0]
            with archive.open(f"{chosen}.npy") as member:
                yield cast(BinaryIO, member), shown(chosen)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise DataError(path, f"is damaged, or no .npz file ({error})") from None


def _values(path: Path, file: BinaryIO, shape: tuple[int, int], chosen: list[int]) -> Array:
    """Return the chosen columns as an array in memory."""
    require_memory(path, f"reading {shape[0]} x {shape[1]} numbers", 8 * shape[0] * shape[1], FEWER)
    with _format_errors(path):
        values = np.lib.format.read_array(_rewound(file), allow_pickle=False)
    return np.asarray(values if len(chosen) == shape[1] else values[:, chosen], dtype=np.float64)


def _checked_header(path: Path, file: BinaryIO, what: str) -> tuple[tuple[int, int], np.dtype[Any]]:
    with _format_errors(path):
        shape, dtype = _header(path, file)
    return _check(path, what, shape, dtype), dtype


def _header(path: Path, file: BinaryIO) -> tuple[tuple[int, ...], np.dtype[Any]]:
    if file.read(len(MAGIC)) != MAGIC:
        raise DataError(path, "is no .npy file (it does not begin as one); save the matrix with numpy.save")
    version = np.lib.format.read_magic(_rewound(file))
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    return shape, dtype


def _rewound(file: BinaryIO) -> BinaryIO:
    file.seek(0)
    return file


def _check(path: Path, what: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[int, int]:
    """Return the shape of a matrix of real numbers; DataError where it is something else."""
    if dtype.hasobject:
        raise DataError(
            path, f"{what} holds pickled Python objects, which are never loaded; save numbers (dtype float)"
        )
    if dtype.kind not in "buif":
        raise DataError(path, f"{what} holds {FOREIGN.get(dtype.kind, 'no numbers')} (dtype {dtype}), not real numbers")
    if len(shape) != 2:
        hint = "reshape it to (samples, features)" if shape else "save a matrix of (samples, features)"
        raise DataError(path, f"{what} has {len(shape)} axes, shape {shape}; a matrix has 2: {hint}")
    if 0 in shape:
        raise DataError(path, f"{what} is empty, shape {shape}")
    return shape[0], shape[1]


@contextmanager
def _format_errors(path: Path) -> Iterator[None]:
    """Return what numpy says about files that are cut off or forged, as an error that names the file.

    A header is a Python expression, which numpy reads as such; its warnings are for those who write such files.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (ValueError, EOFError, SyntaxError, TokenError, TypeError, OverflowError, MemoryError) as error:
        raise DataError(path, f"is damaged or cut off ({error}); save or copy it again") from None
