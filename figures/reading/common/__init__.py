"""What every reader shares: the error, opening a file, its encoding, and the memory there is."""

from figures.reading.common.memory import available_bytes, require_memory
from figures.reading.common.opening import open_binary, uncompressed_size
from figures.reading.common.problem import DataError
from figures.reading.common.text import TextFile, text_file

__all__ = [
    "DataError",
    "TextFile",
    "available_bytes",
    "open_binary",
    "require_memory",
    "text_file",
    "uncompressed_size",
]
