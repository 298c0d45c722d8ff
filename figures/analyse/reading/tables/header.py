"""Whether the first row of a table holds the names of its columns, and what these names are."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from figures.analyse.errors import DataError
from figures.analyse.reading.tables.cells import is_number, kind_of, value_of
from figures.analyse.reading.tables.columns import numbered
from figures.analyse.reading.text_file import TextFile
from figures.analyse.wording import counted, shown

Header = Literal["auto", "yes", "no"]
Cells = list[str]
MIN_EQUAL_STEPS = 5  # numbers that make equal steps by chance in few tables
YEARS = range(1500, 2200)


def has_header(file: TextFile, rows: Sequence[Cells], number: int) -> bool:
    """Say whether the first row, which is row `number` of the file, is a header.

    It is one where no cell of it is a number, or where its numbers just count the columns. DataError where it holds
    both numbers and words that the rows below do not explain, and where its numbers look like years or another scale.
    """
    cells = rows[0]
    if (len(cells) > 4 and _counts(cells)) or (not cells[0].strip() and _counts(cells[1:])):
        return len(rows) > 1 and rows[1] != cells
    text = next((k for k, cell in enumerate(cells) if kind_of(cell) == "text"), None)
    if text is None:
        blank = int(not cells[0].strip())
        if _only_first_is_scale(rows, blank):
            raise DataError(
                file.path,
                f"row {number} goes from {shown(cells[blank])} to {shown(cells[-1])} in equal steps and no other row "
                "does: are these the names of the columns, such as years or wavelengths? Then say --header yes; if "
                "they are a sample say --header no",
            )
        return False
    digits = next((cell for cell in cells if is_number(cell)), None)
    if digits is None:
        return True
    of_text = any(len(row) > text and kind_of(row[text]) == "text" for row in rows[1:])
    if of_text and not _only_first_is_scale(rows, text + 1):
        return False  # a column of text, of which the reader will say more
    raise DataError(
        file.path,
        f"row {number}, column {text + 1}: {shown(cells[text])} is not a number, but {shown(digits)} in the same row "
        "is; if this row holds the names of the columns say --header yes, else correct it",
    )


def names_of_header(file: TextFile, cells: Cells, body: Sequence[Cells], width: int, number: int) -> tuple[str, ...]:
    """Return the names in the header, row `number` of the file; a column without one is called by its number.

    A header that is one name short is that of R, which writes none above the names of rows. DataError where the first
    column of the rows, `width` cells each, holds no names of rows, and where the header is a title.
    """
    there = [cell for cell in cells if cell.strip()]
    if len(there) == 1 and (len(cells) < width - 1 or _names_follow(body)):
        raise DataError(
            file.path,
            f"row {number} holds one cell, {shown(there[0].strip())}, above rows of {width}: it looks like a title; "
            "delete it, so that the row of names or of numbers comes first",
        )
    if len(cells) < width:
        if len(cells) < width - 1 or not _are_row_names([row[0] for row in body if len(row) == width]):
            raise DataError(
                file.path,
                f"the header in row {number} has {counted(len(cells), 'name')}, from {shown(cells[0])} to "
                f"{shown(cells[-1])}, but the rows below have {width} cells, and the first column holds no names of "
                "rows; write a name for every column, or delete the row if it is a title",
            )
        cells = ["", *cells]
    elif len(cells) == width + 1 and not cells[-1].strip():
        cells = cells[:-1]
    return named(cells)


def named(cells: Cells) -> tuple[str, ...]:
    """Return the cells as names on one line; a column without one is called by its number."""
    return tuple(" ".join(cell.split()) or name for cell, name in zip(cells, numbered(len(cells)), strict=True))


def _names_follow(body: Sequence[Cells]) -> bool:
    """Say whether the first of these rows holds several words and no number, and the next one numbers."""
    if len(body) < 2 or len(body[0]) < 2:
        return False
    return all(kind_of(cell) == "text" for cell in body[0]) and any(
        is_number(cell) or kind_of(cell) == "decimal comma" for cell in body[1]
    )


def _are_row_names(cells: Cells) -> bool:
    """Say whether the cells of a column are words, or count the rows from 0 or 1."""
    return all(kind_of(cell) == "text" for cell in cells) or _counts([cell.strip() for cell in cells])


def _counts(cells: Cells) -> bool:
    """Say whether cells are 0, 1, 2, ... or 1, 2, 3, ..."""
    return cells in ([str(k + start) for k in range(len(cells))] for start in (0, 1))


def _only_first_is_scale(rows: Sequence[Cells], start: int) -> bool:
    """Say whether the numbers of the first row, from cell `start` on, are a scale, and those of no other row are."""
    return len(rows) > 2 and _is_scale(rows[0][start:]) and not any(_is_scale(row[start:]) for row in rows[1:])


def _is_scale(cells: Cells) -> bool:
    """Say whether the cells are at least five numbers in equal steps, or at least three years in equal steps."""
    if len(cells) < 3 or not all(kind_of(cell) == "number" for cell in cells):
        return False
    values = np.array([value_of(cell) for cell in cells])
    with np.errstate(all="ignore"):  # a number may be infinite
        steps = np.diff(values)
    if not (np.isfinite(steps).all() and steps[0] and np.allclose(steps, steps[0], rtol=1e-6, atol=0)):
        return False
    return len(cells) >= MIN_EQUAL_STEPS or all(value in YEARS for value in values.tolist())
