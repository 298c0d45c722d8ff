"""Keeps the files of an experiment: its table, its pictures and caption, and replicates of an interrupted run.

Beside each table lies a mark, `.NAME.digest`: the digest of the sources that the table was computed from, that of its
own content, and that of everything the pictures were drawn from, and the quality of the table. A file is made again
where its digest differs.
"""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from figures.core.compute import compute_rows
from figures.core.context import Context
from figures.core.discover import OUTPUT, load
from figures.core.sources import SourceTree
from figures.core.table import read_csv, write_csv
from simulate.core import discard
from theory.core.atomic_write import atomic_write

__all__ = ["OUTPUT", "Outputs", "Skipped", "draw", "run"]


class Skipped(Exception):
    """An optional input of the experiment `name` is missing; `reason` says which, and what cures it."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)  # both, so that it survives pickling
        self.name, self.reason = name, reason

    def __str__(self) -> str:
        return f"{self.name} is skipped: {self.reason}"


class Outputs(NamedTuple):
    """The files of the experiment in `path`, in the folder `output`, as the sources in `tree` say they should be."""

    path: Path
    output: Path
    tree: SourceTree

    @property
    def table(self) -> Path:
        """The path of the CSV file."""
        return self.output / f"{self.path.stem}.csv"

    @property
    def pictures(self) -> tuple[Path, Path]:
        """The paths of the PDF and the PNG."""
        return self.output / f"{self.path.stem}.pdf", self.output / f"{self.path.stem}.png"

    @property
    def page(self) -> Path:
        """The path of the caption, a page in markdown."""
        return self.output / f"{self.path.stem}.md"

    @property
    def drawn(self) -> tuple[Path, Path, Path]:
        """The paths of all that is made from the table: PDF, PNG and caption."""
        return *self.pictures, self.page

    def table_key(self, quality: str) -> str:
        """Return the digest of everything that a table of this quality depends on."""
        return self.tree.digest(self.tree.table_sources(self.path), quality)

    def picture_key(self) -> str:
        """Return the digest of the table as it is, of its quality, and of what draws it."""
        return self.tree.digest(self.tree.picture_sources(self.path), _content(self.table), self.quality)

    def has_whole_table(self) -> bool:
        """Say whether the table there is the one that was written."""
        return self.table.exists() and self._marks()[1] == _content(self.table)

    def has_fresh_table(self, quality: str) -> bool:
        """Say whether the table there is whole, and computed from the sources as they are now and at this quality."""
        return self.has_whole_table() and self._marks()[0] == self.table_key(quality)

    def has_fresh_pictures(self) -> bool:
        """Say whether pictures and caption are there, and made from the table and the sources as they are now."""
        return all(file.exists() for file in self.drawn) and self._marks()[2] == self.picture_key()

    @property
    def quality(self) -> str:
        """The quality at which the table there was computed."""
        return self._marks()[3]

    def mark_table(self, key: str, quality: str) -> None:
        """Note that the table there was computed at this quality from sources of this digest."""
        self._mark(key, _content(self.table), self._marks()[2], quality)

    def mark_pictures(self) -> None:
        """Note that the pictures there are drawn from the table and the sources as they are now."""
        self._mark(*self._marks()[:2], self.picture_key(), self.quality)

    def _mark(self, *digests: str) -> None:
        with atomic_write(self.output / f".{self.path.stem}.digest") as temporary:
            temporary.write_text("".join(f"{digest or '-'}\n" for digest in digests), encoding="utf-8")

    def _marks(self) -> list[str]:
        mark = self.output / f".{self.path.stem}.digest"
        lines = mark.read_text(encoding="utf-8", errors="replace").split() if mark.exists() else []
        return [*lines, "", "", "", ""][:4]


def run(outputs: Outputs, context: Context, *, force: bool = False) -> Path:
    """Compute the table of an experiment, unless the one there is whole and was made from these very sources.

    What an earlier, interrupted run finished is taken over. Skipped where an optional input is missing.
    """
    if not force and outputs.has_fresh_table(context.quality):
        return outputs.table
    key = outputs.table_key(context.quality)
    experiment = load(outputs.path)
    reason = experiment.skip() if experiment.skip is not None else None
    if reason:
        raise Skipped(outputs.path.stem, reason)
    partial = outputs.output / ".partial" / outputs.path.stem
    write_csv(compute_rows(experiment, replace(context, folder=partial, digest=key)), outputs.table)
    outputs.mark_table(key, context.quality)
    discard(partial)
    return outputs.table


def draw(outputs: Outputs) -> tuple[Path, Path, Path]:
    """Draw PDF and PNG from the table, and write the caption. FileNotFoundError where the table was not computed."""
    from figures.core.captions import caption_of, command, page_of
    from figures.core.plot import draw_figure  # matplotlib takes half a second to load, which a table does not need

    experiment, rows = load(outputs.path), read_csv(outputs.table)
    made = f"{command(outputs.path.stem)} (quality: {outputs.quality})"
    draw_figure(experiment, rows, *outputs.pictures, caption=caption_of(experiment, rows), made=made)
    with atomic_write(outputs.page) as temporary:
        temporary.write_text(page_of(experiment, rows, outputs.path, outputs.quality), encoding="utf-8")
    outputs.mark_pictures()
    return outputs.drawn


def _content(table: Path) -> str:
    return hashlib.sha256(table.read_bytes()).hexdigest()
