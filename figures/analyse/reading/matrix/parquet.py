"""Reads Parquet files by pyarrow: small ones at once, large ones block by block when they are needed."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from figures.analyse.errors import DataError
from figures.analyse.memory import MOST_CELLS, require_memory
from figures.analyse.reading.matrix.arrays import FEWER
from figures.analyse.reading.matrix.choices import Reading
from figures.analyse.reading.matrix.raw_rows import held_rows
from figures.analyse.reading.matrix.record import Matrix
from figures.analyse.reading.opening import open_binary
from figures.analyse.reading.tables.columns import place_of_column
from figures.analyse.wording import counted
from simulate.masked import RowBlocks
from simulate.masked.row_blocks import block_rows
from simulate.masked.row_sources import parquet_file
from theory.core.arrays import Array

MAGIC = b"PAR1"
INDEX = "__index_level_0__"  # what pandas calls the index of a table when it writes it
NUMBER = 8  # bytes


def read_parquet(path: Path, how: Reading) -> Matrix:
    """Return the chosen columns of a Parquet file, with NaN in cells that are missing.

    DataError where pyarrow is not installed, for columns that hold no numbers, and for files that are damaged.
    """
    names, rows, chosen = parquet_columns(path, how)
    picked = [names[k] for k in chosen]
    blocks = partial(_blocks, path, picked)
    data = RowBlocks(len(picked), blocks, size=rows)
    if rows * len(picked) <= MOST_CELLS:
        require_memory(path, f"reading {rows} x {len(picked)} numbers", 2 * NUMBER * rows * len(picked), FEWER)
        try:
            data = held_rows(np.concatenate([np.empty((0, len(picked))), *blocks()]))
        except (OSError, ValueError) as error:
            raise _damaged(path, error) from None
    notes = ["Parquet file"]
    if INDEX in picked:
        notes.append(
            f"{INDEX!r} is the index that pandas wrote; if it is no measurement leave it out: --skip-columns {INDEX}"
        )
    return Matrix(path, data, tuple(picked), tuple(notes), positions=tuple(chosen))


def _blocks(path: Path, picked: list[str]) -> Iterator[Array]:
    for batch in _opened(path).iter_batches(batch_size=block_rows(len(picked)), columns=picked):
        yield np.column_stack([_numbers(column) for column in batch.columns])


def parquet_columns(path: Path, how: Reading) -> tuple[tuple[str, ...], int, list[int]]:
    """Return the names of all columns, the number of rows, and the positions of the chosen columns, from the end.

    Only the description at the end of the file is read. The DataErrors are those of `read_parquet`.
    """
    with open_binary(path) as content:
        if content.read(len(MAGIC)) != MAGIC:
            raise DataError(path, "is no Parquet file (it does not begin as one)")
    if path.suffix.lower() == ".gz":
        raise DataError(path, "is compressed; unpack it first (gunzip -k): Parquet files are read by place")
    file = _opened(path)
    schema = file.schema_arrow
    names = tuple(schema.names)
    if not names:
        raise DataError(path, "holds no column")
    chosen = how.selected(path, names)
    _require_numbers(path, names, schema, chosen)
    return names, int(file.metadata.num_rows), chosen


def _require_numbers(path: Path, names: Sequence[str], schema: Any, chosen: Sequence[int]) -> None:
    from pyarrow import types

    allowed = (types.is_integer, types.is_floating, types.is_boolean)
    foreign = [k for k in chosen if not any(is_one(schema.field(k).type) for is_one in allowed)]
    if foreign:
        first = f"{place_of_column(foreign[0], names[foreign[0]])} holds {_in_words(schema.field(foreign[0]).type)}"
        listed = ",".join(str(k + 1) for k in foreign[:20]) + (",..." if len(foreign) > 20 else "")
        raise DataError(
            path,
            f"{counted(len(foreign), 'column')} without numbers: {first}; leave out what is no number with "
            f"--skip-columns {listed}",
        )


def _in_words(kind: Any) -> str:
    """Return what a column holds, in the reader's words where the file format has its own."""
    from pyarrow import types

    if types.is_string(kind) or types.is_large_string(kind) or types.is_dictionary(kind):
        return "text"
    return "dates" if types.is_temporal(kind) else str(kind)


def _numbers(column: Any) -> Array:
    """Return the numbers of one column, with NaN where one is missing."""
    from pyarrow import float64

    return np.asarray(column.cast(float64(), safe=False).to_numpy(zero_copy_only=False))


def _opened(path: Path) -> Any:
    try:
        return parquet_file(path)
    except ImportError:
        raise DataError(
            path,
            "is a Parquet file, which is read by pyarrow, and that is not installed (the extra tables: make ... "
            "EXTRAS=tables, or pip install pyarrow); or save the table as .npy or .csv where pyarrow is: "
            "pandas.read_parquet(FILE).to_csv('table.csv', index=False)",
        ) from None
    except (OSError, ValueError) as error:  # pyarrow's own errors are of these kinds
        raise _damaged(path, error) from None


def _damaged(path: Path, error: Exception) -> DataError:
    return DataError(path, f"is damaged or cut off ({error}); save or copy it again")
