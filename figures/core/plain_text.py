"""What a user's names may do to those who read them: nothing, neither on a terminal nor in a spreadsheet."""

import re
import unicodedata

from figures.core.annotations import DataFrame

FORMULA = tuple("=+-@\uff1d\uff0b\uff0d\uff20")  # what spreadsheets take for the beginning of a formula
QUOTE = "'"  # before such a cell says that it is text
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|nan)", re.ASCII | re.IGNORECASE)
DIRECTION_MARKS = frozenset(
    "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)  # the direction of writing
LAYOUT = "\n\t"  # the characters without a shape that a text of ours may hold


def escaped(text: str, keep: str = LAYOUT) -> str:
    r"""Return the text with control characters written out, as in \x1b, but for those in `keep`.

    These are what terminals take for commands (escape sequences, bells, carriage returns), signs that turn the
    direction of writing, the two line separators of Unicode, and bytes that were no UTF-8.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(letter if letter in keep else _shown(letter) for letter in text)


def _shown(letter: str) -> str:
    if unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") or letter in DIRECTION_MARKS:
        return letter.encode("unicode_escape").decode("ascii")
    return letter


def safe_cell(value: object) -> object:
    """Return a cell as it may stand in a CSV file.

    Text that a spreadsheet would take for a formula begins with a quote. Numbers stay numbers, also where they are
    text.
    """
    if not isinstance(value, str):
        return value
    text = escaped(value, "")
    return f"{QUOTE}{text}" if text.startswith(FORMULA) and not NUMBER.fullmatch(text) else text


def written_cell(cell: str) -> str:
    """Return the text of a cell that `safe_cell` made."""
    return cell[1:] if cell.startswith(QUOTE) and cell[1:].startswith(FORMULA) else cell


def safe_frame(frame: DataFrame) -> DataFrame:
    """Return a table whose cells and names of columns may stand in a CSV file."""
    safe = frame.copy(deep=False)
    for place, kind in enumerate(frame.dtypes):
        if kind.kind not in "biufcmM":
            safe.isetitem(place, [safe_cell(cell) for cell in frame.iloc[:, place]])
    return safe.set_axis([safe_cell(name) for name in frame.columns], axis=1)
