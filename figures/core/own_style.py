"""Draws a figure in a user's own style, at the width of a user's page, and with a user's own points over it."""

import math
import warnings
from pathlib import Path
from typing import Any

import pandas as pd

from figures.core.captions import caption_of, command
from figures.core.discover import load
from figures.core.experiment import Experiment
from figures.core.outputs import Outputs
from figures.core.plot import draw_figure
from figures.core.rows import COLUMNS, OWN
from figures.core.table import TableError, read_csv

OWN_POINTS = "own points"
ALLOWED = ("x", "y", "low", "high", "panel", "label")


def draw_styled(
    outputs: Outputs,
    folder: Path,
    *,
    style: Path | None = None,
    width: float | None = None,
    points: Path | None = None,
) -> tuple[Path, Path]:
    """Draw the table of an experiment as PDF and PNG in `folder`, and leave the figure of the project as it is.

    `style` is a file in the form of a matplotlibrc or a style sheet, whose settings come after those of the project;
    `width` is that of the figure in inches, whose height grows in proportion; `points` is a CSV file of own numbers
    (`read_points`), which are drawn as filled black markers. FileNotFoundError where the table was not computed;
    TableError for a file that is no style or holds no points, and for a width that leaves the panels no room.
    """
    experiment, rows = load(outputs.path), read_csv(outputs.table)
    if points is not None:
        rows = pd.concat([rows, read_points(points, experiment)], ignore_index=True)
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / f"{outputs.path.stem}.pdf", folder / f"{outputs.path.stem}.png"
    made = f"{command(outputs.path.stem)} (quality: {outputs.quality})"
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="constrained_layout not applied")
        try:
            draw_figure(
                experiment, rows, *paths, caption=caption_of(experiment, rows), made=made, style=style, width=width
            )
        except UserWarning as reason:
            raise TableError(f"{outputs.path.stem} has no room for its panels: choose a larger width") from reason
    return paths


def read_points(file: Path, experiment: Experiment) -> pd.DataFrame:
    """Read own points as rows that `draw_figure` draws over the figure of an experiment.

    The columns `x` and `y` are needed; `low` and `high` are the ends of a bar, `panel` is the title of the panel or
    its letter (the first panel where it is not given), and `label` the entry of the legend. TableError names what is
    wrong with the file, and the line.
    """
    try:
        table = pd.read_csv(file, dtype=str, keep_default_na=False, skipinitialspace=True)
    except (ValueError, UnicodeDecodeError) as error:  # pandas' own errors are among them
        raise TableError(f"{file} is no table of points: {' '.join(str(error).split())}") from error
    unknown = sorted(set(table.columns) - set(ALLOWED))
    if unknown or not {"x", "y"} <= set(table.columns) or ("low" in table) != ("high" in table):
        raise TableError(
            f"{file} must have the columns x and y, and may have low with high, panel and label; it has "
            f"{', '.join(map(str, table.columns)) or 'none'}"
        )
    titles = [panel.title for panel in experiment.resolved_panels()]
    lines = [_row(file, number, entry, titles) for number, entry in enumerate(table.to_dict("records"), start=2)]
    if not lines:
        raise TableError(f"{file} holds no points: it has a header only")
    return pd.DataFrame(lines, columns=list(COLUMNS))


def _row(file: Path, line: int, entry: dict[Any, Any], titles: list[str]) -> dict[str, object]:
    numbers = {name: _number(file, line, name, entry[name]) for name in ("x", "y", "low", "high") if name in entry}
    asked = entry.get("panel", "")
    letters = {chr(ord("a") + place): title for place, title in enumerate(titles)}
    title = titles[0] if not asked else asked if asked in titles else letters.get(asked)
    if title is None:
        raise TableError(f"{file}, line {line}: panel must be one of {', '.join(map(repr, titles))}, got {asked!r}")
    y = numbers["y"]
    bars = {"low": numbers.get("low", math.nan), "high": numbers.get("high", math.nan)}
    nothing = dict.fromkeys(COLUMNS, math.nan) | {"group": "", "converged": True}
    shown = {"panel": title, "curve": entry.get("label") or OWN_POINTS, "x": numbers["x"], "simulation": y}
    return {**nothing, **shown, **bars, "kind": OWN}


def _number(file: Path, line: int, name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise TableError(f"{file}, line {line}: {name} must be a finite number, got {text!r}")
    return value
