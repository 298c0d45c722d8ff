"""The analysis of a user's matrix: from the file to its tables and figures."""

import argparse
from pathlib import Path

from figures.analyse_options import as_typed
from figures.core.scratch import moved_into_place
from figures.masked.analysis import (
    MatrixAnalysis,
    analyse_matrix,
    as_experiment,
    constant_columns,
    constant_text,
    report,
    spectrum_experiment,
    spectrum_rows,
)
from figures.reading import DataError, Matrix, read_matrix


def run(options: argparse.Namespace) -> None:
    """Reads, measures, writes and says. DataError where the file cannot be used."""
    matrix = read_matrix(
        options.file,
        header=options.header,
        columns=options.columns,
        skip_columns=options.skip_columns,
        array=options.array,
    )
    constant = constant_columns(matrix.values)
    if constant and not options.drop_constant:
        raise DataError(options.file, f"{_constant(matrix, constant)}; leave out what is constant by --drop-constant")
    stem = Path(options.file.name.removesuffix(".gz")).stem
    try:
        analysis = _measured(matrix, options, stem)
    except ValueError as error:
        raise as_typed(options.file, error, options) from None
    title = f"{stem}: {analysis.n} rows, {analysis.d} columns"
    print(*(f"{options.file}: {note}" for note in matrix.notes), sep="\n")
    print(report(analysis, f"Masked regression of {title}"), end="\n\n")
    print(*_written(analysis, title, options.output, f"analyse_{stem}"), sep="\n")


def _measured(matrix: Matrix, options: argparse.Namespace, stem: str) -> MatrixAnalysis:
    return analyse_matrix(
        matrix.values,
        matrix.names,
        lams=options.lams,
        test_fraction=options.test_fraction,
        repeats=options.repeats,
        standardize=options.standardize,
        drop_constant=options.drop_constant,
        seed=options.seed,
        n_jobs=options.jobs,
        progress=f"analyse {stem}",
    )


def _written(analysis: MatrixAnalysis, title: str, output: Path, name: str) -> list[Path]:
    """Tables and figures. Each is written beside its place and moved there: an earlier result is kept or replaced."""
    import pandas as pd

    from figures.core.plot import draw_figure
    from figures.core.table import read_csv, write_csv

    table, columns = output / f"{name}.csv", output / f"{name}_columns.csv"
    figures = [output / f"{name}.{suffix}" for suffix in ("pdf", "png")]
    try:
        write_csv(analysis.rows, table)
        by_column = pd.DataFrame(
            {
                "column": analysis.names,
                "variance": analysis.variances,
                "error": analysis.column_error,
                "explained": analysis.explained,
            }
        )
        with moved_into_place(columns) as scratch:
            by_column.to_csv(scratch, index=False)
        draw_figure(as_experiment(analysis, title.replace("$", r"\$")), read_csv(table), *figures)
        spectrum = _spectrum_written(analysis, title, output, name)
    except OSError as error:
        raise DataError(output, f"cannot be written to ({error.strerror or error})") from None
    return [table, columns, *figures, *spectrum]


def _spectrum_written(analysis: MatrixAnalysis, title: str, output: Path, name: str) -> list[Path]:
    """Its own table and figures; nothing where there is no spectrum."""
    from figures.core.plot import draw_figure
    from figures.core.table import read_csv, write_csv

    if isinstance(analysis.spectrum, str):
        return []
    table, *figures = (output / f"{name}_spectrum.{suffix}" for suffix in ("csv", "pdf", "png"))
    write_csv(spectrum_rows(analysis.spectrum), table)
    draw_figure(spectrum_experiment(analysis.spectrum, title.replace("$", r"\$")), read_csv(table), *figures)
    return [table, *figures]


def _constant(matrix: Matrix, constant: list[int]) -> str:
    return f"{constant_text(matrix.names, constant)}, with nothing to predict"
