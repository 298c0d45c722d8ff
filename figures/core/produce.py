"""An experiment's files: its table, its figure, and the finished replicates of an interrupted run."""

import hashlib
from dataclasses import replace
from pathlib import Path

from figures.core.compute import compute_rows
from figures.core.context import Context
from figures.core.discover import FIGURES, load
from figures.core.scratch import moved_into_place
from figures.core.sources import digest
from figures.core.table import read_csv, write_csv
from simulate.core import discard

OUTPUT = FIGURES / "output"


class Skipped(Exception):
    """An optional input is missing; the message says which."""


def run(path: Path, output: Path, context: Context, *, force: bool = False) -> Path:
    """The table of an experiment: computed, unless the one there is whole and was made from these very sources.

    What an earlier, interrupted run finished is taken over. Skipped where an optional input is missing.
    """
    key = digest(path, context.quality)
    table = output / f"{path.stem}.csv"
    if not force and is_intact(path, output) and _marks(path, output)[0] == key:
        table.touch()  # for make, which compares times
        return table
    experiment = load(path)
    reason = experiment.skip() if experiment.skip is not None else None
    if reason:
        raise Skipped(f"{path.stem} is skipped: {reason}")
    partial = output / ".partial" / path.stem
    write_csv(compute_rows(experiment, replace(context, folder=partial, digest=key)), table)
    with moved_into_place(_mark(path, output)) as mark:
        mark.write_text(f"{key}\n{_content(table)}\n", encoding="utf-8")
    discard(partial)
    return table


def draw(path: Path, output: Path) -> tuple[Path, Path]:
    """Draw PDF and PNG from the table. FileNotFoundError where it was not computed."""
    from figures.core.plot import draw_figure  # half a second of matplotlib that a table does not need

    pdf, png = (output / f"{path.stem}.{suffix}" for suffix in ("pdf", "png"))
    draw_figure(load(path), read_csv(output / f"{path.stem}.csv"), pdf, png)
    return pdf, png


def is_fresh(path: Path, output: Path, quality: str) -> bool:
    """Whether the table there is intact, and made from the sources as they are now and at this quality."""
    return is_intact(path, output) and _marks(path, output)[0] == digest(path, quality)


def is_intact(path: Path, output: Path) -> bool:
    """Whether the table there is the one that was written."""
    table, marks = output / f"{path.stem}.csv", _marks(path, output)
    return table.exists() and len(marks) == 2 and marks[1] == _content(table)


def _mark(path: Path, output: Path) -> Path:
    """Beside the table: the digest of the sources that it was made from, and its own."""
    return output / f".{path.stem}.digest"


def _marks(path: Path, output: Path) -> list[str]:
    mark = _mark(path, output)
    return mark.read_text(encoding="utf-8", errors="replace").split() if mark.exists() else []


def _content(table: Path) -> str:
    return hashlib.sha256(table.read_bytes()).hexdigest()
