"""An embedding with fewer dimensions than topics costs the same excess loss for every missing dimension."""

from numpy.random import Generator

from figures.core import Curve, Experiment
from figures.topics.uniform_attention import Population, fitted_embedding
from simulate.core import stream
from theory.models import Masking, TopicModel
from theory.topics import embedding_excess

MODEL = TopicModel(n_topics=6, words_per_topic=2, topics_per_document=3)
MASKING = Masking(selected=0.15, kept=0.1, randomized=0.1)
EXCESS = "excess loss"


def excess(dimension: float, _n_tokens: int, rng: Generator) -> dict[str, float]:
    """Measure the excess loss over 1 - 1/(tau v) that one numerical minimization from a random start ends at."""
    return {EXCESS: fitted_embedding(Population.of(MODEL, MASKING), int(dimension), rng, bias=True)[1]}


def predicted(dimension: float) -> dict[str, float]:
    return {EXCESS: theory(dimension)}


def theory(dimension: float) -> float:
    return embedding_excess(MODEL, MASKING, int(dimension))


EXPERIMENT = Experiment(
    title="Every missing dimension of the embedding costs the same loss",
    measure=excess,
    theory=predicted,
    streams=lambda seed, _setting, dimension, _n_tokens, r: stream(seed + r, "embedding_dimension", int(dimension)),
    curves={
        "theory": Curve(model=float, theory=theory, line=range(7), points=()),
        "minimized": Curve(number=EXCESS),
    },
    points=range(1, 7),
    d=MODEL.n_tokens,
    extrapolate=False,
    replicates=5,
    xlabel="embedding dimension $d$",
    ylabel="excess squared loss",
    unjudged="a numerical minimization is compared, whose scatter between starts is no error of sampling",
    caption="Every missing dimension of the embedding costs the same loss, and T - 1 dimensions suffice. "
    "Attention is uniform and the bias free; there are T = 6 topics of v = 2 words and tau = 3 topics in a "
    "document, masking rates (0.15, 0.1, 0.1). The line is the theory (T - 1 - d) zeta. Markers are the loss "
    "minimized numerically over all entries of the embedding, the mean of five random starts.",
)
