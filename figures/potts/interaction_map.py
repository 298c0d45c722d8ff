"""The pairs of sites that really interact in a known model are those that the analysis ranks highest."""

import math
from dataclasses import replace

import numpy as np

from figures.analyse.reading.sequences import read_sequences
from figures.analyse.sequences import SequenceAnalysis, panels
from figures.analyse.sequences.table import ALONE, LEARNING, PAIR, RANKED, UNIFORM
from figures.core import Axes, Context, Curve, DataFrame, Experiment, Row, row
from figures.core.names import write_name
from figures.potts.families import analysed
from figures.potts.known_pairs import draw_known, known_rows, precision_panel
from figures.potts.synthetic import ALIGNMENT, synthetic_model
from simulate.potts import masked_loss

TRUE = "true model"
NAMES = {  # of a line, where it stands, which end of the text is there, and the distance in points
    PAIR: ("from all other sites", "left", "top", -66.0),
    ALONE: ("from its\nown column", "right", "bottom", 11.0),
    UNIFORM: ("by guessing", "right", "bottom", 1.0),
    TRUE: (TRUE, "left", "bottom", 1.0),
}


def compute(context: Context) -> list[Row]:
    """Analyze the shipped alignment, and add the pairs that interact in the model from which it was sampled."""
    analysis = analysed(ALIGNMENT, context)
    L = analysis.n_sites
    contacts = np.asarray(synthetic_model().site_couplings.todense())[:L, :L] != 0
    learned = [entry for entry in analysis.rows if entry["panel"] != RANKED]
    return [*learned, *_floor(analysis), *known_rows(analysis, contacts)]


def _floor(analysis: SequenceAnalysis) -> list[Row]:
    """Return the masked loss of the true model on all sequences, which no model can beat except by chance."""
    model = synthetic_model()
    loss = masked_loss(model, read_sequences(ALIGNMENT).states).loss if analysis.n_sites == model.n_sites else None
    return [row(TRUE, n, panel=LEARNING, measured=loss) for n in (analysis.sizes[0], analysis.sizes[-1]) if loss]


def draw(axes: Axes, rows: DataFrame) -> None:
    """Draw the panels, and write the names of the losses beside their lines."""
    draw_known(axes, rows, "interact in the model")
    if rows["panel"].iloc[0] == LEARNING:
        shown = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
        axes.legend().remove()
        for curve, (name, end, side, gap) in NAMES.items():
            line = rows[rows["curve"] == curve].sort_values("x")
            if len(line):  # a draft has too few sites for the loss of the true model
                x, theory, measured = line[["x", "theory", "simulation"]].iloc[-1 if end == "right" else 0]
                look = {"across": end, "along": side, "color": shown[name.replace("\n", " ")].get_color()}
                write_name(axes, name, (x, theory if math.isnan(measured) else measured), (0.0, gap), **look)


LEARNED, MAP, _ = panels()

EXPERIMENT = Experiment(
    title="The strongest pairs of a fitted model are exactly those that interact",
    compute=compute,
    panels=(
        replace(LEARNED, curves={**LEARNED.curves, TRUE: Curve(model=None, color=6, style="-.")}),
        MAP,
        precision_panel(),
    ),
    draw=draw,
    figsize=(7.0, 3.2),
    caption="The 61 strongest pairs of a model fitted to 1000 sampled sequences are exactly those that interact. The "
    "sequences are equilibrium samples of a sparse Potts model of 40 sites with four letters. (a) The masked loss of "
    "held-out sequences, in nats per hidden letter, by a pair model fitted by pseudo-likelihood, by frequencies of "
    "the column and by equal probabilities; the lowest line is the true model. (b) The score of each pair, the "
    "Frobenius norm of its couplings after the average-product correction (dark: strong); circles above the diagonal "
    "interact in the model. (c) The share of interacting pairs among the strongest, beside chance; once all 61 are "
    "found it must fall. Squares are the rows of the table.",
)
