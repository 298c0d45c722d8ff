"""Tables of text: read by numpy's parser, and cell by cell where that one cannot."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TextIO

import numpy as np

from figures.analyse.errors import DataError
from figures.analyse.memory import require_memory
from figures.analyse.reading.matrix.arrays import FEWER
from figures.analyse.reading.matrix.cell_by_cell import read_cell_by_cell
from figures.analyse.reading.matrix.choices import Reading
from figures.analyse.reading.matrix.markers import marker_notes
from figures.analyse.reading.matrix.raw_rows import held_rows
from figures.analyse.reading.matrix.record import Matrix
from figures.analyse.reading.matrix.row_names import may_have_names, names_note, row_names
from figures.analyse.reading.opening import announce, uncompressed_size
from figures.analyse.reading.tables.layout import Layout, find_layout, split
from figures.analyse.reading.text_file import TextFile, text_file
from theory.core.arrays import Array


def read_delimited(path: Path, how: Reading) -> Matrix:
    """Read a table of numbers separated by commas, semicolons, tabs, pipes or blanks.

    DataError names the row and the column of what is wrong, and the remedy.
    """
    file = text_file(path)
    announce(path)
    try:
        return _read(file, how)
    except csv.Error as error:
        raise DataError(path, f"cannot be read as a table ({error})") from None
    except DataError:
        if file.encoding != "utf-8" or not _breaks_utf_8(file):
            raise
        return _read(file.as_latin_1(), how)


def table_of_text(path: Path, how: Reading) -> tuple[TextFile, Layout]:
    """Return the text in the encoding in which `read_delimited` has read the table in it, and its layout."""
    file = text_file(path)
    if file.encoding == "utf-8" and _breaks_utf_8(file):
        file = file.as_latin_1()
    return file, find_layout(file, how.header, numeric=True, decimal=how.decimal)


def _read(file: TextFile, how: Reading) -> Matrix:
    layout = find_layout(file, how.header, numeric=True, decimal=how.decimal)
    chosen = how.selected(file.path, layout.names)
    names_of_rows = row_names(file, layout) if may_have_names(file, layout) and _unchosen(file, layout, how) else None
    if names_of_rows is not None and chosen != [0]:
        chosen = [k for k in chosen if k != 0]
    cells = int(uncompressed_size(file.path) / layout.bytes_per_row) * len(chosen)
    require_memory(file.path, f"reading about {cells} numbers", 8 * cells, FEWER)
    values = None if how.marks or how.decimal != "." else _at_once(file, layout, chosen)
    lines, notes = list[int](), list[str]()
    if values is None:
        values, lines, notes = read_cell_by_cell(file, layout, chosen, how)
    named = _names_of(names_of_rows, lines, len(values))
    names = tuple(layout.names[k] for k in chosen)
    guess = " (a guess: it is not valid UTF-8)" if file.is_guess else ""
    said_of_names = [names_note(layout, names_of_rows)] if names_of_rows is not None and named else []
    said = (
        f"{layout.description}, {file.encoding}{guess}",
        *_open_end(layout),
        *said_of_names,
        *notes,
        *marker_notes(values),
    )
    return Matrix(
        file.path, held_rows(values), names, said, layout.first_row, tuple(chosen), tuple(lines), row_names=named
    )


def _unchosen(file: TextFile, layout: Layout, how: Reading) -> bool:
    """Say whether the user did not ask for the first column to be analyzed."""
    return how.columns is None or 0 not in how.selected(file.path, layout.names)


def _names_of(found: Mapping[int, str] | None, lines: Sequence[int], n: int) -> tuple[str, ...]:
    """Return the names of the n rows that were read, which end on these `lines` where some were left out."""
    if found is None or (not lines and len(found) != n):
        return ()
    return tuple(found[line] for line in lines) if lines else tuple(found.values())


def _at_once(file: TextFile, layout: Layout, chosen: list[int]) -> Array | None:
    """Parse the chosen columns; None where a line does not fit the header, or a number is not finite."""
    with file.open() as text:
        try:
            values = _numbers(text, layout, chosen)
        except UnicodeError:
            raise
        except ValueError:
            return None
    return values if values.shape[1] == len(chosen) and np.isfinite(values).all() else None


def _numbers(text: TextIO, layout: Layout, chosen: list[int]) -> Array:
    """Parse the chosen columns. ValueError at the first line that does not fit."""
    lines: Iterator[str] = islice(text, layout.first_row - 1, None)
    everything = len(chosen) == layout.width
    if not everything:
        lines = _of_width(lines, layout)
    return np.loadtxt(
        lines,
        delimiter=layout.delimiter,
        usecols=None if everything else chosen,
        comments=None,
        quotechar='"',
        ndmin=2,
    )


def _of_width(lines: Iterator[str], layout: Layout) -> Iterator[str]:
    """Pass on the lines, and count the cells of each: the parser looks no further than the last column asked for."""
    for line in lines:
        if line.strip():
            plain = layout.delimiter is not None and '"' not in line
            width = line.count(layout.delimiter or " ") + 1 if plain else len(split(line, layout.delimiter))
            beyond = len(layout.names) < layout.width and not line.rstrip("\n ").endswith(layout.delimiter or " ")
            if width != layout.width or beyond:
                raise ValueError("a line of another width, or with a cell where the first ones are empty")
        yield line


def _open_end(layout: Layout) -> tuple[str, ...]:
    """Note a last cell that is empty in every row, and has no name: it is taken for no column."""
    if layout.width == len(layout.names):
        return ()
    return (f"the last cell of every row is empty and has no name: {len(layout.names)} columns are read",)


def _breaks_utf_8(file: TextFile) -> bool:
    """Say whether a file whose beginning is UTF-8 goes on as something else."""
    try:
        with file.open() as text:
            for _ in text:
                pass
    except DataError:
        return True
    return False
