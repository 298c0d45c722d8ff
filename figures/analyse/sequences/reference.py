"""Numbers the sites as the residues of one sequence of the alignment, the one that the user knows."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from figures.analyse.errors import DataError
from figures.analyse.reading.sequences import Sequences
from figures.analyse.reading.sequences.entries import REFERENCE, Entry
from figures.analyse.reading.sequences.formats import format_of
from figures.analyse.reading.sequences.letters import GAPS, Convention
from figures.analyse.reading.sequences.records import Records, records
from figures.analyse.reading.text_file import TextFile, text_file
from figures.analyse.sequences.numbering.counting import GAP_NUMBER, counted_residues
from figures.analyse.sequences.numbering.full_sequence import numbered_by
from figures.analyse.wording import listed, shown

RANGE = re.compile(r"/(\d+)-(\d+)$")  # as in RASH_HUMAN/5-165: the first residue has the number 5
N_LISTED_NAMES = 4


__all__ = ["GAP_NUMBER", "Reference", "first_letters", "read_reference", "record_names"]


@dataclass(frozen=True, eq=False)
class Reference:
    """The residues of one sequence at the L sites that are analyzed."""

    name: str
    numbers: NDArray[np.int64] = field(repr=False)  # (L,), 0 at a gap
    letters: tuple[str, ...] = field(repr=False)  # (L,), "-" at a gap
    row: str = field(default="", repr=False)  # all letters of the record, in capitals, also those without a column
    places: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)  # (L,) in it, or -1
    notes: tuple[str, ...] = ()  # on the numbers, for the user

    def residue(self, site: int) -> str:
        """Name the residue at a site (from 0) by its letter and number, as in K45, or say that there is a gap."""
        return f"{self.letters[site]}{self.numbers[site]}" if self.numbers[site] != GAP_NUMBER else "gap"


def read_reference(
    sequences: Sequences, wanted: str, alphabet: str, first: int | None, full: Path | None = None
) -> Reference:
    """Read the residues of the record `wanted`, its name or its number from 1, at the sites of `sequences`.

    Residues are counted from `first`, or from the number that the name ends with, as in NAME/5-165, or from 1; downward
    where the name counts so, as in NAME/165-5. Small letters of A2M and A3M have no column, but count. A note says
    where the name promises another number of residues than there are. With a file `full`, a FASTA of the whole
    sequence, the residues have the numbers of those that they are aligned to. DataError where there is no such record,
    for tables, and for a whole sequence that does not fit.
    """
    entry, convention = _found(text_file(sequences.path), wanted, alphabet)
    named = RANGE.search(entry.name)
    name = entry.name or f"record {wanted}"
    row, places, letters = _columns(entry.letters, convention)
    if full is not None:
        numbers, notes = numbered_by(full, name, row, first)
    else:
        ends = (int(named[1]), int(named[2])) if named else None
        numbers, notes = counted_residues(name, len(row), ends, first)
    sites = sequences.columns - 1
    at = np.array([places[site] for site in sites], np.int64)
    own = np.where(at >= 0, np.append(numbers, GAP_NUMBER)[at], GAP_NUMBER)
    return Reference(name, own, tuple(letters[site] for site in sites), row, at, notes)


def record_names(sequences: Sequences) -> list[str]:
    """Return the names of the records, in the order of the file; none where some of them are not analyzed.

    Which ones were left out, or chosen at random, is not known here, and a wrong name would be worse than none.
    """
    file = text_file(sequences.path)
    form = format_of(file)
    if form in ("table", "plain"):
        return []
    with records(file, form) as found:
        names = [entry.name for entry in _records(found)]
    return names if len(names) == len(sequences.states) else []


def _found(file: TextFile, wanted: str, alphabet: str) -> tuple[Entry, Convention]:
    """Return the record of this name, or else of this number, and how its letters are read."""
    form = format_of(file)
    if form == "table":
        raise DataError(file.path, "is a table; --reference names a sequence of an alignment")
    known = alphabet.lower() in ("auto", "protein", "rna", "dna")
    convention = Convention(inserts=form == "a2m", custom=None if known else alphabet.encode("latin-1", "replace"))
    numbered, names = None, []
    with records(file, form) as found:
        for number, entry in enumerate(_records(found), start=1):
            if wanted and wanted in (entry.name, RANGE.sub("", entry.name)):
                return entry, convention
            if wanted == str(number):
                numbered = entry
            if entry.name:
                names.append(shown(entry.name))
    if numbered is not None:
        return numbered, convention
    there = (
        f"the records are called {listed(names, N_LISTED_NAMES)}"
        if names
        else "its sequences have numbers only, from 1"
    )
    raise DataError(file.path, f"has no sequence {shown(wanted)} (--reference); {there}")


def _records(found: Records) -> Iterator[Entry]:
    return (entry for entry in found.entries if entry.name != REFERENCE and entry.letters)


def _columns(letters: str, convention: Convention) -> tuple[str, list[int], list[str]]:
    """Return all residues of a row, and for each column of the alignment its place in them and letter; -1, "-": gap."""
    row, places, found = list[str](), list[int](), list[str]()
    for letter in letters:
        gap = letter.encode("latin-1", "replace").translate(GAPS) == b"-"
        residue = letter if convention.custom is not None else letter.upper()
        if convention.sites(letter):
            places.append(-1 if gap else len(row))
            found.append("-" if gap else residue)
        if not gap:
            row.append(residue)
    return "".join(row), places, found


def first_letters(letters: Iterable[str], count: int = 10) -> str:
    """Return the first residues of a sequence, for the user to check that it is the one she means."""
    return "".join(islice((letter for letter in letters if letter != "-"), count))
