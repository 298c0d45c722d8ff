"""Keeps what an analysis has finished, so that the same analysis goes on from there after an interruption."""

import argparse
import contextlib
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from figures.core.sources import ROOT, WINGS
from simulate.core import discard
from simulate.core.store import FILE

UNREAD = ("output", "jobs", "json", "estimate", "typed")  # options on which no number depends


@dataclass(frozen=True)
class Finished:
    """The folder in which finished tasks are kept, and the digest of all that they depend on; None keeps nothing."""

    folder: Path | None = None
    digest: str = ""

    def said(self) -> str | None:
        """Say in one line what an interrupted analysis left here, or return None where there is nothing."""
        if self.folder is None or not (self.folder / FILE).exists():
            return None
        try:
            first, *lines = (self.folder / FILE).read_bytes().splitlines()
            digest = json.loads(first)["digest"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return "what an interrupted analysis left cannot be read: it is not used"
        if digest != self.digest:
            return "an interrupted analysis was of other data, other options or another version: it is not used"
        number = sum(b'"key"' in line for line in lines)
        return f"goes on where an interrupted analysis stopped: {number} of its tasks are finished" if number else None

    def discard(self) -> None:
        """Remove what was kept, with the folder of all such folders where no other analysis keeps anything."""
        if self.folder is not None:
            discard(self.folder)
            with contextlib.suppress(OSError):  # another analysis keeps something there, or nothing was kept
                self.folder.parent.rmdir()


NOTHING = Finished()  # keeps nothing


def finished(options: argparse.Namespace, name: str) -> Finished:
    """Return where an analysis called `name` keeps its tasks: in `.partial/NAME` of the output folder.

    They are valid for the contents of the file and of all files that options name, for all options on which a number
    depends, and for the sources of this project. Nothing is kept for what is no regular file, which may be read once
    only, nor where a file cannot be read, which the analysis will say.
    """
    if not options.file.is_file():
        return NOTHING
    read = {key: value for key, value in sorted(vars(options).items()) if key not in UNREAD}
    state = hashlib.sha256(repr(read).encode())
    try:
        for path in _files(read.values()):
            with path.open("rb") as file:
                state.update(hashlib.file_digest(file, "sha256").digest())
    except OSError:
        return NOTHING
    return Finished(options.output / ".partial" / name, state.hexdigest())


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
