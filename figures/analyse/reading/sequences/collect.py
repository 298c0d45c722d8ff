"""Sequences of equal length gathered into one array of bytes, as they come from the file."""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from figures.analyse.errors import DataError
from figures.analyse.reading.sequences.entries import Entry
from figures.analyse.reading.sequences.letters import Convention
from figures.analyse.reading.sequences.reservoir import Reservoir
from figures.analyse.reading.text_file import TextFile
from figures.analyse.wording import counted, shown


@dataclass(frozen=True, eq=False)
class Collected:
    """The bytes (M, L) of the sequences that were kept, and notes for the user."""

    letters: NDArray[np.uint8]
    notes: tuple[str, ...]


def collect(
    file: TextFile, entries: Iterable[Entry], convention: Convention, *, most: int | None = None, seed: int = 0
) -> Collected:
    """Collect the sites of all entries, or of a uniform random choice of `most` of them, in no more than M L bytes.

    DataError for a sequence of another length and for a character that is no letter; empty records are left out.
    """
    choice = Reservoir(most, seed)
    sites, names, copies = bytearray(), array("q"), array("q")
    empty, length = list[str](), 0
    for number, entry in enumerate(entries, start=1):
        letters = convention.sites(entry.letters)
        if not letters:
            empty.append(entry.place(number))
            continue
        length = length or len(letters)
        _require_alike(file, entry, number, letters, length, convention)
        place = choice.place()
        names.append(hash(entry.name or choice.total))
        if place is not None:
            sites[place * length : (place + 1) * length] = letters
            copies[place : place + 1] = array("q", [hash(letters)])
    if not choice.total:
        raise DataError(file.path, _nothing(convention))
    notes = [*_left_out(empty), *_twice(names, copies), *convention.notes]
    return Collected(np.frombuffer(sites, np.uint8).reshape(-1, length), (*choice.notes, *notes))


def _nothing(convention: Convention) -> str:
    if convention.inserted:
        return (
            "has small letters only, which are inserts without a column in .a2m and .a3m; name it .fasta where they "
            "are residues"
        )
    return "holds no sequence"


def _require_alike(
    file: TextFile, entry: Entry, number: int, letters: bytes, length: int, convention: Convention
) -> None:
    if len(letters) != length:
        raise DataError(file.path, f"{entry.place(number)}: {_unequal(entry, letters, length, convention)}")
    strange = letters.translate(None, convention.legal)
    if strange:
        wrong = shown(chr(strange[0]))
        raise DataError(
            file.path,
            f"{entry.place(number)}: {wrong} at column {letters.index(strange[:1]) + 1} is no letter and no gap; "
            "correct it, or name the letters that occur with --alphabet",
        )


def _unequal(entry: Entry, letters: bytes, length: int, convention: Convention) -> str:
    found = f"{counted(len(letters), 'column')}, but the first record has {length}"
    if convention.inserts and "." in entry.letters:
        return f"{found}, not counting dots and small letters; where dots are gaps name the file .fasta"
    if not convention.inserts and any(map(str.islower, entry.letters)):
        return f"{found}; align the sequences, or name the file .a2m or .a3m where small letters are inserts"
    return f"{found}; align the sequences first, all must be equally long"


def _left_out(empty: list[str]) -> tuple[str, ...]:
    return (f"{counted(len(empty), 'empty record')} left out (the first: {empty[0]})",) if empty else ()


def _twice(names: "array[int]", copies: "array[int]") -> list[str]:
    """Note names and sequences that occur twice.

    They are counted by 64-bit hashes, which are small: among a million records two different ones agree with odds of
    one in ten million.
    """
    notes = []
    repeated = len(names) - len(np.unique(names))
    if repeated:
        notes.append(f"{counted(repeated, 'record')} with the name of an earlier one (kept)")
    repeated = len(copies) - len(np.unique(copies))
    if repeated:
        notes.append(f"{counted(repeated, 'sequence')} equal to an earlier one (kept: together they count as one)")
    return notes
