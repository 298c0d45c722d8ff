"""Keeps what an analysis has finished, so that the same analysis goes on from there after an interruption.

Two things are kept in one folder: the values of finished tasks, as `simulate.core.sweep` stores them, and the files of
long runs that go on from within, such as Boltzmann learning.
"""

import argparse
import contextlib
import hashlib
import json
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from figures.core.places import ROOT, WINGS
from simulate.core import discard
from simulate.core.store import FILE

UNREAD = ("file", "output", "jobs", "json", "estimate", "typed")  # options on which no number depends
DIGITS = 16  # of the digest, in the names of files
LEARNING, TOPICS, MASKS = "learning", "topics", "masks"
RUNS = {LEARNING: "Boltzmann learning", TOPICS: "the sampling of topics", MASKS: "the fit to masked documents"}
BROKEN = "what an interrupted analysis left cannot be read: it is not used"
OF_ANOTHER = "an interrupted analysis was of other data, other options or another version: it is not used"


@dataclass(frozen=True)
class Finished:
    """The folder in which finished tasks are kept, and the digest of all that they depend on; None keeps nothing."""

    folder: Path | None = None
    digest: str = ""

    def file(self, name: str) -> Path | None:
        """Return the file in which one long run is kept, in a folder that is made; None where nothing is kept.

        Its name holds the digest, so that a run never meets the file of another analysis.
        """
        if self.folder is None:
            return None
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / self._name(name)

    def said(self) -> str | None:
        """Say in one line what an interrupted analysis left here, or return None where there is nothing."""
        if self.folder is None:
            return None
        begun = [words for run, words in RUNS.items() if _is_whole(self.folder / self._name(run))]
        number = 0
        if (self.folder / FILE).exists():
            try:
                first, *lines = (self.folder / FILE).read_bytes().splitlines()
                digest = json.loads(first)["digest"]
            except (OSError, ValueError, KeyError, TypeError, RecursionError):
                return BROKEN
            if digest != self.digest:
                return OF_ANOTHER
            number = sum(b'"key"' in line for line in lines)
        elif not begun and (left := [*self.folder.glob("*.npz")]):
            return BROKEN if any(path.name in map(self._name, RUNS) for path in left) else OF_ANOTHER
        parts = [*([f"{number} of its tasks are finished"] if number else []), *(f"{each} goes on" for each in begun)]
        return f"goes on where an interrupted analysis stopped: {', and '.join(parts)}" if parts else None

    def tidy(self) -> None:
        """Remove the files of runs that cannot be gone on from, as they are broken or of another analysis."""
        for path in [] if self.folder is None else self.folder.glob("*.npz"):
            if f".{self.digest[:DIGITS]}." not in path.name or not _is_whole(path):
                path.unlink(missing_ok=True)

    def discard(self) -> None:
        """Remove what was kept, with the folder of all such folders where no other analysis keeps anything."""
        if self.folder is not None:
            for path in self.folder.glob("*.npz"):
                path.unlink(missing_ok=True)
            discard(self.folder)
            with contextlib.suppress(OSError):  # another analysis keeps something there, or nothing was kept
                self.folder.parent.rmdir()

    def _name(self, run: str) -> str:
        return f"{run}.{self.digest[:DIGITS]}.npz"


NOTHING = Finished()  # keeps nothing


def finished(options: argparse.Namespace, name: str, output: Path | None = None) -> Finished:
    """Return where an analysis called `name` keeps its tasks: in `.partial/NAME` of the `output` folder of the options.

    They are valid for the name and the contents of the file, or of all files of a folder of texts, for the contents of
    all files that options name, for all options on which a number depends, and for the sources of this project. Nothing
    is kept for what is no regular file, which may be read once only, nor where a file cannot be read, which the
    analysis will say.
    """
    if not (options.file.is_file() or options.file.is_dir()):
        return NOTHING
    read = {key: value for key, value in sorted(vars(options).items()) if key not in UNREAD}
    state = hashlib.sha256(repr((options.file.name, read)).encode())
    try:
        for path in (*_data(options.file), *_files(read.values())):
            with path.open("rb") as file:
                state.update(hashlib.file_digest(file, "sha256").digest())
    except OSError:
        return NOTHING
    return Finished((output or options.output) / ".partial" / name, state.hexdigest())


def _data(given: Path) -> list[Path]:
    """Return the file, or all files of a folder and below."""
    return [given] if given.is_file() else sorted(path for path in given.rglob("*") if path.is_file())


def _files(values: Iterable[Any]) -> Iterator[Path]:
    """Yield the files that options name, and the sources."""
    for value in values:
        if isinstance(value, str | Path):
            path = Path(value)
            with contextlib.suppress(OSError, ValueError):  # the text of an option may be no name of a file
                if path.is_file():
                    yield path
    for wing in WINGS:
        yield from sorted((ROOT / wing).rglob("*.py"))


def _is_whole(path: Path) -> bool:
    """Say whether a file of arrays is there, and is as it was written by its own checksums."""
    try:
        with zipfile.ZipFile(path) as file:
            return file.testzip() is None
    except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError):
        return False
