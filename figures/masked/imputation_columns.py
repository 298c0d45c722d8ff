"""The error at the holes of real tables is predicted column by column before anyone knows what is missing."""

from functools import cache, partial
from itertools import product

import numpy as np

from figures.core import Axes, Context, DataFrame, Experiment, Panel, Row, missing_extra, row
from simulate.core import Estimate, Task, stream
from simulate.masked import impute, with_holes
from theory.core.arrays import Array

TABLES = {"breast cancer": "load_breast_cancer", "wine": "load_wine"}
LIMITS = {"breast cancer": (0.001, 1.5), "wine": (0.1, 1.5)}
SHARES = (0.1, 0.3)
ROWS = 150


@cache
def table(name: str) -> Array:
    """Load a table in units of the standard deviations of its columns, (rows, columns)."""
    from sklearn import datasets

    rows = np.asarray(getattr(datasets, TABLES[name])()["data"], dtype=float)
    return np.asarray((rows - rows.mean(axis=0)) / rows.std(axis=0))


def errors(name: str, share: float, replicate: int) -> Array:
    """Make holes into some rows of a table; return predicted and realized squared errors of the columns, (2, d)."""
    rng = stream(0, "imputation_columns", name, share, replicate)
    X = table(name)[rng.permutation(len(table(name)))[:ROWS]]
    holed, seen = with_holes(X, share, rng)
    found = impute(holed, seen, check=False)
    holes = ~seen
    realized = np.where(holes, (found.table - X) ** 2, 0.0).sum(axis=0) / np.maximum(holes.sum(axis=0), 1)
    return np.array([found.error_by_column, np.where(holes.any(axis=0), realized, found.error_by_column)])


def compute(context: Context) -> list[Row]:
    replicates = context.replicates(12)
    cells = list(product(TABLES, SHARES))
    found = context.sweep(
        Task(f"{name}/{share}/{k}", errors, (name, share, k)) for name, share in cells for k in range(replicates)
    )
    rows = []
    for name, share in cells:
        values = np.array([found[f"{name}/{share}/{k}"] for k in range(replicates)])
        predicted = values[:, 0].mean(axis=0)
        for column in np.argsort(predicted):
            realized = Estimate.of(values[:, 1, column])
            rows.append(row(f"{share:.0%} missing", float(predicted[column]), panel=name, d=ROWS, estimate=realized))
    return rows


def draw(axes: Axes, rows: DataFrame) -> None:
    """Draw the line of a perfect prediction, those of twice and half of it, and that of filling with the mean."""
    for factor, style in ((0.5, "--"), (1, "-"), (2, "--")):
        axes.axline((0.1, 0.1 * factor), (1, factor), color="0.6", linewidth=0.8, linestyle=style, zorder=0)
    axes.axhline(1, color="0.8", linewidth=0.6, linestyle=":", zorder=0)
    del rows


EXPERIMENT = Experiment(
    title="How well holes are filled is known without their values, mostly within a factor of two",
    compute=compute,
    panels=tuple(Panel(title=name, xlim=ends, ylim=ends) for name, ends in LIMITS.items()),
    draw=draw,
    skip=partial(missing_extra, "figures", "sklearn"),
    xlabel="predicted squared error / variance",
    ylabel="realized squared error / variance",
    xscale="log",
    yscale="log",
    unjudged="a table is no sample of a known law, and replicates share its rows",
    caption="How well the holes of each column are filled is known without their true values. In 150 rows of each of "
    "two tables (30 and 13 columns, scaled to variance 1) 10 or 30 % of the entries are made holes and filled by "
    "expectation maximization with a ridge. Horizontal: the squared error that is predicted from the entries seen, "
    "which are hidden in turn. Vertical: that of the filled holes. Each marker is a column, a mean over {replicates} "
    "draws of rows and holes; bars that reach zero leave the frame. The diagonal is a perfect prediction, dashed "
    "lines are twice and half of it; at the dotted line filling is no better than the mean of the column.",
)
