"""Reads sequences from any kind of file that can hold them."""

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from figures.analyse.errors import DataError
from figures.analyse.memory import require_memory
from figures.analyse.reading.opening import GZIP_MAGIC, announce, uncompressed_size
from figures.analyse.reading.sequences import entries
from figures.analyse.reading.sequences.alphabet import checked_alphabet
from figures.analyse.reading.sequences.clean import Unknown, cleaned
from figures.analyse.reading.sequences.collect import collect
from figures.analyse.reading.sequences.formats import Format, format_of
from figures.analyse.reading.sequences.letters import Convention
from figures.analyse.reading.sequences.recognize import TITLES
from figures.analyse.reading.sequences.record import Sequences
from figures.analyse.reading.sequences.records import records
from figures.analyse.reading.sequences.tokens import read_tokens
from figures.analyse.reading.tables.layout import Header
from figures.analyse.reading.text_file import TextFile, text_file

# For each byte of text; 2.5 of the other formats.
BYTES_OF_MEMORY = {"stockholm": 4.0, "table": 1.0} | dict.fromkeys(TITLES, 8.0)


def read_sequences(
    path: Path | str,
    *,
    alphabet: str = "auto",
    unknown: Unknown = "gap",
    header: Header = "auto",
    columns: str | None = None,
    skip_columns: str | None = None,
    most: int | None = None,
    seed: int = 0,
    say: Callable[[str], None] = print,
) -> Sequences:
    """Return the aligned sequences of a file of alignments, or of a table of tokens; gzipped or not.

    FASTA, A2M, A3M and Stockholm, and by Biopython CLUSTAL, PHYLIP, NEXUS and MSF: decided by the first lines of the
    file, and between FASTA and A2M by its name. `alphabet`: auto, protein, rna, dna or
    the letters. `unknown` letters are read as gaps, or drop their sequence. `most` sequences are chosen at random where
    there are more. `header`, `columns` and `skip_columns` are for tables. A large file is streamed and announced by
    `say`. What is wrong is a DataError of one line that names file, record and line, and the remedy.
    """
    if most is not None and most < 2:
        raise DataError(Path(path), f"--max-sequences must be at least 2, got {most}")
    file = text_file(Path(path))
    form = format_of(file)
    if form == "names" and (columns, skip_columns) != (None, None):
        form = "table"
    _announce(file, form, most, say)
    if form == "table":
        try:
            own = read_tokens(file, header=header, columns=columns, skip_columns=skip_columns, most=most, seed=seed)
        except csv.Error as error:
            raise DataError(file.path, f"cannot be read as a table ({error})") from None
        return replace(own, notes=(*_named_gzip(file.path), *own.notes))
    if columns is not None or skip_columns is not None:
        raise DataError(file.path, "is an alignment; --columns and --skip-columns choose columns of tables")
    convention = Convention(inserts=form == "a2m", custom=_custom(file, alphabet))
    extra = entries.Extra(form == "a2m")
    with records(file, form) as found:
        given = found.entries
        rows, kept, notes = entries.matched(file, given) if form == "stockholm" else (extra.without(given), None, ())
        collected = collect(file, rows, convention, most=most, seed=seed)
        several = ["the first of several alignments is read"] if found.several() else []
    notes = (*_named_gzip(file.path), *several, *notes, *extra.notes, *collected.notes)
    places = None if kept is None else np.array(kept) + 1
    return cleaned(file.path, collected.letters, notes, alphabet=alphabet, unknown=unknown, columns=places)


def _named_gzip(path: Path) -> tuple[str, ...]:
    """Note a name that ends in .gz where the content is not compressed."""
    if path.suffix.lower() != ".gz":
        return ()
    with path.open("rb") as content:
        return () if content.read(2) == GZIP_MAGIC else ("is named .gz, but is not compressed",)


def _custom(file: TextFile, alphabet: str) -> bytes | None:
    """Return the letters of a user's own alphabet; None for a known one."""
    if alphabet.lower() in ("auto", "protein", "rna", "dna"):
        return None
    try:
        checked_alphabet(alphabet)
    except ValueError as error:
        raise DataError(file.path, f"--alphabet {error}") from None
    return alphabet.encode("latin-1", "replace")


def _announce(file: TextFile, form: Format, most: int | None, say: Callable[[str], None]) -> None:
    """Say that a large file is being read, and refuse one that does not fit into memory."""
    if most is None:
        needed = BYTES_OF_MEMORY.get(form, 2.5) * uncompressed_size(file.path)
        require_memory(file.path, "reading it", needed, "take a random choice with --max-sequences 100000")
    announce(file.path, say)
