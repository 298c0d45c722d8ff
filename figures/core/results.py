"""What an analysis leaves: its table, tables of its own, and its figure."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from figures.core.experiment import Experiment
from figures.core.rows import Row
from figures.core.scratch import moved_into_place

if TYPE_CHECKING:
    import pandas as pd


def write_results(
    output: Path,
    name: str,
    rows: list[Row],
    experiment: Experiment,
    frames: Mapping[str, "pd.DataFrame"] | None = None,
) -> list[Path]:
    """Files NAME.csv, NAME_KEY.csv of each of `frames`, NAME.pdf and NAME.png in `output`; OSError where that fails.

    Each is written beside its place and moved there: an earlier result is kept or replaced.
    """
    from figures.core.plot import draw_figure
    from figures.core.table import read_csv, write_csv

    table = output / f"{name}.csv"
    write_csv(rows, table)
    others = {output / f"{name}_{key}.csv": frame for key, frame in (frames or {}).items()}
    for path, frame in others.items():
        with moved_into_place(path) as scratch:
            frame.to_csv(scratch, index=False)
    figures = [output / f"{name}.{suffix}" for suffix in ("pdf", "png")]
    draw_figure(experiment, read_csv(table), *figures)
    return [table, *others, *figures]
