"""Defines the steps of python -m figures analyse for a matrix."""

import argparse
from typing import NamedTuple

from figures.analyse.errors import DataError, as_typed
from figures.analyse.matrix.admissible import constant_text, rounded_columns, scale_choice, without_constant
from figures.analyse.matrix.analyse import analyse_matrix
from figures.analyse.matrix.centered_rows import CenteredRows, centered_rows
from figures.analyse.matrix.data_quality import quality_notes
from figures.analyse.matrix.figure import as_experiment
from figures.analyse.matrix.holes.command import (
    HoledData,
    HoledResult,
    analyse_holed,
    check_options,
    holed_data,
    refuse_options,
    report_holed,
    results_of_holed,
)
from figures.analyse.matrix.needs import matrix_needs, require_memory_for
from figures.analyse.matrix.record import MatrixAnalysis
from figures.analyse.matrix.report import report
from figures.analyse.matrix.spectrum import spectrum_experiment, spectrum_rows
from figures.analyse.matrix.table import columns_frame
from figures.analyse.reading.matrix import read_matrix, typed_reading
from figures.analyse.steps import Steps, TableAndFigure
from figures.analyse.wording import printable, say


class Table(NamedTuple):
    """What was noticed as the matrix was read, and its rows, whose columns vary."""

    notes: tuple[str, ...]
    rows: CenteredRows


def _read(options: argparse.Namespace) -> Table | HoledData:
    """Return the matrix; constant columns are refused here, where the message can name the option that drops them.

    Fewer than two columns that vary are refused with that option too. A table with missing cells has its own analysis.
    """
    check_options(options)
    require_memory_for(options)
    matrix = read_matrix(options.file, typed_reading(options), keep_holes=True)
    if matrix.has_holes:
        return holed_data(matrix, options)
    refuse_options(options)
    rows = centered_rows(matrix.data, matrix.names)
    try:
        constant = rows.constant
    except ValueError as error:  # of columns too large or too small to compute with, found in blocks of rows
        raise as_typed(options.file, error, options) from None
    found = constant_text(rows.names, constant, rounded=rounded_columns(rows))
    varying = rows.d - len(constant)
    if varying < 2:
        left = "one column varies" if varying else "no column varies"
        raise DataError(options.file, f"{found}; {left}, and masked regression needs two that vary")
    if constant and not options.drop_constant:
        raise DataError(
            options.file, f"{found}, with nothing to predict; leave out what is constant by --drop-constant"
        )
    return Table(matrix.notes, without_constant(rows))


def _analyse(table: Table | HoledData, options: argparse.Namespace, label: str) -> MatrixAnalysis | HoledResult:
    if isinstance(table, HoledData):
        return analyse_holed(table, options, label)
    standardize, note = scale_choice(table.rows, options.standardize)
    said = [*([note] if note else []), *quality_notes(table.rows)]
    if said:
        say(*(f"{printable(options.file)}: {each}" for each in said))
    return analyse_matrix(
        table.rows,
        lams=options.lams,
        test_fraction=options.test_fraction,
        repeats=options.repeats,
        standardize=standardize,
        equal_rows=options.equal_rows,
        seed=options.seed,
        n_jobs=options.jobs,
        progress=label,
    )


def _report(analysis: MatrixAnalysis | HoledResult, title: str) -> str:
    if isinstance(analysis, HoledResult):
        return report_holed(analysis, title)
    return report(analysis, f"Masked regression of {title}")


def _results(analysis: MatrixAnalysis | HoledResult, title: str) -> list[TableAndFigure]:
    """Learning curves and choice of the ridge, and the spectrum where there is one."""
    if isinstance(analysis, HoledResult):
        return results_of_holed(analysis, title)
    frames = {"columns": columns_frame(analysis)}
    results = [TableAndFigure(analysis.rows, as_experiment(analysis, title), frames)]
    if not isinstance(analysis.spectrum, str):
        results.append(TableAndFigure(spectrum_rows(analysis.spectrum), spectrum_experiment(title), {}, "_spectrum"))
    return results


STEPS = Steps(
    kind="matrix",
    read=_read,
    notes=lambda table: list(table.notes),
    analyse=_analyse,
    title=lambda analysis: f"{analysis.n} rows, {analysis.d} columns",
    report=_report,
    results=_results,
    needs=matrix_needs,
)
