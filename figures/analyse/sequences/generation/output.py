"""Writes new sequences, the table of how they compare with the family, and the scatter that shows it."""

from figures.analyse.sequences.clones import sequence_text
from figures.analyse.sequences.generation.comparison import Comparison
from figures.analyse.sequences.generation.make import Generation
from figures.analyse.steps import TableAndFigure
from figures.core import Axes, DataFrame, Experiment, Panel, Row, row

NUMBERS, EQUAL = "_numbers", "_equal"
LABELS = {"family": "in the family", "new": "in the new sequences"}


def sequence_file(made: Generation, tokens: tuple[str, ...]) -> dict[str, str]:
    """Return the content of the file of new sequences by the end of its name: FASTA, or CSV for longer tokens."""
    ending, text = sequence_text(made.states, tokens, "generated")
    return {f"generated.{ending}": text}


def generation_frame(made: Generation) -> DataFrame:
    """Return a table with a row for each kind of number that was compared."""
    from pandas import DataFrame

    return DataFrame(
        [
            {
                "compared": each.what,
                "pearson": each.pearson,
                "slope": each.slope,
                "halves_pearson": each.half_pearson,
                "halves_slope": each.half_slope,
                "sets_of_sites": each.n_sets,
                "model": "pseudo-likelihood" if made.fit is None else "Boltzmann learning",
                "sequences": made.n_compared,
                "r_hat": made.r_hat,
            }
            for each in made.comparisons
        ]
    )


def generation_results(made: Generation | None, title: str) -> list[TableAndFigure]:
    """Return the scatter of all numbers that were compared, as a figure of its own; nothing without new sequences."""
    if made is None:
        return []
    shown = [each for each in made.comparisons if len(each.points) and each.points[:, 0].std() > 0]
    if not shown:
        return []
    panels = tuple(Panel(title=each.what, xlabel=LABELS["family"], ylabel=LABELS["new"]) for each in shown)
    rows = [made_row for each in shown for made_row in _rows(each)]
    experiment = Experiment(title=f"New sequences of {title}", panels=panels, draw=scatter)
    return [TableAndFigure(rows, experiment, {}, suffix="_scatter")]


def scatter(axes: Axes, rows: DataFrame) -> None:
    """Draw each number as a point, and the line on which those of the family and of the new sequences are equal."""
    title, labels = axes.get_title(), (axes.get_xlabel(), axes.get_ylabel())
    axes.clear()
    points, line = rows[rows["curve"] == NUMBERS], rows[rows["curve"] == EQUAL].sort_values("x")
    axes.plot(points["x"], points["simulation"], "o", color="C0", markersize=1.5, markeredgewidth=0, rasterized=True)
    axes.plot(line["x"], line["theory"], "--", color="0.4", linewidth=0.8)
    axes.text(0.97, 0.03, "dashed: equal", transform=axes.transAxes, ha="right", va="bottom", fontsize=7)
    axes.set(title=title, xlabel=labels[0], ylabel=labels[1])


def _rows(each: Comparison) -> list[Row]:
    low, high = float(each.points.min()), float(each.points.max())
    line = [row(EQUAL, x, panel=each.what, theory=x, reference=True) for x in (low, high)]
    return [*(row(NUMBERS, x, panel=each.what, measured=y) for x, y in each.points), *line]
