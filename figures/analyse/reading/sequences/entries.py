"""Reads the records of FASTA and Stockholm files, and of files with one sequence a line, as they stand there."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from figures.analyse.errors import DataError
from figures.analyse.reading.tables.layout import split
from figures.analyse.reading.text_file import TextFile
from figures.analyse.wording import counted, listed, shown

REFERENCE = "#=GC RF"
EXTRA = frozenset(("ss_pred", "ss_conf", "ss_dssp", "sa_pred", "sa_dssp", "aa_pred", "aa_dssp", "Consensus"))
PIR = re.compile(r">(P1|F1|DL|DC|RL|RC|N1|N3|XX);")  # the kinds of molecules
NOT_MATCHED = ".-~"  # these mark columns of inserts in a reference line of Stockholm


class Entry(NamedTuple):
    """One sequence as it stands in the file, before anything is decided about its letters."""

    line: int  # of the file where it begins, from 1
    name: str
    letters: str

    def place(self, number: int) -> str:
        """Say where the entry is found; `number` counts the entries from 1."""
        name = f" ({shown(self.name)})" if self.name else ""
        return f"record {number}{name}, line {self.line}"


@dataclass
class Extra:
    """Takes records out of an alignment that hh-suite adds to it, and that are no sequences of a family.

    In A2M and A3M a name that ends in _consensus is one of these; elsewhere it may be a sequence of its own.
    """

    in_a2m: bool
    found: list[str] = field(default_factory=list)

    def without(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Pass on the entries that are sequences."""
        for entry in entries:
            if entry.name in EXTRA or (self.in_a2m and entry.name.endswith("_consensus")):
                self.found.append(entry.name)
            else:
                yield entry

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence on what was left out."""
        if not self.found:
            return ()
        count = counted(len(self.found), "record")
        return (f"{count} of structure or consensus left out, as hh-suite adds them: {listed(self.found, 8)}",)


def fasta(file: TextFile, lines: Iterable[str]) -> Iterator[Entry]:
    """Yield the records that begin with ">"; their lines may be wrapped.

    Comments (";" anywhere, "#" before the first record) are passed by.
    """
    line, name, parts = 0, "", list[str]()
    for number, text in enumerate(lines, start=1):
        if text.startswith(">"):
            if line:
                yield Entry(line, name, "".join(parts))
            line, name, parts = number, (text[1:].split() or [""])[0], []
        elif line and not text.startswith(";"):
            parts.append("".join(text.split()))
        elif text.strip() and not text.startswith((";", "#")):
            raise DataError(
                file.path, f"line {number}: {shown(text.strip())} belongs to no record; each begins with a line >name"
            )
    if line:
        yield Entry(line, name, "".join(parts))


def pir(file: TextFile, lines: Iterable[str]) -> Iterator[Entry]:
    """Yield the records of PIR (NBRF): a line >P1;NAME, a line with a title, and a sequence that ends with "*".

    What stands between that sign and the next record, and lines C; or R; before the first, are remarks. DataError for a
    record that does not end so: in FASTA, where a name may look the same, the second line is no title.
    """
    line, name, parts, titled, ended = 0, "", list[str](), False, True
    for number, text in enumerate(lines, start=1):
        begins = PIR.match(text)
        if begins or text.startswith(">"):
            if not ended:
                raise DataError(file.path, _without_end(line, name))
            if not begins:
                raise DataError(
                    file.path, f"line {number}: {shown(text.strip())} does not begin a record of PIR, as in >P1;NAME"
                )
            line, name, parts, titled, ended = number, (text[begins.end() :].split() or [""])[0], [], False, False
        elif not ended and not titled:
            titled = True
        elif not ended:
            letters, star, _ = "".join(text.split()).partition("*")
            parts.append(letters)
            if star:
                ended = True
                yield Entry(line, name, "".join(parts))
    if not ended:
        raise DataError(file.path, _without_end(line, name))


def _without_end(line: int, name: str) -> str:
    return (
        f"line {line}: the record {shown(name)} does not end with *, as those of PIR (NBRF) do, whose names begin with "
        ">P1; and whose second lines are titles; is it cut off? If the file is FASTA write names without P1;"
    )


def plain(_file: TextFile, lines: Iterable[str]) -> Iterator[Entry]:
    """Yield one sequence a line, without names."""
    for number, text in enumerate(lines, start=1):
        if text.strip() and not text.startswith("#"):
            yield Entry(number, "", "".join(text.split()))


def names(file: TextFile, lines: Iterable[str], delimiter: str | None, first: int) -> Iterator[Entry]:
    """Yield the rows of a table of names and sequences from line `first` on."""
    for number, text in enumerate(lines, start=1):
        if number < first or not text.strip():
            continue
        cells = split(text.strip("\n"), delimiter)
        if len(cells) != 2:
            raise DataError(
                file.path, f"row {number} has {counted(len(cells), 'cell')}, but the others a name and a sequence"
            )
        yield Entry(number, cells[0].strip(), "".join(cells[1].split()))


def stockholm(file: TextFile, lines: Iterable[str]) -> Iterator[Entry]:
    """Record of a Stockholm alignment, interleaved or not, and last its reference line where it has one.

    Of several alignments in a file the first is read. All of it is held as text until the end. Blank lines part its
    blocks. DataError for a name that stands twice in a block: two sequences would be glued together.
    """
    begins: dict[str, int] = {}
    parts: dict[str, list[str]] = {}
    block: dict[str, int] = {}  # the lines of the names in this block
    for number, text in enumerate(lines, start=1):
        if text.startswith("//"):
            break
        if not text.strip():
            block.clear()
        if not text.strip() or (text.startswith("#") and not text.startswith(REFERENCE)):
            continue
        name, _, letters = text.strip().rpartition(" ") if " " in text.strip() else text.strip().rpartition("\t")
        if not name.strip():
            raise DataError(file.path, f"line {number}: {shown(text.strip())} is no name with its sequence")
        earlier = block.setdefault(name.strip(), number)
        if earlier != number:
            raise DataError(
                file.path,
                f"line {number}: {shown(name.strip())} stands twice in one block (first in line {earlier}); give every "
                "sequence a name of its own, and part the blocks of an interleaved alignment by blank lines",
            )
        begins.setdefault(name.strip(), number)
        parts.setdefault(name.strip(), []).append(letters)
    reference = parts.pop(REFERENCE, None)
    yield from (Entry(begins[name], name, "".join(found)) for name, found in parts.items())
    if reference is not None:
        yield Entry(begins[REFERENCE], REFERENCE, "".join(reference))


def matched(file: TextFile, entries: Iterable[Entry]) -> tuple[list[Entry], list[int] | None, tuple[str, ...]]:
    """Entries of a Stockholm file without the columns of inserts that its reference line marks; columns kept, from 0.

    None for the columns where there is no reference line.
    """
    found = list(entries)
    if not found or found[-1].name != REFERENCE:
        return found, None, ()
    *found, reference = found
    kept = [k for k, mark in enumerate(reference.letters) if mark not in NOT_MATCHED]
    for number, entry in enumerate(found, start=1):
        if len(entry.letters) != len(reference.letters):
            raise DataError(file.path, f"{entry.place(number)}: {_unequal(entry, reference)}")
    left = len(reference.letters) - len(kept)
    notes = (f"{counted(left, 'column')} of inserts left out (by the reference line #=GC RF)",) if left else ()
    if not left or not kept:
        return found, None, ()
    return [entry._replace(letters="".join(entry.letters[k] for k in kept)) for entry in found], kept, notes


def _unequal(entry: Entry, reference: Entry) -> str:
    return f"{counted(len(entry.letters), 'column')}, but the reference line #=GC RF has {len(reference.letters)}"
