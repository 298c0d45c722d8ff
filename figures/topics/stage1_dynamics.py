"""In stage 1 the value matrix learns the mean first and the topics later, as closed forms of gradient flow say."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from figures.core import Curve, Experiment, Panel
from figures.topics.uniform_attention import Population, descent
from simulate.core import stream
from simulate.topics import topic_gap
from theory.models import Masking, TopicModel
from theory.topics import Stage1Flow, sectors, stage1_flow

MODEL = TopicModel(n_topics=10, words_per_topic=10, topics_per_document=2)
MASKING = Masking(selected=0.15, kept=0.1, randomized=0.1)
STEP = 0.5
TIMES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
Loss = Literal["squared", "cross_entropy"]
LOSSES: dict[Loss, str] = {"squared": "squared loss", "cross_entropy": "cross-entropy"}
THEORY, DESCENT, KNEES = "gradient flow", "gradient descent", "relaxation times"


def path(loss: Loss, times: list[float], _size: int, rng: Generator) -> dict[str, NDArray[np.float64]]:
    """Measure the gap and the loss of the value matrix after gradient descent to each time."""
    found = descent(Population.of(MODEL, MASKING), loss, STEP, [round(t / STEP) for t in times], rng)
    D = MODEL.n_tokens
    return {"gap": np.array([topic_gap(MODEL, each[1:].reshape(D, D)) for each in found]), "loss": found[:, 0]}


def flow(loss: Loss, times: Sequence[float]) -> Stage1Flow:
    return stage1_flow(MODEL, MASKING, times, loss=loss)


def knees() -> list[float]:
    at = sectors(MODEL, MASKING)
    return [0.5 / at.mean, 0.5 / at.topic]


def curves(loss: Loss, column: str) -> dict[str, Curve]:
    def theory(t: float) -> float:
        return float(getattr(flow(loss, [t]), column)[0])

    declared = {
        THEORY: Curve(number=column, setting=loss, points=()),
        DESCENT: Curve(number=column, setting=loss, line=()),
    }
    marks = {KNEES: Curve(model=float, theory=theory, line=(), points=knees)} if loss == "squared" else {}
    return declared | marks


EXPERIMENT = Experiment(
    title="The mean frequency of words is learned first, then the topics",
    measure=path,
    by_point=True,
    theory=flow,
    settings={loss: loss for loss in LOSSES},
    streams=lambda seed, loss, _t, _size, r: stream(seed + r, "stage1_dynamics", loss),
    panels=[
        Panel(title=f"{name}: {column}", curves=curves(loss, column), ylabel=ylabel)
        for (loss, name), unit in zip(LOSSES.items(), ("loss", "loss (nats)"), strict=True)
        for column, ylabel in (("gap", "same-topic minus different-topic"), ("loss", unit))
    ],
    line=np.geomspace(1, 2000, 120),
    points=TIMES,
    d=MODEL.n_tokens,
    extrapolate=False,
    replicates=2,
    draft={"points": TIMES[:4]},
    xlabel="time $t$",
    xscale="log",
    unjudged="descent with finite steps is not flow, and the scatter between starts is not the difference of the two",
    caption="Under the squared loss the mean frequency of words is learned by the time 22.6 and the topics by "
    "150.4; under the cross-entropy the gap between same-topic and different-topic entries grows without end. T = "
    "10 topics of v = 10 words, tau = 2 in a document, masking rates (0.15, 0.1, 0.1), uniform attention without "
    "bias. Lines are gradient flow from zero, in closed form for the squared loss and from two scalar equations "
    "for the cross-entropy; stars mark the relaxation times 1/(2 Lambda) of both directions. Squares are gradient "
    "descent with step 0.5 on all 101 x 101 entries from two small random starts; no z is given, since finite "
    "steps are not flow.",
)
