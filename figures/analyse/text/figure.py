"""Describes the figure of an analysis, as an experiment whose table the analysis is."""

from figures.analyse.text import table
from figures.core import Axes, DataFrame, Experiment, Panel

LABELED = 4  # thresholds, each with a tick of its own
THRESHOLD = r"ambiguity threshold $\rho$"


def as_experiment(title: str) -> Experiment:
    """Describe the axes and the drawing of the rows of an analysis, as the experiments do."""
    return Experiment(title=title, panels=panels(), draw=decorate)


def panels() -> tuple[Panel, ...]:
    """Describe the three axes: mean cosines, their difference with its controls, and how far it is from chance."""
    return (
        Panel(title=table.COSINE, xlabel=THRESHOLD, ylabel="mean cosine of two words"),
        Panel(title=table.DIFFERENCE, xlabel=THRESHOLD, ylabel="same topic minus different topic"),
        Panel(title=table.NULL, xlabel=THRESHOLD, ylabel=r"$z$ of the difference"),
    )


def decorate(axes: Axes, rows: DataFrame) -> None:
    """Draw thin lines between points and at zero."""
    axes.axhline(0, color="0.8", linewidth=0.6, zorder=0)
    for k, label in enumerate(rows["curve"].drop_duplicates()):
        points = rows[rows["curve"] == label].sort_values("x")
        values = points["simulation"].where(points["simulation"].notna(), points["theory"])
        axes.plot(points["x"], values, color=f"C{k}", linewidth=0.8, zorder=1)
    thresholds = sorted(set(rows["x"]))
    if len(thresholds) <= LABELED:
        axes.set_xticks(thresholds, [f"{x:.3g}" for x in thresholds])
