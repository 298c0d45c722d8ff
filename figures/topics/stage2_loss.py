"""In stage 2 the loss is least at a finite attention weight of the query's own topic."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from figures.core import Axes, Curve, DataFrame, Experiment
from figures.topics.tied import tied_layer
from simulate.topics import batch_of, layer_loss, mask_documents, sample_topic_documents
from theory import topics
from theory.models import Masking, TopicModel

MASKING = Masking(selected=0.15, kept=0.1, randomized=0.1)
DOCUMENTS = 100  # in each replicate
TAUS = (2, 3, 5, 8)


@dataclass(frozen=True)
class Tied:
    """Describes attention tied with the weight A on the own topic, in documents of tau topics."""

    topics_per_document: int
    weight: float

    @property
    def model(self) -> TopicModel:
        return TopicModel(n_topics=10, words_per_topic=10, topics_per_document=self.topics_per_document)


def gain(tied: Tied) -> float:
    """Return the population loss minus that of uniform attention."""
    return topics.stage2_loss(tied.model, MASKING, tied.weight) - topics.stage2_loss(tied.model, MASKING, 1.0)


def measured_gain(tied: Tied, d: int, rng: Generator) -> float:
    """Measure the loss minus that of uniform attention on sampled documents of d tokens."""
    documents = sample_topic_documents(tied.model, DOCUMENTS, rng, length=d)
    batch = batch_of(mask_documents(documents, MASKING, rng))
    A = tied.weight
    losses = [layer_loss(tied_layer(tied.model, MASKING, a, a), batch, "squared") for a in (A, 1.0)]
    return losses[0] - losses[1]


def best(tau: int) -> list[float]:
    return [topics.stage2_optimum(Tied(tau, 1.0).model, MASKING).topic_weight]


def curve(tau: int) -> Curve:
    return Curve(model=lambda A: Tied(tau, A), stars=lambda: best(tau))


def draw(axes: Axes, _rows: DataFrame) -> None:
    """Say in the legend what the stars are."""
    axes.plot([], [], "*", color="0.3", markersize=9, label="optimum $A^*$")
    axes.legend()


EXPERIMENT = Experiment(
    title="Attention to the own topic lowers the loss up to an optimum",
    curves={rf"$\tau = {tau}$": curve(tau) for tau in TAUS},
    theory=gain,
    replicate=measured_gain,
    line=np.geomspace(0.3, 100, 100),
    points=(0.5, 3.0, 20.0),
    d=100,
    replicates=12,
    xlabel="weight of the own topic $A$",
    ylabel="excess loss over uniform attention",
    xscale="log",
    draw=draw,
    caption="Attention to the own topic lowers the loss up to A*, and more of it raises the loss again. The "
    "squared loss is shown for T = 10 topics of v = 10 words with tau topics in a document, masking rates (0.15, "
    "0.1, 0.1). The value matrix is that of stage 1; other topics and [MASK] have the attention weight 1. Lines "
    "are the theory for long documents; stars mark its optima A* = 6.64, 7.72, 8.76 and 9.43; markers are sampled "
    "documents of 100 and 200 tokens, with one draw of masks each, extrapolated to long documents.",
)
