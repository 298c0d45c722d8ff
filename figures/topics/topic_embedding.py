"""Optimal embeddings with uniform attention show the topics as blocks, which are flat only under weight decay."""

import math

import numpy as np
from numpy.typing import NDArray

from figures.core import Axes, Context, DataFrame, Experiment, Panel, Row, row
from figures.topics.maps import draw_entries, entries
from figures.topics.uniform_attention import Population, fitted_embedding
from simulate.core import Estimate, Task, stream
from simulate.topics import mask_documents, sample_topic_documents
from theory.models import Masking, TopicMixture, TopicModel
from theory.topics import finite_length_value_matrix, optimal_embedding_gram, same_topic_gap

MODEL = TopicModel(n_topics=10, words_per_topic=10, topics_per_document=2)
TOY = TopicModel(n_topics=4, words_per_topic=3, topics_per_document=2)
MASKING = Masking(selected=0.15, kept=0.1, randomized=0.1)
CLOSED, RANDOM, DECAYED = "least trace, closed form", "trained from a random start", "trained with weight decay"
DECAYS = {RANDOM: 0.0, DECAYED: 1e-6}
CONCENTRATION, LENGTHS, DOCUMENTS = 0.1, (100, 150), 10_000  # as in the code of arXiv:2303.04245
DIRICHLET = f"trained, Dirichlet({CONCENTRATION}), $N = 100$ to $150$"


def trained(model: TopicModel, decay: float) -> NDArray[np.float64]:
    rng = stream(0, "topic_embedding", decay)
    return fitted_embedding(Population.of(model, MASKING), model.n_tokens, rng, decay=decay)[0]


def documents(model: TopicModel, n_documents: int, rng: np.random.Generator) -> Population:
    """Draw masked documents of Dirichlet shares, and return as few rows with the same second moments.

    The loss is a mean over selected positions, so that documents count by their number. It depends on the documents
    through second moments only, which the triangle of a QR decomposition has too.
    """
    drawn = sample_topic_documents(model, n_documents, rng, length=LENGTHS, concentration=CONCENTRATION)
    masked = mask_documents(drawn, MASKING, rng)
    targets = np.zeros(masked.visible.shape)
    np.add.at(targets, (masked.document, masked.target), masked.times)
    weight = targets.sum(axis=1, keepdims=True)
    some = weight[:, 0] > 0
    share = masked.visible / masked.visible.sum(axis=1, keepdims=True)
    both = np.hstack([share[some], targets[some] / weight[some]]) * np.sqrt(weight[some])
    triangle = np.linalg.qr(both, mode="r")
    triangle *= np.sqrt(len(triangle) / weight.sum())
    return Population(*np.split(triangle, 2, axis=1))


def trained_on_documents(model: TopicModel, n_documents: int) -> NDArray[np.float64]:
    rng = stream(0, "topic_embedding", "dirichlet")
    return fitted_embedding(documents(model, n_documents, rng), model.n_tokens, rng)[0]


def compute(context: Context) -> list[Row]:
    model = TOY if context.is_draft else MODEL
    tasks = [Task(panel, trained, (model, decay)) for panel, decay in DECAYS.items()]
    tasks.append(Task(DIRICHLET, trained_on_documents, (model, context.size(DOCUMENTS, 500))))
    found = context.sweep(tasks)
    mixture = TopicMixture.dirichlet(
        n_topics=model.n_topics, words_per_topic=model.words_per_topic, concentration=CONCENTRATION
    )
    finite = finite_length_value_matrix(mixture, MASKING, LENGTHS)  # the embedding is symmetric: its gap is the same
    best, delta = optimal_embedding_gram(model, MASKING), same_topic_gap(model, MASKING)
    rows = [*entries(best.matrix, CLOSED), row("gap", 0, panel=CLOSED, theory=delta)]
    for panel, E in found.items():
        rows += entries(np.asarray(E), panel, measured=True)
        same, different = row_means(np.asarray(E), model)
        flat = panel == DECAYED  # without decay the gap alone is determined
        for name, values, theory in (
            ("gap", same - different, finite.gap if panel == DIRICHLET else delta),
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


def draw(axes: Axes, rows: DataFrame) -> None:
    """Draw the entries as an image, and write the gap on it, with its standard deviation over rows."""
    draw_entries(axes, rows, "$E_{ij}$", (-0.1, 0.3))
    gap = rows[rows["curve"] == "gap"].iloc[0]
    said = f"gap {gap['theory']:.4f}"
    if not math.isnan(gap["simulation"]):
        scatter, *power = f"{gap['stderr'] * math.sqrt(gap['replicates']):.1g}".split("e")
        digits = 4 if power else len(scatter.partition(".")[2])  # of a scatter that the gap shows too, those of both
        said = f"gap {gap['simulation']:.{digits}f} ± {scatter}" + "".join(
            rf"$\,\times\,10^{{{int(k)}}}$" for k in power
        )
    axes.text(0.03, 0.97, said, transform=axes.transAxes, va="top", color="white", fontsize=8)


EXPERIMENT = Experiment(
    title="Words of one topic have larger scalar products of embeddings",
    papers={
        "arXiv:2303.04245 (embedding)": "It agrees that entries of one topic exceed those of different topics. In "
        "the last panel shares of topics, lengths and the number of documents are those of the authors' code; in the "
        "others documents have equal shares and are long. We minimize the square loss.",
    },
    compute=compute,
    panels=[Panel(title=name, xlabel="token $j$", ylabel="token $i$") for name in (CLOSED, *DECAYS, DIRICHLET)],
    draw=draw,
    bars=False,
    unjudged="the scatter between rows is no error of sampling",
    caption="In every row of E = W_E' W_E the mean over the own topic exceeds that of others by 1/(v (1 - (1 - p_c) "
    "p_m)) = 0.1156, the gap, while single entries are not determined without weight decay. Attention is uniform "
    "without bias, T = 10 topics of v = 10 words, tau = 2 in a document, masking rates (0.15, 0.1, 0.1). (a) The "
    "closed form of least trace; (b) trained from a random start; (c) with a weight decay of 1e-6, which makes blocks "
    "flat; (d) trained on 10000 documents of Dirichlet shares, whose finite length raises the diagonal. White: the "
    "mean gap of a row and its standard deviation over rows.",
)
