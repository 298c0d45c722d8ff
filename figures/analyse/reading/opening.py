"""Opening a file, gzipped or not, with an error for everything that the system may answer."""

import gzip
import io
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from figures.analyse.errors import DataError
from figures.analyse.wording import printable, size

GZIP_MAGIC = b"\x1f\x8b"
MOST_UNPACKED = 2 * 10**9  # bytes; unpacking them takes seconds, but a forged file could take hours
ANNOUNCED_BYTES = 10**8  # bytes of text; reading more takes seconds and is announced
MAX_GZIP_RATIO = 1032  # one byte of gzip unpacks to so many at most; a trailer that says more is false


@contextmanager
def open_binary(path: Path) -> Iterator[BinaryIO]:
    """Return the bytes of a file, decompressed where its first two say gzip.

    DataError where the path is no regular file (a pipe would be waited for, and can be read only once), where the
    system refuses it, where it is damaged, and where it unpacks to more than MOST_UNPACKED bytes.
    """
    try:
        _require_regular(path)
        with path.open("rb") as file:
            compressed = file.read(2) == GZIP_MAGIC
            file.seek(0)
            if compressed:
                if _said_size(file) > MOST_UNPACKED:
                    raise DataError(path, _too_large())
                with gzip.open(file) as plain, io.BufferedReader(_Bounded(path, cast(BinaryIO, plain))) as bounded:
                    yield cast(BinaryIO, bounded)
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


class _Bounded(io.RawIOBase):
    """What a gzipped file unpacks to, up to MOST_UNPACKED bytes; DataError beyond, whatever its trailer says."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path, self._file = path, file

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def seekable(self) -> bool:
        """Say that it can begin again, which numpy's reader of arrays does."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move to a place in the unpacked bytes."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """Return the place in the unpacked bytes."""
        return self._file.tell()

    def readinto(self, buffer: object) -> int:
        """Fill the buffer, and refuse more than MOST_UNPACKED bytes in all."""
        found = self._file.readinto(buffer)  # type: ignore[attr-defined]
        if self._file.tell() > MOST_UNPACKED:
            raise DataError(self._path, _too_large())
        return int(found)


def uncompressed_size(path: Path) -> int:
    """Return the number of bytes of the content.

    For gzip that is what the last four bytes say, which is modulo 4 GB, but no less than the file and no more than it
    can unpack to.
    """
    with path.open("rb") as file:
        return _said_size(file)


def announce(path: Path, say: Callable[[str], None] = print) -> None:
    """Say that a large file is being read, since that takes a while."""
    n_bytes = uncompressed_size(path)
    if n_bytes > ANNOUNCED_BYTES:
        say(f"{printable(path)}: reading {size(n_bytes)} of text")


def plain_name(path: Path) -> str:
    """Return the name of the file without .gz."""
    return path.name[:-3] if path.suffix.lower() == ".gz" else path.name


def extension(path: Path) -> str:
    """Return the last extension in small letters, with its dot and without .gz; empty where there is none."""
    return Path(plain_name(path)).suffix.lower()


def _said_size(file: BinaryIO) -> int:
    n_bytes = file.seek(0, 2)
    file.seek(0)
    if file.read(2) == GZIP_MAGIC and n_bytes >= 18:
        file.seek(-4, 2)
        said = int.from_bytes(file.read(4), "little")
        n_bytes = max(n_bytes, said if said <= MAX_GZIP_RATIO * n_bytes else 0)
    file.seek(0)
    return n_bytes


def _require_regular(path: Path) -> None:
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError
    if not stat.S_ISREG(mode):
        raise DataError(path, "is a pipe or a device, no file; save its content as a file and give that")


def _too_large() -> str:
    return (
        f"unpacks to more than {size(MOST_UNPACKED)}, the most that is unpacked on the way; unpack it yourself (gunzip "
        "-k) and give the unpacked file, for which there is no such limit"
    )


def _missing(path: Path) -> str:
    if not path.parent.is_dir():
        return f"no such file: there is no folder {path.parent}"
    return "no such file; check the name and the folder you are in"
