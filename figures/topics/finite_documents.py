"""Documents of finite length change the entries, the gap and the loss of the optimal value matrix."""

import numpy as np
from numpy.random import Generator

from figures.core import Axes, Curve, DataFrame, Experiment, Panel
from figures.core.names import name_curve
from simulate.core import stream
from simulate.topics import fit_value_matrix, sample_topic_documents, topic_gap
from theory.models import Masking, TopicModel
from theory.topics import finite_length_loss, finite_length_value_matrix, optimal_value_matrix

MODEL = TopicModel(n_topics=4, words_per_topic=3, topics_per_document=2)
MASKING = Masking(selected=0.3, kept=0.2, randomized=0.2)
GAPS = "gap between topics"
ENDS = (5.0, 1000.0)  # tokens of a document
DIAGONAL, SAME, DIFFERENT, GAP, LOSS = "diagonal", "same topic", "different topic", "gap", "loss"


def measured(length: float, n_documents: int, rng: Generator) -> dict[str, float]:
    """Measure class means of the entries, the gap and the loss of one fit."""
    fit = fit_value_matrix(sample_topic_documents(MODEL, n_documents, rng, length=int(length)), MASKING, rng)
    words = fit.matrix[1:, 1:]
    topic = np.arange(len(words)) // MODEL.words_per_topic
    same, own = topic[:, None] == topic, np.eye(len(words), dtype=bool)
    kinds = {DIAGONAL: own, SAME: same & ~own, DIFFERENT: ~same}
    return {name: words[kind].mean() for name, kind in kinds.items()} | {
        GAP: topic_gap(MODEL, fit.matrix), LOSS: fit.loss,
    }  # fmt: skip


def predicted(length: float) -> dict[str, float]:
    W = finite_length_value_matrix(MODEL, MASKING, length)
    loss = finite_length_loss(MODEL, MASKING, length)
    return {DIAGONAL: W.diagonal, SAME: W.same, DIFFERENT: W.different, GAP: W.gap, LOSS: loss}


def long_documents(_x: None) -> float:
    return optimal_value_matrix(MODEL, MASKING).gap


def draw(axes: Axes, rows: DataFrame) -> None:
    """Name the limit of the gap."""
    if rows["panel"].iloc[0] == GAPS:
        name_curve(axes, "_limit of long documents", "limit", x=0.0, offset=(0.0, -3.0), along="top")


EXPERIMENT = Experiment(
    title="The gap between topics reaches its limit in long documents",
    measure=measured,
    theory=predicted,
    streams=lambda seed, _setting, length, n, r: stream(seed, "finite_documents", int(length), n, r),
    panels=[
        Panel(
            title="entries of the value matrix",
            curves={
                name: Curve(number=name, color=color, marker="osD^"[color])
                for color, name in enumerate((DIAGONAL, SAME, DIFFERENT), start=1)
            },
            ylabel="mean entry",
        ),
        Panel(
            title=GAPS,
            curves={
                f"_{GAP}": Curve(number=GAP, color=0),
                "_limit of long documents": Curve(
                    theory=long_documents, line=ENDS, points=(), line_kind="reference", color=6, style=":"
                ),
            },
            ylabel="same topic $-$ different topic",
        ),
        Panel(title="squared loss", curves={f"_{LOSS}": Curve(number=LOSS, color=4, style="-")}, ylabel="least loss"),
    ],
    line=np.geomspace(*ENDS, 60).round(),
    points=(10, 40, 125, 400),
    d=4000,
    draw=draw,
    toy_d=200,
    xlabel="tokens of a document $N$",
    xscale="log",
    caption="The gap between entries of one topic and of different ones (b) tends to its limit as documents grow; "
    "diagonal and other entries of a topic (a) grow too, their ratio falling from 2.4 at N = 10 to 2. The loss (c) "
    "falls by 1 %. Attention is uniform, the bias free; there are T = 4 topics of v = 3 words and tau = 2 topics in a "
    "document, masking rates (0.3, 0.2, 0.2). Lines are the theory; markers are least-squares fits to 4000 and 8000 "
    "sampled documents, extrapolated. The gap is the mean entry between words of one topic minus that between "
    "different topics. It tends to 1/(v(1 - (1 - p_c) p_m)) = 0.4386.",
)
