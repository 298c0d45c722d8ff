"""Takes each row that has copies once, or the copies of one row as a group that is held out as a whole."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from figures.analyse.matrix.centered_rows import CenteredRows, centered_rows
from figures.analyse.matrix.copies.find import CopiedRows, find_copies
from simulate.masked import RowBlocks

CopyChoice = Literal["once", "together"]
MIN_ROWS = 3


@dataclass(frozen=True, eq=False)
class TakenOnce:
    """The rows that are analyzed, which numbers (n,) from 0 they have in the table, their groups, and the copies."""

    rows: CenteredRows
    numbers: NDArray[np.int64] = field(repr=False)
    groups: Sequence[Any] | NDArray[Any] | None = field(repr=False)
    found: CopiedRows
    choice: CopyChoice = "once"


def taken_once(
    X: CenteredRows,
    groups: Sequence[Any] | NDArray[Any] | None = None,
    choice: CopyChoice = "once",
    names: Sequence[str] = (),
) -> TakenOnce:
    """Find copies among the rows of X (n, d), and take each row once; or `together`, with copies as the groups.

    Rows that are fitted twice are rows of twice the weight, which adds nothing to what is known of new rows, while
    every formula that counts rows (generalized cross-validation, leave-one-out, all theories) takes them for two. Taken
    once, all of these are right. ValueError where fewer than three rows are left, where `groups` or the `names` of the
    rows have another length, and for `together` with groups of another kind.
    """
    if choice not in ("once", "together"):
        raise ValueError(f"copies must be once or together, got {choice!r}")
    if groups is not None and choice == "together":
        raise ValueError("copies must be once where there are groups, since together makes groups of its own")
    if groups is not None and len(groups) != X.n:
        raise ValueError(f"groups must have one label for each row, shape ({X.n},), got ({len(groups)},)")
    if names and len(names) != X.n:
        raise ValueError(f"row_names must be {X.n}, one for each row, got {len(names)}")
    found = find_copies(X.rows)
    numbers = np.arange(X.n)
    if not len(found.copies):
        return TakenOnce(X, numbers, groups, found, choice)
    if choice == "together":
        return TakenOnce(X, numbers, found.of, found, choice)
    kept = found.kept
    if kept.sum() < MIN_ROWS:
        raise ValueError(f"X must have at least {MIN_ROWS} rows that differ, got {int(kept.sum())} and copies of them")
    whole = X.rows.in_memory
    left = X.rows.rows(kept) if whole is None else RowBlocks.of_array("X", whole[kept])
    labels = None if groups is None else np.asarray(groups)[kept]
    return TakenOnce(centered_rows(left, X.names, X.notes), numbers[kept], labels, found, choice)
