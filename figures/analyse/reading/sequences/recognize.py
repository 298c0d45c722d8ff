"""Formats of other programs, recognized by their first lines: alignments that are read, and files that hold none."""

import re
from typing import Literal, NamedTuple

from figures.analyse.errors import DataError
from figures.analyse.reading.text_file import TextFile

Alignment = Literal["clustal", "phylip", "nexus", "msf"]
TITLES: dict[str, str] = {"clustal": "CLUSTAL", "phylip": "PHYLIP", "nexus": "NEXUS", "msf": "MSF"}
HEAD_CHARACTERS = 2000  # characters

# Programs that write the format of CLUSTAL put their own name in its first line, with a version or a sentence.
CLUSTAL = re.compile(r"\s*(CLUSTAL|(MUSCLE|PROBCONS|MSAPROBS|Kalign)\b[^\n]*(\(|version|multiple|alignment))")
MSF = re.compile(r"\s*(!![AN]A_MULTIPLE|PileUp\b|[^\n>]*\bMSF:)|[^>]*\n[^\n>]*\bMSF: *\d+")
# Sizes, then a name with a piece of its sequence: ten letters, or fewer at the end of the line of a short one.
PHYLIP = re.compile(r"\s*\d+[ \t]+(\d{2,}[ \t]*\n[^\n]*[A-Za-z.*-]{10}|[4-9][ \t]*\n\S+[ \t]+[A-Z.*-]{4,9}[ \t]*\n)")
SIZES = re.compile(r"\s*\d+\s+\d+(\s+[A-Za-z]+)?\s*$")  # with letters that are options of PHYLIP's programs
ALIGNMENTS: dict[Alignment, re.Pattern[str]] = {
    "clustal": CLUSTAL,
    "nexus": re.compile(r"\s*#NEXUS", re.IGNORECASE),
    "msf": MSF,
    "phylip": PHYLIP,
}


class _Other(NamedTuple):
    """A format that holds no alignment: how its first lines look, and what it is called."""

    pattern: re.Pattern[str]
    name: str


OTHERS = (
    _Other(re.compile(r"@[^\n]*\n[A-Za-z.*-]+\n\+"), "a FASTQ file of reads, which are not aligned"),
    _Other(re.compile(r"LOCUS\s"), "a GenBank record, no alignment"),
    _Other(re.compile(r"HMMER\d|HHsearch"), "a profile, no alignment"),
    _Other(re.compile(r"HEADER\s|ATOM\s"), "a PDB structure, no alignment"),
    _Other(re.compile(r"\s*<(\?xml|!DOCTYPE|html)", re.IGNORECASE), "markup (XML or HTML), no alignment"),
)


def alignment_of(text: str) -> Alignment | None:
    """Say which of the alignment formats of other programs a text begins as; None where it is none of them."""
    head = text[:HEAD_CHARACTERS]
    return next((form for form, pattern in ALIGNMENTS.items() if pattern.match(head)), None)


def refuse_others(file: TextFile) -> None:
    """Raise a DataError for a known format that holds no alignment, which says what it is."""
    for other in OTHERS:
        if other.pattern.match(file.head[:HEAD_CHARACTERS]):
            raise DataError(file.path, f"is {other.name}; give the aligned sequences as FASTA, A2M, A3M or Stockholm")
