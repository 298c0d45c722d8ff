"""One function for every file that holds a matrix."""

from pathlib import Path

from figures.analyse.errors import DataError
from figures.analyse.reading.matrix.arrays import read_array
from figures.analyse.reading.matrix.check import checked
from figures.analyse.reading.matrix.delimited import read_delimited
from figures.analyse.reading.matrix.record import Matrix
from figures.analyse.reading.tables.layout import Header


def read_matrix(
    path: Path | str,
    *,
    header: Header = "auto",
    columns: str | None = None,
    skip_columns: str | None = None,
    array: str | None = None,
) -> Matrix:
    """The matrix of a .npy or .npz file, of any other name the table of text; gzipped or not.

    `columns` and `skip_columns` choose columns as in "1-5,8,height", `array` one of a .npz file. What is wrong with the
    file is a DataError of one line that names file, row and column (from 1) and the remedy.
    """
    file = Path(path)
    names = [suffix.lower() for suffix in file.suffixes if suffix.lower() != ".gz"]
    if names and names[-1] in (".npy", ".npz"):
        return checked(read_array(file, array=array, columns=columns, skip_columns=skip_columns))
    if array is not None:
        raise DataError(file, "is a table of text; --array chooses from .npz files")
    return checked(read_delimited(file, header=header, columns=columns, skip_columns=skip_columns))
