"""The records of an alignment as they stand in its file, whatever its format."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from figures.analyse.reading.sequences import entries
from figures.analyse.reading.sequences.biopython import read_alignment
from figures.analyse.reading.sequences.entries import Entry
from figures.analyse.reading.sequences.formats import Format, rows_above_names
from figures.analyse.reading.sequences.recognize import TITLES
from figures.analyse.reading.tables.layout import find_layout
from figures.analyse.reading.text_file import TextFile

READERS: dict[str, Callable[[TextFile, Iterable[str]], Iterator[Entry]]] = {
    "fasta": entries.fasta,
    "a2m": entries.fasta,
    "pir": entries.pir,
    "plain": entries.plain,
}


@dataclass(frozen=True)
class Records:
    """The records of the first alignment of a file."""

    entries: Iterable[Entry]
    several: Callable[[], bool]  # says, after the last record, whether other alignments follow


@contextmanager
def records(file: TextFile, form: Format) -> Iterator[Records]:
    """Open an alignment, which is no table, for its records. DataError, also while they are read, as of its reader."""
    if form in TITLES:
        found, several = read_alignment(file, form)
        yield Records(found, lambda: several)
        return
    with file.open() as lines:
        if form == "names":
            layout = find_layout(file, "no")
            first = layout.first_row + (rows_above_names(file) or 0)
            yield Records(entries.names(file, lines, layout.delimiter, first), lambda: False)
        elif form == "stockholm":
            yield Records(entries.stockholm(file, lines), lambda: any(line.strip() for line in lines))
        else:
            yield Records(READERS[form](file, lines), lambda: False)
