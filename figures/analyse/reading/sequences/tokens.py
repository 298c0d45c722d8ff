"""Tables of tokens: each row a sequence, each cell a letter, a word or an integer."""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from figures.analyse.errors import DataError
from figures.analyse.reading.sequences.clean import conserved, require_enough
from figures.analyse.reading.sequences.record import Sequences
from figures.analyse.reading.sequences.reservoir import Reservoir
from figures.analyse.reading.tables.columns import selected
from figures.analyse.reading.tables.layout import Header, Layout, find_layout, split
from figures.analyse.reading.text_file import TextFile
from figures.analyse.wording import counted, listed, shown

INTEGER = re.compile(r"[+-]?\d{1,15}", re.ASCII)
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
NOT_KNOWN = "NA"
GAPS = frozenset(("", "-", "."))
MISSING = frozenset(("nan", "na", "n/a", "#n/a"))  # missing values are gaps too, and are counted
MAX_TOKENS = 250
MAX_TOKEN_LETTERS = 30  # letters that a token has at most
HEADER_SAMPLE = 50  # rows that decide whether there is a header
N_LISTED_TOKENS = 8  # tokens of a kind that are named in a note


class _Codes(dict[str, int]):
    """A number for every token, in the order in which they come.

    All spellings of a gap share one number, and so do all cells that are not known.
    """

    def __missing__(self, token: str) -> int:
        plain = _plain(token)
        self[token] = code = self[plain] if plain != token else len(set(self.values()))
        return code


def _plain(token: str) -> str:
    word = token.strip()
    return "-" if word.lower() in GAPS else NOT_KNOWN if word.lower() in MISSING else word


def is_token_table(file: TextFile) -> bool:
    """Say whether the lines hold several cells; otherwise each line is a sequence of its own."""
    try:
        return len(_layout(file)[0].names) > 1
    except csv.Error:  # a line that is longer than cells may be is one sequence
        return False


def read_tokens(
    file: TextFile,
    *,
    header: Header = "auto",
    columns: str | None = None,
    skip_columns: str | None = None,
    most: int | None = None,
    seed: int = 0,
) -> Sequences:
    """Read a table of tokens as sequences, one in each row.

    The gap is the first color; integers follow by value, and other tokens by spelling. An empty cell is a gap.
    """
    layout, sizes = _layout(file)
    named = header == "yes" or (header == "auto" and _has_header(file, layout))
    first = split(file.head.split("\n")[layout.first_row - 1], layout.delimiter)
    names = [cell.strip() for cell in first] if named else layout.names
    chosen = selected(file.path, names[: len(layout.names)], columns, skip_columns)
    codes = _Codes()
    with file.open() as text:
        values, choice = _gathered(file, text, layout, named, chosen, codes, most, seed)
    if sizes is not None and len(values) != sizes[0] and most is None:
        said = f"its first line says {counted(sizes[0], 'sequence')}, but {len(values)} follow"
        raise DataError(file.path, f"{said}; is it cut off? Correct or delete the first line")
    counts = np.bincount(values.reshape(-1), minlength=256)
    suspicious = suspicious_tokens({_plain(token): int(counts[code]) for token, code in codes.items() if counts[code]})
    states, tokens = _ordered(values, codes)
    places = np.array(chosen, dtype=np.int64) + 1
    require_enough(file.path, states)
    _require_tokens(file, tokens)
    if sizes is not None:
        choice = [f"the first line holds the sizes: {sizes[0]} sequences of {sizes[1]} sites", *choice]
    notes = [f"{layout.description.split(',')[0]}, {'the first row names the columns' if named else 'no header'}"]
    return Sequences(
        file.path, states, tokens, _kind(tokens), places, (*notes, *choice, *suspicious, *conserved(states))
    )


def _layout(file: TextFile) -> tuple[Layout, tuple[int, int] | None]:
    """Return how the table is laid out, and the numbers M of rows and L of columns where its first line says them.

    Programs of direct coupling analysis write a line "M L q" or "M L" above their integers; it is no row of the table.
    """
    lines = file.head.split("\n")
    there = [k for k, line in enumerate(lines) if line.strip() and not line.startswith("#")][:2]
    if len(there) == 2:
        first, second = (re.split(r"[\s,;]+", lines[k].strip()) for k in there)
        if len(first) in (2, 3) and all(map(INTEGER.fullmatch, first)) and len(first) != len(second) == int(first[1]):
            below = "\n".join([*lines[: there[0]], "", *lines[there[0] + 1 :]])
            return find_layout(replace(file, head=below), "no"), (int(first[0]), int(first[1]))
    return find_layout(file, "no"), None


def says_sizes(file: TextFile) -> bool:
    """Say whether the first line of a table of integers holds its sizes, as for direct coupling analysis."""
    return _layout(file)[1] is not None


def _gathered(
    file: TextFile,
    text: TextIO,
    layout: Layout,
    named: bool,
    chosen: list[int],
    codes: _Codes,
    most: int | None,
    seed: int,
) -> tuple[NDArray[np.uint8], list[str]]:
    """Return the codes (M, L) of all rows, or of a uniform random choice of `most`, with a note on that."""
    choice, values = Reservoir(most, seed), bytearray()
    for number, cells in islice(_rows(text, layout), named, None):
        if len(cells) != layout.width:
            raise DataError(
                file.path,
                f"row {number} has {counted(len(cells), 'cell')}, but the others have {layout.width}; make all rows "
                "equally long (an empty cell is a gap)",
            )
        row = [codes[cells[k]] for k in chosen]
        if max(row) >= MAX_TOKENS:
            raise DataError(file.path, _too_many(codes, number))
        place = choice.place()
        if place is not None:
            values[place * len(row) : (place + 1) * len(row)] = bytes(row)
    if not choice.total:
        raise DataError(file.path, "holds no sequence")
    return np.frombuffer(values, np.uint8).reshape(-1, len(chosen)), choice.notes


def _rows(text: TextIO, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    lines = islice(text, layout.first_row - 1, None)
    numbered = enumerate(lines, start=layout.first_row)
    if layout.delimiter is None:
        return ((number, line.split()) for number, line in numbered if line.strip())
    reader = csv.reader((line for _, line in numbered), delimiter=layout.delimiter)
    return ((layout.first_row - 1 + reader.line_num, cells) for cells in reader if cells)


def _ordered(values: NDArray[np.uint8], codes: _Codes) -> tuple[NDArray[np.uint8], tuple[str, ...]]:
    """Replace codes by colors; tokens that occur only in rows or columns left out have none."""
    occurring = set(np.unique(values).tolist())
    tokens = {_plain(token): code for token, code in codes.items() if code in occurring}
    ordered = sorted({"-" if token == NOT_KNOWN else token for token in tokens}, key=_order)
    table = np.zeros(256, np.uint8)
    for token, code in tokens.items():
        table[code] = ordered.index("-" if token == NOT_KNOWN else token)
    return table[values], tuple(ordered)


def _kind(tokens: tuple[str, ...]) -> str:
    if all(token == "-" or INTEGER.fullmatch(token) for token in tokens):
        return "integers"
    return "letters" if max(map(len, tokens)) == 1 else "tokens"


def _order(token: str) -> tuple[bool, float, str]:
    return token != "-", float(token) if INTEGER.fullmatch(token) else np.inf, token


def _has_header(file: TextFile, layout: Layout) -> bool:
    """Say whether nothing in the first row occurs in the rows below it."""
    lines = [line for line in file.head.split("\n")[layout.first_row - 1 :] if line.strip()][: HEADER_SAMPLE + 1]
    first, *others = [{cell.strip() for cell in split(line, layout.delimiter)} for line in lines]
    return bool(others) and not first & set().union(*others)


def suspicious_tokens(counts: Mapping[str, int]) -> list[str]:
    """Return notes on tokens that look like mistakes, by how often each occurs; they are read like all others.

    These are cells that are not known, and in a table of integers what is none, is negative, or occurs only once.
    """
    notes = [f"{counted(counts[NOT_KNOWN], 'cell')} nan or NA: read as gaps"] if NOT_KNOWN in counts else []
    words = [token for token in counts if token not in ("-", NOT_KNOWN)]
    integers = [token for token in words if INTEGER.fullmatch(token)]
    if 2 * len(integers) <= len(words):
        return notes
    others = [token for token in words if token not in integers]
    fractions = [token for token in others if NUMBER.fullmatch(token)]
    suspicious = {
        "no integer": fractions,
        "no number": [token for token in others if token not in fractions],
        "negative": [token for token in integers if int(token) < 0],
        "there only once": [token for token in words if counts[token] == 1],
    }
    return notes + [
        f"among integers, {counted(len(found), 'token')} that {'is' if len(found) == 1 else 'are'} {what}: "
        f"{listed(found, N_LISTED_TOKENS)} (a token like any other; leave the cell empty where nothing is known)"
        for what, found in suspicious.items()
        if found
    ]


def _require_tokens(file: TextFile, tokens: tuple[str, ...]) -> None:
    longest = max(tokens, key=len)
    if len(longest) > MAX_TOKEN_LETTERS:
        raise DataError(
            file.path,
            f"{shown(longest)} is longer than a token; leave out that column with --skip-columns, or write whole "
            "sequences as FASTA",
        )


def _too_many(codes: _Codes, number: int) -> str:
    rare = ", ".join(shown(token, 20) for token in list(codes)[-3:])
    return (
        f"has more than {MAX_TOKENS} different tokens by row {number} (the last: {rare}), the most that there may be; "
        "leave out columns of names or of measurements with --skip-columns"
    )


def n_columns(file: TextFile) -> int:
    """Return how many columns a table of tokens has, those that are not chosen too."""
    return len(_layout(file)[0].names)
