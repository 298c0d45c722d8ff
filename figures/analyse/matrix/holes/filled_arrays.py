"""Writes numbers into the missing cells of arrays: numpy's files, and Parquet files."""

import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from figures.analyse.errors import DataError
from figures.analyse.reading.matrix.choices import Reading
from figures.analyse.reading.matrix.record import Matrix
from figures.analyse.reading.opening import open_binary
from theory.core.arrays import Array

ARCHIVE = b"PK"  # how .npz files begin


def filled_array(matrix: Matrix, how: Reading, values: Array) -> bytes:
    """Return a file of numpy's like the one that was read, in which these values stand in the holes of the matrix.

    `values` (n, d) are NaN where the array stays as it is. It keeps its type and its order in memory, and the other
    arrays of an archive are copied as they are.
    """
    with open_binary(matrix.path) as file:
        raw = file.read()
    if not raw.startswith(ARCHIVE):
        return _with_values(matrix, raw, values)
    copied = BytesIO()
    with zipfile.ZipFile(BytesIO(raw)) as archive, zipfile.ZipFile(copied, "w") as written:
        chosen = how.array or next(name for name in archive.namelist() if name.endswith(".npy")).removesuffix(".npy")
        for entry in archive.infolist():
            content = archive.read(entry)
            if entry.filename == f"{chosen}.npy":
                content = _with_values(matrix, content, values)
            written.writestr(entry, content, compress_type=entry.compress_type)
    return copied.getvalue()


def _with_values(matrix: Matrix, raw: bytes, values: Array) -> bytes:
    array = np.lib.format.read_array(BytesIO(raw), allow_pickle=False)
    for i, k in np.argwhere(np.isfinite(values)):
        place = matrix.line(int(i)) - matrix.first_row, matrix.position(int(k))
        if not np.isnan(array[place]):
            raise DataError(matrix.path, "has changed since the array was read; analyze it again")
        array[place] = values[i, k]
    written = BytesIO()
    np.lib.format.write_array(written, array, allow_pickle=False)
    return written.getvalue()


def write_filled_parquet(matrix: Matrix, values: Array, path: Path) -> None:
    """Write a Parquet file like the one that was read, in which these values stand in the holes of the matrix.

    `values` are as in `filled_array`. Columns of single or double precision keep their type, and all others, whose
    numbers are whole, become columns of double precision where a hole of them is filled.
    """
    import pyarrow as arrow
    from pyarrow import parquet, types

    with open_binary(matrix.path):  # it is there, and may be read
        table: Any = parquet.read_table(matrix.path)
    for k in range(values.shape[1]):
        filled = np.flatnonzero(np.isfinite(values[:, k]))
        if not len(filled):
            continue
        position = matrix.position(k)
        field = table.schema.field(position)
        kind = field.type if types.is_float32(field.type) or types.is_float64(field.type) else arrow.float64()
        column = table.column(position).cast(arrow.float64()).to_numpy(zero_copy_only=False).copy()
        rows = [matrix.line(int(i)) - matrix.first_row for i in filled]
        column[rows] = values[filled, k]
        left = np.isnan(column)
        new = arrow.array(column, mask=left).cast(kind, safe=False)
        table = table.set_column(position, field.with_type(kind), new)
    parquet.write_table(table, path)
