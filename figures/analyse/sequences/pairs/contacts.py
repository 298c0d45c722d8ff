"""Which pairs of sites are known to touch: read from a structure, or from a table of pairs."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from figures.analyse.errors import DataError
from figures.analyse.reading.opening import extension
from figures.analyse.reading.text_file import text_file
from figures.analyse.sequences.numbering.counting import GAP_NUMBER
from figures.analyse.sequences.pairs.structure import STRUCTURES, distances_of_structure
from figures.analyse.sequences.reference import Reference
from figures.analyse.wording import counted, shown
from theory.core.arrays import Array

TOUCHING = 8.0  # angstroms below which two residues are in contact
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Contacts:
    """Which pairs of sites are contacts, and of which pairs that is known.

    `distances` (L, L) are in angstroms, nan where they are not known: where a table names no distance, or a structure
    does not have the residue.
    """

    source: str
    touching: NDArray[np.bool_] = field(repr=False)  # (L, L)
    known: NDArray[np.bool_] = field(repr=False)  # (L,) sites whose contacts are known
    distances: Array = field(repr=False)  # (L, L)
    notes: tuple[str, ...] = ()

    def is_judged(self, i: int, j: int) -> bool:
        """Say whether it is known if this pair of sites is a contact."""
        return bool(self.known[i] and self.known[j])


def read_contacts(
    path: Path, columns: NDArray[np.int64], reference: Reference | None, chain: str | None = None
) -> Contacts:
    """Read the contacts of the sites at these `columns` (L,) of an alignment.

    A structure (.pdb, .ent, .cif, .mmcif, gzipped or not) is read by Biopython, and its `chain` is aligned to the
    `reference`; residues touch where two of their atoms other than hydrogen are less than 8 angstroms apart. Anything
    else is a table of pairs i, j, and perhaps the distance, in the numbers of the residues of the reference, or without
    one of columns; then pairs that are not listed do not touch. DataError for what is neither, for an empty table, and
    where no residue is a site.
    """
    if not path.is_file():
        raise DataError(path, "no such file (--contacts)")
    if extension(path) in STRUCTURES:
        if reference is None:
            raise DataError(
                path, "is a structure, whose residues have to be found in the alignment; say --reference NAME too"
            )
        distances, source, notes = distances_of_structure(path, reference, chain)
        with np.errstate(invalid="ignore"):
            touching = distances < TOUCHING
        np.fill_diagonal(touching, False)
        source += f", where atoms other than hydrogen are nearer than {TOUCHING:g} angstroms"
        return Contacts(source, touching, ~np.isnan(np.diag(distances)), distances, notes)
    if chain is not None:
        raise DataError(path, f"is read as a table, but --chain is for structures ({', '.join(STRUCTURES)})")
    return _of_table(path, columns, reference)


def _of_table(path: Path, columns: NDArray[np.int64], reference: Reference | None) -> Contacts:
    numbers = columns if reference is None else reference.numbers
    what = "columns of the alignment" if reference is None else f"residues of {reference.name}"
    site = {int(number): k for k, number in enumerate(numbers) if number != GAP_NUMBER}
    L = len(columns)
    touching, distances = np.zeros((L, L), bool), np.full((L, L), np.nan)
    outside = far = inside = 0
    for i, j, distance in _rows(path):
        if i not in site or j not in site:
            outside += 1
            continue
        inside += 1
        a, b = site[i], site[j]
        if distance is not None:
            distances[a, b] = distances[b, a] = distance
        if a == b or (distance is not None and distance >= TOUCHING):
            far += distance is not None
            continue
        touching[a, b] = touching[b, a] = True
    if not inside:
        first, last = min(site, default=0), max(site, default=0)
        raise DataError(
            path,
            f"none of its {counted(outside, 'pair')} is a pair of analyzed sites, which are {what} from {first} to "
            f"{last}; are its numbers those of another sequence? (--reference, --first-residue, --reference-sequence)",
        )
    notes = list[str]()
    if outside:
        notes.append(f"{counted(outside, 'pair')} of {inside + outside} not compared: their {what} are no sites")
    known = np.isin(numbers, list(site)) & (numbers != GAP_NUMBER)
    listed = int(np.triu(touching).sum())
    limit = f", and {far} more are {TOUCHING:g} angstroms apart or farther" if far else ""
    source = f"the table {path.name} ({counted(listed, 'contact')} between {what} that are sites{limit})"
    return Contacts(source, touching, known, distances, tuple(notes))


def _rows(path: Path) -> list[tuple[int, int, float | None]]:
    """Return the pairs of a table, whose cells are separated by commas, semicolons or blanks, below any header."""
    found = list[tuple[int, int, float | None]]()
    file = text_file(path)
    with file.open() as lines:
        for number, line in enumerate(lines, start=1):
            cells = [cell.strip("\"'") for cell in re.split(r"\s*[,;]\s*|\s+", line.strip()) if cell]
            if not cells or line.startswith("#"):
                continue
            numeric = [bool(NUMBER.fullmatch(cell)) for cell in cells]
            if not found and not any(numeric[:2]):
                continue  # a header
            whole = len(cells) in (2, 3) and all(numeric) and all(float(cell).is_integer() for cell in cells[:2])
            if not whole:
                raise DataError(
                    path,
                    f"line {number}: {shown(line.strip())} is no pair of contacts; a table has the columns i,j or "
                    f"i,j,distance (in angstroms), and the names of structures end in {', '.join(STRUCTURES)}",
                )
            i, j = (int(float(cell)) for cell in cells[:2])
            found.append((i, j, float(cells[2]) if len(cells) == 3 else None))
    if not found:
        raise DataError(path, "holds no pair of contacts; a table has the columns i,j or i,j,distance (in angstroms)")
    return found
