"""Reads the column that says which rows of a table belong together, and keeps it out of the matrix."""

import argparse
import csv
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from figures.analyse.errors import DataError
from figures.analyse.matrix.dependent.row_order import numbers_of_groups
from figures.analyse.reading.matrix import Matrix, Reading, typed_reading
from figures.analyse.reading.matrix.formats import format_of
from figures.analyse.reading.tables.cells import kind_of
from figures.analyse.reading.tables.columns import place_of_column, selected
from figures.analyse.reading.tables.layout import Layout, find_layout, split
from figures.analyse.reading.text_file import text_file
from figures.analyse.wording import counted


def reading_of(options: argparse.Namespace) -> Reading:
    """Return the options of reading, by which the column of groups is no column of the matrix."""
    how = typed_reading(options)
    if options.groups is None or format_of(options.file, how).labels is not None:
        return how
    return replace(how, skip_columns=",".join(filter(None, (how.skip_columns, options.groups))))


def groups_of(options: argparse.Namespace, matrix: Matrix) -> NDArray[np.int64] | None:
    """Return the number of each row's group, (n,), by the labels in the column of `--groups`; None without one.

    DataError where there is no such column, or more than one, where a row has no label, and where the labels make no
    groups.
    """
    if options.groups is None:
        return None
    beside = format_of(options.file, typed_reading(options)).labels
    if beside is not None:
        labels = beside(options.file, options.groups)
        kept = [labels[k - matrix.first_row] for k in matrix.lines] if matrix.lines else labels
        return _numbers(options, kept, matrix.data.n)
    how = replace(typed_reading(options), columns=options.groups, skip_columns=None)
    form = format_of(options.file, how)
    found = (
        _labels_of_text(options.file, how, matrix) if form.is_text else _labels_of_numbers(options.file, how, matrix)
    )
    return _numbers(options, found, matrix.data.n)


def _numbers(options: argparse.Namespace, found: Sequence[str] | NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """Return the numbers of groups with these labels, one for each of n rows."""
    if any(isinstance(label, str) and not label for label in found):
        raise DataError(options.file, f"--groups {options.groups}: a row has no label; write one, or leave out the row")
    try:
        return numbers_of_groups("the column", found, n)
    except ValueError as error:
        raise DataError(options.file, f"--groups {options.groups}: {error}") from None


def _labels_of_numbers(path: Path, how: Reading, matrix: Matrix) -> NDArray[np.float64]:
    column = format_of(path, how).read(path, replace(how, drop_rows=False))
    _require_one(path, how, column.data.d)
    labels = column.data.all_rows()[:, 0]
    if matrix.lines:
        labels = labels[np.asarray(matrix.lines) - matrix.first_row]
    if np.isnan(labels).any():
        row = int(np.flatnonzero(np.isnan(labels))[0])
        raise DataError(path, f"row {row + 1} has no label in the column of --groups; write one, or delete the row")
    return np.asarray(labels)


def _labels_of_text(path: Path, how: Reading, matrix: Matrix) -> list[str]:
    file = text_file(path)
    layout = find_layout(file, how.header, numeric=True, decimal=how.decimal)
    chosen = selected(path, layout.names, how.columns, None)
    _require_one(path, how, len(chosen))
    column, kept = chosen[0], set(matrix.lines)
    with file.open() as text:
        rows = ((number, cells) for number, cells in _rows(islice(text, layout.first_row - 1, None), layout))
        labels = [(number, cells[column].strip()) for number, cells in rows if not kept or number in kept]
    for number, label in labels:
        if kind_of(label) == "missing":
            place = place_of_column(column, layout.names[column])
            raise DataError(path, f"row {number}, {place}: no label of a group; write one, or delete the row")
    if len(labels) != matrix.data.n:
        raise DataError(
            path, f"has {counted(len(labels), 'label')} in the column of --groups for {counted(matrix.data.n, 'row')}"
        )
    return [label for _, label in labels]


def _rows(lines: Iterator[str], layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are as wide as the table, with the line of the file where each ends."""
    if layout.delimiter is None:
        rows = ((layout.first_row + i, split(line, None)) for i, line in enumerate(lines))
    else:
        reader = csv.reader(lines, delimiter=layout.delimiter)
        rows = ((layout.first_row - 1 + reader.line_num, cells) for cells in reader)
    return ((n, cells) for n, cells in rows if len(cells) == layout.width and any(map(str.strip, cells)))


def _require_one(path: Path, how: Reading, count: int) -> None:
    if count != 1:
        raise DataError(path, f"--groups {how.columns} names {count} columns; one says which rows belong together")
