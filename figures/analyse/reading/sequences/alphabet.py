"""Which alphabet letters belong to, and their colors."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from figures.analyse.errors import DataError
from figures.analyse.reading.sequences.letters import GAP
from figures.analyse.wording import counted

ALPHABETS = {"protein": "ACDEFGHIKLMNPQRSTVWY", "RNA": "ACGU", "DNA": "ACGT"}
SURELY_NUCLEIC = 0.9  # share of A, C, G, T, U and N among the letters: proteins have less than a half
CHUNK = 1 << 22  # bytes that are looked at together


def letter_counts(letters: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Count how often each byte occurs, (256,)."""
    counts = np.zeros(256, np.int64)
    for _, block in blocks(letters):
        counts += np.bincount(block.reshape(-1), minlength=256)
    return counts


def blocks(letters: NDArray[np.uint8]) -> Iterator[tuple[slice, NDArray[np.uint8]]]:
    """Yield views of some rows at a time with their place, so that intermediate arrays stay small."""
    rows = max(1, CHUNK // max(1, letters.shape[1]))
    return ((slice(i, i + rows), letters[i : i + rows]) for i in range(0, len(letters), rows))


def detected(path: Path, counts: NDArray[np.int64]) -> str:
    """Say whether letters are protein, RNA or DNA, by how often each byte occurs (256,).

    DataError where there are gaps only.
    """
    own = {chr(code): int(counts[code]) for code in range(ord("A"), ord("Z") + 1)}
    total = sum(own.values())
    if not total:
        raise DataError(path, "holds gaps only")
    if sum(own[letter] for letter in "ACGTUN") < SURELY_NUCLEIC * total:
        return "protein"
    return "RNA" if own["U"] > own["T"] else "DNA"


def checked_alphabet(wanted: str) -> str:
    """Return the wanted alphabet: auto, protein, rna, dna, or its letters, each once.

    ValueError for anything else: a misspelled name would be read as its letters.
    """
    letters = wanted.replace("-", "")
    if wanted.lower() in ("auto", *map(str.lower, ALPHABETS)) or (len(set(letters)) == len(letters) > 1):
        return wanted
    raise ValueError(f"must be auto, protein, rna, dna or at least two letters, each once, got {wanted!r}")


def alphabet_of(path: Path, wanted: str, counts: NDArray[np.int64]) -> tuple[str, str]:
    """Return the name and the letters of the alphabet; `wanted` is auto, protein, rna, dna or the letters."""
    known = {name.lower(): name for name in ALPHABETS}
    name = detected(path, counts) if wanted.lower() == "auto" else known.get(wanted.lower(), "letters")
    letters = ALPHABETS.get(name) or wanted.replace("-", "")
    if name == "letters" and not any(counts[ord(letter)] for letter in letters if ord(letter) < len(counts)):
        raise DataError(
            path, f"has none of the letters of --alphabet {wanted}; the names that are known are protein, rna and dna"
        )
    return name, letters


def merged_thymine(letters: NDArray[np.uint8], name: str, counts: NDArray[np.int64]) -> tuple[str, ...]:
    """Replace, in place, T by U in RNA and U by T in DNA, as both stand for the same base; return a note on it."""
    pair = {"RNA": "TU", "DNA": "UT"}.get(name)
    if pair is None or not counts[ord(pair[0])]:
        return ()
    other, own = map(ord, pair)
    letters[letters == other] = own
    found, counts[other] = int(counts[other]), 0
    counts[own] += found
    return (f"{counted(found, 'letter')} {pair[0]} read as {pair[1]}",)


def colors(
    letters: NDArray[np.uint8], alphabet: str, counts: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], tuple[str, ...]]:
    """Replace letters by colors in place, and return them with their tokens.

    The gap is the first token where there are any, then the letters that occur follow.
    """
    tokens = tuple(letter for letter in "-" + alphabet if counts[ord(letter)])
    table = np.zeros(256, np.uint8)
    for color, token in enumerate(tokens):
        table[ord(token)] = color
    for _, block in blocks(letters):
        block[:] = table[block]
    return letters, tokens


def unknown_letters(alphabet: str, counts: NDArray[np.int64]) -> dict[str, int]:
    """Count the letters that occur but are not in the alphabet."""
    known = {GAP, *map(ord, alphabet)}
    return {chr(code): int(counts[code]) for code in np.flatnonzero(counts) if code not in known}
