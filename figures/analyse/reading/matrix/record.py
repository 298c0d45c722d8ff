"""Holds a matrix that was read, and what was noticed on the way."""

from dataclasses import dataclass
from pathlib import Path

from figures.analyse.reading.tables.columns import place_of_column
from simulate.masked import RowBlocks


@dataclass(frozen=True, eq=False)
class Matrix:
    """A matrix that was read: finite numbers (n, d) with n >= 3 samples and d >= 2 named columns.

    Where missing cells were to be kept and there are any, `has_holes` is true and they are NaN; every column then has a
    number, and a row may have none.

    `data` are rows in memory where the numbers were read and are not very many, else blocks of rows, which may stay in
    the file until they are needed. `notes` are sentences for the user.
    """

    path: Path
    data: RowBlocks
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    first_row: int = 1  # in the file
    positions: tuple[int, ...] = ()  # of the columns in the file, from 0; () where they are all there
    lines: tuple[int, ...] = ()  # of the file, where the rows do not just follow each other
    has_holes: bool = False
    row_names: tuple[str, ...] = ()  # one for each row, () where the file has none

    def place(self, row: int, column: int) -> str:
        """Say where a number stands in the file, counted from 1 as a spreadsheet does."""
        return f"row {self.line(row)}, {self.place_of_column(column)}"

    def line(self, row: int) -> int:
        """Return the line of the file, from 1, where a row (from 0) ends."""
        return self.lines[row] if self.lines else self.first_row + row

    def position(self, column: int) -> int:
        """Return the position in the file, from 0, of a column (from 0) of the matrix."""
        return self.positions[column] if self.positions else column

    def place_of_column(self, column: int) -> str:
        """Return the number in the file and the name of a column."""
        return place_of_column(self.position(column), self.names[column])
