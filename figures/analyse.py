"""A user's own data: python -m figures analyse FILE reads it, and leaves a table and a figure."""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from figures.core.produce import OUTPUT
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

__all__ = ["analyse_matrix", "kind_of", "main"]

EXTENSIONS = {
    "matrix": (".csv", ".tsv", ".npy", ".npz"),
    "sequences": (".fasta", ".fa", ".a2m", ".a3m", ".sto"),
    "text": (".txt", ".ldac", ".jsonl"),
}
WRONG_DATA = 2  # exit status


def main(argv: Sequence[str]) -> int:
    """Exit status: 0, or 2 with one line on stderr where the file cannot be used."""
    options = _parser().parse_args(argv)
    try:
        kind = options.kind or kind_of(options.file)
        if kind != "matrix":
            raise DataError(options.file, f"holds {kind}; this version analyses matrices (--kind matrix)")
        _require_writable(options.output)
        return _analyse(options)
    except DataError as error:
        print(f"figures analyse: {error}", file=sys.stderr)
        return WRONG_DATA


def kind_of(path: Path) -> str:
    """matrix, sequences or text, by the name of the file; a folder is text. DataError where the name does not say."""
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    for kind, extensions in EXTENSIONS.items():
        if suffixes and suffixes[-1] in extensions:
            return kind
    if path.is_dir():
        return "text"
    if not path.exists():
        raise DataError(path, "no such file; check the name and the folder you are in")
    known = " ".join(EXTENSIONS["matrix"])
    raise DataError(path, f"its name does not say what it holds ({known} are matrices): say --kind matrix if it is one")


def _analyse(options: argparse.Namespace) -> int:
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
        raise DataError(options.file, str(error)) from None
    title = f"{stem}: {analysis.n} rows, {analysis.d} columns"
    print(*(f"{options.file}: {note}" for note in matrix.notes), sep="\n")
    print(report(analysis, f"Masked regression of {title}"), end="\n\n")
    print(*_written(analysis, title, options.output, f"analyse_{stem}"), sep="\n")
    return 0


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


def _require_writable(output: Path) -> None:
    """Asked first, so that no minutes of work are lost."""
    try:
        output.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=output):
            pass
    except OSError as error:
        raise DataError(output, f"cannot be written to ({error.strerror}); choose a folder by --output") from None


def _constant(matrix: Matrix, constant: list[int]) -> str:
    return f"{constant_text(matrix.names, constant)}, with nothing to predict"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m figures analyse",
        description="Masked ridge regression of your own data: every column is predicted from the others. Measures the "
        "error on held-out rows against their number, compares it with Gaussian theory and with generalized "
        "cross-validation, and finds the best ridge.",
    )
    parser.add_argument("file", type=Path, help="samples by features: .csv, .tsv, .npy or .npz, may be gzipped")
    add = parser.add_argument
    add("--kind", choices=tuple(EXTENSIONS), help="what the file holds; default: by its extension")
    add("--header", choices=("auto", "yes", "no"), default="auto", help="whether the first row names the columns")
    add("--columns", metavar="LIST", help="columns to use, by number (from 1) or name: 1-5,8,height")
    add("--skip-columns", metavar="LIST", help="columns to leave out, such as an index")
    add("--drop-constant", action="store_true", help="leave out columns that are constant")
    add("--array", metavar="NAME", help="which array of a .npz file")
    add("--standardize", action="store_true", help="measure each column in units of its standard deviation")
    add("--lams", type=_numbers, metavar="LIST", help="ridge strengths, as 0.01,0.1,1; default: around the best one")
    add("--test-fraction", type=float, default=0.2, metavar="SHARE", help="of the rows held out (default: 0.2)")
    add("--repeats", type=int, help="random splits (default: 20, fewer where that would take long)")
    add("--seed", type=int, default=0, help="of the splits (default: 0)")
    add("--jobs", type=int, default=-1, help="processes; -1 (default): one for each core")
    add("--output", type=Path, default=OUTPUT, metavar="FOLDER", help="default: figures/output")
    return parser


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be numbers separated by commas, got {text!r}") from None
