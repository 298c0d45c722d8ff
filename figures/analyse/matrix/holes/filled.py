"""Writes the filled table: a file like the one that was read, in which only missing cells have changed."""

import gzip
import math
import tempfile
from pathlib import Path

import numpy as np

from figures.analyse.errors import DataError, OptionError
from figures.analyse.matrix.holes.filled_arrays import filled_array, write_filled_parquet
from figures.analyse.matrix.holes.filled_text import filled_text
from figures.analyse.reading.matrix import Matrix, Reading
from figures.analyse.reading.matrix.delimited import table_of_text
from figures.analyse.reading.matrix.formats import format_of
from figures.analyse.reading.opening import extension
from figures.analyse.wording import printable
from theory.core.arrays import Array
from theory.core.atomic_write import atomic_write, remove_abandoned

RESOLUTION = 1e-4  # of a standard deviation of its column, to which a filled number is written at least
FEWEST_DIGITS, MOST_DIGITS = 5, 17


def require_target(source: Path, target: Path) -> None:
    """Refuse, before any work, a file that cannot be written, the source itself, and another format than its own."""
    named = f"--impute {printable(target)}"
    if not target.name or target.is_dir():
        raise OptionError(f"{named} is a folder; give the name of a file")
    if extension(target) != extension(source):
        ending = extension(source) or "no ending"
        raise OptionError(f"{named} must end as the table does, in {ending}: it is written in the format of that")
    if not target.parent.is_dir():
        raise OptionError(f"{named} cannot be written to (there is no folder {printable(target.parent)})")
    try:
        if any(path.exists() and path.samefile(source) for path in (target, errors_path(target))):
            raise OptionError(f"{named} is the file that is read, which is never written over; choose another name")
        with tempfile.TemporaryFile(dir=target.parent):
            pass
        remove_abandoned(target.parent)
    except OSError as error:
        raise OptionError(f"{named} cannot be written to ({error.strerror or error}); choose another folder") from None


def errors_path(target: Path) -> Path:
    """Return where the expected error of each hole is written, beside the filled table."""
    name = target.name[:-3] if target.suffix.lower() == ".gz" else target.name
    return target.with_name(f"{Path(name).stem}_errors.csv")


def write_filled(matrix: Matrix, how: Reading, values: Array, target: Path) -> None:
    """Write a table like that of `matrix`, with `values` (n, d) in its holes; where they are NaN it stays as it is.

    Whoever reads the file while it is written finds the earlier one, or none. It is gzipped where its name says so.
    DataError where the file that was read has changed.
    """
    try:
        with atomic_write(target) as temporary:
            if extension(matrix.path) == ".parquet":
                write_filled_parquet(matrix, values, temporary)
            else:
                content = _content(matrix, how, values)
                packed = target.suffix.lower() == ".gz"
                temporary.write_bytes(gzip.compress(content, mtime=0) if packed else content)
    except OSError as error:
        raise DataError(target, f"cannot be written to ({error.strerror or error})") from None


def _content(matrix: Matrix, how: Reading, values: Array) -> bytes:
    if not format_of(matrix.path, how).is_text:
        return filled_array(matrix, how, values)
    scales = np.nanstd(matrix.data.all_rows(), axis=0)
    holes: dict[int, dict[int, str]] = {}
    for i, k in np.argwhere(np.isfinite(values)).tolist():
        holes.setdefault(matrix.line(i), {})[matrix.position(k)] = written_number(values[i, k], scales[k])
    file, layout = table_of_text(matrix.path, how)
    return filled_text(file, layout, how, holes)


def written_number(value: float, scale: float) -> str:
    """Write a number to a ten-thousandth of the `scale` of its column, or closer.

    >>> written_number(12.3456789, 2.0), written_number(-1234567.891, 2.0), written_number(1.5e-9, 1e-9)
    ('12.3457', '-1234567.891', '1.5e-09')
    """
    size = abs(value) / scale if scale > 0 else 1.0
    digits = math.ceil(math.log10(max(size, 1.0) / RESOLUTION)) + 1
    return f"{value:.{min(max(digits, FEWEST_DIGITS), MOST_DIGITS)}g}"
