"""Rows of two public tables differ in scale: errors beside the theory of such rows and the Gaussian one."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from figures.analyse.matrix import analyse_matrix
from figures.core import Axes, Context, Curve, DataFrame, Experiment, Panel, Row, missing_extra
from simulate.core import Task
from theory.core.arrays import Array

LAMS = (0.01, 0.1)  # the columns have the variance 1
TABLES = {"breast cancer": "load_breast_cancer", "wine": "load_wine"}
ERROR, REPORTED = "held-out rows", "GCV of the training rows"
SHOWN = {"breast cancer": (ERROR, REPORTED), "wine": (ERROR,)}


def table(name: str) -> Array:
    """Load a table, (rows, columns)."""
    from sklearn import datasets

    return np.asarray(getattr(datasets, TABLES[name])()["data"], dtype=float)


def compute(context: Context) -> list[Row]:
    """Take the learning curves at LAMS from the analyses that `figures analyse --standardize` makes."""
    return [line for name in TABLES for line in learning_curves(name, context)]


def learning_curves(name: str, context: Context) -> list[Row]:
    run = partial(named_sweep, name, context)
    found = analyse_matrix(table(name), lams=LAMS, standardize=True, repeats=context.replicates(40), run=run)
    curves = [f"{label}{kind}" for label in found.labels[: len(LAMS)] for kind in ("", ", elliptical")]
    shown = [line for line in found.rows if line["panel"] in SHOWN[name] and line["curve"] in curves]
    return [{**line, "panel": f"{name}, {line['panel']}"} for line in shown]


def named_sweep(name: str, context: Context, tasks: Iterable[Task]) -> dict[str, Any]:
    """Carry out the tasks under names of their own, because both tables share one folder of finished tasks."""
    return context.sweep(task._replace(key=f"{name}/{task.key}") for task in tasks)


def legend(axes: Axes, rows: DataFrame) -> None:
    """Names the lines where there is room for it, once."""
    shown = axes.legend(loc="upper right")
    shown.set_visible(rows["panel"].iloc[0].startswith("wine"))


def panel(title: str, ylabel: str | None = None) -> Panel:
    names = [rf"$\lambda = {lam}$" for lam in LAMS]
    curves = {name: Curve(model=None, color=i, style="-") for i, name in enumerate(names)}
    curves |= {f"{name}, elliptical": Curve(model=None, color=i, style="-.") for i, name in enumerate(names)}
    return Panel(title=title, curves=curves, ylabel=ylabel, ordered=True)


EXPERIMENT = Experiment(
    title="From about 40 rows on, rows of different scale raise the errors on two tables",
    compute=compute,
    panels=(
        panel(f"breast cancer, {ERROR}", ylabel="mean squared error of a column"),
        panel(f"breast cancer, {REPORTED}"),
        panel(f"wine, {ERROR}"),
    ),
    draw=legend,
    skip=partial(missing_extra, "figures", "sklearn"),
    xlabel="training rows $n$",
    xscale="log",
    yscale="log",
    unjudged="the rows are not Gaussian, and random splits share rows, so that their scatter is not all of the error",
    caption="From about 40 rows on, errors on two real tables exceed Gaussian theory, since their rows differ in "
    "scale; for tumors cross-validation then reports too little. Every column, of variance 1, is predicted from the "
    "others by masked ridge regression. (a) Tumors, (c) wines: markers are errors on held-out rows over random "
    "splits; (b) what generalized cross-validation of the same fits reports. Lines, from 10 rows on, are Gaussian "
    "theory (solid) and that of rows of different scale (dash-dotted, elliptical); covariance and scales come from "
    "all rows, nothing is fitted to markers. The mean square of the scales is 7.2(2.1) and 1.3(1), of Gaussian rows "
    "1. For tumors at ridge 0.1 both theories miss by 3 to 10 %.",
)
