"""Defines the steps of python -m figures analyse for a matrix."""

import argparse

from figures.analyse.errors import DataError, as_typed
from figures.analyse.matrix.admissible import constant_columns, constant_text, rounded_columns, scale_choice
from figures.analyse.matrix.analyse import analyse_matrix
from figures.analyse.matrix.data_quality import quality_notes
from figures.analyse.matrix.figure import as_experiment
from figures.analyse.matrix.needs import matrix_needs, require_memory_for
from figures.analyse.matrix.record import MatrixAnalysis
from figures.analyse.matrix.report import report
from figures.analyse.matrix.spectrum import spectrum_experiment, spectrum_rows
from figures.analyse.matrix.table import columns_frame
from figures.analyse.matrix.table_rows import in_blocks, table_rows
from figures.analyse.reading.matrix import Matrix, read_matrix
from figures.analyse.steps import Steps, TableAndFigure
from figures.analyse.wording import printable, say


def _read(options: argparse.Namespace) -> Matrix:
    """Return the matrix; constant columns are refused here, where the message can name the option that drops them.

    Fewer than two columns that vary are refused with that option too.
    """
    require_memory_for(options)
    matrix = read_matrix(
        options.file,
        header=options.header,
        columns=options.columns,
        skip_columns=options.skip_columns,
        array=options.array,
        drop_rows=options.drop_rows,
        missing=options.missing,
        decimal=options.decimal,
    )
    try:
        constant = constant_columns(matrix.values)
    except ValueError as error:  # of columns too large or too small to compute with, found in blocks of rows
        raise as_typed(options.file, error, options) from None
    rounded = rounded_columns(matrix.values, constant) if constant else []
    found, varying = constant_text(matrix.names, constant, rounded=rounded), len(matrix.names) - len(constant)
    if varying < 2:
        left = "one column varies" if varying else "no column varies"
        raise DataError(options.file, f"{found}; {left}, and masked regression needs two that vary")
    if constant and not options.drop_constant:
        raise DataError(
            options.file, f"{found}, with nothing to predict; leave out what is constant by --drop-constant"
        )
    return matrix


def _analyse(matrix: Matrix, options: argparse.Namespace, label: str) -> MatrixAnalysis:
    rows = table_rows(matrix.values)
    standardize, note = scale_choice(rows, options.standardize)
    constant = set(constant_columns(rows))
    varying = [k for k in range(rows.d) if k not in constant]
    data = rows.columns(varying) if constant else rows
    said = [*([note] if note else []), *quality_notes(data, tuple(matrix.names[k] for k in varying))]
    if said:
        say(*(f"{printable(options.file)}: {each}" for each in said))
    return analyse_matrix(
        rows if in_blocks(rows) else matrix.values,
        matrix.names,
        lams=options.lams,
        test_fraction=options.test_fraction,
        repeats=options.repeats,
        standardize=standardize,
        drop_constant=options.drop_constant,
        equal_rows=options.equal_rows,
        seed=options.seed,
        n_jobs=options.jobs,
        progress=label,
    )


def _results(analysis: MatrixAnalysis, title: str) -> list[TableAndFigure]:
    """Learning curves and choice of the ridge, and the spectrum where there is one."""
    frames = {"columns": columns_frame(analysis)}
    results = [TableAndFigure(analysis.rows, as_experiment(analysis, title), frames)]
    if not isinstance(analysis.spectrum, str):
        results.append(TableAndFigure(spectrum_rows(analysis.spectrum), spectrum_experiment(title), {}, "_spectrum"))
    return results


STEPS = Steps(
    kind="matrix",
    read=_read,
    notes=lambda matrix: list(matrix.notes),
    analyse=_analyse,
    title=lambda analysis: f"{analysis.n} rows, {analysis.d} columns",
    report=lambda analysis, title: report(analysis, f"Masked regression of {title}"),
    results=_results,
    needs=matrix_needs,
)
