"""How a matrix is to be read from its file, as the user says."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Literal

from figures.analyse.reading.tables.cells import kind_of, value_of
from figures.analyse.reading.tables.columns import selected
from figures.analyse.reading.tables.layout import Header


@dataclass(frozen=True)
class Reading:
    """The options of reading, by the names that they have on the command line.

    `columns` and `skip_columns` choose columns as in "1-5,8,height", `array` one of a .npz file. `drop_rows` leaves out
    the rows that have missing cells: empty ones, NaN, NA, ?, and such as the list `missing` names ("-999,x"). `decimal`
    is the sign that marks decimals. With `keep_holes`, which is no option of the user's, missing cells are read as NaN
    where they would be refused.
    """

    header: Header = "auto"
    columns: str | None = None
    skip_columns: str | None = None
    array: str | None = None
    drop_rows: bool = False
    missing: str | None = None
    decimal: Literal[".", ","] = "."
    keep_holes: bool = False

    def selected(self, path: Path, names: Sequence[str]) -> list[int]:
        """Return the positions (from 0) of the chosen columns; DataError for one that does not exist."""
        return selected(path, names, self.columns, self.skip_columns)

    @property
    def keeps_holes(self) -> bool:
        """Whether rows with missing cells are kept, with NaN in these cells; dropping them goes before."""
        return self.keep_holes and not self.drop_rows

    @cached_property
    def marks(self) -> tuple[str, ...]:
        """The marks of missing values, beside those that are known."""
        return tuple(mark.strip() for mark in (self.missing or "").split(",") if mark.strip())

    @cached_property
    def marked_numbers(self) -> frozenset[float]:
        """The marks of missing values that are numbers."""
        return frozenset(value_of(mark) for mark in self.marks if kind_of(mark) == "number")


def typed_reading(options: argparse.Namespace) -> Reading:
    """Return the options of reading among all those that the user typed."""
    return Reading(**{field.name: getattr(options, field.name) for field in fields(Reading) if field.name in options})
