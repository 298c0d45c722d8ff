"""The value matrix of stage 1 shows the topics under three conventions for the bias and in finite documents."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.core import Axes, Context, DataFrame, Experiment, Panel, Row, row
from figures.topics.maps import draw_entries, entries
from simulate.core import Task, stream
from simulate.topics import fit_value_matrix, sample_topic_documents
from theory.models import Masking, TopicMixture, TopicModel
from theory.topics import BlockMatrix, finite_length_value_matrix, optimal_value_matrix

MODEL = TopicModel(n_topics=10, words_per_topic=10, topics_per_document=2)
MASKING = Masking(selected=0.15, kept=0.1, randomized=0.1)
LENGTH, DOCUMENTS, SHOWN = 125, 30_000, 31  # [MASK] and the first three topics are shown
FINITE = f"free bias, $N = {LENGTH}$"
CONCENTRATION, LENGTHS = 0.1, (100, 150)  # as in the code of arXiv:2303.04245
DIRICHLET = f"Dirichlet({CONCENTRATION}), $N = 100$ to $150$"


def fitted(n_documents: int) -> NDArray[np.float64]:
    rng = stream(0, "topic_value_matrix")
    return fit_value_matrix(sample_topic_documents(MODEL, n_documents, rng, length=LENGTH), MASKING, rng).matrix


def fitted_shares(n_documents: int) -> NDArray[np.float64]:
    """Return the fit to documents whose shares of topics have a Dirichlet law, as in the authors' code."""
    rng = stream(0, "topic_value_matrix", "dirichlet")
    documents = sample_topic_documents(MODEL, n_documents, rng, length=LENGTHS, concentration=CONCENTRATION)
    return fit_value_matrix(documents, MASKING, rng).matrix


def predictions() -> dict[str, BlockMatrix]:
    mixture = TopicMixture.dirichlet(n_topics=10, words_per_topic=10, concentration=CONCENTRATION)
    return {
        "no bias": optimal_value_matrix(MODEL, MASKING, bias="none"),
        "decayed bias": optimal_value_matrix(MODEL, MASKING, bias="decayed"),
        "free bias": optimal_value_matrix(MODEL, MASKING, bias="free"),
        FINITE: finite_length_value_matrix(MODEL, MASKING, LENGTH),
        DIRICHLET: finite_length_value_matrix(mixture, MASKING, LENGTHS),
    }


def compute(context: Context) -> list[Row]:
    n = context.size(DOCUMENTS, 500)
    measured = context.sweep([Task(FINITE, fitted, (n,)), Task(DIRICHLET, fitted_shares, (n,))])
    rows = []
    for panel, W in predictions().items():
        matrix = W.matrix
        below = np.tri(len(matrix), k=-1) > 0
        # Where documents were fitted, the lower triangle is what they gave.
        own = below if panel in measured else np.zeros_like(below)
        matrix = np.where(own, np.asarray(measured[panel]), matrix) if panel in measured else matrix
        rows += entries(matrix[:SHOWN, :SHOWN], panel, measured=own[:SHOWN, :SHOWN])
        for name in ("diagonal", "same", "different", "mask_column", "gap"):
            rows.append(row(name.replace("_", " "), 0, panel=panel, theory=getattr(W, name), d=MODEL.n_tokens))
    return rows


def draw(axes: Axes, rows: DataFrame) -> None:
    """Draw the entries as an image; write the gap between topics on it, or what is a fit and what theory."""
    draw_entries(axes, rows, "$W_{ij}$", (-0.02, 0.21))
    look: dict[str, Any] = {"transform": axes.transAxes, "color": "white", "fontsize": 8}
    if rows["panel"].iloc[0] in (FINITE, DIRICHLET):
        axes.text(0.05, 0.95, "fit", va="top", **look)
        axes.text(0.95, 0.07, "theory", ha="right", **look)
    else:
        gap = rows.loc[rows["curve"] == "gap", "theory"].iloc[0]
        axes.text(0.05, 0.95, f"gap {gap:.4f}", va="top", **look)


EXPERIMENT = Experiment(
    title="Words of one topic have larger entries in the value matrix",
    papers={
        "arXiv:2303.04245 (value matrix)": "It agrees that entries of one topic exceed those of different topics; "
        "finite documents add a larger diagonal. Topics, words and masking are those of the authors' code, in the last "
        "panel the law of the shares and the lengths too; they train by Adam on the cross-entropy.",
    },
    compute=compute,
    panels=[
        Panel(title=name, xlabel="input token $j$", ylabel="output token $i$")
        for name in ("no bias", "decayed bias", "free bias", FINITE, DIRICHLET)
    ],
    draw=draw,
    figsize=(7.0, 4.4),
    unjudged="single entries are shown, and finite_documents compares their means",
    caption="Words of one topic have larger entries in the value matrix W of least norm, by 0.1156 (the gap) for long"
    " documents whatever is assumed about the bias; finite documents make the diagonal stand out. Attention "
    "is uniform, T = 10 topics of v = 10 words, the first three drawn, tau = 2 in a document, masking rates "
    "(0.15, 0.1, 0.1); token 0 is [MASK]. (a, b, c) Long documents. (d, e) Finite ones: entries with i > j, "
    "upper left, are a least-squares fit to 30000 sampled documents, the others theory; in (e) shares of "
    "topics have a Dirichlet law, lengths lie between 100 and 150. The table lists the entries by theory.",
)
