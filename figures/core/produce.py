"""An experiment's files: its table, its figure, and the finished replicates of an interrupted run."""

from dataclasses import replace
from pathlib import Path

from figures.core.compute import compute_rows
from figures.core.context import Context
from figures.core.discover import FIGURES, load
from figures.core.sources import digest
from figures.core.table import read_csv, write_csv
from simulate.core import discard

OUTPUT = FIGURES / "output"


class Skipped(Exception):
    """An optional input is missing; the message says which."""


def run(path: Path, output: Path, context: Context, *, force: bool = False) -> Path:
    """The table of an experiment: computed, unless the one there was made from these very sources.

    What an earlier, interrupted run finished is taken over. Skipped where an optional input is missing.
    """
    key = digest(path, context.quality)
    table = output / f"{path.stem}.csv"
    if is_fresh(path, output, key) and not force:
        table.touch()  # for make, which compares times
        return table
    experiment = load(path)
    reason = experiment.skip() if experiment.skip is not None else None
    if reason:
        raise Skipped(f"{path.stem} is skipped: {reason}")
    partial = output / ".partial" / path.stem
    write_csv(compute_rows(experiment, replace(context, folder=partial, digest=key)), table)
    _key_file(path, output).write_text(key, encoding="utf-8")
    discard(partial)
    return table


def draw(path: Path, output: Path) -> tuple[Path, Path]:
    """Draw PDF and PNG from the table. FileNotFoundError where it was not computed."""
    from figures.core.plot import draw_figure  # half a second of matplotlib that a table does not need

    pdf, png = (output / f"{path.stem}.{suffix}" for suffix in ("pdf", "png"))
    draw_figure(load(path), read_csv(output / f"{path.stem}.csv"), pdf, png)
    return pdf, png


def is_fresh(path: Path, output: Path, key: str) -> bool:
    """Whether the table there belongs to the digest `key`."""
    mark = _key_file(path, output)
    return (output / f"{path.stem}.csv").exists() and mark.exists() and mark.read_text(encoding="utf-8") == key


def _key_file(path: Path, output: Path) -> Path:
    """Beside the table: the digest it was made from."""
    return output / f".{path.stem}.digest"
