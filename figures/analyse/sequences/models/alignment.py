"""Reads an alignment into letters and integers, for use in Python."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from figures.analyse.reading.sequences import Sequences, read_sequences
from figures.analyse.reading.sequences.letters import GAPS
from figures.analyse.sequences.reference import Reference, read_reference, record_names
from figures.analyse.wording import shown
from theory.core import checks

THYMINE = {"RNA": ("T", "U"), "DNA": ("U", "T")}  # two letters for one base, of which the alphabet has the second


@dataclass(frozen=True, eq=False, repr=False)
class Alignment:
    """Aligned sequences as integers `sequences` (M, L), of which color a stands for the letter `alphabet[a]`.

    The alphabet has the letters that occur, the gap "-" first where there are any. `kind` is its name: "protein",
    "RNA", "DNA", "letters", "integers" or "tokens". `columns` (L,) are the places of the sites in the file, from 1,
    since columns of inserts and of gaps only are left out; `names` are those of the records, none where some records
    were left out, since a wrong name would be worse. `notes` are sentences on what was done to the file. ValueError for
    integers that are no colors of the alphabet, and for letters that are there twice.

    >>> family = Alignment([[0, 1], [1, 1]], "AC")
    >>> family.rows, family.encode("CA").tolist()
    (['AC', 'CC'], [1, 0])
    """

    sequences: Any
    alphabet: Any
    names: tuple[str, ...] = ()
    columns: Any = None
    kind: str = "letters"
    notes: tuple[str, ...] = ()
    path: Path | None = None
    letters: str = field(default="auto", repr=False)  # the alphabet as it was asked for

    def __post_init__(self) -> None:
        alphabet = tuple(self.alphabet)
        if len(set(alphabet)) != len(alphabet) or not all(alphabet):
            raise ValueError(f"alphabet must have each letter once, got {''.join(map(str, alphabet))!r}")
        states = checks.colors("sequences", self.sequences, max(2, len(alphabet)))
        if states.ndim != 2 or not states.size:
            raise ValueError(f"sequences must have shape (sequences, sites), got {states.shape}")
        columns = np.arange(1, states.shape[1] + 1) if self.columns is None else np.asarray(self.columns)
        for name, value, length, what in (
            ("columns", columns, states.shape[1], "sites"),
            ("names", self.names, len(states) if self.names else 0, "sequences"),
        ):
            if len(value) != length:
                raise ValueError(f"{name} must have one entry for each of {length} {what}, got {len(value)}")
        for name, value in (("sequences", states), ("alphabet", alphabet), ("columns", columns)):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        M, L = self.sequences.shape
        return f"Alignment({M} sequences, {L} sites, {self.kind}, alphabet={''.join(self.alphabet)!r})"

    def __len__(self) -> int:
        return len(self.sequences)

    @property
    def n_sites(self) -> int:
        """The number L of sites."""
        return int(self.sequences.shape[1])

    @property
    def n_colors(self) -> int:
        """The number C of colors, at least 2, as the fits take it."""
        return max(2, len(self.alphabet))

    @property
    def gap(self) -> int | None:
        """The color of gaps; None where there are none."""
        return self.alphabet.index("-") if "-" in self.alphabet else None

    @property
    def rows(self) -> list[str]:
        """The aligned sequences as text, one string each; only where every token is one letter."""
        return self.decode(self.sequences)

    def decode(self, states: Any) -> list[str]:
        """Return sequences (n, L) of colors as text."""
        if any(len(token) != 1 for token in self.alphabet):
            raise ValueError("alphabet must have one letter for each color for sequences to be text")
        return ["".join(row) for row in np.array(self.alphabet)[np.atleast_2d(states)]]

    def encode(self, text: str | Sequence[str]) -> NDArray[np.int64]:
        """Return the colors (L,) of a sequence as text, or (n, L) of a list of them, aligned to the L sites.

        In known alphabets small letters count as capitals, . _ and ~ as gaps, and T and U as the one that occurs.
        ValueError for another length and for a letter that the alphabet has not.
        """
        if not isinstance(text, str):
            return np.array([self.encode(each) for each in text], np.int64).reshape(-1, self.n_sites)
        found = list(text)
        if self.kind in ("protein", "RNA", "DNA"):
            found = list(text.upper().encode("latin-1", "replace").translate(GAPS).decode("latin-1"))
            found = [
                letter.replace(*THYMINE.get(self.kind, ("", ""))) if letter in "TU" else letter for letter in found
            ]
        if len(found) != self.n_sites:
            raise ValueError(
                f"text must have {self.n_sites} letters, one for each site of the alignment (gaps are -), got "
                f"{len(found)}"
            )
        colors = {letter: color for color, letter in enumerate(self.alphabet)}
        strange = next((place for place, letter in enumerate(found) if letter not in colors), None)
        if strange is not None:
            raise ValueError(
                f"text must have letters of the alphabet {''.join(map(str, self.alphabet))!r} only, got "
                f"{shown(text[strange])} at site {strange + 1}"
            )
        return np.array([colors[letter] for letter in found], np.int64)

    def reference(self, name: str, first_residue: int | None = None) -> Reference:
        """Return letters and residue numbers of one record of the file, by its name or its number from 1.

        Residues are counted from `first_residue`, or from the number in a name such as RASH_HUMAN/5-165, or from 1.
        """
        if self.path is None:
            raise ValueError("name must be one of a file, and this alignment was read from none")
        return read_reference(self._as_read(), name, self.letters, first_residue)

    def _as_read(self) -> Sequences:
        assert self.path is not None
        return Sequences(self.path, self.sequences, self.alphabet, self.kind, self.columns, self.notes)


def read_alignment(
    path: Path | str,
    *,
    alphabet: str = "auto",
    unknown: Literal["gap", "drop"] = "gap",
    max_sequences: int | None = None,
    seed: int = 0,
) -> Alignment:
    r"""Read the aligned sequences of a file as letters and integers, as `python -m figures analyse` reads them.

    FASTA, A2M, A3M, PIR, Stockholm, CLUSTAL, PHYLIP, NEXUS and MSF files are read, gzipped or not, and tables of
    tokens. `alphabet` is auto (by what occurs), protein, rna, dna, or the letters themselves. `unknown` letters are
    read as gaps, or drop their sequences; `max_sequences` are chosen at random, by `seed`, where there are more.

    DataError, with file, record, line and remedy, for what cannot be read: sequences of different lengths, characters
    that are no letters, fewer than two sequences or sites, a file that is cut off or no alignment.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "family.fasta"
    >>> _ = file.write_text(">first\nACDE-\n>second\nACDEF\n")
    >>> family = read_alignment(file)
    >>> family, family.names
    (Alignment(2 sequences, 5 sites, protein, alphabet='-ACDEF'), ('first', 'second'))
    >>> family.sequences.tolist()
    [[1, 2, 3, 4, 0], [1, 2, 3, 4, 5]]
    """
    found = read_sequences(path, alphabet=alphabet, unknown=unknown, most=max_sequences, seed=seed)
    return alignment_of(found, alphabet)


def alignment_of(found: Sequences, alphabet: str = "auto") -> Alignment:
    """Return sequences as they were read, with the names of their records."""
    return Alignment(
        found.states,
        found.tokens,
        names=tuple(record_names(found)),
        columns=found.columns,
        kind=found.alphabet,
        notes=found.notes,
        path=found.path,
        letters=alphabet,
    )
