"""Reads alignments in the formats CLUSTAL, PHYLIP, NEXUS and MSF by Biopython.

Biopython says little about where a file is wrong, trusts the sizes that the file gives, and never ends on some files
that are cut off. So the sizes are compared here with what was read, and `faults` looks for the place.
"""

import re
import warnings
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import NamedTuple

from figures.analyse.errors import DataError
from figures.analyse.reading.sequences.entries import Entry
from figures.analyse.reading.sequences.faults import CONSENSUS, fault_of_blocks, fault_of_nexus, fault_of_phylip
from figures.analyse.reading.sequences.recognize import CLUSTAL, TITLES
from figures.analyse.reading.text_file import TextFile
from figures.analyse.wording import shown

NAMES: dict[str, str] = {"clustal": "clustal", "phylip": "phylip-relaxed", "nexus": "nexus", "msf": "msf"}
PHYLIPS = ("phylip-relaxed", "phylip", "phylip-sequential")  # in this order: the first is what most programs write
LETTERS = re.compile(r"[A-Za-z0-9*?.~_-]+")
MSF_TITLES = ("!!NA_MULTIPLE_ALIGNMENT", "!!AA_MULTIPLE_ALIGNMENT", "PileUp")
Records = list[tuple[str, str]]  # names and sequences


class Failure(Exception):
    """Biopython cannot read a file, for the reason that is the message."""


class Alignments(NamedTuple):
    """The sequences of the first alignment of a file, and whether others follow."""

    entries: list[Entry]
    several: bool


def read_alignment(file: TextFile, form: str) -> Alignments:
    """Return the sequences of a file in one of the formats; all of it is held as text.

    DataError where Biopython is not installed, and by line where the file is cut off, or its sequences do not fit what
    it says of them.
    """
    _require_biopython(file, form)
    with file.open() as text:
        lines = text.read().split("\n")
    start = next((k for k, line in enumerate(lines) if line.strip()), 0)
    content = lines[start:]
    try:
        if form == "phylip":
            records, several = _phylip(file, content)
        elif form == "nexus":
            records, several = _nexus(content), False
        else:
            records, several = _clustal(content) if form == "clustal" else _msf(content)
    except Failure as failure:
        raise DataError(file.path, _explained(form, [""] * start + content, str(failure))) from None
    return Alignments(list(_entries(lines, records)), several)


def _entries(lines: Sequence[str], records: Records) -> Iterator[Entry]:
    """Yield the records, each with the line where its name stands first, below a list of names in the header."""
    head = next((k for k, line in enumerate(lines) if re.match(r"\s*(//|matrix\b)", line, re.IGNORECASE)), -1)
    begins: dict[str, int] = {}
    for number, line in enumerate(lines[head + 1 :], start=head + 2):
        words = line.replace("'", " ").replace('"', " ").split(None, 1)
        if words:
            begins.setdefault(words[0], number)
    for name, letters in records:
        word = (name.split() or [""])[0]
        yield Entry(begins.get(word, 1), name, letters)


def _require_biopython(file: TextFile, form: str) -> None:
    try:
        import Bio.AlignIO  # noqa: F401
    except ImportError:
        title = TITLES[form]
        raise DataError(
            file.path,
            f"is {'an' if title[0] in 'NM' else 'a'} {title} alignment, which is read by Biopython, and that is not "
            "installed (the extra formats: make ... EXTRAS=formats, or pip install biopython); or convert the file to "
            f"FASTA where Biopython is: from Bio import AlignIO; AlignIO.convert(FILE, '{NAMES[form]}', "
            "'alignment.fasta', 'fasta')",
        ) from None


def _parsed(content: Sequence[str], reader: str) -> tuple[Records, bool]:
    """Return the records of the first alignment, and whether another one follows, by Biopython's `reader`."""
    from Bio import AlignIO, BiopythonParserWarning

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", BiopythonParserWarning)  # it pads what is cut off with a warning only
            found = AlignIO.parse(StringIO("\n".join(content) + "\n"), reader)
            first = next(found, None)
            if first is None:
                raise Failure("no alignment was found")
            return [(record.id, str(record.seq)) for record in first], next(found, None) is not None
    # Its readers fail by whatever their next line raises: ValueError, AssertionError, IndexError, KeyError, ...
    except Exception as error:
        raise Failure(" ".join(str(error).split())) from None


def _clustal(lines: Sequence[str]) -> tuple[Records, bool]:
    """Read without the marks of conserved columns, which editors cut off, and without any second alignment."""
    end = next((k for k, line in enumerate(lines) if k and CLUSTAL.match(line) and not line[0].isspace()), len(lines))
    body = ["" if CONSENSUS.fullmatch(line) else re.sub(r"\s+\d+\s*$", "", line) for line in lines[1:end]]
    if not any(line.strip() for line in body):  # for these Biopython would look without end
        raise Failure("nothing follows its first line")
    program = lines[0].split(None, 1)[0]
    return _parsed([lines[0] if program == "CLUSTAL" else "CLUSTAL", *body], "clustal")[0], end < len(lines)


def _msf(lines: Sequence[str]) -> tuple[Records, bool]:
    """Read with a title and blank lines where Biopython asks for them."""
    content = list(lines) if lines[0].split()[0] in MSF_TITLES else ["PileUp", "", *lines]
    spaced = (["//", ""] if line.strip() == "//" else [line, ""] if " MSF: " in line else [line] for line in content)
    return _parsed([line for several in spaced for line in several], "msf")


def _nexus(lines: Sequence[str]) -> Records:
    """Read by the reader itself, which tells what the file calls a gap and an unknown letter."""
    from Bio.Nexus.Nexus import Nexus

    doubt = fault_of_nexus(lines, "")
    if doubt:  # on some such files Biopython would never end
        raise Failure(doubt)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = Nexus(StringIO("\n".join(lines) + "\n"))
    except Exception as error:  # as above
        raise Failure(" ".join(str(error).split())) from None
    if not found.matrix:
        raise Failure("it holds no matrix of sequences")
    plain = str.maketrans({found.gap: "-", found.missing: "?"})
    names = zip(found.unaltered_taxlabels, found.taxlabels, strict=True)
    return [(name, str(found.matrix[label]).translate(plain)) for name, label in names]


def _phylip(file: TextFile, lines: Sequence[str]) -> tuple[Records, bool]:
    """Read in each of the ways in which the format is written, and accept what has the sizes of the first line.

    DataError where two of them give different sequences.
    """
    number, length = _sizes(lines[0])
    readings: dict[tuple[str, ...], tuple[Records, bool]] = {}
    failures = []
    for reader in PHYLIPS:
        try:
            records, several = _parsed(lines, reader)
        except Failure as failure:
            failures.append(str(failure))
        else:
            if _fits(records, number, length):
                readings.setdefault(tuple(letters for _, letters in records), (records, several))
    if not readings:
        records = _names_then_letters(lines[1:], length)
        dots = next((words for words in failures if "dots" in words), "")
        if dots or not _fits(records, number, length):
            raise Failure(dots)
        return records, False
    if len(readings) > 1:
        raise DataError(
            file.path,
            "can be read in two ways, as interleaved and as sequential PHYLIP, with different sequences; write each "
            "sequence on one line",
        )
    return next(iter(readings.values()))


def _names_then_letters(lines: Sequence[str], length: int) -> Records:
    """Read sequences one after the other, over any number of lines, below or behind their names (as for PAML)."""
    records: Records = []
    name, letters = "", ""
    for line in lines:
        words = line.split()
        if words and not name:
            name, words = words[0], words[1:]
        letters += "".join(words)
        if name and len(letters) >= length:
            records.append((name, letters))
            name, letters = "", ""
    return [*records, (name, letters)] if name else records


def _sizes(line: str) -> tuple[int, int]:
    words = line.split()
    if len(words) < 2 or not all(word.isdecimal() and len(word) < 10 for word in words[:2]):
        raise Failure("sizes")
    return int(words[0]), int(words[1])


def _fits(records: Records, number: int, length: int) -> bool:
    return len(records) == number and all(
        name.strip() and len(letters) == length and LETTERS.fullmatch(letters) for name, letters in records
    )


def _explained(form: str, lines: Sequence[str], failure: str) -> str:
    """Say by line what is wrong with a file that Biopython cannot read; in its words where the place is not found."""
    find = {"nexus": fault_of_nexus, "phylip": fault_of_phylip}.get(form, fault_of_blocks)
    found = find(lines, failure)
    if found:
        return found
    why = f" ({shown(failure, 100)})" if failure else ""
    return (
        f"is no {TITLES[form]} alignment that Biopython can read{why}; save it as FASTA with the program that wrote it"
    )
