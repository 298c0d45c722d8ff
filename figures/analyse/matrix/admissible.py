"""What a matrix must be to be analyzed, and what is done to it before."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from figures.analyse.matrix.centered_rows import ROUNDING, CenteredRows, centered_rows, table_rows
from figures.analyse.matrix.plan import MIN_ROWS
from simulate.masked import RowBlocks
from theory.core.arrays import Array

EXACT = 1e15  # whole numbers below it are exact, and differ by more than ROUNDING of them
MAX_VARIANCE = 1e100  # below it products of variances and their inverses can be represented
UNEQUAL = 100.0  # above this ratio of variances a few columns make up the mean error


def admitted(X: Any, names: Sequence[str] | None = None, *, drop_constant: bool = False) -> CenteredRows:
    """Check a matrix (n, d) and make the record of its rows; rows that were admitted before are returned as they are.

    The ValueErrors are those of `analyse_matrix`.
    """
    if isinstance(X, CenteredRows):
        return X
    streamed = isinstance(X, RowBlocks | np.memmap)  # read and checked block by block
    data = table_rows(X if streamed else _finite(X))
    _require_shape((data.n, data.d))
    if names is not None and len(names) != data.d:
        raise ValueError(f"names must be {data.d}, one for each column, got {len(names)}")
    rows = centered_rows(data, names or ())
    if rows.constant and not drop_constant:
        raise ValueError(f"columns must vary, got {constant_text(rows.names, rows.constant)}; see drop_constant")
    return without_constant(rows)


def without_constant(rows: CenteredRows) -> CenteredRows:
    """Return the rows without their constant columns. ValueError where fewer than two columns are left."""
    left = rows.d - len(rows.constant)
    if left < 2:
        raise ValueError(f"X must have at least 2 columns that vary, got {left}")
    if not rows.constant:
        return rows
    kept = [k for k in range(rows.d) if k not in set(rows.constant)]
    return rows.changed(rows.rows.columns(kept), f"left out {constant_text(rows.names, rows.constant)}", kept)


def scaled(rows: CenteredRows, *, standardize: bool, equal_rows: bool) -> CenteredRows:
    """Standardize the columns, and then scale the rows to one length, if asked to.

    ValueError where a row cannot be scaled, and for variances beyond what can be computed with.
    """
    if standardize:
        rows = rows.changed(rows.standardized(), "columns are in units of their standard deviation over all rows")
    if equal_rows:
        rows = rows.changed(*_equal_rows(rows))
    scale = float(rows.variances.mean())
    if not 1 / MAX_VARIANCE < scale < MAX_VARIANCE:
        raise ValueError(
            f"X must have a mean variance between {1 / MAX_VARIANCE:g} and {MAX_VARIANCE:g}, got {scale:.3g}: rescale"
        )
    return rows


def _equal_rows(X: CenteredRows) -> tuple[RowBlocks, str]:
    """Bring all rows of X (n, d) to one distance from their mean, the root mean square one; say what that changes."""
    centered = X.rows.centered()
    largest = max(float(abs(block).max()) for block in centered)
    squares = np.concatenate([((block / largest) ** 2).sum(axis=1) for block in centered])
    lengths = np.sqrt(squares / squares.mean())
    unmoved = np.flatnonzero(lengths <= ROUNDING)
    if len(unmoved):
        raise ValueError(f"rows must differ from their mean to be scaled to one length, row {unmoved[0] + 1} does not")
    note = (
        f"rows were scaled to one distance from their mean, from which they were {lengths.min():.2g} to "
        f"{lengths.max():.2g} times the root mean square (fourth moment of the distances over the squared second: "
        f"{np.mean(lengths**4):.3g}, now 1); errors are those of the scaled rows, in which none counts more than "
        "another, and a new row is to be scaled in the same way before it is predicted"
    )
    return centered.mapped(lambda start, block: block / lengths[start : start + len(block), None]), note


def scale_choice(rows: CenteredRows, wanted: bool | None) -> tuple[bool, str | None]:
    """Decide whether columns are standardized, and say so where their variances differ by more than UNEQUAL.

    `wanted` is the choice of the user; with None columns are standardized where the variances differ that much.
    """
    variances = rows.variances
    ratio = float(variances.max() / variances.min()) if variances.min() > 0 else np.inf
    if not ratio > UNEQUAL:
        return bool(wanted), None
    differ = f"the variances of the columns differ by a factor of {ratio:.1g}"
    if wanted is False:
        return False, f"{differ}; they are kept (--no-standardize), so that the mean error is that of the largest ones"
    as_asked = "" if wanted else "; --no-standardize keeps the units of the file"
    return True, f"{differ}: each column is measured in units of its standard deviation{as_asked}"


def constant_text(names: Sequence[str], constant: Sequence[int], limit: int = 8, rounded: Sequence[int] = ()) -> str:
    """List constant columns for a message, as in: 3 constant columns: 'a', 'b', 'c'.

    Those of `rounded` may be so for their many digits only, which the text says.
    """
    listed = ", ".join(repr(names[k]) for k in constant[:limit])
    more = ", ..." if len(constant) > limit else ""
    text = f"{len(constant)} constant column{'s' if len(constant) > 1 else ''}: {listed}{more}"
    if not rounded:
        return text
    which = ", ".join(repr(names[k]) for k in rounded[:limit]) + (", ..." if len(rounded) > limit else "")
    return (
        f"{text} ({which} up to the rounding of numbers of 16 and more digits, of which double precision keeps about "
        "16: if these are identifiers they measure nothing)"
    )


def rounded_columns(rows: CenteredRows) -> list[int]:
    """Return which of the constant columns hold numbers of so many digits that their differences may be rounded."""
    return [k for k in rows.constant if rows.size[k] >= EXACT]


def scale_notes(variances: Array, n: int) -> tuple[str, ...]:
    """Say what one should know of the variances (d,) and the number of rows n before reading the mean error."""
    notes = []
    ratio = float(variances.max() / variances.min())
    if ratio > UNEQUAL:
        notes.append(
            f"the variances of the columns differ by a factor of {ratio:.1g}, so that the mean error is that of the "
            "largest ones; --standardize gives all columns the same weight"
        )
    if n <= len(variances):  # there are n - 1 contrasts and d - 1 unknowns
        notes.append(
            "there are no more rows than columns, so that without a ridge every column would be fitted exactly"
        )
    if n < MIN_ROWS:
        notes.append(f"{n} rows say little, and no theory is given for fewer than {MIN_ROWS} training rows")
    return tuple(notes)


def _finite(X: Any) -> Array:
    """Return a matrix in memory, any of what numpy can convert, as finite numbers."""
    given = np.asarray(X)
    if given.dtype.kind not in "buif":
        raise ValueError(f"X must contain real numbers, got dtype {given.dtype}")
    _require_shape(given.shape)
    data = np.asarray(given, dtype=np.float64)
    bad = np.argwhere(~np.isfinite(data))
    if len(bad):
        row, column = map(int, bad[0])
        raise ValueError(f"X must be finite, got {data[row, column]} at row {row}, column {column} ({len(bad)} in all)")
    return data


def _require_shape(shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or shape[0] < 3 or shape[1] < 2:
        raise ValueError(f"X must have shape (n >= 3 samples, d >= 2 features), got {shape}")
