"""Reads measured values of mutants from a table of text."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

import numpy as np

from figures.analyse.errors import DataError
from figures.analyse.reading.tables.cells import is_marker, is_number, value_of
from figures.analyse.reading.text_file import TextFile, text_file
from figures.analyse.wording import counted, listed, shown
from theory.core import Array

MUTANT = re.compile(r"(?:p\.)?([A-Za-z])(\d+)([A-Za-z*=])")  # A23V; p.A23V of HGVS with one letter
SEVERAL = re.compile(r"[:;,+/]")  # what parts the substitutions of a multiple mutant
POSITIONS = ("position", "pos", "residue", "site", "resid", "residue_number", "number")
LETTERS = ("mutant", "mut", "letter", "aa", "mutant_aa", "mut_aa", "amino_acid", "alt", "variant_aa", "to")
WILD_TYPES = ("wild_type", "wildtype", "wt", "wt_aa", "wild_type_aa", "ref", "from")
DELIMITERS = "\t;,"
N_LISTED_COLUMNS = 8
UNKNOWN = ""  # stands for a wild type that the table does not say


@dataclass(frozen=True, eq=False)
class Measured:
    """Measured values (n,) of single mutants: `wild_types` (n,) ("" where not said), `numbers` (n,), `mutants` (n,).

    `column` is the name of the column of the values, and `notes` are sentences on rows that were left out.
    """

    column: str
    wild_types: tuple[str, ...] = field(repr=False)
    numbers: tuple[int, ...] = field(repr=False)
    mutants: tuple[str, ...] = field(repr=False)
    values: Array = field(repr=False)
    notes: tuple[str, ...] = ()


def read_mutations(path: Path | str, column: str | None = None) -> Measured:
    r"""Read measured values of single mutants from a table with a header, cells parted by tabs, semicolons or commas.

    Mutants stand in one column, as in A23V, or by the position in one column (position, pos, residue, site) and the new
    letter in another (mutant, mut, letter, aa, ...), perhaps with the old one (wild_type, wt, ...). `column` names the
    values; where it is None there must be one column of numbers beside these. Rows of several substitutions, of stops,
    of unchanged residues and without a value are left out, and counted in `notes`.

    DataError, with the line and the remedy, for a table without mutants or values, with several columns of numbers,
    and for a cell that is no number.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "scan.csv"
    >>> _ = file.write_text("mutant,fitness\nA23V,0.5\nA23C,-1\n")
    >>> read_mutations(file).mutants, read_mutations(file).values.tolist()
    (('V', 'C'), [0.5, -1.0])
    """
    file = text_file(Path(path))
    header, rows = _table(file)
    whole, parts = _columns_of_mutants(file, header, rows)
    place = _column_of_values(file, header, rows, {*whole, *parts}, column)
    found: list[tuple[str, int, str, float]] = []
    left = dict.fromkeys(("several substitutions", "a stop or an unchanged residue", "no value"), 0)
    for line, row in rows:
        mutants = _mutants(file, line, row, whole, parts)
        if mutants is None or row[place].strip() == "" or is_marker(row[place], ()):
            left["no value"] += 1
        elif len(mutants) > 1:
            left["several substitutions"] += 1
        elif mutants[0][2] in "*=" or mutants[0][0] == mutants[0][2]:
            left["a stop or an unchanged residue"] += 1
        elif not is_number(row[place]):
            raise DataError(file.path, f"has {shown(row[place])} in line {line}, column {header[place]}: no number")
        else:
            found.append((*mutants[0], value_of(row[place])))
    if not found:
        raise DataError(file.path, "has no single mutant with a value")
    notes = tuple(f"{counted(count, 'row')} with {what} left out" for what, count in left.items() if count)
    old, numbers, new, values = zip(*found, strict=True)
    return Measured(header[place], old, numbers, new, np.array(values), notes)


def _table(file: TextFile) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the names of the columns, and the rows with their lines."""
    with file.open() as text:
        lines = ["" if line.startswith("#") else line for line in text.read().splitlines()]
    first = next(line for line in lines if line.strip()) if any(map(str.strip, lines)) else ""
    delimiter = max(DELIMITERS, key=first.count)
    if not first.count(delimiter):
        raise DataError(file.path, "has one column; mutants and their values must be parted by commas or tabs")
    try:
        every = list(csv.reader(StringIO("\n".join(lines)), delimiter=delimiter))
    except csv.Error as error:
        raise DataError(file.path, f"cannot be read as a table ({error})") from None
    rows = [(number, row) for number, row in enumerate(every, start=1) if any(cell.strip() for cell in row)]
    header, rows = [name.strip() for name in rows[0][1]], rows[1:]
    wrong = next(((number, row) for number, row in rows if len(row) != len(header)), None)
    if wrong is not None:
        number, row = wrong
        raise DataError(file.path, f"has {counted(len(row), 'cell')} in line {number}, and {len(header)} in its header")
    if not rows or any(map(MUTANT.fullmatch, header)) or all(map(is_number, header)):
        raise DataError(file.path, "must have a header, such as mutant,fitness, and rows below it")
    return header, rows


def _columns_of_mutants(
    file: TextFile, header: Sequence[str], rows: Sequence[tuple[int, list[str]]]
) -> tuple[list[int], list[int]]:
    """Return the place of the column of whole mutants, or else those of position and letter, and of the old one."""
    for place in range(len(header)):
        cells = [row[place].strip() for _, row in rows if row[place].strip()]
        if cells and all(all(map(MUTANT.fullmatch, SEVERAL.split(cell))) for cell in cells):
            return [place], []
    named = {name.lower().replace(" ", "_"): place for place, name in reversed(list(enumerate(header)))}
    position, letter, old = (
        next((named[n] for n in names if n in named), None) for names in (POSITIONS, LETTERS, WILD_TYPES)
    )
    if position is None or letter is None:
        raise DataError(
            file.path,
            "has no column of mutants such as A23V, and no two columns called position and mutant; its columns are "
            f"{listed(header, N_LISTED_COLUMNS)}",
        )
    return [], [position, letter, *([] if old is None else [old])]


def _column_of_values(
    file: TextFile, header: list[str], rows: Sequence[tuple[int, list[str]]], used: set[int], column: str | None
) -> int:
    if column is not None:
        if header.count(column) != 1:
            raise DataError(
                file.path,
                f"has no column {shown(column)} (--measured), or has it twice; its columns are "
                f"{listed(header, N_LISTED_COLUMNS)}",
            )
        return header.index(column)
    numeric = [
        place
        for place in range(len(header))
        if place not in used
        and any(is_number(row[place]) for _, row in rows)
        and sum(is_number(row[place]) or not row[place].strip() or is_marker(row[place], ()) for _, row in rows)
        == len(rows)
    ]
    if len(numeric) != 1:
        names = listed([header[place] for place in numeric], N_LISTED_COLUMNS)
        what = (
            f"several columns of numbers ({names}); name one with --measured"
            if numeric
            else (
                f"no column that holds numbers only beside the mutants ({listed(header, N_LISTED_COLUMNS)}); name "
                "the one of the values with --measured, to see what is wrong in it"
            )
        )
        raise DataError(file.path, f"has {what}")
    return numeric[0]


def _mutants(
    file: TextFile, line: int, row: Sequence[str], whole: list[int], parts: list[int]
) -> list[tuple[str, int, str]] | None:
    """Return the substitutions of one row; None where it has none."""
    if whole:
        cell = row[whole[0]].strip()
        found = [MUTANT.fullmatch(each) for each in SEVERAL.split(cell)] if cell else []
        return [(m[1].upper(), int(m[2]), m[3].upper()) for m in found if m] or None
    position, letter, *old = (row[place].strip() for place in parts)
    if not position or not letter:
        return None
    if not position.isdigit() or len(letter) != 1:
        raise DataError(file.path, f"has {shown(f'{position} {letter}')} in line {line}: no position with one letter")
    return [(old[0].upper() if old else UNKNOWN, int(position), letter.upper())]
