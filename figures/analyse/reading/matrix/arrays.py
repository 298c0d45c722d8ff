"""Reads numpy's own files: their headers come first, and pickled objects are never loaded."""

import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tokenize import TokenError
from typing import Any, BinaryIO, cast

import numpy as np

from figures.analyse.errors import DataError
from figures.analyse.memory import require_matrix_memory
from figures.analyse.reading.matrix.record import Matrix
from figures.analyse.reading.opening import open_binary
from figures.analyse.reading.tables.columns import numbered, selected
from figures.analyse.wording import shown
from theory.models.arrays import Array

MAGIC = b"\x93NUMPY"
FOREIGN = {"c": "complex numbers", "U": "text", "S": "text", "M": "dates", "m": "time spans", "V": "records"}


def read_array(
    path: Path, *, array: str | None = None, columns: str | None = None, skip_columns: str | None = None
) -> Matrix:
    """Return the 2-dimensional array of a .npy file, or the one called `array` of a .npz file.

    DataError for another shape, for anything but real numbers, and before anything is allocated for what is too large.
    """
    with open_binary(path) as file:
        zipped = file.read(2) == b"PK"
        file.seek(0)
        if zipped:
            values, note = _from_archive(path, file, array)
        elif array is not None:
            raise DataError(path, "holds a single array; leave out --array")
        else:
            values, note = _values(path, file, "the array"), "numpy array"
    names = numbered(values.shape[1])
    chosen = selected(path, names, columns, skip_columns)
    if len(chosen) < len(names):
        values = values[:, chosen]
    return Matrix(path, values, tuple(names[k] for k in chosen), (note,), positions=tuple(chosen))


def _from_archive(path: Path, file: BinaryIO, name: str | None) -> tuple[Array, str]:
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
                return _values(path, cast(BinaryIO, member), f"array {shown(chosen)}"), f"array {shown(chosen)}"
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise DataError(path, f"is damaged, or no .npz file ({error})") from None


def _values(path: Path, file: BinaryIO, what: str) -> Array:
    with _format_errors(path):
        shape, dtype = _header(path, file)
    _check(path, what, shape, dtype)
    require_matrix_memory(path, *shape)
    with _format_errors(path):
        values = np.lib.format.read_array(_rewound(file), allow_pickle=False)
    return np.asarray(values, dtype=np.float64)


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


def _check(path: Path, what: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
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


@contextmanager
def _format_errors(path: Path) -> Iterator[None]:
    """What numpy says about files that are cut off or forged, as an error that names the file.

    A header is a Python expression, which numpy reads as such; its warnings are for those who write such files.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (ValueError, EOFError, SyntaxError, TokenError, TypeError, OverflowError, MemoryError) as error:
        raise DataError(path, f"is damaged or cut off ({error}); save or copy it again") from None
