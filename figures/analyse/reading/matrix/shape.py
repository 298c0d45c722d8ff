"""Says how many rows and columns a table has, from as little of its file as will do."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from figures.analyse.errors import DataError
from figures.analyse.memory import MOST_CELLS
from figures.analyse.reading.matrix.arrays import array_shape, is_mapped
from figures.analyse.reading.matrix.choices import Reading
from figures.analyse.reading.matrix.parquet import parquet_columns
from figures.analyse.reading.opening import uncompressed_size
from figures.analyse.reading.tables.columns import numbered
from figures.analyse.reading.tables.layout import find_layout
from figures.analyse.reading.text_file import text_file
from figures.analyse.wording import counted

NUMBER = 8  # bytes
EMPTY = ' \t,;|"'  # a line of these alone holds no number
GROWTH = 1.25  # of an array whose rows come one by one, which the parser enlarges by a quarter at a time


@dataclass(frozen=True)
class TableShape:
    """How many rows, and how many of the chosen columns, a file holds.

    `reading` is the memory (bytes) that reading it takes, and `held` what the numbers take once they are read: nothing
    where they stay in the file. `known` says in words where this is from, and `text` is the number of bytes to parse.
    """

    rows: int
    columns: int
    reading: float
    held: float
    known: str
    text: float = 0.0


def shape_of_parquet(path: Path, how: Reading) -> TableShape:
    """Return the shape of a Parquet file."""
    _, rows, chosen = parquet_columns(path, how)
    return shape_of_numbers(rows, len(chosen), len(chosen), NUMBER, True, "the end of the file says")


def shape_of_array(path: Path, how: Reading) -> TableShape:
    """Return the shape of an array of numpy's."""
    rows, width, bytes_of_one = array_shape(path, how.array)
    chosen = how.selected(path, numbered(width))
    return shape_of_numbers(rows, width, len(chosen), bytes_of_one, is_mapped(path), "the header of the array says")


def shape_of_text(path: Path, how: Reading) -> TableShape:
    """Return the shape of a table of text: counted in a short one, of a long one by its size and its first lines."""
    file = text_file(path)
    try:
        layout = find_layout(file, how.header, numeric=True, decimal=how.decimal)
    except csv.Error as error:
        raise DataError(path, f"cannot be read as a table ({error})") from None
    chosen = how.selected(path, layout.names)
    lines = file.head.split("\n")[layout.first_row - 1 :]
    filled = [line for line in lines if line.strip(EMPTY)]
    seen = len("\n".join(lines).encode(file.encoding, "replace"))
    above = len(file.head.encode(file.encoding, "replace")) - seen
    whole = uncompressed_size(path)
    all_there = above + seen >= whole
    rows = len(filled) if all_there else round((whole - above) * len(filled) / max(1, seen))
    held = float(NUMBER * rows * len(chosen))
    known = "counted" if all_there else "by the size of the file and the length of its first lines"
    return TableShape(rows, len(chosen), GROWTH * held, held, f"{_size(rows, chosen)}, {known}", float(whole))


def shape_of_numbers(rows: int, width: int, columns: int, bytes_of_one: int, can_stay: bool, known: str) -> TableShape:
    """Describe a file of numbers that are no text: `width` columns, of which `columns` are chosen.

    A number takes `bytes_of_one` in the file, `can_stay` says whether blocks of rows can be read when they are needed,
    and `known` is a clause on where the size is from ("the header of the file says").
    """
    said = f"{_size(rows, range(columns))}, as {known}"
    if can_stay and rows * width > MOST_CELLS:
        return TableShape(rows, columns, 0.0, 0.0, f"{said}; they stay in the file, of which blocks of rows are read")
    held = float(NUMBER * rows * columns)
    copies = rows * width * bytes_of_one if bytes_of_one != NUMBER or columns < width else 0
    return TableShape(rows, columns, held + copies, held, said)


def _size(rows: int, chosen: Sequence[int]) -> str:
    return f"{counted(rows, 'row')} of {counted(len(chosen), 'column')}"
