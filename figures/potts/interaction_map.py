"""The pairs of sites that really interact in a known model are those that the analysis ranks highest."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from figures.analyse.reading.sequences import read_sequences
from figures.analyse.sequences import SequenceAnalysis, decorate, panels
from figures.analyse.sequences.table import LEARNING, MAP, RANKED
from figures.core import Context, Experiment, Panel, Row, row
from figures.potts.families import analysed
from figures.potts.synthetic import ALIGNMENT, synthetic_model
from simulate.potts import masked_loss

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

PRECISION, FOUND, CHANCE, TRUE = "precision", "among the strongest", "by chance", "true"


def compute(context: Context) -> list[Row]:
    """Analyzes the shipped alignment, and adds the pairs that interact in the model from which it was sampled."""
    analysis = analysed(ALIGNMENT, context)
    L = analysis.n_sites
    contacts = np.asarray(synthetic_model().site_couplings.todense())[:L, :L] != 0
    i, j = np.nonzero(np.triu(contacts))
    overlay = [
        row(TRUE, a + 1, panel=MAP, theory=b + 1, d=L, reference=True)
        for a, b in zip(i.tolist(), j.tolist(), strict=True)
    ]
    learned = [entry for entry in analysis.rows if entry["panel"] != RANKED]
    return [*learned, *_floor(analysis), *overlay, *_precision(analysis, contacts)]


def _floor(analysis: SequenceAnalysis) -> list[Row]:
    """Returns the masked loss of the true model on all sequences, which no model can beat except by chance."""
    model = synthetic_model()
    loss = masked_loss(model, read_sequences(ALIGNMENT).states).loss if analysis.n_sites == model.n_sites else None
    return [
        row("true model", n, panel=LEARNING, measured=loss) for n in (analysis.sizes[0], analysis.sizes[-1]) if loss
    ]


def _precision(analysis: SequenceAnalysis, contacts: NDArray[np.bool_]) -> list[Row]:
    """Returns the share of true interactions among the n strongest pairs, for n up to twice their number."""
    upper = np.triu_indices(analysis.n_sites, 1)
    order = np.argsort(-analysis.scores[upper], kind="stable")
    hits = contacts[upper][order]
    n_true = int(hits.sum())
    ranks = np.arange(1, min(2 * n_true, len(hits)) + 1)
    precision = np.cumsum(hits)[: len(ranks)] / ranks
    found = [row(FOUND, n, panel=PRECISION, measured=share) for n, share in zip(ranks.tolist(), precision, strict=True)]
    marks = sorted({n_true // 4, n_true // 2, n_true, len(ranks)} - {0})
    listed = [row(f"_{FOUND}", n, panel=PRECISION, measured=precision[n - 1], d=analysis.n_sites) for n in marks]
    chance = [row(CHANCE, n, panel=PRECISION, theory=hits.mean(), reference=True) for n in (1, len(ranks))]
    return [*found, *listed, *chance]


def draw(axes: "Axes", rows: "DataFrame") -> None:
    """Draws the shares in the right panel, and circles around the true interactions above the diagonal of the map."""
    if rows["panel"].iloc[0] == PRECISION:
        axes.set_ylim(0, 1.03)
        return
    decorate(axes, rows)
    if rows["panel"].iloc[0] == LEARNING:
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 0.1))  # below the curves, above the floor
    true = rows[rows["curve"] == TRUE]
    if len(true):
        ring: dict[str, Any] = {"color": "C1", "markerfacecolor": "none", "markersize": 4, "markeredgewidth": 0.6}
        axes.plot(true["theory"], true["x"], "o", **ring, label="interact in the model")
        axes.legend(loc="lower left", fontsize=6, frameon=True, framealpha=0.9, borderpad=0.3)


EXPERIMENT = Experiment(
    title="A sampled alignment with known interactions, 1000 sequences of 40 sites",
    compute=compute,
    panels=(*panels()[:2], Panel(title=PRECISION, curves={}, xlabel="strongest pairs", ylabel="true ones among them")),
    draw=draw,
    caption="The sequences are equilibrium samples of a sparse Potts model with four letters. Left: the masked loss "
    "of held-out sequences. Middle: the score of each pair of sites, which is the Frobenius norm of its learned "
    "couplings after the average-product correction (dark: strong); circles mark the pairs that interact in the "
    "model. Right: the share of interacting pairs among the strongest ones, beside the share that chance would give.",
)
