"""Describes the figure of an analysis, as an experiment whose table the analysis is."""

from typing import Any

from figures.analyse.text import table
from figures.analyse.text.record import EMBEDDING, RANDOM, RULES, VALUES
from figures.core import Axes, Curve, DataFrame, Experiment, Panel

LABELED = 4  # thresholds, each with a tick of its own
THRESHOLD = r"ambiguity threshold $\rho$"
SAME, DIFFERENT = "same topic", "different topic"
HUES = {f"C{int(overlap)}": rule for overlap, rule in RULES.items()}  # and what each means
# What each marker means; of these two, which have no rule, also the color.
MARKERS = {SAME: "o", DIFFERENT: "s", EMBEDDING: "D", VALUES: "^", RANDOM: "v", table.PERMUTED: "p"}
GRAYS = {RANDOM: "black", table.PERMUTED: "0.5"}
SHOWN = {
    table.COSINE: (SAME, DIFFERENT),
    table.DIFFERENCE: (EMBEDDING, RANDOM, table.PERMUTED),
    table.NULL: (EMBEDDING, VALUES, RANDOM),
}


def as_experiment(title: str) -> Experiment:
    """Describe the axes and the drawing of the rows of an analysis, as the experiments do."""
    return Experiment(title=title, panels=panels(), draw=decorate)


def panels() -> tuple[Panel, ...]:
    """Describe the three axes: mean cosines, their difference with its controls, and how far it is from chance."""
    labels = {
        table.COSINE: "mean cosine of two words",
        table.DIFFERENCE: "same topic minus different topic",
        table.NULL: r"$z$ of the difference",
    }
    return tuple(
        Panel(title=title, curves=_curves(shown), xlabel=THRESHOLD, ylabel=labels[title])
        for title, shown in SHOWN.items()
    )


def _curves(shown: tuple[str, ...]) -> dict[str, Curve]:
    """Declare the looks of all curves of a panel: their hue says the rule, and their marker what is shown."""
    found: dict[str, Any] = {name: Curve(color=GRAYS[name], marker=MARKERS[name]) for name in shown if name in GRAYS}
    for color, rule in enumerate(HUES.values()):
        found |= {f"{name}, {rule}": Curve(color=color, marker=MARKERS[name]) for name in shown if name not in GRAYS}
        found[rule] = Curve(color=color, marker=MARKERS[EMBEDDING])
    return found


def decorate(axes: Axes, rows: DataFrame) -> None:
    """Draw thin lines between points and at zero, and explain hues once and markers in each panel."""
    axes.axhline(0, color="0.8", linewidth=0.6, zorder=0)
    for label, points in rows.sort_values("x").groupby("curve", sort=False):
        values = points["simulation"].where(points["simulation"].notna(), points["theory"])
        color = next(line.get_color() for line in axes.lines if line.get_gid() == label)
        axes.plot(points["x"], values, color=color, linewidth=0.8, zorder=1)
    thresholds = sorted(set(rows["x"]))
    if len(thresholds) <= LABELED:
        axes.set_xticks(thresholds, [f"{x:.3g}" for x in thresholds])
    _explain(axes, rows["panel"].iloc[0], set(rows["curve"]))


def _explain(axes: Axes, panel: str, labels: set[str]) -> None:
    """Write a legend of what hues and markers mean in place of one of all curves."""
    drawn: list[Any] = [*axes.lines, *axes.containers]
    for artist in drawn:
        artist.set_label("_nolegend_")
    if panel == table.COSINE:
        for color, rule in HUES.items():
            if any(label.endswith(f", {rule}") for label in labels):
                axes.plot([], [], color=color, linewidth=0.8, label=rule)
    for name in SHOWN[panel]:
        rules = RULES.values() if name == EMBEDDING else ()
        if any(label.split(", ")[0] in (name, *rules) for label in labels):
            look: dict[str, Any] = {"color": GRAYS.get(name, "0.3"), "linestyle": "", "markerfacecolor": "white"}
            axes.plot([], [], marker=MARKERS[name], **look, label=name)
    axes.legend()
