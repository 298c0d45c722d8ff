"""How numbers, names and lists are written in messages and reports."""

import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

from figures.core.plain_text import escaped

WIDTH = 110  # characters in a line of a report


def shown(value: object, limit: int = 40) -> str:
    """Return a cell of a file as it is quoted in a message: short, printable, and on one line."""
    text = repr(str(value))
    return text if len(text) <= limit else f"{text[: limit - 4]}...'"


def printable(path: Path) -> str:
    """Return the name of a file as it can be printed anywhere, without control characters.

    These, and bytes that are not UTF-8, become hexadecimal escapes.
    """
    return escaped(str(path).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"), "")


def say(*lines: str, end: str = "\n") -> None:
    """Print lines that may hold names of the user's: no character of theirs moves the terminal."""
    print(*map(escaped, lines), sep="\n", end=end)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: 1 row, 2 rows."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(names: Sequence[object], limit: int) -> str:
    """Return the first `limit` names, and dots where there are more."""
    return ", ".join(map(str, names[:limit])) + (", ..." if len(names) > limit else "")


def size(n_bytes: float) -> str:
    """Return a number of bytes in words: 800 bytes, 12 kB, 350 MB, 2.4 GB."""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.{2 if n_bytes < 10 * unit else 3}g} {name}"
    return f"{n_bytes:.0f} bytes"


def duration(seconds: float) -> str:
    """Return a time in words: 40 s, 3 min, 2.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def paragraphs(lines: Iterable[str], width: int = WIDTH) -> str:
    """Return the lines, each broken at `width` with the continuation indented."""
    return "\n".join(textwrap.fill(line, width, subsequent_indent="  ", break_on_hyphens=False) for line in lines)
