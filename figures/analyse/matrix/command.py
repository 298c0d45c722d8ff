"""Defines the steps of python -m figures analyse for a matrix."""

import argparse
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from figures.analyse.errors import DataError, OptionError, as_typed
from figures.analyse.finished import Finished
from figures.analyse.matrix.admissible import constant_text, rounded_columns, scale_choice, without_constant
from figures.analyse.matrix.analyse import analyse_matrix
from figures.analyse.matrix.centered_rows import CenteredRows, centered_rows
from figures.analyse.matrix.copies import copies_frame
from figures.analyse.matrix.counts import counts_notes
from figures.analyse.matrix.data_quality import quality_notes
from figures.analyse.matrix.figure import as_experiment
from figures.analyse.matrix.groups_column import groups_of, reading_of
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
from figures.analyse.matrix.holes.report import summary as holes_summary
from figures.analyse.matrix.needs import matrix_needs, require_memory_for
from figures.analyse.matrix.record import MatrixAnalysis
from figures.analyse.matrix.report import report, summary
from figures.analyse.matrix.spectrum import loadings_frame, scores_frame, spectrum_experiment, spectrum_rows
from figures.analyse.matrix.table import columns_frame, errors_frame, lags_frame
from figures.analyse.reading.matrix import Matrix, read_matrix
from figures.analyse.reading.opening import extension
from figures.analyse.steps import Steps, TableAndFigure
from simulate.core import sweep


class Table(NamedTuple):
    """What was noticed as the matrix was read, its rows, whose columns vary, the group of each, and its name."""

    notes: tuple[str, ...]
    rows: CenteredRows
    groups: NDArray[np.int64] | None = None
    row_names: tuple[str, ...] = ()


def _read(options: argparse.Namespace) -> Table | HoledData:
    """Return the matrix; constant columns are refused here, where the message can name the option that drops them.

    Fewer than two columns that vary are refused with that option too. A table with missing cells has its own analysis.
    """
    check_options(options)
    if options.impute is not None and extension(options.file) in (".h5ad", ".mtx"):
        raise OptionError(
            "--impute writes tables of text, .npy, .npz and .parquet; save this one as one of these first"
        )
    _require_sense(options)
    require_memory_for(options)
    matrix = read_matrix(options.file, reading_of(options), keep_holes=True)
    if matrix.has_holes:
        return holed_data(matrix, options)
    refuse_options(options)
    groups = groups_of(options, matrix)
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
    return Table((*matrix.notes, *_apart(matrix, options)), without_constant(rows), groups, matrix.row_names)


def _apart(matrix: Matrix, options: argparse.Namespace) -> list[str]:
    """Say that rows which follow each other in the table may not do so in the file, where the order is looked at."""
    if not options.drop_rows or options.groups is not None or options.order == "none":
        return []
    if not (np.diff(matrix.lines) > 1).any():
        return []
    return [
        "rows were left out in between: what is said of successive rows, lags and gaps counts the rows that are left, "
        "some of which are further apart in the file"
    ]


def _require_sense(options: argparse.Namespace) -> None:
    """Refuse options on the order of rows of which one has no effect beside another, because the user expects one."""
    if options.gap is not None and options.order == "none":
        raise OptionError("--gap is between rows in order, and --order none says that there is none; leave out one")
    if options.groups is not None and (options.order is not None or options.gap is not None):
        other = "--order" if options.order is not None else "--gap"
        raise OptionError(f"--groups holds out whole groups, for which {other} has no effect; leave out one of them")
    if options.copies == "together" and (
        options.groups is not None or options.order == "time" or options.gap is not None
    ):
        other = "--groups" if options.groups is not None else "--order time" if options.gap is None else "--gap"
        raise OptionError(
            f"--copies together makes groups of copies, beside which {other} has no effect; leave out one"
        )
    if options.whiten_rows and options.order == "none":
        raise OptionError("--whiten-rows needs an order of the rows, and --order none says that there is none")


def _analyse(
    table: Table | HoledData, options: argparse.Namespace, label: str | None, kept: Finished
) -> MatrixAnalysis | HoledResult:
    if isinstance(table, HoledData):
        return analyse_holed(table, options, label, kept)
    standardize, _ = scale_choice(table.rows, options.standardize)
    analysis = analyse_matrix(
        table.rows,
        lams=options.lams,
        test_fraction=options.test_fraction,
        repeats=options.repeats,
        standardize=standardize,
        equal_rows=options.equal_rows,
        order=options.order or ("test" if options.gap is None else "time"),
        groups=table.groups,
        gap=options.gap,
        whiten_rows=options.whiten_rows,
        copies=options.copies,
        row_names=table.row_names,
        log1p=options.log1p,
        seed=options.seed,
        run=partial(sweep, n_jobs=options.jobs, progress=label, folder=kept.folder, digest=kept.digest),
    )
    return replace(analysis, show_theory=options.show_theory)


def _notes(table: Table | HoledData, options: argparse.Namespace) -> list[str]:
    """Say what was noticed as the matrix was read, in which units columns are taken, and what is odd in its rows."""
    if isinstance(table, HoledData):
        return list(table.notes)
    scale = scale_choice(table.rows, options.standardize)[1]
    counts = [] if options.log1p else counts_notes(table.rows)
    return [*table.notes, *([scale] if scale else []), *quality_notes(table.rows), *counts]


def _report(analysis: MatrixAnalysis | HoledResult, title: str) -> str:
    if isinstance(analysis, HoledResult):
        return report_holed(analysis, title)
    return report(analysis, f"Masked regression of {title}")


def _results(analysis: MatrixAnalysis | HoledResult, title: str) -> list[TableAndFigure]:
    """Learning curves and choice of the ridge, and the spectrum where there is one."""
    if isinstance(analysis, HoledResult):
        return results_of_holed(analysis, title)
    frames = {"columns": columns_frame(analysis)}
    found = analysis.dependent_rows
    if found is not None:
        frames |= {"rows": errors_frame(found), "lags": lags_frame(found.order)}
    if len(analysis.copies.copies):
        frames["copies"] = copies_frame(analysis.copies, analysis.row_names)
    directions = analysis.directions
    if not isinstance(directions, str) and directions.labels:
        scores = scores_frame(directions, analysis.row_numbers, analysis.row_names)
        frames |= {"loadings": loadings_frame(directions)} | ({} if scores is None else {"scores": scores})
    results = [TableAndFigure(analysis.rows, as_experiment(analysis, title), frames)]
    if not isinstance(analysis.spectrum, str):
        results.append(TableAndFigure(spectrum_rows(analysis.spectrum), spectrum_experiment(title), {}, "_spectrum"))
    return results


STEPS = Steps(
    kind="matrix",
    read=_read,
    notes=_notes,
    analyse=_analyse,
    title=lambda analysis: f"{analysis.n} rows, {analysis.d} columns",
    report=_report,
    results=_results,
    conclusions=lambda analysis: (
        holes_summary(analysis.analysis) if isinstance(analysis, HoledResult) else summary(analysis)
    ),
    needs=matrix_needs,
)
