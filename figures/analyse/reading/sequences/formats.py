"""Which format of sequences a file has, by its first lines; formats that are not read are named for what they are."""

import csv
import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from figures.analyse.errors import DataError
from figures.analyse.reading.opening import extension
from figures.analyse.reading.sequences.tokens import is_token_table
from figures.analyse.reading.tables.layout import find_layout, split
from figures.analyse.reading.text_file import TextFile

Format = Literal["fasta", "a2m", "stockholm", "names", "table", "plain"]
FORMATS = {
    "fasta": (".fasta", ".fa", ".fas", ".afa", ".faa", ".fna"),
    "a2m": (".a2m", ".a3m"),
    "stockholm": (".sto", ".stk"),
}
LETTERS = re.compile(r"[A-Za-z.*~_-]{10,}")  # a whole sequence in one cell
SAME_LENGTH = 0.9  # share of sequences in a table that must be equally long to tell them from words


# Sizes, then a name with a piece of its sequence: ten letters, or fewer at the end of the line of a short one.
PHYLIP = re.compile(r"\s*\d+[ \t]+(\d{2,}[ \t]*\n[^\n]*[A-Za-z.*-]{10}|[4-9][ \t]*\n\S+[ \t]+[A-Z.*-]{4,9}[ \t]*\n)")


class _Foreign(NamedTuple):
    """A format that is not read: how its first lines look, what it is called, and Biopython's name of alignments."""

    pattern: re.Pattern[str]
    name: str
    alignment: str = ""


FOREIGN = (
    _Foreign(re.compile(r"\s*CLUSTAL"), "a CLUSTAL alignment", "clustal"),
    _Foreign(re.compile(r"\s*#NEXUS", re.IGNORECASE), "a NEXUS file", "nexus"),
    _Foreign(re.compile(r"\s*(!!|PileUp\b|[^\n>]*\bMSF:)|[^>]*\n[^\n>]*\bMSF: *\d+"), "an MSF alignment", "msf"),
    _Foreign(PHYLIP, "a PHYLIP alignment", "phylip-relaxed"),
    _Foreign(re.compile(r"@[^\n]*\n[A-Za-z.*-]+\n\+"), "a FASTQ file of reads, which are not aligned"),
    _Foreign(re.compile(r"LOCUS\s"), "a GenBank record, no alignment"),
    _Foreign(re.compile(r"HMMER\d|HHsearch"), "a profile, no alignment"),
    _Foreign(re.compile(r"HEADER\s|ATOM\s"), "a PDB structure, no alignment"),
    _Foreign(re.compile(r"\s*<(\?xml|!DOCTYPE|html)", re.IGNORECASE), "markup (XML or HTML), no alignment"),
)


def format_of(file: TextFile) -> Format:
    """Recognize the format by the first lines.

    What begins with ">" is A2M only where the name of the file says so. DataError for formats that are not read.
    """
    first = next(line for line in file.head.splitlines() if line.strip())
    suffix = extension(file.path)
    if first.startswith("# STOCKHOLM"):
        return "stockholm"
    if not first.startswith((">", ";")):
        _require_known(file)
    if suffix in FORMATS["stockholm"]:
        raise DataError(file.path, "does not begin with # STOCKHOLM 1.0; name it by what it is, such as .fasta")
    if suffix in FORMATS["a2m"]:
        return "a2m"
    if first.startswith((">", ";")) or (suffix in FORMATS["fasta"]):
        return "fasta"
    if not is_token_table(file):
        return "plain"
    return "table" if rows_above_names(file) is None else "names"


def rows_above_names(file: TextFile) -> int | None:
    """Return how many rows of headers stand above a table of names and whole sequences; None if it is no such table.

    Each of its rows has two cells, the names are all different, and the sequences (nearly all) equally long.
    """
    layout = find_layout(file, "no")
    lines = [line for line in file.head.split("\n")[layout.first_row - 1 :] if line.strip()]
    try:
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


def _require_known(file: TextFile) -> None:
    """Raise a DataError for a format that is not read, which says what it is and how to get an alignment from it."""
    for foreign in FOREIGN:
        if foreign.pattern.match(file.head[:2000]) is None:
            continue
        remedy = "give the aligned sequences as FASTA, A2M, A3M or Stockholm"
        if foreign.alignment:
            remedy = (
                "convert it to FASTA, as Biopython does: from Bio import AlignIO; "
                f"AlignIO.convert(FILE, '{foreign.alignment}', 'alignment.fasta', 'fasta')"
            )
        raise DataError(file.path, f"is {foreign.name}, which is not read; {remedy}")
