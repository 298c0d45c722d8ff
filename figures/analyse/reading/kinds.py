"""Which kind of data a file holds, by its first lines, where its name does not say it or many kinds have such names."""

import csv
import re
from pathlib import Path

from figures.analyse.errors import DataError
from figures.analyse.reading.matrix.arrays import MAGIC
from figures.analyse.reading.opening import open_binary
from figures.analyse.reading.sequences.formats import is_pir, rows_above_names
from figures.analyse.reading.sequences.recognize import alignment_of
from figures.analyse.reading.sequences.tokens import says_sizes
from figures.analyse.reading.tables.numeric import holds_measurements
from figures.analyse.reading.text.counted import form_of
from figures.analyse.reading.text_file import text_file

# A table may be one of names and sequences, and an alignment or a table of numbers is often saved as .txt.
AMBIGUOUS_SUFFIXES = (".csv", ".tsv", ".txt")
BLANK = re.compile(r"\s*\S[^\n]*\n[ \t]*\n")  # the second line is blank
FASTA = re.compile(r"\s*>[^\n]*\n[A-Za-z.*~_-]{10,}\n")  # ten letters without a blank are no line of a text


def kind_of_content(path: Path) -> str | None:
    """Return matrix, sequences or text where the first lines of the file say so; None where they do not.

    Whatever is wrong with the file is left to its reader.
    """
    try:
        with open_binary(path) as content:
            if content.read(len(MAGIC)) == MAGIC:
                return "matrix"
        if form_of(path) is not None:
            return "text"
        file = text_file(path)
        form = alignment_of(file.head)
        if form == "clustal" and not BLANK.match(file.head):
            form = None  # a text on the program of this name
        aligned = file.head.startswith("# STOCKHOLM") or FASTA.match(file.head) or is_pir(file.head) or form
        if aligned or says_sizes(file) or rows_above_names(file) is not None:
            return "sequences"
        return "matrix" if holds_measurements(file) else None
    except (DataError, csv.Error):
        return None
