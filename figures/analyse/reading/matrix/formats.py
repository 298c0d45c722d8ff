"""The forms of files that hold a matrix: one table, from the ending of the name to what reads it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from figures.analyse.errors import DataError
from figures.analyse.reading.matrix.anndata import labels_of_anndata, read_anndata, shape_of_anndata
from figures.analyse.reading.matrix.arrays import read_array
from figures.analyse.reading.matrix.choices import Reading
from figures.analyse.reading.matrix.delimited import read_delimited
from figures.analyse.reading.matrix.market import read_market, shape_of_market
from figures.analyse.reading.matrix.parquet import read_parquet
from figures.analyse.reading.matrix.record import Matrix
from figures.analyse.reading.matrix.shape import TableShape, shape_of_array, shape_of_parquet, shape_of_text
from figures.analyse.reading.opening import extension


@dataclass(frozen=True)
class Format:
    """What such a file is, who reads it, and who says its shape from as little of it as will do."""

    what: str
    read: Callable[[Path, Reading], Matrix]
    shape: Callable[[Path, Reading], TableShape]
    is_text: bool = False  # its cells are written in words, for which there are options
    has_names: bool = False  # it holds several arrays, each by its name
    package: str | None = None  # what reads it is not installed with the figures
    labels: Callable[[Path, str], list[str]] | None = None  # of groups that stand beside the matrix, by their name


TEXT = Format("table of text", read_delimited, shape_of_text, is_text=True)
ARRAYS = Format("file of numpy's", read_array, shape_of_array, has_names=True)
FORMATS = {
    ".csv": TEXT,
    ".tsv": TEXT,
    ".npy": ARRAYS,  # an archive of that name is read, too
    ".npz": ARRAYS,
    ".parquet": Format("Parquet file", read_parquet, shape_of_parquet, package="pyarrow"),
    ".h5ad": Format(
        "file of AnnData", read_anndata, shape_of_anndata, has_names=True, package="h5py", labels=labels_of_anndata
    ),
}
# Forms whose names also say another kind of data: they are matrices where the user says so.
IF_SAID = {".mtx": Format("Matrix Market file", read_market, shape_of_market)}


def format_of(file: Path, how: Reading) -> Format:
    """Return the form of a file by its name, a table of text for any other name.

    DataError for an option that is for other forms.
    """
    form = (FORMATS | IF_SAID).get(extension(file), TEXT)
    if not form.is_text and (how.missing is not None or how.decimal != "."):
        raise DataError(file, "holds numbers, no text; --missing and --decimal are for tables of text")
    if not form.has_names and how.array is not None:
        raise DataError(file, f"is a {form.what}; --array chooses from .npz files, or a layer of .h5ad")
    return form
