"""Keeps finished results on disk, so that an interrupted sweep goes on where it was.

One file of JSON lines: the first names the digest, each other holds one finished task. A line is written by a single
append, so that a killed process leaves at most one broken line, which is skipped; so is anything else unreadable.
"""

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from theory.core.arguments import checked
from theory.core.atomic_write import atomic_write

Value = float | NDArray[np.float64]
FILE = "results.jsonl"


class _Log(dict[str, Value]):
    """Holds results in a dictionary, of which every new item is appended to the open file at once."""

    def __init__(self, kept: dict[str, Value], descriptor: int, path: Path) -> None:
        super().__init__(kept)
        self._descriptor, self._path = descriptor, path

    def __setitem__(self, key: str, value: Value) -> None:
        super().__setitem__(key, value)
        line = json.dumps({"key": key, "value": value.tolist() if isinstance(value, np.ndarray) else value})
        # It is one write, so that the line is whole on disk, or is the broken last one that the next run skips.
        _append(self._descriptor, line.encode() + b"\n", self._path)


@contextlib.contextmanager
def stored(folder: str | os.PathLike[str], digest: str) -> Iterator[dict[str, Value]]:
    """Open the results in `folder`: a dictionary that writes every new item to disk at once.

    They are valid for one `digest` of sources and parameters, and discarded when that differs. OSError where the folder
    cannot be written.
    """
    path = Path(folder) / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = _read_lines(path)
    header = {"digest": digest}
    if not lines or lines[0] != header:
        lines = []
        with atomic_write(path) as temporary:
            temporary.write_text(json.dumps(header) + "\n", encoding="utf-8")
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        _append(descriptor, b"\n", path)  # a killed process may have left half a line, which ends here
        yield _Log(dict(item for line in lines if (item := _result(line))), descriptor, path)
    finally:
        os.close(descriptor)


@checked
def discard(folder: str | os.PathLike[str]) -> None:
    """Remove the results that a finished sweep kept in `folder`; no error if there are none."""
    path = Path(named(folder)) / FILE
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):  # a file in the place of the folder holds none
        path.unlink()
    with contextlib.suppress(OSError):  # the folder holds something else, or was never made
        path.parent.rmdir()


def named(folder: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """Return `folder`; ValueError for an empty name, which would mean the folder where the program was started."""
    if not os.fspath(folder):
        raise ValueError(f"folder must be the path of a folder, got {folder!r}")
    return folder


def _append(descriptor: int, line: bytes, path: Path) -> None:
    """Append by one write; where the disk is full the error names the file, which the system does not."""
    try:
        os.write(descriptor, line)
    except OSError as error:
        error.filename = str(path)
        raise


def _read_lines(path: Path) -> list[object]:
    """Return every line that can be read, as the object that it holds."""
    try:
        raw = path.read_bytes().splitlines()
    except OSError:
        return []
    lines: list[object] = []
    for line in raw:
        # What cannot be read is computed again, such as half a line, or brackets nested so deep that reading fails.
        with contextlib.suppress(ValueError, RecursionError):
            lines.append(json.loads(line))
    return lines


def _result(line: object) -> tuple[str, Value] | None:
    """Return (key, value) of a stored task, or None where the line is something else."""
    if not (isinstance(line, dict) and isinstance(line.get("key"), str)):
        return None
    try:
        array = np.array(line["value"], dtype=float)
    except (KeyError, TypeError, ValueError, OverflowError):  # an integer beyond the largest float overflows
        return None
    if not np.all(np.isfinite(array)):
        return None
    return line["key"], array if array.ndim else float(array)
