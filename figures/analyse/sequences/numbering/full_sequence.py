"""Numbers the residues of one row of an alignment by its full sequence, from a file of its own."""

import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from figures.analyse.errors import DataError
from figures.analyse.reading.sequences import entries
from figures.analyse.reading.text_file import text_file
from figures.analyse.sequences.numbering.counting import GAP_NUMBER
from figures.analyse.wording import counted, listed, shown
from figures.core import missing_extra

RANGE = re.compile(r"/(\d+)-(\d+)$")
FEWEST_EQUAL = 0.8  # share of the letters below which the two are hardly one sequence: strains of a species have more
# Equal letters earn 2, others cost 3. A gap is dear to open and cheap to extend: what an alignment lacks are whole
# pieces. The ends of the full sequence, which is longer, cost nothing.
EQUAL, UNEQUAL, OPEN, EXTEND = 2.0, -3.0, -5.0, -0.5
MATRIX_OPEN, MATRIX_EXTEND = -11.0, -1.0  # those that BLAST takes with BLOSUM62
ANY = frozenset("X?*")  # letters that stand for any other
NUCLEOTIDES, AMINO_ACIDS = frozenset("ACGTUNX?"), frozenset("ACDEFGHIKLMNPQRSTVWYBZX")
THYMINE = str.maketrans("T", "U")
N_LISTED_NAMES = 4


class Matching(NamedTuple):
    """For each letter of a row its place in another sequence, (n,), -1 where it has no partner, and equal letters."""

    places: NDArray[np.int64]
    equal: int
    compared: int  # letters of the row that stand for one residue

    @property
    def share(self) -> float:
        """The share of letters that are the same."""
        return self.equal / self.compared if self.compared else 0.0


def numbered_by(path: Path, name: str, row: str, first: int | None) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return the numbers (n,) of the letters of a `row`, called `name`, in the full sequence of a FASTA, and notes.

    The first residue of the full sequence has the number `first`, or that of a range in its name, or 1; a letter of the
    row that is not in it has GAP_NUMBER. DataError where the file has no sequence, or several, or one that differs from
    the row in more than one letter of five, and where Biopython is missing.
    """
    title, full = _single(path)
    named = RANGE.search(title)
    start = first if first is not None else int(named[1]) if named else 1
    found = matched(path, row, full, "--reference-sequence")
    if found.share < FEWEST_EQUAL:
        raise DataError(
            path,
            f"--reference-sequence: {found.equal} of {counted(found.compared, 'letter')} of {name} are the same in "
            f"{shown(title)} ({100 * found.share:.0f} %), fewer than {100 * FEWEST_EQUAL:g} %: it is another sequence, "
            "or another isoform; give the full sequence of the record that --reference names",
        )
    numbers = np.where(found.places >= 0, start + found.places, GAP_NUMBER)
    note = (
        f"residues of {name} are numbered by the {counted(len(full), 'residue')} of {title or path.name} "
        f"(--reference-sequence): {_compared(row, found, start)}"
    )
    return numbers.astype(np.int64), (note,)


def _compared(row: str, found: Matching, start: int) -> str:
    """Say where the row lies in the full sequence, what it lacks of it, and where the two differ."""
    there = found.places[found.places >= 0]
    missing = int(there[-1] - there[0]) + 1 - len(there)
    unpaired = [letter for letter, place in zip(row, found.places, strict=True) if place < 0]
    differ = found.compared - found.equal - sum(letter not in ANY for letter in unpaired)
    parts = [
        f"its {counted(len(row), 'letter')} reach from {start + there[0]} to {start + there[-1]}",
        f"{found.equal} of {found.compared} are the same, and {counted(differ, 'letter')} other than there",
    ]
    if missing:
        parts.append(
            f"{counted(missing, 'residue')} between them {'is' if missing == 1 else 'are'} not in the alignment"
        )
    if unpaired:
        parts.append(
            f"{counted(len(unpaired), 'letter')} without a partner {'has' if len(unpaired) == 1 else 'have'} no number"
        )
    return "; ".join(parts)


def matched(path: Path, row: str, other: str, option: str, *, is_homolog: bool = False) -> Matching:
    """Align a row to another sequence by Biopython; the ends that one has and the other lacks cost nothing.

    As many letters as possible are the same. Where these are fewer than four of five, and the other protein may be
    another one of the family (`is_homolog`), as many as possible are alike by BLOSUM62. U and T are one letter.
    DataError, about the file at `path` that an `option` names, where Biopython is missing.
    """
    if (absent := missing_extra("formats", "Bio")) is not None:
        raise DataError(path, f"{option} needs an alignment of two sequences by Biopython (Bio). {absent}")
    own, its = row.upper(), other.upper()
    found = _aligned(own, its, by_matrix=False)
    if is_homolog and found.share < FEWEST_EQUAL and not set(own) <= NUCLEOTIDES:
        return _aligned(own, its, by_matrix=True)
    return found


def _aligned(own: str, its: str, *, by_matrix: bool) -> Matching:
    places = np.full(len(own), -1, np.int64)
    if own and its:
        one, two = (_plain(text, by_matrix) for text in (own, its))
        for (start, end), (at, _) in zip(*_aligner(by_matrix).align(one, two)[0].aligned, strict=True):
            places[start:end] = np.arange(at, at + end - start)
    pairs = [(a, its[p] if p >= 0 else "") for a, p in zip(own, places, strict=True) if a not in ANY]
    equal = sum(a.translate(THYMINE) == b.translate(THYMINE) for a, b in pairs)
    return Matching(places, equal, len(pairs))


def _plain(text: str, by_matrix: bool) -> str:
    """Return letters that the aligner has: of a matrix those of the amino acids, otherwise one for U and T."""
    return "".join(a if a in AMINO_ACIDS else "X" for a in text) if by_matrix else text.translate(THYMINE)


def _aligner(by_matrix: bool) -> Any:
    from Bio.Align import PairwiseAligner, substitution_matrices

    aligner = PairwiseAligner()
    aligner.mode = "global"
    if by_matrix:
        aligner.substitution_matrix = substitution_matrices.load("BLOSUM62")
        aligner.open_gap_score, aligner.extend_gap_score = MATRIX_OPEN, MATRIX_EXTEND
    else:
        aligner.match_score, aligner.mismatch_score = EQUAL, UNEQUAL
        aligner.open_gap_score, aligner.extend_gap_score = OPEN, EXTEND
    aligner.end_gap_score = 0.0
    return aligner


def _single(path: Path) -> tuple[str, str]:
    """Return name and letters of the only sequence of a FASTA."""
    file = text_file(path)
    with file.open() as lines:
        found = [entry for entry in entries.fasta(file, lines) if entry.letters]
    if len(found) != 1:
        names = listed([shown(entry.name) for entry in found], N_LISTED_NAMES)
        held = f"holds {counted(len(found), 'sequence')} ({names})" if found else "holds no sequence"
        raise DataError(path, f"{held}; --reference-sequence is a FASTA of one: the full sequence of --reference")
    letters = re.sub(r"[^A-Za-z?*]", "", found[0].letters).rstrip("*")
    return found[0].name, letters.upper()
