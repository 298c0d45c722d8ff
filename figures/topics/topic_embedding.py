"""Optimal embeddings with uniform attention show the topics as blocks, which are flat only under weight decay."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from figures.core import Context, Experiment, Panel, Row, row
from figures.topics.maps import draw_entries, entries
from figures.topics.uniform_attention import Population, fitted_embedding
from simulate.core import Estimate, Task, stream
from theory.models import Masking, TopicModel
from theory.topics import optimal_embedding_gram, same_topic_gap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

MODEL = TopicModel(n_topics=10, words_per_topic=10, topics_per_document=2)
TOY = TopicModel(n_topics=4, words_per_topic=3, topics_per_document=2)
MASKING = Masking(selected=0.15, kept=0.1, randomized=0.1)
CLOSED, RANDOM, DECAYED = "least trace, closed form", "trained from a random start", "trained with weight decay"
DECAYS = {RANDOM: 0.0, DECAYED: 1e-6}


def trained(model: TopicModel, decay: float) -> NDArray[np.float64]:
    rng = stream(0, "topic_embedding", decay)
    return fitted_embedding(Population.of(model, MASKING), model.n_tokens, rng, decay=decay)[0]


def compute(context: Context) -> list[Row]:
    model = TOY if context.is_draft else MODEL
    found = context.sweep([Task(panel, trained, (model, decay)) for panel, decay in DECAYS.items()])
    best, delta = optimal_embedding_gram(model, MASKING), same_topic_gap(model, MASKING)
    rows = entries(best.matrix, CLOSED)
    for panel, E in found.items():
        rows += entries(np.asarray(E), panel, measured=True)
        same, different = row_means(np.asarray(E), model)
        flat = panel == DECAYED  # without decay the gap alone is determined
        for name, values, theory in (
            ("gap", same - different, delta),
            ("same topic", same, best.same if flat else None),
            ("different topic", different, best.different if flat else None),
        ):
            estimate = Estimate.of(values)
            rows.append(row(name, 0, panel=panel, theory=theory, d=model.n_tokens, estimate=estimate, judged=False))
    return rows


def row_means(E: NDArray[np.float64], model: TopicModel) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return for every word its mean entry with its own topic, itself included, and with the other topics."""
    topic = np.arange(model.n_words) // model.words_per_topic
    same, words = topic[:, None] == topic, E[1:, 1:]
    return (words * same).sum(1) / same.sum(1), (words * ~same).sum(1) / (~same).sum(1)


def draw(axes: "Axes", rows: "DataFrame") -> None:
    draw_entries(axes, rows, "$E_{ij}$", (-0.1, 0.3))


EXPERIMENT = Experiment(
    title=r"Optimal embeddings $E = W_E^\top W_E$: ten topics of ten words",
    papers={
        "arXiv:2303.04245 (embedding)": "It agrees that entries of one topic exceed those of different topics. The "
        "authors draw the shares of topics from a Dirichlet law of concentration 0.1 and lengths between 100 and 150; "
        "here documents have equal shares and one length.",
    },
    compute=compute,
    panels=[Panel(title=name, curves={}, xlabel="token $j$", ylabel="token $i$") for name in (CLOSED, *DECAYS)],
    draw=draw,
    figsize=(7.0, 2.4),
    unjudged="the scatter between rows is no error of sampling",
    caption="Colors show the entries of E for uniform attention without bias, T = 10 topics of v = 10 words and tau "
    "= 2 topics in a document; (p_m, p_c, p_r) = (0.15, 0.1, 0.1) are the shares of selected positions, and of these "
    "the shares that show the true word and a random word; token 0 is [MASK]. Without weight decay the single "
    "entries of a block are not determined, but in every row the mean entry of the own topic exceeds that of other "
    "topics by 1/(v(1 - (1 - p_c) p_m)) = 0.1156. With a decay of 1e-6 the blocks become flat, as in the closed form "
    "(0.1154 and -0.0002). The table gives means over the rows of E; the digits in brackets are the spread over "
    "rows, since there is no other noise.",
)
