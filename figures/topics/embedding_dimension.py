"""Excess loss of an embedding with fewer dimensions than topics."""

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
    caption="Uniform attention, free bias, T = 6, v = 2, tau = 3, p = (.15, .1, .1). Line: (T - 1 - d) zeta, every "
    "missing dimension costs the same, and T - 1 suffice; markers: the loss minimized over the embedding from five "
    "random starts, all entries free",
)
