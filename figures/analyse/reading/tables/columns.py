"""Columns of a table: how they are called, and which of them are read, as the user writes it: 1-5,8,height."""

import difflib
import re
from collections.abc import Sequence
from pathlib import Path

from figures.analyse.errors import DataError
from figures.analyse.wording import counted, listed, shown


def place_of_column(position: int, name: str) -> str:
    """Return the number and, where it has one, the name of the column at `position` (from 0)."""
    number = f"column {position + 1}"
    return number if name == number else f"{number} ({shown(name)})"


def numbered(d: int) -> tuple[str, ...]:
    """Name columns that have no names, as a spreadsheet counts them."""
    return tuple(f"column {k}" for k in range(1, d + 1))


def selected(path: Path, names: Sequence[str], columns: str | None, skip: str | None) -> list[int]:
    """Return the positions (from 0) of `columns` (all by default) without `skip`.

    DataError for a column that does not exist, and where none is left.
    """
    wanted = range(len(names)) if columns is None else _positions(path, names, columns)
    dropped = set() if skip is None else set(_positions(path, names, skip))
    left = [k for k in wanted if k not in dropped]
    if not left:
        typed = [name for name, value in (("--columns", columns), ("--skip-columns", skip)) if value is not None]
        raise DataError(path, f"no column is left; check {' and '.join(typed)}")
    return left


def _positions(path: Path, names: Sequence[str], text: str) -> list[int]:
    found: dict[int, None] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        found |= dict.fromkeys(_part(path, names, part))
    return list(found)


def _part(path: Path, names: Sequence[str], part: str) -> list[int]:
    """Return the position of one name or one number, or the positions of a range of numbers.

    DataError where several columns have the name.
    """
    by_name = [k for k, name in enumerate(names) if name == part]
    numbers = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
    if len(by_name) > 1:
        which = listed([k + 1 for k in by_name], 8)
        raise DataError(path, f"has {len(by_name)} columns called {shown(part)}: {which}; say which by their numbers")
    if by_name or numbers is None:
        if by_name:
            return by_name
        close = difflib.get_close_matches(part, names, n=3)
        hint = f"; did you mean {', '.join(map(shown, close))}?" if close else ""
        raise DataError(path, f"has no column {shown(part)}{hint}")
    first, last = int(numbers[1]), int(numbers[2] or numbers[1])
    if not 1 <= first <= last <= len(names):
        raise DataError(path, f"has no columns {part}: it has {counted(len(names), 'column')}, counted from 1")
    return list(range(first - 1, last))
