"""What a cell of a table holds."""

import re
from typing import Literal

Kind = Literal["number", "missing", "infinite", "decimal comma", "text"]

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?", re.ASCII)
MISSING = frozenset(("", "nan", "na", "n/a", "#n/a", "<na>", "null", "none", "missing", "?", "-", ".", "#value!"))
INFINITE = frozenset(("inf", "infinity"))


def kind_of(cell: str) -> Kind:
    """Return the first of the kinds of a cell that fits."""
    text = cell.strip()
    if NUMBER.fullmatch(text):
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
