"""In stage 1 the value matrix learns the mean first and the topics later, as closed forms of gradient flow say."""

from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from figures.core import Context, Experiment, Panel, Row, row
from figures.topics.uniform_attention import Population, descent
from simulate.core import Estimate, Task, stream
from simulate.topics import topic_gap
from simulate.topics.layer import Loss
from theory.models import Masking, TopicModel
from theory.topics import sectors, stage1_flow

MODEL = TopicModel(n_topics=10, words_per_topic=10, topics_per_document=2)
MASKING = Masking(selected=0.15, kept=0.1, randomized=0.1)
STEP = 0.5
TIMES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
LOSSES: dict[Literal["squared", "cross_entropy"], str] = {"squared": "squared loss", "cross_entropy": "cross-entropy"}
THEORY, DESCENT, KNEES = "gradient flow", "gradient descent", "relaxation times"


def path(loss: Loss, times: list[float], seed: int) -> NDArray[np.float64]:
    """Returns the gap and the loss of the value matrix after gradient descent to each time, (2, times)."""
    steps = [round(t / STEP) for t in times]
    found = descent(Population.of(MODEL, MASKING), loss, STEP, steps, stream(seed, "stage1_dynamics", loss))
    D = MODEL.n_tokens
    return np.array([[topic_gap(MODEL, each[1:].reshape(D, D)) for each in found], found[:, 0]])


def compute(context: Context) -> list[Row]:
    times, seeds = context.thin(TIMES[:4] if context.is_draft else TIMES), range(context.replicates(2))
    tasks = [Task(f"{loss}/{seed}", path, (loss, times, seed)) for loss in LOSSES for seed in seeds]
    found = context.sweep(tasks)
    at = sectors(MODEL, MASKING)
    knees = [0.5 / at.mean, 0.5 / at.topic]
    grid = context.thin(np.geomspace(1, 2000, 120), 8)
    rows = []
    for (loss, name), (k, column) in product(LOSSES.items(), enumerate(("gap", "loss"))):
        panel = f"{name}: {column}"
        flow = stage1_flow(MODEL, MASKING, grid, loss=loss)
        rows += [row(THEORY, t, panel=panel, theory=y) for t, y in zip(grid, getattr(flow, column), strict=True)]
        flow = stage1_flow(MODEL, MASKING, times, loss=loss)
        for i, (t, theory) in enumerate(zip(times, getattr(flow, column), strict=True)):
            estimate = Estimate.of([np.asarray(found[f"{loss}/{seed}"])[k, i] for seed in seeds])
            rows.append(row(DESCENT, t, panel=panel, theory=theory, d=np.inf, estimate=estimate, judged=False))
        if loss == "squared":
            flow = stage1_flow(MODEL, MASKING, knees)
            ys = getattr(flow, column)
            rows += [row(KNEES, t, panel=panel, theory=y, d=np.inf) for t, y in zip(knees, ys, strict=True)]
    return rows


EXPERIMENT = Experiment(
    title="The value matrix in time, uniform attention, ten topics of ten words",
    compute=compute,
    panels=[
        Panel(title=f"{name}: {column}", curves={}, ylabel=ylabel)
        for name, unit in zip(LOSSES.values(), ("loss", "loss (nats)"), strict=True)
        for column, ylabel in (("gap", "same-topic minus different-topic"), ("loss", unit))
    ],
    xlabel="time $t$",
    xscale="log",
    unjudged="descent with finite steps is not flow, and the scatter between starts is not the difference of the two",
    caption="There are T = 10 topics of v = 10 words and tau = 2 topics in a document, (p_m, p_c, p_r) = (0.15, "
    "0.1, 0.1) are the shares of selected positions, and of these the shares that show the true word and a random "
    "word; attention is uniform and there is no bias. Lines are gradient flow from zero, in closed form for the "
    "squared loss and from two scalar equations for the cross-entropy; squares are gradient descent with step 0.5 on "
    "all 101 x 101 entries, the mean of two small random starts. Under the squared loss the mean frequency of words "
    "is learned by the time 1/(2 Lambda_0) = 22.6 and the topics by 1/(2 Lambda_1) = 150.4 (marked as relaxation "
    "times; Lambda_0 and Lambda_1 are the curvatures of the loss in these two directions). Under the cross-entropy "
    "the gap between same-topic and different-topic entries grows without end. No z is given, since descent with "
    "finite steps is not flow.",
)
