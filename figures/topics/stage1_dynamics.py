"""In stage 1 the value matrix learns the mean first and the topics later, as closed forms of gradient flow say."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from figures.core import Axes, Curve, DataFrame, Experiment, Panel
from figures.core.names import name_curve
from figures.topics.uniform_attention import Population, descent
from simulate.core import stream
from simulate.topics import topic_gap
from theory.models import Masking, TopicModel
from theory.topics import Stage1Flow, same_topic_gap, sectors, stage1_flow

MODEL = TopicModel(n_topics=10, words_per_topic=10, topics_per_document=2)
MASKING = Masking(selected=0.15, kept=0.1, randomized=0.1)
STEP = 0.5
TIMES = (1, 2, 5, 10, 20, 50, 100, 200, 500)
Loss = Literal["squared", "cross_entropy"]
MEAN, TOPICS = "mean frequency", "topics"
SHARES = "squared loss: what is learned"


def path(loss: Loss, times: list[float], _size: int, rng: Generator) -> dict[str, NDArray[np.float64]]:
    """Measure the gap and the loss of the value matrix after gradient descent to each time, and what it predicts.

    Where the mean frequency is learned, predicted frequencies of words sum to 1 in the mean over documents; where the
    topics are, their regression on the true frequencies, both without their means, has the slope 1.
    """
    population = Population.of(MODEL, MASKING)
    found = descent(population, loss, STEP, [round(t / STEP) for t in times], rng)
    values = found[:, 1:].reshape(len(found), MODEL.n_tokens, MODEL.n_tokens)
    predicted = (population.visible @ values.transpose(0, 2, 1))[..., 1:]  # (times, documents, words)
    varying = population.words[:, 1:] - population.words[:, 1:].mean(axis=0)
    return {
        MEAN: predicted.sum(axis=2).mean(axis=1),
        TOPICS: (predicted * varying).sum(axis=(1, 2)) / (varying**2).sum(),
        "gap": np.array([topic_gap(MODEL, each) for each in values]),
        "loss": found[:, 0],
    }


def flow(loss: Loss, times: Sequence[float]) -> Stage1Flow:
    return stage1_flow(MODEL, MASKING, times, loss=loss)


def learned(loss: Loss, times: Sequence[float]) -> dict[str, NDArray[np.float64]]:
    """Return the shares of the mean frequency and of the topics that the flow has learned."""
    found = flow(loss, times)
    per_mask = MODEL.n_words * sectors(MODEL, MASKING).mean / MASKING.mask_fraction
    return {
        MEAN: per_mask * np.array([matrix.mask_column for matrix in found.matrices]),
        TOPICS: found.gap / same_topic_gap(MODEL, MASKING),
    }


def shares() -> dict[str, Curve]:
    """Declare both shares, and stars at their relaxation times, in one color each."""
    at = sectors(MODEL, MASKING)
    curves = {
        f"_{name}": Curve(number=name, setting="squared", theory=learned, color=k)
        for k, name in enumerate((MEAN, TOPICS))
    }
    stars = {
        f"_relaxation time, {name}": Curve(
            model=float, theory=lambda t, name=name: float(learned("squared", [t])[name][0]), line=(), points=(time,),
            color=k,
        )
        for k, (name, time) in enumerate(((MEAN, 0.5 / at.mean), (TOPICS, 0.5 / at.topic)))
    }  # fmt: skip
    return curves | stars


def shown(loss: Loss, number: str) -> dict[str, Curve]:
    return {f"_{number}": Curve(number=number, setting=loss, color=3 if number == "gap" else 2, style="-")}


def draw(axes: Axes, rows: DataFrame) -> None:
    """Name the shares at their stars."""
    if rows["panel"].iloc[0] == SHARES:
        name_curve(axes, f"_relaxation time, {MEAN}", "mean\nfrequency", offset=(-8.0, 0.0), across="right")
        name_curve(axes, f"_relaxation time, {TOPICS}", TOPICS, offset=(8.0, 0.0))


EXPERIMENT = Experiment(
    title="The mean frequency of words is learned first, then the topics",
    measure=path,
    by_point=True,
    theory=flow,
    settings={"squared": "squared", "cross_entropy": "cross_entropy"},
    streams=lambda seed, loss, _t, _size, r: stream(seed + r, "stage1_dynamics", loss),
    panels=[
        Panel(title=SHARES, curves=shares(), ylabel="learned share", ylim=(-0.03, 1.07)),
        Panel(title="squared loss: the loss", curves=shown("squared", "loss"), ylabel="loss"),
        Panel(
            title="cross-entropy: the gap",
            curves=shown("cross_entropy", "gap"),
            ylabel="gap, same minus different topic",
        ),
        Panel(title="cross-entropy: the loss", curves=shown("cross_entropy", "loss"), ylabel="loss (nats)"),
    ],
    line=np.geomspace(1, 1000, 100),
    points=TIMES,
    d=MODEL.n_tokens,
    extrapolate=False,
    replicates=6,
    draft={"points": TIMES[:4]},
    draw=draw,
    xlabel="time $t$",
    xscale="log",
    unjudged="descent with finite steps is not flow, and the scatter between starts is not the difference of the two",
    caption="Under the squared loss 63 % of the mean frequency are learned by the time 22.6 and of the topics by "
    "150.4; under the cross-entropy the gap between same-topic and different-topic entries still grows. T = "
    "10 topics of v = 10 words, tau = 2 in a document, masking rates (0.15, 0.1, 0.1), uniform attention. "
    "Lines are gradient flow from zero; markers gradient descent with step 0.5 on all 101 x 101 entries from "
    "{replicates} small random starts; finite steps are not flow, so no z is given. (a) The mean sum of "
    "predicted frequencies, and their slope on the true ones between documents; stars: the relaxation times "
    "1/(2 Lambda). (c) By theory the gap has no limit.",
)
