"""What a cell of a table holds."""

import re
from collections.abc import Sequence
from typing import Literal

Kind = Literal["number", "missing", "infinite", "decimal comma", "text"]

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
FORTRAN = re.compile(r"[+-]?(\d+\.\d*|\.\d+)[dD][+-]\d+", re.ASCII)  # double precision, as Fortran prints it
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?", re.ASCII)
MISSING = frozenset(
    ("", "nan", "na", "n/a", "#n/a", "<na>", "null", "none", "missing", "?", "-", ".", "n.a.", "n.d.")
) | frozenset(
    ("#value!", "#div/0!", "#num!", "#ref!", "#name?")  # what Excel writes where a formula fails
)
INFINITE = frozenset(("inf", "infinity"))


def kind_of(cell: str) -> Kind:
    """Return the first of the kinds of a cell that fits."""
    text = cell.strip()
    if NUMBER.fullmatch(text) or FORTRAN.fullmatch(text):
        return "number"
    word = text.lower()
    if word in MISSING or word.lstrip("+-") == "nan":
        return "missing"
    if word.lstrip("+-") in INFINITE:
        return "infinite"
    return "decimal comma" if DECIMAL_COMMA.fullmatch(text) else "text"


def is_number(cell: str) -> bool:
    """Say whether a cell is a number, be it infinite or NaN."""
    return kind_of(cell) in ("number", "infinite") or cell.strip().lower().lstrip("+-") == "nan"


def is_fortran(cell: str) -> bool:
    """Say whether a cell is a number as Fortran prints it in double precision, such as 1.0D+03."""
    return FORTRAN.fullmatch(cell.strip()) is not None


def value_of(cell: str) -> float:
    """Return the number in a cell of the kind "number"; infinity where it is too large for double precision."""
    return float(cell.strip().translate(str.maketrans("dD", "ee")))


def is_marker(cell: str, markers: Sequence[str]) -> bool:
    """Say whether a cell is one of the user's marks of a missing value, which numbers may be: -999 is -999.0 too."""
    text = cell.strip()
    if text in markers:
        return True
    return kind_of(text) == "number" and any(
        kind_of(marker) == "number" and value_of(marker) == value_of(text) for marker in markers
    )
