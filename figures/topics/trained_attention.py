"""Trained layers learn to attend to the own topic, under both losses and with both optimizers."""

from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from figures.core import Axes, Curve, DataFrame, Experiment, Panel, level
from figures.core.names import name_curve
from simulate.core import stream
from simulate.topics import Training, train_single_layer
from simulate.topics.layer import Loss
from simulate.topics.settings import OptimizerName
from theory.models import Masking, TopicModel
from theory.topics import stage2_optimum

MODEL = TopicModel(n_topics=4, words_per_topic=2, topics_per_document=2)
MASKING = Masking(selected=0.5, kept=0.3, randomized=0.1)
LOSSES: dict[Loss, str] = {"squared": "squared loss", "cross_entropy": "cross-entropy"}
OPTIMIZERS: dict[OptimizerName, str] = {"sgd": "SGD", "adam": "Adam"}
SETTINGS: dict[tuple[Loss, OptimizerName], tuple[float, int]] = {  # rate and steps: as few as show all of the learning
    ("squared", "sgd"): (0.7, 1500),
    ("squared", "adam"): (0.01, 500),
    ("cross_entropy", "sgd"): (2.0, 500),
    ("cross_entropy", "adam"): (0.01, 500),
}
CLASSES = {
    "same_word": "same word",
    "same_topic": "other word of its topic",
    "different_topic": "word of another topic",
}
OWN, OTHER = "_own topic, optimum", "_other topic, optimum"
UNIFORM, RECORDS = 0.01, 10


def title(loss: Loss, optimizer: OptimizerName) -> str:
    return f"{LOSSES[loss]}, {OPTIMIZERS[optimizer]} at rate {SETTINGS[loss, optimizer][0]:g}"


def training(loss: Loss, optimizer: OptimizerName, n_steps: int) -> Training:
    return Training(
        steps=n_steps,
        rate=SETTINGS[loss, optimizer][0],
        loss=loss,
        optimizer=optimizer,
        init_noise=0.1,
        batch_size=20,
        length=(40, 60),
        record_every=max(n_steps // RECORDS, 1),
        evaluated=100,
    )


def attention(training: Training, steps: list[int], _n_tokens: int, rng: Generator) -> dict[str, NDArray[np.float64]]:
    """Measure the averages of the three classes after `steps`, which are recorded."""
    run = train_single_layer(MODEL, MASKING, training, rng)
    at = np.searchsorted(run.column("step"), steps)
    return {kind: run.column(name)[at] for name, kind in CLASSES.items()}


def optimum(own: bool) -> float:
    """Return the attention of the least loss to a word of the own topic, on average, or of another one.

    With tau topics in a document, all equally long, a word of the own topic gets A times the attention of another one,
    and the mean over all words of the document is `UNIFORM`.
    """
    tau, A = MODEL.topics_per_document, stage2_optimum(MODEL, MASKING, mask_weight="free").topic_weight
    return (A if own else 1.0) * UNIFORM * tau / (A + tau - 1)


def of(n_steps: int | None = None) -> dict[str, Any]:
    """Return what the declaration of trainings with so many steps, by default those of the settings, has of its own."""
    settings = {title(*cell): training(*cell, n_steps or own) for cell, (_, own) in SETTINGS.items()}
    panels = []
    for name, each in settings.items():
        steps = range(0, each.steps + 1, each.record_every)
        curves = {
            kind: Curve(number=kind, setting=name, points=steps, color=k) for k, kind in enumerate(CLASSES.values())
        }
        if each.loss == "squared":
            for label, own in ((OWN, True), (OTHER, False)):
                curves[label] = level(partial(optimum, own), (0, each.steps), style=":", color=6)
        panels.append(Panel(title=name, curves=curves))
    return {"settings": settings, "panels": panels}


def draw(axes: Axes, rows: DataFrame) -> None:
    """Draw the paths between the markers and a line at uniform attention, and say what the dotted lines are."""
    axes.axhline(UNIFORM, color="0.6", linewidth=0.6, zorder=0)
    for k, kind in enumerate(CLASSES.values()):
        path = rows[rows["curve"] == kind]
        axes.plot(path["x"], path["simulation"], color=f"C{k}", zorder=1)
    if rows["curve"].eq(OWN).any():
        axes.plot([], [], ":k", label="theory of the optimum")
        axes.legend()
    if rows["panel"].iloc[0] == title("squared", "sgd"):  # in the other panel with such lines a name would hide markers
        name_curve(axes, OWN, "own topic, optimum", x=0.0, offset=(0.0, 3.0), along="bottom")
        name_curve(axes, OTHER, "other topic, optimum", x=0.0, offset=(0.0, -3.0), along="top")


CELLS = {title(*cell): cell for cell in SETTINGS}
EXPERIMENT = Experiment(
    title="In all four trainings words of other topics lose attention",
    papers={
        "arXiv:2303.04245 (talk: average attention)": "The layout of the talk's table, two losses by two optimizers, "
        "for 4 topics of 2 words where the authors' code has 10 of 10; the values of the table were not reproduced.",
    },
    measure=attention,
    by_point=True,
    streams=lambda seed, setting, _x, _d, r: stream(seed + r, "trained_attention", *CELLS[setting]),
    **of(),
    d=MODEL.n_tokens,
    extrapolate=False,
    replicates=8,
    draft=of(20),
    xlabel="training step",
    ylabel="attention times length/100",
    yscale="log",
    ylim=(0.0008, 0.035),
    draw=draw,
    unjudged="the lines hold for infinitely long documents and a value matrix that is frozen, and there are none for "
    "the cross-entropy",
    caption="With both losses and both optimizers words of another topic lose attention and the same word gains it; "
    "in (a) other words of its topic gain first, and end below uniform too. (a, b) The squared loss by SGD "
    "and by Adam; (c, d) the cross-entropy. Markers are the attention to a position, times the length of the "
    "document over 100, averaged over pairs with the same word, of one topic, or of two topics; 0.01 (gray) "
    "is uniform. Means over {replicates} runs with T = 4 topics of 2 words, two in a document of 40 to 60 "
    "tokens, 20 new documents per step, masking rates (0.5, 0.3, 0.1). Dotted lines are the optimum for "
    "infinitely long documents.",
)
