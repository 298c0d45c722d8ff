"""The value matrix of stage 1 shows the topics under three conventions for the bias and in finite documents."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from figures.core import Context, Experiment, Panel, Row, row
from figures.topics.maps import draw_entries, entries
from simulate.core import Task, stream
from simulate.topics import fit_value_matrix, sample_topic_documents
from theory.models import Masking, TopicModel
from theory.topics import BlockMatrix, finite_length_value_matrix, optimal_value_matrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

MODEL = TopicModel(n_topics=10, words_per_topic=10, topics_per_document=2)
MASKING = Masking(selected=0.15, kept=0.1, randomized=0.1)
LENGTH, DOCUMENTS, SHOWN = 125, 30_000, 31  # [MASK] and the first three topics are shown
FINITE = f"free bias, $N = {LENGTH}$"


def fitted(n_documents: int) -> NDArray[np.float64]:
    rng = stream(0, "topic_value_matrix")
    return fit_value_matrix(sample_topic_documents(MODEL, n_documents, rng, length=LENGTH), MASKING, rng).matrix


def predictions() -> dict[str, BlockMatrix]:
    return {
        "no bias": optimal_value_matrix(MODEL, MASKING, bias="none"),
        "decayed bias": optimal_value_matrix(MODEL, MASKING, bias="decayed"),
        "free bias": optimal_value_matrix(MODEL, MASKING, bias="free"),
        FINITE: finite_length_value_matrix(MODEL, MASKING, LENGTH),
    }


def compute(context: Context) -> list[Row]:
    measured = context.sweep([Task("fit", fitted, (context.size(DOCUMENTS, 500),))])["fit"]
    rows = []
    for panel, W in predictions().items():
        matrix = W.matrix
        below = np.tri(len(matrix), k=-1) > 0
        own = below if panel == FINITE else np.zeros_like(below)  # there the lower triangle is what documents gave
        matrix = np.where(own, np.asarray(measured), matrix)
        rows += entries(matrix[:SHOWN, :SHOWN], panel, measured=own[:SHOWN, :SHOWN])
        for name in ("diagonal", "same", "different", "mask_column", "gap"):
            rows.append(row(name.replace("_", " "), 0, panel=panel, theory=getattr(W, name), d=MODEL.n_tokens))
    return rows


def draw(axes: "Axes", rows: "DataFrame") -> None:
    draw_entries(axes, rows, "$W_{ij}$", (-0.02, 0.21))


EXPERIMENT = Experiment(
    title="Value matrix of stage 1, ten topics of ten words: the first three topics",
    papers={
        "arXiv:2303.04245 (value matrix)": "It agrees that entries of one topic exceed those of different topics; "
        "finite documents add a larger diagonal. Topics, words and masking are those of the authors' code; shares of "
        "topics and lengths are our own.",
    },
    compute=compute,
    panels=[
        Panel(title=name, curves={}, xlabel="input token $j$", ylabel="output token $i$")
        for name in ("no bias", "decayed bias", "free bias", FINITE)
    ],
    draw=draw,
    unjudged="single entries are shown, and finite_documents compares their means",
    caption="Colors show the entries of the value matrix W of least norm (the limit of vanishing weight decay) for "
    "uniform attention, T = 10 topics of v = 10 words and tau = 2 topics in a document; (p_m, p_c, p_r) = (0.15, "
    "0.1, 0.1) are the shares of selected positions, and of these the shares that show the true word and a random "
    "word. Token 0 is [MASK], whose column differs. For long documents (first three panels) same-topic entries "
    f"exceed different-topic entries by 0.1156, whatever is assumed about the bias. Documents of {LENGTH} tokens "
    "(lower right) make the diagonal stand out, and the mean of a block still exceeds the rest by about that gap; "
    f"there, entries below the diagonal are a least-squares fit to {DOCUMENTS} sampled documents, and the others "
    "theory. The table lists the entries by theory.",
)
