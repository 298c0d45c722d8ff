"""Recognizes the names of rows that R and pandas write into the first column of a table."""

from collections.abc import Iterator, Mapping

from figures.analyse.reading.matrix.cell_by_cell import table_rows
from figures.analyse.reading.tables.cells import kind_of
from figures.analyse.reading.tables.columns import numbered
from figures.analyse.reading.tables.layout import SAMPLE, Layout
from figures.analyse.reading.text_file import TextFile
from figures.analyse.wording import listed, shown

MIN_ROWS = 3
N_SHOWN_NAMES = 3


def row_names(file: TextFile, layout: Layout) -> Mapping[int, str] | None:
    """Return the name of each row by the line of the file where it ends; None where the first column has none.

    Names are words of which no two are equal. In a column without a name of its own, as pandas and R write it, the
    numbers 0, 1, 2, ... or 1, 2, 3, ... are names too; where the column has one these may be measured.
    """
    if len(layout.names) < 3:  # two columns beside the names
        return None
    unnamed = layout.names[0] == numbered(1)[0] and layout.header_row is not None
    found: dict[int, str] = {}
    different = set[str]()
    counts: int | None = None
    for number, cell in _first_cells(file, layout):
        if kind_of(cell) == "text":
            if counts is not None:
                return None
        else:
            k = len(found)
            start = counts if counts is not None else {"0": 0, "1": 1}.get(cell) if unnamed and not k else None
            if start is None or cell != str(k + start):
                return None
            counts = start
        if cell in different:
            return None
        different.add(cell)
        found[number] = cell
    return found if len(found) >= MIN_ROWS else None


def names_note(layout: Layout, names: Mapping[int, str]) -> str:
    """Say that the first column is taken for names."""
    some = listed([shown(name) for name in list(names.values())[: N_SHOWN_NAMES + 1]], N_SHOWN_NAMES)
    own = layout.names[0]
    called = "the first column" if own == numbered(1)[0] else f"the first column ({shown(own)})"
    return f"{called} holds the names of the rows ({some}) and is not analyzed"


def _first_cells(file: TextFile, layout: Layout) -> Iterator[tuple[int, str]]:
    with file.open() as text:
        for number, cells in table_rows(text, layout):
            yield number, cells[0].strip() if cells else ""


def may_have_names(file: TextFile, layout: Layout) -> bool:
    """Say whether the first rows look as if the first column held names, for which all rows are then looked at."""
    lines = file.head.split("\n")[layout.first_row - 1 :][:SAMPLE]
    first = next((line.strip() for line in lines if line.strip()), "")
    begins = first.lstrip('"')
    return bool(begins) and (not begins[0].isdigit() or begins[0] in "01") and begins[0] not in "+-."
