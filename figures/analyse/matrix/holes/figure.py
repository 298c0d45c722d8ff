"""Describes the figure of a table with holes, as an experiment whose table the analysis is."""

from collections.abc import Sequence

import numpy as np

from figures.analyse.matrix.holes import table
from figures.analyse.matrix.holes.record import METHOD_NAMES
from figures.core import Axes, Curve, DataFrame, Experiment, Panel, Row

BLACK = 6


def holes_experiment(title: str, rows: Sequence[Row]) -> Experiment:
    """Describe the axes that have rows, and how the rows of an analysis are drawn, as the experiments do."""
    there = {entry["panel"] for entry in rows}
    panels = [panel for panel in holes_panels() if panel.title in there]
    return Experiment(title=title, panels=panels, draw=decorate_holes)


def holes_panels() -> tuple[Panel, ...]:
    """Describe the three axes: choice of the ridge, found against expected errors, and fewer rows."""
    mean = {table.MEAN: Curve(model=None, color=BLACK, style="-")}
    methods = {name: Curve(model=None, color=i) for i, name in enumerate(METHOD_NAMES.values())}
    found = {table.FOUND: Curve(model=None, color=3)}
    best = {table.BEST: Curve(model=None, color=4)}
    equal = {table.EQUAL: Curve(model=None, color=BLACK, style="-")}
    rows = {table.EXPECTED_ROWS: Curve(model=None, color=1)}
    error = "mean squared error over variance"
    return (
        Panel(
            title=table.RIDGE,
            curves=methods | best | found | mean,
            xlabel=r"ridge $\lambda$",
            ylabel=error,
            xscale="log",
        ),
        Panel(title=table.COLUMNS, curves=found | equal, xlabel="expected error", ylabel="error found"),
        Panel(title=table.ROWS, curves=rows | mean, xlabel="rows", ylabel=error, xscale="log"),
    )


def decorate_holes(axes: Axes, rows: DataFrame) -> None:
    """Join the points of a curve, and let axes of errors begin at zero: errors are compared with that of the mean."""
    axes.set_ylim(0, None)
    if rows["panel"].iloc[0] == table.COLUMNS:
        axes.set_xlim(0, None)
        return
    for line in axes.get_lines():
        if line.get_marker() not in ("None", "") and len(np.atleast_1d(line.get_xdata())) > 1:
            line.set_linestyle("-")
