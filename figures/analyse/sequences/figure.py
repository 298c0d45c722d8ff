"""Describes the figure of an analysis, as an experiment whose table the analysis is."""

import numpy as np

from figures.analyse.sequences import table
from figures.analyse.sequences.pairs.map import mark_sites
from figures.core import Axes, Curve, DataFrame, Experiment, Panel

DARKEST_PERCENTILE = 99.8  # percentile of the scores: a single strong pair would leave the rest white
NAMED = 10  # pairs whose sites are named
DASHES = {table.PAIR: "-", table.ALONE: "--", table.UNIFORM: ":"}
PREDICTED = {table.PAIR: "from all other sites", table.ALONE: "from its own column", table.UNIFORM: "by guessing"}


SCORE_LABEL = "score of the pair (strength of its couplings)"
DEPENDS = "dependence of the pair beyond other sites"


def as_experiment(title: str, *, is_short: bool = False) -> Experiment:
    """Describe the axes and the drawing of the rows of an analysis, as the experiments do."""
    return Experiment(title=title, panels=panels(is_short=is_short), draw=decorate)


def panels(*, is_short: bool = False) -> tuple[Panel, ...]:
    """Describe the three axes: learning curves, the map, and its strongest pairs, by score or dependence."""
    looks = {label: Curve(model=None, color=k, style=style) for k, (label, style) in enumerate(DASHES.items())}
    return (
        Panel(
            title=table.LEARNING,
            curves=looks,
            xlabel="training sequences $M$",
            ylabel="$-\\log$ probability of a hidden letter (nats)",
            xscale="log",
        ),
        Panel(title=table.MAP, xlabel="site $i$", ylabel="site $j$"),
        Panel(title=table.RANKED, xlabel="rank", ylabel=DEPENDS if is_short else SCORE_LABEL),
    )


def decorate(axes: Axes, rows: DataFrame) -> None:
    """Draw lines between measured points, the map as an image, and the names of the strongest pairs."""
    if len(rows):  # no pair may be far enough apart to be ranked
        {table.LEARNING: _learning, table.MAP: draw_map, table.RANKED: _ranked}[rows["panel"].iloc[0]](axes, rows)


def draw_map(axes: Axes, rows: DataFrame) -> None:
    """Draw the scores of all pairs of sites, numbered by their columns, and circles around the known contacts."""
    title, labels = axes.get_title(), (axes.get_xlabel(), axes.get_ylabel())
    values = rows[rows["curve"] == table.SCORES].sort_values("x")["simulation"].to_numpy(dtype=float)
    scores = table.map_of(values)
    top = max(float(np.percentile(values, DARKEST_PERCENTILE)), 1e-12)
    axes.clear()
    image = axes.imshow(
        np.clip(scores, 0, None),
        cmap="Greys",
        vmin=0,
        vmax=top,
        extent=(0.5, len(scores) + 0.5, len(scores) + 0.5, 0.5),
    )
    axes.set(title=title, xlabel=labels[0], ylabel=labels[1])
    mark_sites(axes, rows)
    axes.figure.colorbar(image, cax=axes.inset_axes((1.03, 0.0, 0.04, 1.0)), extend="max", label="score")


def _learning(axes: Axes, rows: DataFrame) -> None:
    for k, label in enumerate(DASHES):
        points = rows[(rows["curve"] == label) & rows["simulation"].notna()].sort_values("x")
        axes.plot(points["x"], points["simulation"], color=f"C{k}", linestyle=DASHES[label], zorder=1)
    for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
        handle.set_label(PREDICTED.get(label, label))
    axes.legend()  # placed once more, clear of these lines


def _ranked(axes: Axes, rows: DataFrame) -> None:
    title, labels = axes.get_title(), (axes.get_xlabel(), axes.get_ylabel())
    axes.clear()
    noise = rows[rows["curve"] == table.NOISE]
    pairs = rows[rows["curve"] != table.NOISE].sort_values("x")
    axes.plot(pairs["x"], pairs["simulation"], "o", color="0.35", markerfacecolor="white")  # as in the map
    axes.plot(noise["x"], noise["theory"], ":", color="0.4")
    above = pairs[pairs["simulation"] > noise["theory"].max()] if len(noise) else pairs
    names = [name.removeprefix("_").replace("-", "\N{EN DASH}") for name in above["curve"][:NAMED]]
    listed = "\n".join(["the strongest:", *names]) if names else "none above noise (dotted)"
    axes.text(0.97, 0.97, listed, transform=axes.transAxes, ha="right", va="top", fontsize=7)
    axes.set(title=title, xlabel=labels[0], ylabel=labels[1])
    axes.set_ylim(bottom=0)
