"""Text files in the encodings that spreadsheets write."""

import codecs
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO

from figures.analyse.errors import DataError
from figures.analyse.reading.opening import open_binary

HEAD = 1 << 18  # so many bytes are looked at before a decision
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # comes before UTF-16, whose mark begins with the same bytes
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
BINARY = frozenset(range(32)) - set(b"\t\n\v\f\r\x1a\x1b")


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
        head = file.read(HEAD)
    if not head.strip():
        raise DataError(path, "is empty")
    encoding = next((name for mark, name in MARKS if head.startswith(mark)), None) or _unmarked(path, head)
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head, final=len(head) < HEAD)
    except UnicodeError as error:
        raise DataError(path, f"is not valid {encoding} ({error}); save it as UTF-8") from None
    if not text.strip():
        raise DataError(path, "is empty")
    lines = io.StringIO(text, newline=None).readlines()
    cut = len(head) == HEAD and any(line.strip() for line in lines[:-1])  # the last line may go on
    whole = lines[:-1] if cut else lines
    return TextFile(path, encoding, "".join(whole))


def _unmarked(path: Path, head: bytes) -> str:
    if head.startswith(b"PK\x03\x04"):
        raise DataError(path, "is a zip archive (a spreadsheet workbook?); save the sheet as CSV")
    binary = next((byte for byte in head if byte in BINARY), None)
    if binary is not None:
        where = head.index(binary)
        raise DataError(
            path, f"is no text: byte {where + 1} is 0x{binary:02x}; a table is text, arrays are .npy or .npz"
        )
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head, final=len(head) < HEAD)
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"
