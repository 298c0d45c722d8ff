"""In stage 2 the loss is least at a finite attention weight of the query's own topic."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from figures.core import NONE, Axes, Curve, DataFrame, Experiment, Panel
from figures.topics.tied import tied_layer
from simulate.topics import batch_of, layer_loss, mask_documents, sample_topic_documents
from theory import topics
from theory.models import Masking, TopicModel

MASKING = Masking(selected=0.15, kept=0.1, randomized=0.1)
DOCUMENTS = 100  # in each replicate
TAUS = (2, 3, 5, 8)


GAIN, RISE = "gain", "rise"
WEIGHTS = (0.5, 3.0, 20.0, 100.0)
# On the same documents the losses of five weights have combinations almost without noise, so that one of each panel is
# judged, by a rule that no table decides: the two of which the caption's first sentence speaks, that at A* over uniform
# attention (how far the loss falls) and that at the largest weight over A* (how far it rises again), for every tau.
JUDGED: dict[str, Callable[[float], bool]] = {GAIN: lambda A: A not in WEIGHTS, RISE: lambda A: WEIGHTS[-1] == A}


@dataclass(frozen=True)
class Documents:
    """Describes documents of tau topics, read by attention tied with the weight A on the own topic."""

    topics_per_document: int

    @property
    def model(self) -> TopicModel:
        return TopicModel(n_topics=10, words_per_topic=10, topics_per_document=self.topics_per_document)

    @cached_property
    def best(self) -> float:
        return topics.stage2_optimum(self.model, MASKING).topic_weight


def predicted(documents: Documents, weights: Sequence[float]) -> dict[str, list[float]]:
    """Return the population loss above that of uniform attention, and above that of the best weight."""
    return {
        GAIN: [_loss(documents, A) - _loss(documents, 1.0) for A in weights],
        RISE: [_loss(documents, A) - _loss(documents, documents.best) for A in weights],
    }


def _loss(documents: Documents, weight: float) -> float:
    return topics.stage2_loss(documents.model, MASKING, weight)


def measured(documents: Documents, weights: Sequence[float], d: int, rng: Generator) -> dict[str, NDArray[np.float64]]:
    """Measure both on the same sampled documents of d tokens."""
    drawn = sample_topic_documents(documents.model, DOCUMENTS, rng, length=d)
    batch = batch_of(mask_documents(drawn, MASKING, rng))
    *losses, uniform, least = (
        layer_loss(tied_layer(documents.model, MASKING, a, a), batch, "squared")
        for a in (*weights, 1.0, documents.best)
    )
    return {GAIN: np.array(losses) - uniform, RISE: np.array(losses) - least}


ALL = {rf"$\tau = {tau}$": Documents(tau) for tau in TAUS}


def curves(number: str) -> dict[str, Curve]:
    """Declare the curves of one number; that above the best weight is zero there, and has its markers around it."""

    def points(own: Documents) -> list[float]:
        return sorted((*WEIGHTS, own.best)) if number == GAIN else list(WEIGHTS[1:])

    return {
        name: Curve(number=number, setting=name, points=partial(points, own), judged_where=JUDGED[number])
        for name, own in ALL.items()
    } | {
        f"_star, {name}": Curve(
            model=own, theory=partial(_at_best, number), points=partial(_optimum, own), line=(), replicate=NONE,
            color=k,
        )
        for k, (name, own) in enumerate(ALL.items())
        if number == RISE  # those of the gain would hide its markers
    }  # fmt: skip


def _optimum(documents: Documents) -> list[float]:
    return [documents.best]


def _at_best(number: str, documents: Documents) -> float:
    return predicted(documents, [documents.best])[number][0]


def draw(axes: Axes, rows: DataFrame) -> None:
    """Say in the legend what the stars are, where there are some."""
    if not rows["curve"].str.startswith("_star").any():
        return
    axes.plot([], [], "*", color="0.3", markersize=9, label="optimum $A^*$")
    axes.legend()


EXPERIMENT = Experiment(
    title="Attention to the own topic lowers the loss up to an optimum",
    measure=measured,
    theory=predicted,
    settings=ALL,
    by_point=True,
    panels=[
        Panel(title="against uniform attention", curves=curves(GAIN), ylabel="excess loss over uniform attention"),
        Panel(
            title="against the best weight", curves=curves(RISE), ylabel="excess loss over the optimum",
            ylim=(-0.0002, 0.005), xlim=(2, 120),
            line=np.geomspace(2, 100, 40),
        ),
    ],
    ordered=True,
    line=np.geomspace(0.3, 100, 50),
    d=200,
    replicates=24,
    xlabel="weight of the own topic $A$",
    xscale="log",
    draw=draw,
    unjudged="combinations of losses on the same documents have less noise than corrections of order 1/d^2",
    caption="Attention to the own topic lowers the loss up to A*, and more raises it again. The squared loss is shown"
    " for T = 10 topics of v = 10 words with tau in a document, masking rates (0.15, 0.1, 0.1). The value "
    "matrix is that of stage 1; other topics and [MASK] have the attention weight 1. Lines are the theory for"
    " long documents. (b) The same above that at A*; stars mark A* = 6.64, 7.72, 8.76 and 9.43, where (a) has"
    " markers. Markers are sampled documents of {sizes} tokens, the same for all weights, extrapolated; at A*"
    " in (a) and A = 100 in (b) they are judged together, also the low one at tau = 3.",
)  # fmt: skip
