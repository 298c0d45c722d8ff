"""Reads Matrix Market files, sparse or dense, whose rows are samples."""

from io import BytesIO
from pathlib import Path
from typing import Any

from figures.analyse.errors import DataError
from figures.analyse.memory import require_memory
from figures.analyse.reading.matrix.arrays import FEWER
from figures.analyse.reading.matrix.choices import Reading
from figures.analyse.reading.matrix.record import Matrix
from figures.analyse.reading.matrix.shape import TableShape, shape_of_numbers
from figures.analyse.reading.matrix.sparse import NUMBER, dense_rows, require_table
from figures.analyse.reading.opening import GZIP_MAGIC, open_binary
from figures.analyse.reading.tables.columns import numbered

MAX_COLUMNS = 10**6
NO_TABLE = {
    "symmetric": "a symmetric matrix, as covariances and distances are",
    "skew-symmetric": "a skew-symmetric matrix",
    "hermitian": "a Hermitian matrix",
}
NO_NUMBERS = {"complex": "complex numbers", "pattern": "no numbers, only where entries are"}


def read_market(path: Path, how: Reading) -> Matrix:
    """Return the chosen columns of a Matrix Market file; entries that are not written are zero.

    DataError for what is no table of real numbers (symmetric, complex, places without numbers), for one that does not
    fit in memory, and for files that are damaged.
    """
    from scipy.io import mmread

    (n, d, entries), form = _header(path)
    _require_room(path, n, d)
    chosen = how.selected(path, numbered(d))
    try:
        found: Any = mmread(_source(path), spmatrix=False)
    except (ValueError, OSError, OverflowError) as error:
        raise _damaged(path, error) from None
    matrix = found.tocsr() if hasattr(found, "tocsr") else found
    share = f", {100 * (1 - entries / (n * d)):.0f} % of the cells are not written and zero" * (form == "coordinate")
    note = (
        f"Matrix Market file, {n} rows (samples) and {d} columns (features){share}; if its rows are features, as genes "
        "are in files of Cell Ranger, transpose it first"
    )
    names = tuple(numbered(d)[k] for k in chosen)
    return Matrix(path, dense_rows(path, matrix, chosen), names, (note,), positions=tuple(chosen))


def shape_of_market(path: Path, how: Reading) -> TableShape:
    """Return the shape of a Matrix Market file, from its header. The DataErrors are those of `read_market`."""
    (n, d, entries), form = _header(path)
    _require_room(path, n, d)
    chosen = how.selected(path, numbered(d))
    found = shape_of_numbers(n, d, len(chosen), NUMBER, False, "the header of the file says")
    extra = 3 * NUMBER * entries if form == "coordinate" else NUMBER * n * d
    return TableShape(found.rows, found.columns, found.held + extra, found.held, found.known)


def _header(path: Path) -> tuple[tuple[int, int, int], str]:
    from scipy.io import mminfo

    try:
        rows, columns, entries, form, field, symmetry = mminfo(_source(path))
    except (ValueError, OSError, OverflowError) as error:
        raise DataError(path, f"is no Matrix Market file, or its header is damaged ({error})") from None
    if field in NO_NUMBERS:
        raise DataError(path, f"holds {NO_NUMBERS[field]}; write a matrix of real numbers")
    if symmetry in NO_TABLE:
        raise DataError(path, f"holds {NO_TABLE[symmetry]}, no table of samples by features; write it as general")
    require_table(path, (rows, columns))
    return (rows, columns, entries), form


def _require_room(path: Path, n: int, d: int) -> None:
    """Refuse what would not fit, before names of columns are made and places of rows are counted."""
    require_memory(path, f"a matrix of {n} x {d} numbers with its zeros written out", float(NUMBER * n), FEWER)
    if d > MAX_COLUMNS:
        raise DataError(path, f"has {d} columns, and at most {MAX_COLUMNS} can be named; are its rows the features?")


def _source(path: Path) -> str | BytesIO:
    """Return what scipy is to read: the name of a plain file, or what a gzipped one unpacks to within its limit."""
    with open_binary(path) as file:
        with path.open("rb") as raw:
            zipped = raw.read(len(GZIP_MAGIC)) == GZIP_MAGIC
        return BytesIO(file.read()) if zipped else str(path)


def _damaged(path: Path, error: Exception) -> DataError:
    return DataError(path, f"is damaged or cut off ({error}); save or copy it again")
