"""An embedding with fewer dimensions than topics costs the same excess loss for every missing dimension."""

from figures.core import Context, Experiment, Row, row
from figures.topics.uniform_attention import Population, fitted_embedding
from simulate.core import Estimate, Task, stream
from theory.models import Masking, TopicModel
from theory.topics import embedding_excess

MODEL = TopicModel(n_topics=6, words_per_topic=2, topics_per_document=3)
MASKING = Masking(selected=0.15, kept=0.1, randomized=0.1)
DIMENSIONS = (1, 2, 3, 4, 5, 6)


def excess(dimension: int, seed: int) -> float:
    """Returns the excess loss over 1 - 1/(tau v) that one numerical minimization from a random start ends at."""
    rng = stream(seed, "embedding_dimension", dimension)
    return fitted_embedding(Population.of(MODEL, MASKING), dimension, rng, bias=True)[1]


def compute(context: Context) -> list[Row]:
    seeds = range(context.replicates(5))
    found = context.sweep([Task(f"{d}/{seed}", excess, (d, seed)) for d in DIMENSIONS for seed in seeds])
    rows = [row("theory", d, theory=embedding_excess(MODEL, MASKING, d)) for d in (0, *DIMENSIONS)]
    for d in DIMENSIONS:
        estimate = Estimate.of([float(found[f"{d}/{seed}"]) for seed in seeds])
        theory = embedding_excess(MODEL, MASKING, d)
        rows.append(row("minimized", d, theory=theory, d=MODEL.n_tokens, estimate=estimate, judged=False))
    return rows


EXPERIMENT = Experiment(
    title="Embeddings of low dimension, six topics of two words",
    compute=compute,
    xlabel="embedding dimension $d$",
    ylabel="excess squared loss",
    unjudged="a numerical minimization is compared, whose scatter between starts is no error of sampling",
    caption="Attention is uniform and the bias free; there are T = 6 topics of v = 2 words and tau = 3 topics in a "
    "document, and (p_m, p_c, p_r) = (0.15, 0.1, 0.1) are the shares of selected positions, and of these the shares "
    "that show the true word and a random word. The line is the theory (T - 1 - d) zeta: every missing dimension "
    "costs the same loss zeta, and T - 1 dimensions suffice. Markers are the loss minimized numerically over all "
    "entries of the embedding, the mean of five random starts with error bars.",
)
