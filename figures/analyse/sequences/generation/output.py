"""Writes new sequences, the table of how they compare with the family, and the scatter that shows it."""

from figures.analyse.sequences.clones import sequence_text
from figures.analyse.sequences.generation.comparison import Comparison
from figures.analyse.sequences.generation.make import Generation
from figures.analyse.steps import TableAndFigure
from figures.core import DataFrame, Experiment, Panel, Row, row

EQUAL = "equal"
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
    experiment = Experiment(title=f"New sequences of {title}", panels=panels)
    return [TableAndFigure(rows, experiment, {}, suffix="_scatter")]


def _rows(each: Comparison) -> list[Row]:
    low, high = float(each.points.min()), float(each.points.max())
    line = [row(f"_{EQUAL}", x, panel=each.what, theory=x, reference=True) for x in (low, high)]
    return [*(row("_numbers", x, panel=each.what, measured=y) for x, y in each.points), *line]
