"""Defines the steps of python -m figures analyse for a table with holes, and the options that belong to these."""

import argparse
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from figures.analyse.errors import DataError, OptionError
from figures.analyse.finished import NOTHING, Finished
from figures.analyse.matrix.holes.admitted import HoledTable, holed_table
from figures.analyse.matrix.holes.analyse import analyse_holes
from figures.analyse.matrix.holes.figure import holes_experiment
from figures.analyse.matrix.holes.filled import errors_path, require_target, write_filled
from figures.analyse.matrix.holes.record import HolesAnalysis, Method
from figures.analyse.matrix.holes.report import holes_report
from figures.analyse.matrix.holes.table import columns_frame, glance, holes_frame
from figures.analyse.reading.matrix import Matrix, Reading, typed_reading
from figures.analyse.steps import TableAndFigure
from figures.analyse.wording import printable, say
from figures.core.plain_text import safe_frame
from simulate.core import sweep
from theory.core.arrays import Array
from theory.core.atomic_write import atomic_write

METHODS: dict[str, Method] = {"zero": "own_rows", "pairwise": "pairwise", "em": "em"}  # by the words of --missing-as
# Options, as far as there are such, that say how complete rows are taken, split and held out.
FOR_COMPLETE_TABLES = ("equal_rows", "test_fraction", "order", "groups", "gap", "whiten_rows")


@dataclass(frozen=True, eq=False)
class HoledData:
    """A table with holes as it was read, what of it is analyzed, and where the filled table goes."""

    matrix: Matrix
    how: Reading
    table: HoledTable
    target: Path | None

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what was read."""
        return self.matrix.notes


@dataclass(frozen=True, eq=False)
class HoledResult:
    """The analysis of a table with holes, and the table that it is of."""

    data: HoledData
    analysis: HolesAnalysis

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.analysis.n

    @property
    def d(self) -> int:
        """Number of columns."""
        return self.analysis.d


def check_options(options: argparse.Namespace) -> None:
    """Refuse options of tables with holes that cannot be followed, before anything is read."""
    if options.impute is None:
        return
    if options.drop_rows:
        raise OptionError("--impute fills the rows that --drop-rows leaves out; give one of the two")
    require_target(options.file, options.impute)


def refuse_options(options: argparse.Namespace) -> None:
    """Refuse options that have no effect on a table without holes."""
    if options.impute is not None:
        raise DataError(options.file, "has no missing cell, so that --impute has nothing to fill; leave it out")


def holed_data(matrix: Matrix, options: argparse.Namespace) -> HoledData:
    """Take a matrix with holes.

    DataError where it is too small or too empty, OptionError for options that need a complete one.
    """
    for name in FOR_COMPLETE_TABLES:
        if name in options.typed:
            raise OptionError(
                f"--{name.replace('_', '-')} is for complete tables, and {printable(options.file)} has missing cells; "
                "leave the option out, or leave out their rows with --drop-rows"
            )
    if options.standardize is False:
        raise OptionError(
            "--no-standardize is for complete tables: with missing cells each column is taken in units of its standard "
            "deviation, and errors are given in the units of the file too"
        )
    try:
        table = holed_table(matrix.data.all_rows(), matrix.names, drop_constant=options.drop_constant, line=matrix.line)
    except ValueError as error:
        raise DataError(options.file, str(error)) from None
    if table.seen.all():
        raise DataError(
            options.file,
            f"has no missing cell but for those that are left out ({'; '.join(table.notes)}); leave them out with "
            "--drop-rows or --skip-columns, and the table is complete",
        )
    return HoledData(matrix, typed_reading(options), table, options.impute)


def analyse_holed(
    data: HoledData, options: argparse.Namespace, label: str | None, kept: Finished = NOTHING
) -> HoledResult:
    """Analyze a table with holes as the options say."""
    analysis = analyse_holes(
        data.table,
        method=METHODS[options.missing_as] if options.missing_as else None,
        lams=options.lams,
        repeats=options.repeats,
        seed=options.seed,
        run=partial(sweep, n_jobs=options.jobs, progress=label, folder=kept.folder, digest=kept.digest),
    )
    return HoledResult(data, analysis)


def report_holed(result: HoledResult, title: str) -> str:
    """Report the analysis in words, with what is written where."""
    return holes_report(result.analysis, f"Missing cells of {title}")


def results_of_holed(result: HoledResult, title: str) -> list[TableAndFigure]:
    """Return the tables and the figure; the filled table is written where the user wants one."""
    if result.data.target is not None:
        say(*map(printable, write_imputed(result.data, result.analysis, result.data.target)))
    analysis = result.analysis
    frames = {"columns": columns_frame(analysis)}
    return [
        TableAndFigure(
            analysis.rows, holes_experiment(title, analysis.rows), frames, files={"holes.json": glance(analysis)}
        )
    ]


def write_imputed(data: HoledData, analysis: HolesAnalysis, target: Path) -> list[Path]:
    """Write the table with its holes filled, and beside it the expected error of each hole; return both paths.

    Holes of rows and columns that were left out stay holes.
    """
    write_filled(data.matrix, data.how, _values(data.matrix.data.all_rows().shape, analysis), target)
    beside = errors_path(target)
    try:
        with atomic_write(beside) as temporary:
            safe_frame(holes_frame(analysis)).to_csv(temporary, index=False)
    except OSError as error:
        raise DataError(beside, f"cannot be written to ({error.strerror or error})") from None
    return [target, beside]


def _values(shape: tuple[int, ...], analysis: HolesAnalysis) -> Array:
    """Return what goes into the holes of the whole table, NaN elsewhere."""
    values = np.full(shape, np.nan)
    table = analysis.table
    values[np.ix_(table.rows, table.columns)] = np.where(table.seen, np.nan, analysis.imputed.table)
    return values
