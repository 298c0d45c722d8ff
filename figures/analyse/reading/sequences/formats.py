"""Which format of sequences a file has, by its first lines."""

import csv
import re
from collections.abc import Sequence
from typing import Literal

from figures.analyse.errors import DataError
from figures.analyse.reading.opening import extension
from figures.analyse.reading.sequences.entries import PIR
from figures.analyse.reading.sequences.recognize import SIZES, TITLES, Alignment, alignment_of, refuse_others
from figures.analyse.reading.sequences.tokens import is_token_table
from figures.analyse.reading.tables.layout import find_layout, split
from figures.analyse.reading.text_file import TextFile

Format = Literal["fasta", "a2m", "pir", "stockholm", "names", "table", "plain"] | Alignment
FORMATS: dict[str, tuple[str, ...]] = {
    "fasta": (".fasta", ".fa", ".fas", ".afa", ".faa", ".fna"),
    "a2m": (".a2m", ".a3m"),
    "pir": (".pir", ".nbrf", ".ali"),
    "stockholm": (".sto", ".stk"),
    "clustal": (".aln", ".clustal"),
    "phylip": (".phy", ".phylip"),
    "nexus": (".nex", ".nexus"),
    "msf": (".msf",),
}
# CLUSTAL is not here: programs of direct coupling analysis give .aln to files with one sequence a line.
FORMAT_BEGINNINGS: dict[str, str] = {
    "phylip": "the numbers of sequences and of columns",
    "nexus": "#NEXUS",
    "msf": "PileUp or !!, and a line with MSF: and the number of columns",
}
LETTERS = re.compile(r"[A-Za-z.*~_-]{10,}")  # a whole sequence in one cell
SAME_LENGTH = 0.9  # share of sequences in a table that must be equally long to tell them from words


def format_of(file: TextFile) -> Format:
    """Recognize the format by the first lines.

    What begins with ">" is A2M only where the name of the file says so. DataError for a file that is no alignment, and
    for one that is not what its name says.
    """
    first = next(line for line in file.head.splitlines() if line.strip())
    suffix = extension(file.path)
    if first.startswith("# STOCKHOLM"):
        return "stockholm"
    if is_pir(file.head):
        return "pir"
    if not first.startswith((">", ";")):
        refuse_others(file)
        known = alignment_of(file.head)
        if known is not None:
            return known
        if suffix in FORMATS["phylip"] and SIZES.match(first):
            return "phylip"
    if suffix in FORMATS["stockholm"]:
        raise DataError(file.path, "does not begin with # STOCKHOLM 1.0; name it by what it is, such as .fasta")
    if suffix in FORMATS["a2m"]:
        return "a2m"
    if first.startswith((">", ";")) or (suffix in FORMATS["fasta"]):
        return "fasta"
    for form, begins in FORMAT_BEGINNINGS.items():
        if suffix in FORMATS[form]:
            raise DataError(
                file.path,
                f"does not begin as {TITLES[form]} files do, with {begins}; name it by what it is, such as .fasta",
            )
    if not is_token_table(file):
        return "plain"
    return "table" if rows_above_names(file) is None else "names"


def is_pir(head: str) -> bool:
    """Say whether a text begins as PIR (NBRF) does, with a line >P1;NAME below remarks C; and R; if there are any."""
    lines = (line for line in head.splitlines() if line.strip() and not line.startswith(("C;", "R;")))
    return PIR.match(next(lines, "")) is not None


def rows_above_names(file: TextFile) -> int | None:
    """Return how many rows of headers stand above a table of names and whole sequences; None if it is no such table.

    Each of its rows has two cells, the names are all different, and the sequences (nearly all) equally long.
    """
    try:
        layout = find_layout(file, "no")
        lines = [line for line in file.head.split("\n")[layout.first_row - 1 :] if line.strip()]
        rows = [[cell.strip() for cell in split(line, layout.delimiter)] for line in lines]
    except csv.Error:
        return None
    if len(rows) < 3 or layout.width != 2 or any(len(row) != 2 for row in rows):
        return None
    return next((k for k in (0, 1) if _are_names_and_sequences(rows[k:])), None)


def _are_names_and_sequences(rows: Sequence[Sequence[str]]) -> bool:
    if not all(LETTERS.fullmatch(row[1]) for row in rows):
        return False
    lengths = [len(row[1]) for row in rows]
    common = max(set(lengths), key=lengths.count)
    different = len({row[0] for row in rows}) == len(rows)
    return different and lengths.count(common) >= SAME_LENGTH * len(rows)
