"""Attention of trained layers, averaged over pairs of positions: the same word, its topic, other topics."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from figures.core import Context, Curve, Experiment, Panel, Row, row
from simulate.core import Estimate, Task, stream
from simulate.topics import Training, train_single_layer
from simulate.topics.layer import Loss
from theory.models import Masking, TopicModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

MODEL = TopicModel(n_topics=10, words_per_topic=10, topics_per_document=2)
TOY = TopicModel(n_topics=4, words_per_topic=2, topics_per_document=2)
MASKING = Masking(selected=0.15, kept=0.1, randomized=0.1)
RATES = (0.003, 0.01, 0.03)
LOSSES: dict[Loss, tuple[str, float]] = {  # name, and deviation of the start
    "squared_mean": ("squared", 1e-6),
    "cross_entropy": ("cross-entropy", 1e-3),
}
CLASSES = {"same_word": "same word", "same_topic": "same topic", "different_topic": "different topic"}
UNIFORM = 0.01


def steps(context: Context) -> int:
    """Of a run; few enough for all of them to be over in a minute."""
    return {"draft": 20, "default": 1000, "paper": 1800}[context.quality]


def trained(model: TopicModel, loss: Loss, rate: float, n_steps: int, seed: int) -> NDArray[np.float64]:
    """(4, records): step and the averages of the three classes."""
    training = Training(
        steps=n_steps,
        rate=rate,
        loss=loss,
        init_noise=LOSSES[loss][1],
        concentration=0.1,
        record_every=max(n_steps // 10, 1),
    )
    run = train_single_layer(model, MASKING, training, stream(seed, "trained_attention", loss, rate))
    return np.array([run.column(name) for name in ("step", *CLASSES)])


def compute(context: Context) -> list[Row]:
    model, n_steps, seeds = TOY if context.is_draft else MODEL, steps(context), range(context.replicates(2))
    tasks = {
        (loss, rate, seed): Task(f"{loss}/{rate}/{seed}", trained, (model, loss, rate, n_steps, seed))
        for rate in RATES
        for loss in LOSSES
        for seed in seeds
    }
    found = context.sweep(tasks.values())
    rows = []
    for rate in RATES:
        for loss, (name, _) in LOSSES.items():
            paths = np.array([found[tasks[loss, rate, seed].key] for seed in seeds])
            for k, kind in enumerate(CLASSES.values(), start=1):
                for i, step in enumerate(paths[0, 0]):
                    estimate, last = Estimate.of(paths[:, k, i]), i == paths.shape[2] - 1
                    rows.append(
                        row(f"{name}: {kind}", step, panel=title(rate), d=np.inf if last else None, estimate=estimate)
                    )
    return rows


def title(rate: float) -> str:
    return f"Adam, rate {rate}"


def draw(axes: "Axes", rows: "DataFrame") -> None:
    """The paths between the markers, and uniform attention."""
    axes.axhline(UNIFORM, color="0.6", linewidth=0.6, zorder=0)
    for position, (label, curve) in enumerate(rows.groupby("curve", sort=False)):
        squared = str(label).startswith("squared")
        axes.plot(
            curve["x"], curve["simulation"], color=f"C{position % 3}", linestyle="--" if squared else "-", zorder=1
        )


EXPERIMENT = Experiment(
    title="Attention learned from documents, ten topics of ten words",
    compute=compute,
    panels=[
        Panel(
            title=title(rate),
            curves={
                f"{name}: {kind}": Curve(model=None, color=k)
                for name, _ in LOSSES.values()
                for k, kind in enumerate(CLASSES.values())
            },
        )
        for rate in RATES
    ],
    xlabel="training step",
    ylabel="attention times length/100",
    draw=draw,
    figsize=(9.6, 3.0),
)
