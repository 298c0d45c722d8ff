"""Describes the figure of an analysis, as an experiment whose table the analysis is."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from figures.analyse.matrix import table
from figures.analyse.matrix.dependent.record import CORRECTED
from figures.analyse.matrix.more_rows.lines import LIMIT, MORE, more_rows_looks
from figures.analyse.matrix.record import TUNED, TUNED_CORRECTED, MatrixAnalysis, curve_labels
from figures.core import Axes, Curve, DataFrame, Experiment, Panel

BLACK, DOTS, FINE = 6, ":", "-."


def as_experiment(analysis: MatrixAnalysis, title: str) -> Experiment:
    """Describe the axes and the drawing of the rows of an analysis, as the experiments do."""
    return Experiment(
        title=title,
        panels=panels(analysis.lams, analysis.d, analysis.labels[-1]),
        draw=decorate,
    )


def panels(lams: Sequence[float] | Any, d: int | None = None, tuned: str = TUNED) -> tuple[Panel, ...]:
    """Describe the three axes: held-out errors at `lams`, GCV of the same fits, and the choice of the ridge.

    `tuned` is the name of the curve whose ridge is chosen for each number of rows.
    """
    labels = curve_labels(np.asarray(lams, dtype=float), tuned)
    xlabel = "training rows $n$" + ("" if d is None else f" ($d = {d}$)")
    mean = {table.MEAN: _look(BLACK, "-")}
    learning = {label: _look(i, "-") for i, label in enumerate(labels)}
    learning |= {table.elliptical_label(label): _look(i, FINE) for i, label in enumerate(labels)}
    raw = {f"{tuned}, {table.RAW}": _look(BLACK, DOTS), table.RAW_TUNED_ELLIPTICAL: _look(BLACK, FINE)}
    choice = {table.GCV: _look(0, "-"), table.RAW: _look(BLACK, DOTS), table.LOO: _look(1), table.BEST: _look(0)}
    choice |= {table.RAW_ELLIPTICAL: _look(BLACK, FINE), table.BEST_LOO: _look(1)}
    choice |= {CORRECTED: _look(2, "-"), table.BLOCKS: _look(3), table.BEST_CORRECTED: _look(2)}
    training = learning | {CORRECTED: _look(BLACK)}
    held_out = learning | raw | mean | more_rows_looks(len(labels) - 1)
    return (
        _panel(table.HELD_OUT, held_out, xlabel, ylabel="mean squared error of a column"),
        _panel(table.TRAINING, training | mean, xlabel),
        _panel(table.CHOICE, choice | mean, r"ridge $\lambda$"),
    )


def decorate(axes: Axes, rows: DataFrame) -> None:
    """Give both learning curves the same limits, and each panel a legend that repeats nothing of another.

    That of held-out errors explains the lines, of which one elliptical line stands for all colors, and that of GCV the
    colors of both panels.
    """
    panel = rows["panel"].iloc[0]
    handles, labels = axes.get_legend_handles_labels()
    explained = (
        MORE,
        LIMIT,
        table.elliptical_label(TUNED),
        table.RAW_TUNED,
        table.RAW_TUNED_ELLIPTICAL,
        f"{TUNED_CORRECTED}, {table.RAW}",
    )
    if panel == table.HELD_OUT:
        shown = [label for label in labels if label in explained]
    else:
        elsewhere = {table.elliptical_label(label) for label in labels} - {table.RAW_ELLIPTICAL}
        elsewhere |= {table.MEAN} if panel == table.CHOICE else set()
        shown = [label for label in labels if label not in elsewhere]
    own = [labels.index(label) for label in shown]
    legend = axes.legend([handles[i] for i in own], [labels[i] for i in own], frameon=True)
    legend.get_frame().set(facecolor="white", edgecolor="none", alpha=0.85)
    theory = rows["theory"].dropna()
    measured = rows["simulation"][rows["simulation"] > 0]  # a logarithmic axis shows no others
    low = np.concatenate([0.97 * measured, 0.85 * theory])  # there may be no markers above zero, or no theory
    high = np.concatenate([1.2 * measured, 1.6 * theory])
    axes.set_ylim(low.min(), high.max())


def _look(color: int, style: str | None = None) -> Curve:
    return Curve(model=None, color=color, style=style)


def _panel(title: str, curves: dict[str, Curve], xlabel: str, ylabel: str | None = None) -> Panel:
    return Panel(title=title, curves=curves, xlabel=xlabel, ylabel=ylabel, xscale="log", yscale="log")
