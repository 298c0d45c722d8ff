"""On real tables whose rows resemble their neighbors GCV and leaving one row out report far too small errors."""

from functools import cache, partial

import numpy as np

from figures.core import Axes, Context, DataFrame, Experiment, Row, missing_extra, row
from simulate.core import Estimate, Task
from simulate.masked import window_errors
from theory.core.arrays import Array

LAM = 0.1  # the columns have the variance 1
MOST_COLUMNS = 24
REPORTS = {
    "corrected": "corrected GCV",
    "blocks_with_gap": "5 blocks with a gap",
    "blocks": "5 blocks",
    "gcv": "GCV",
    "loo": "leaving one row out",
}
DIGITS, TUMORS, WINES = "digits", "tumors", "wines by\nsort"
COLUMNS, LINES = "temple,\ncolumns", "flower,\nlines"
RATIOS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # that the axis of logarithms names
TABLES = (DIGITS, TUMORS, WINES, COLUMNS, LINES)


@cache
def table(name: str) -> Array:
    """Load a table in its order, (rows, columns), with at most 24 columns, none of them constant."""
    from sklearn import datasets

    if name in (COLUMNS, LINES):
        pixels = datasets.load_sample_image("flower.jpg" if name == LINES else "china.jpg").mean(axis=2)
        rows = pixels.T if name == COLUMNS else pixels
    else:
        load = {DIGITS: datasets.load_digits, TUMORS: datasets.load_breast_cancer, WINES: datasets.load_wine}[name]
        rows = load()["data"]
        rows = rows[:, rows.std(axis=0) > 4] if name == DIGITS else rows  # pixels that are often inked
    chosen = np.linspace(0, rows.shape[1] - 1, min(MOST_COLUMNS, rows.shape[1])).astype(int)
    return np.asarray(rows[:, chosen], dtype=float)


def lag_one(name: str) -> float:
    rows = (table(name) - table(name).mean(axis=0)) / table(name).std(axis=0)
    return float(np.vdot(rows[1:], rows[:-1]) / np.vdot(rows, rows))


def ratios(name: str) -> Array:
    """Return the logarithms (windows, reports) of what windows of 2 d rows report over their errors on later rows."""
    rows = table(name)
    found = window_errors(rows, 2 * rows.shape[1], [LAM])
    return np.asarray(np.log10([(getattr(found, report) / found.held_out)[:, 0] for report in REPORTS])).T


def compute(context: Context) -> list[Row]:
    chosen = TABLES[1:3] if context.is_draft else TABLES
    found = context.sweep(Task(name, ratios, (name,)) for name in chosen)
    return [
        row(label, place + 0.12 * (k - 2), d=table(name).shape[1], estimate=Estimate.of(np.asarray(found[name])[:, k]))
        for place, name in enumerate(chosen)
        for k, label in enumerate(REPORTS.values())
    ]


def draw(axes: Axes, rows: DataFrame) -> None:
    """Name the tables with the correlation of successive rows, and mark where a report is right."""
    axes.axhline(0, color="0.8", linewidth=0.6, zorder=0)
    axes.set_yticks(np.log10(RATIOS), [f"{ratio:g}" for ratio in RATIOS])
    places = sorted({round(x) for x in rows["x"]})
    chosen = TABLES if len(places) > 2 else TABLES[1:3]
    axes.set_xticks(places, [f"{chosen[place]}\n{lag_one(chosen[place]):.2f}" for place in places])


EXPERIMENT = Experiment(
    title="Cross-validation reports too small errors for strongly correlated rows",
    compute=compute,
    draw=draw,
    skip=partial(missing_extra, "figures", "sklearn"),
    xlabel="table, and correlation of its successive rows",
    ylabel="reported / held-out error (log)",
    ylim=(-2, 1),
    figsize=(6.3, 3.2),
    unjudged="a table is no sample of a known law, and neighboring windows of it may resemble each other",
    caption="On two photographs, whose successive rows correlate by 0.87 and 0.98, GCV and leaving one row out report "
    "errors that are 3 and nearly 20 times too small; blocks with a gap, and GCV corrected for the dependence, come "
    "nearer. On the other tables no report is off by a factor of 2. Up to 12 windows, 2 d rows of d <= 24 "
    "columns, are fitted with ridge 0.1 in units of the columns' variance; what each reports is divided by its error "
    "on d/2 rows, d/2 rows later. Markers are geometric means with error bars; the table has decimal logarithms. What "
    "is left is drift: lines of a photo are not stationary, so no window knows the next.",
)
