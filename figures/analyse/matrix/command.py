"""The analysis of a user's matrix: from the file to its tables and figures."""

import argparse
from pathlib import Path

from figures.analyse.errors import DataError
from figures.analyse.matrix import (
    MatrixAnalysis,
    analyse_matrix,
    as_experiment,
    constant_columns,
    constant_text,
    report,
    spectrum_experiment,
    spectrum_rows,
)
from figures.analyse.option_types import as_typed
from figures.analyse.reading.matrix import Matrix, read_matrix
from figures.analyse.results import write_results


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
    """Tables and figures, and those of the spectrum where there is one."""
    import pandas as pd

    by_column = pd.DataFrame(
        {
            "column": analysis.names,
            "variance": analysis.variances,
            "error": analysis.column_error,
            "explained": analysis.explained,
        }
    )
    written = write_results(output, name, analysis.rows, as_experiment(analysis, title), {"columns": by_column})
    if isinstance(analysis.spectrum, str):
        return written
    spectrum = spectrum_rows(analysis.spectrum)
    return written + write_results(output, f"{name}_spectrum", spectrum, spectrum_experiment(title))


def _constant(matrix: Matrix, constant: list[int]) -> str:
    return f"{constant_text(matrix.names, constant)}, with nothing to predict"
