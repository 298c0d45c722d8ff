"""Text out of bytes, or where exactly it is none."""

from pathlib import Path

from figures.analyse.errors import DataError
from figures.analyse.memory import require_memory
from figures.analyse.reading.opening import announce, open_binary, uncompressed_size
from figures.analyse.reading.text_file import MARKS

COPIES = 6  # one byte of text takes so many in memory: as bytes, as characters, and counted


def decoded(path: Path, encoding: str | None = None) -> str:
    """Return the whole file, gzipped or not: in `encoding`, else by its byte order mark, else UTF-8.

    DataError that names the byte and the line where it does not decode: guessing would give wrong words in silence.
    """
    with open_binary(path) as file:
        announce(path)
        require_memory(path, "reading it as text", COPIES * uncompressed_size(path), "take a part of it")
        raw = file.read()
    name = encoding or next((known for mark, known in MARKS if raw.startswith(mark)), "utf-8")
    try:
        text = raw.decode(name)  # a LookupError for codecs that give no text, such as hex
    except (LookupError, AssertionError):
        raise DataError(path, f"--encoding {name} is not known; utf-8, latin-1 and cp1252 are") from None
    except UnicodeError as error:
        raise DataError(path, _where(raw, error, name)) from None
    if "\0" in text:
        raise DataError(path, f"is no text: character {text.index(chr(0)) + 1} is zero")
    return text


def lines_of(text: str) -> list[str]:
    """Split text at the three usual line ends only.

    `str.splitlines` also breaks at characters that JSON strings may hold.
    """
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _where(raw: bytes, error: UnicodeError, encoding: str) -> str:
    """Say in one line which is the first byte that does not decode."""
    start = getattr(error, "start", None)
    if start is None:
        return f"is not valid {encoding} ({error}); say what it is by --encoding, or save it as UTF-8"
    line = raw.count(b"\n", 0, start) + 1
    return (
        f"byte {start + 1} (line {line}) is 0x{raw[start]:02x}, which is not valid {encoding}; save it as UTF-8, or "
        "say what it is, such as --encoding cp1252"
    )
