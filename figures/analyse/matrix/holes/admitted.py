"""What a table with holes must be to be analyzed, and what of it is left out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from figures.analyse.matrix.admissible import constant_text
from figures.analyse.matrix.centered_rows import ROUNDING
from figures.analyse.matrix.holes.where_report import rows_text
from figures.analyse.reading.tables.columns import numbered, place_of_column
from figures.analyse.wording import counted, listed
from theory.core.arrays import Array

FEWEST_SEEN = 5  # numbers of a column: with N of them the error of a hole in their units is uncertain by N/(N - 3)


@dataclass(frozen=True, eq=False)
class HoledTable:
    """A table (n, d) with NaN in its holes; every row has a number, and every column several that differ.

    `rows` and `columns` say which of the whole table they are (from 0), and `notes` what was left out. `line` maps a
    row of the whole table to its line in the file.
    """

    X: Array = field(repr=False)
    names: tuple[str, ...]
    rows: NDArray[np.int64] = field(repr=False)
    columns: NDArray[np.int64] = field(repr=False)
    notes: tuple[str, ...]
    line: Callable[[int], int] = lambda row: row + 1

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.X)

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.names)

    @property
    def seen(self) -> NDArray[np.bool_]:
        """Which cells have a number, (n, d)."""
        return ~np.isnan(self.X)

    def line_of(self, row: int) -> int:
        """Return the line of the file of a row (from 0) of this table."""
        return self.line(int(self.rows[row]))

    def with_values(self, X: Array) -> "HoledTable":
        """Return the same table with other cells."""
        return replace(self, X=X)


def holed_table(
    X: Array,
    names: Sequence[str] | None = None,
    *,
    drop_constant: bool = False,
    line: Callable[[int], int] = lambda row: row + 1,
) -> HoledTable:
    """Check a matrix (n, d) with NaN in its holes.

    Rows without any number are left out, and with `drop_constant` columns whose numbers are all equal. ValueError for
    infinite numbers, for such columns elsewhere, for columns with fewer than FEWEST_SEEN numbers, and for fewer than
    two columns.
    """
    values = np.asarray(X, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] < 2:
        raise ValueError(f"X must have shape (n samples, d >= 2 features), got {values.shape}")
    called = tuple(names) if names is not None else numbered(values.shape[1])
    if len(called) != values.shape[1]:
        raise ValueError(f"names must be {values.shape[1]}, one for each column, got {len(called)}")
    if np.isinf(values).any():
        row, column = map(int, np.argwhere(np.isinf(values))[0])
        raise ValueError(f"X must be finite or NaN, got {values[row, column]} at row {row}, column {column}")
    seen = ~np.isnan(values)
    _require_seen(seen, called)
    constant = _constant(values)
    if constant and not drop_constant:
        raise ValueError(
            f"{constant_text(called, constant)} where it is seen, with nothing to predict; leave out what is constant "
            "by --drop-constant"
        )
    columns = np.setdiff1d(np.arange(values.shape[1]), constant)
    if len(columns) < 2:
        raise ValueError(f"X must have at least 2 columns that vary, got {len(columns)}")
    notes = [f"left out {constant_text(called, constant)}"] if constant else []
    rows = np.flatnonzero(seen[:, columns].any(axis=1))
    empty = np.setdiff1d(np.arange(len(values)), rows)
    if len(empty):
        what = f"{counted(len(empty), 'row')} without any number left out: {rows_text([line(int(i)) for i in empty])}"
        notes.append(what)
    kept = values[np.ix_(rows, columns)]
    return HoledTable(kept, tuple(called[k] for k in columns), rows, columns, tuple(notes), line)


def _require_seen(seen: NDArray[np.bool_], names: Sequence[str]) -> None:
    counts = seen.sum(axis=0)
    few = np.flatnonzero(counts < FEWEST_SEEN).tolist()
    if few:
        which = listed([f"{place_of_column(k, names[k])} {counts[k]}" for k in few], 8)
        raise ValueError(
            f"X must have at least {FEWEST_SEEN} numbers in each column, since less says nothing of its scale and its "
            f"relations, got: {which}; leave out such columns with --skip-columns"
        )


def _constant(values: Array) -> list[int]:
    lowest, highest = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
    size = np.maximum(abs(lowest), abs(highest))
    return [int(k) for k in np.flatnonzero(highest - lowest <= ROUNDING * size)]
