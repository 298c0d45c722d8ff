"""What is left out of an alignment before it is analyzed: unknown letters, and rows and columns without any letter."""

from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from figures.analyse.errors import DataError
from figures.analyse.reading.sequences.alphabet import (
    alphabet_of,
    blocks,
    colors,
    letter_counts,
    merged_thymine,
    unknown_letters,
)
from figures.analyse.reading.sequences.letters import GAP
from figures.analyse.reading.sequences.record import Sequences
from figures.analyse.wording import counted

Unknown = Literal["gap", "drop"]
N_LISTED_NAMES = 8
MAX_UNKNOWN_SHARE = 0.05  # unknown letters, as a share of the others, that are hardly errors


def cleaned(
    path: Path,
    letters: NDArray[np.uint8],
    notes: tuple[str, ...],
    *,
    alphabet: str = "auto",
    unknown: Unknown = "gap",
    columns: NDArray[np.int64] | None = None,
) -> Sequences:
    """Turn bytes (M, L) into colors, in place, without rows and columns of gaps only.

    DataError where fewer than two sequences or sites are left.
    """
    counts = letter_counts(letters)
    name, own = alphabet_of(path, alphabet, counts)
    said = [*notes, *merged_thymine(letters, name, counts)]
    strangers = unknown_letters(own, counts)
    if strangers:
        letters, note = _without(letters, strangers, unknown, name)
        said.append(note)
    letters, places, more = _with_letters(letters, np.arange(1, letters.shape[1] + 1) if columns is None else columns)
    require_enough(path, letters)
    states, tokens = colors(letters, own, letter_counts(letters))
    return Sequences(path, states, tokens, name, places, (*said, *more, *conserved(states)))


def conserved(states: NDArray[np.uint8]) -> tuple[str, ...]:
    """Note how many columns are the same in all sequences: they say nothing about others."""
    constant = int((states == states[0]).all(axis=0).sum())
    return (f"{counted(constant, 'column')} the same in all sequences",) if constant else ()


def require_enough(path: Path, values: NDArray[np.uint8]) -> None:
    """Raise a DataError for fewer than two sequences or fewer than two sites."""
    if len(values) < 2:
        found = "one sequence" if len(values) else "no sequence with a letter"
        raise DataError(path, f"holds {found}; how sites depend on each other is learned from hundreds of sequences")
    if values.shape[1] < 2:
        raise DataError(path, f"has {counted(values.shape[1], 'column')} with letters; at least two are needed")


def _without(
    letters: NDArray[np.uint8], strangers: dict[str, int], unknown: Unknown, name: str
) -> tuple[NDArray[np.uint8], str]:
    table = np.zeros(256, bool)
    table[[ord(letter) for letter in strangers]] = True
    written = {"?": "* or ?"}  # the sign of a stop and that of the unknown are one when a file is read
    listed = ", ".join(
        f"{written.get(letter, letter)} {count}" for letter, count in list(strangers.items())[:N_LISTED_NAMES]
    )
    whose = "the given alphabet" if name == "letters" else name
    what = f"{counted(sum(strangers.values()), 'letter')} that {whose} has not ({listed})"
    kept = np.ones(len(letters), bool)
    for rows, block in blocks(letters):
        strange = table[block]
        kept[rows] = ~strange.any(axis=1)
        if unknown == "gap":
            block[strange] = GAP
    if unknown == "gap":
        many = sum(strangers.values()) > MAX_UNKNOWN_SHARE * max(1, int((~np.isin(letters, [GAP])).sum()))
        own = "; if they are letters of their own list all letters with --alphabet" if many else ""
        return letters, f"{what}: read as gaps; --unknown drop leaves their sequences out{own}"
    return letters[kept], f"{what}: {counted(int((~kept).sum()), 'sequence')} with them left out"


def _with_letters(
    letters: NDArray[np.uint8], columns: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.int64], list[str]]:
    """Return the rows and columns that are not all gaps, the places of these columns, and notes."""
    full, sites = np.zeros(len(letters), bool), np.zeros(letters.shape[1], bool)
    for rows, block in blocks(letters):
        full[rows] = (block != GAP).any(axis=1)
        sites |= (block != GAP).any(axis=0)
    notes = []
    if not full.all():
        letters = letters[full]
        notes.append(f"{counted(int((~full).sum()), 'sequence')} of gaps only left out")
    if not sites.all():
        letters = np.ascontiguousarray(letters[:, sites])
        listed = ", ".join(map(str, columns[~sites][:N_LISTED_NAMES])) + (
            "" if (~sites).sum() <= N_LISTED_NAMES else ", ..."
        )
        notes.append(f"{counted(int((~sites).sum()), 'column')} of gaps only left out: {listed}")
    return letters, columns[sites], notes
