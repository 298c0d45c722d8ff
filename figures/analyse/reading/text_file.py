"""Text files in the encodings that spreadsheets write."""

import codecs
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, TextIO

from figures.analyse.errors import DataError
from figures.analyse.reading.opening import open_binary

HEAD = 1 << 18  # so many bytes at least are looked at before a decision
HEAD_LINES = 5  # and so many lines, however long, beside remarks: a header, and rows enough to tell it from them
REMARKS = tuple(b"#%!")  # lines that begin so may stand above a table
MOST_HEAD = 1 << 25  # but no more bytes, where a file is one line
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # comes before UTF-16, whose mark begins with the same bytes
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
BINARY = re.compile(rb"[\x00-\x08\x0e-\x19\x1c-\x1f]")  # control characters that no text has


@dataclass(frozen=True)
class TextFile:
    """A text file, its encoding, and its first characters (whole lines, unless there is only one)."""

    path: Path
    encoding: str
    head: str

    @property
    def is_guess(self) -> bool:
        """Whether the encoding is the fallback, which can decode anything."""
        return self.encoding == "latin-1"

    @contextmanager
    def open(self) -> Iterator[TextIO]:
        """Yield the text, with any kind of line end.

        DataError as of `open_binary`, and where the text does not decode.
        """
        with open_binary(self.path) as file, io.TextIOWrapper(file, self.encoding) as text:
            try:
                yield text
            except UnicodeError as error:
                raise DataError(self.path, f"is not valid {self.encoding} ({error}); save it as UTF-8") from None

    def as_latin_1(self) -> "TextFile":
        """Return the same file in the fallback encoding."""
        return replace(self, encoding="latin-1")


def text_file(path: Path) -> TextFile:
    """Open a text file: its encoding is that of its byte order mark, else UTF-8, else Latin-1.

    DataError where the file is empty or is no text.
    """
    with open_binary(path) as file:
        head, ended = _head(file)
    if not head.strip():
        raise DataError(path, "is empty")
    encoding = next((name for mark, name in MARKS if head.startswith(mark)), None) or _unmarked(path, head, ended)
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head, final=ended)
    except UnicodeError as error:
        raise DataError(path, f"is not valid {encoding} ({error}); save it as UTF-8") from None
    if not text.strip():
        raise DataError(path, "is empty")
    lines = io.StringIO(text, newline=None).readlines()
    cut = not ended and any(line.strip() for line in lines[:-1])  # the last line may go on
    whole = lines[:-1] if cut else lines
    return TextFile(path, encoding, "".join(whole))


def _head(file: BinaryIO) -> tuple[bytes, bool]:
    """Return the beginning of a file, and whether it is all of it."""
    head, ended = b"", False
    while not ended and len(head) < MOST_HEAD and (len(head) < HEAD or _whole_lines(head) < HEAD_LINES):
        asked = max(HEAD, len(head))
        more = file.read(asked)
        head, ended = head + more, len(more) < asked
    return head, ended


def _whole_lines(head: bytes) -> int:
    return sum(bool(line.strip()) and line[0] not in REMARKS for line in head.splitlines()[:-1])


def _unmarked(path: Path, head: bytes, ended: bool) -> str:
    if head.startswith(b"PK\x03\x04"):
        raise DataError(path, "is a zip archive (a spreadsheet workbook?); save the sheet as CSV")
    binary = BINARY.search(head)
    if binary is not None:
        raise DataError(
            path,
            f"is no text: byte {binary.start() + 1} is 0x{binary[0][0]:02x}; a table is text, arrays are .npy or .npz",
        )
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head, final=ended)
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"
