"""What a matrix must be to be analyzed, and what is done to it before."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from figures.analyse.matrix.plan import FEWEST_ROWS
from figures.analyse.matrix.table_rows import table_rows
from simulate.masked import RowBlocks
from theory.core.arrays import Array

ROUNDING = 1e-12  # a spread below this share of the largest entry counts as none
EXACT = 1e15  # whole numbers below it are exact, and differ by more than ROUNDING of them
LARGEST = 1e100  # below it products of variances and their inverses can be represented
UNEQUAL = 100.0  # above this ratio of variances a few columns make up the mean error


def constant_columns(X: Array | RowBlocks) -> list[int]:
    """Return the positions of the columns of X (n, d) that are constant up to rounding."""
    if isinstance(X, RowBlocks) and X.in_memory is None:
        lowest, highest = X.moments.lowest, X.moments.highest
    else:
        whole = X.all_rows() if isinstance(X, RowBlocks) else X
        lowest, highest = whole.min(axis=0), whole.max(axis=0)
    spread = highest - lowest
    return [int(k) for k in np.flatnonzero(spread <= ROUNDING * np.maximum(abs(lowest), abs(highest)))]


def admissible(
    X: Any, names: Sequence[str] | None, *, drop_constant: bool, standardize: bool, equal_rows: bool = False
) -> tuple[RowBlocks, tuple[str, ...], tuple[str, ...]]:
    """Check a matrix, drop or standardize its columns and scale its rows if asked to, and return it with what was done.

    Returns the data (n, d), as blocks of rows where they are many, the names of the columns, and notes on what was
    changed. The ValueErrors are those of `analyse_matrix`.
    """
    data = table_rows(_real_matrix(X))
    named = tuple(names) if names is not None else tuple(f"column {k}" for k in range(1, data.d + 1))
    if len(named) != data.d:
        raise ValueError(f"names must be {data.d}, one for each column, got {len(named)}")
    notes: tuple[str, ...] = ()
    constant = constant_columns(data)
    if constant and not drop_constant:
        raise ValueError(f"columns must vary, got {constant_text(named, constant)}; see drop_constant")
    if constant:
        data = data.columns([k for k in range(data.d) if k not in set(constant)])
        notes = (f"left out {constant_text(named, constant)}",)
        named = tuple(name for k, name in enumerate(named) if k not in set(constant))
    if data.d < 2:
        raise ValueError(f"X must have at least 2 columns that vary, got {data.d}")
    if standardize:
        data = _standardized(data)
        notes += ("columns are in units of their standard deviation over all rows",)
    if equal_rows:
        data, note = _equal_rows(data)
        notes += (note,)
    scale = float(variances_of(data).mean())
    if not 1 / LARGEST < scale < LARGEST:
        raise ValueError(
            f"X must have a mean variance between {1 / LARGEST:g} and {LARGEST:g}, got {scale:.3g}: rescale"
        )
    return data, named, notes


def variances_of(X: RowBlocks) -> Array:
    """Return the variances (d,) of the columns about their means."""
    return np.asarray(X.in_memory.var(axis=0)) if X.in_memory is not None else X.moments.variances


def _standardized(X: RowBlocks) -> RowBlocks:
    if X.in_memory is None:
        return X.centered(standardize=True)
    return RowBlocks.of_array("X", (X.in_memory - X.in_memory.mean(axis=0)) / X.in_memory.std(axis=0))


def _equal_rows(X: RowBlocks) -> tuple[RowBlocks, str]:
    """Bring all rows of X (n, d) to one distance from their mean, the root mean square one; say what that changes."""
    centered = X.centered()
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


def scale_choice(X: Array | RowBlocks, wanted: bool | None) -> tuple[bool, str | None]:
    """Decide whether columns are standardized, and say so where their variances differ by more than UNEQUAL.

    `wanted` is the choice of the user; with None columns are standardized where the variances differ that much.
    """
    rows = table_rows(X)
    variances = np.delete(variances_of(rows), constant_columns(rows))
    variances = variances if len(variances) else np.ones(1)
    ratio = float(variances.max() / variances.min()) if variances.min() > 0 else np.inf
    if not ratio > UNEQUAL:
        return bool(wanted), None
    differ = f"the variances of the columns differ by a factor of {ratio:.1g}"
    if wanted is False:
        return False, f"{differ}; they are kept (--no-standardize), so that the mean error is that of the largest ones"
    as_asked = "" if wanted else "; --no-standardize keeps the units of the file"
    return True, f"{differ}: each column is measured in units of its standard deviation{as_asked}"


def constant_text(names: Sequence[str], constant: list[int], limit: int = 8, rounded: Sequence[int] = ()) -> str:
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


def rounded_columns(X: Array | RowBlocks, constant: Sequence[int]) -> list[int]:
    """Return which of these constant columns hold numbers of so many digits that their differences may be rounded."""
    if isinstance(X, RowBlocks) and X.in_memory is None:
        largest = np.maximum(abs(X.moments.lowest), abs(X.moments.highest))
    else:
        whole = X.all_rows() if isinstance(X, RowBlocks) else X
        largest = abs(whole).max(axis=0)
    return [k for k in constant if largest[k] >= EXACT]


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
    if n < FEWEST_ROWS:
        notes.append(f"{n} rows say little, and no theory is given for fewer than {FEWEST_ROWS} training rows")
    return tuple(notes)


def _real_matrix(X: Any) -> Array | RowBlocks:
    if isinstance(X, RowBlocks | np.memmap):  # read and checked block by block
        n, d = (X.n, X.d) if isinstance(X, RowBlocks) else X.shape
        if n < 3 or d < 2:
            raise ValueError(f"X must have shape (n >= 3 samples, d >= 2 features), got {(n, d)}")
        return X
    given = np.asarray(X)
    if given.dtype.kind not in "buif":
        raise ValueError(f"X must contain real numbers, got dtype {given.dtype}")
    if given.ndim != 2 or given.shape[0] < 3 or given.shape[1] < 2:
        raise ValueError(f"X must have shape (n >= 3 samples, d >= 2 features), got {given.shape}")
    data = np.asarray(given, dtype=np.float64)
    bad = np.argwhere(~np.isfinite(data))
    if len(bad):
        row, column = map(int, bad[0])
        raise ValueError(f"X must be finite, got {data[row, column]} at row {row}, column {column} ({len(bad)} in all)")
    return data
