"""What an analysis leaves on disk: its table, further tables of its own, and its figure."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from figures.analyse.errors import DataError
from figures.core import DataFrame, Experiment, Row
from figures.core.plain_text import escaped, safe_frame
from theory.core.atomic_write import atomic_write


def write_results(
    output: Path,
    name: str,
    rows: list[Row],
    experiment: Experiment,
    frames: Mapping[str, DataFrame],
    files: Mapping[str, str] | None = None,
) -> list[Path]:
    """Write NAME.csv, NAME_KEY.csv of `frames`, NAME_END of `files`, NAME.pdf and NAME.png, and return their paths.

    Each is written beside its place and moved there, so that an earlier result is kept or replaced as a whole. The
    title is the user's own: its dollars are shown, and are no mathematics. No name in them is a formula of a
    spreadsheet or moves a terminal. DataError where a file cannot be made.
    """
    from figures.core.plot import draw_figure
    from figures.core.table import read_csv, write_csv

    table = output / f"{name}.csv"
    others = {output / f"{name}_{key}.csv": frame for key, frame in frames.items()}
    texts = {output / f"{name}_{end}": content for end, content in (files or {}).items()}
    figures = [output / f"{name}.{suffix}" for suffix in ("pdf", "png")]
    try:
        write_csv(rows, table)
        for path, frame in others.items():
            with atomic_write(path) as temporary:
                safe_frame(frame).to_csv(temporary, index=False)
        for path, content in texts.items():
            with atomic_write(path) as temporary:
                temporary.write_text(escaped(content), encoding="utf-8")
        draw_figure(replace(experiment, title=experiment.title.replace("$", r"\$")), read_csv(table), *figures)
    except OSError as error:
        raise DataError(output, f"cannot be written to ({error.strerror or error})") from None
    return [table, *others, *texts, *figures]
