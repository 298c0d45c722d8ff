"""Opening a file, gzipped or not, with an error for everything that the system may answer."""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from figures.analyse.errors import DataError

GZIP_MAGIC = b"\x1f\x8b"


@contextmanager
def open_binary(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, decompressed where its first two say gzip. DataError where it cannot be read."""
    try:
        with path.open("rb") as file:
            compressed = file.read(2) == GZIP_MAGIC
            file.seek(0)
            if compressed:
                with gzip.open(file) as plain:
                    yield cast(BinaryIO, plain)
            else:
                yield file
    except FileNotFoundError:
        raise DataError(path, _missing(path)) from None
    except IsADirectoryError:
        raise DataError(path, "is a folder; give the one file that holds the data") from None
    except PermissionError:
        raise DataError(path, "no permission to read it; change that with chmod, or copy the file") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(path, f"is damaged or cut off ({error}); copy or download it again") from None
    except OSError as error:
        raise DataError(path, f"cannot be read ({error.strerror or error})") from None


def uncompressed_size(path: Path) -> int:
    """Bytes of the content; for gzip what its last four bytes say, which is modulo 4 GB, but no less than the file."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(0)
        if file.read(2) != GZIP_MAGIC or size < 18:
            return size
        file.seek(-4, 2)
        return max(size, int.from_bytes(file.read(4), "little"))


def _missing(path: Path) -> str:
    if not path.parent.is_dir():
        return f"no such file: there is no folder {path.parent}"
    return "no such file; check the name and the folder you are in"
