"""A matrix that was read, and what was noticed on the way."""

from dataclasses import dataclass
from pathlib import Path

from figures.reading.common.problem import shown
from theory.models.arrays import Array


@dataclass(frozen=True, eq=False)
class Matrix:
    """Finite numbers (n, d) with n >= 3 samples and d >= 2 named columns; `notes` are sentences for the user."""

    path: Path
    values: Array
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    first_row: int = 1  # in the file
    positions: tuple[int, ...] = ()  # of the columns in the file, from 0; () where they are all there

    def place(self, row: int, column: int) -> str:
        """Where a number stands in the file, counted from 1 as a spreadsheet does."""
        position = self.positions[column] if self.positions else column
        return f"row {self.first_row + row}, {place_of_column(position, self.names[column])}"


def place_of_column(position: int, name: str) -> str:
    """Number and, where it has one, name of the column at `position` (from 0)."""
    number = f"column {position + 1}"
    return number if name == number else f"{number} ({shown(name)})"


def numbered(d: int) -> tuple[str, ...]:
    """Names of columns that have none: as a spreadsheet counts them."""
    return tuple(f"column {k}" for k in range(1, d + 1))
