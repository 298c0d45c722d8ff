"""Trained layers attend more to the own topic than to other topics, and share this weight among words differently."""

from collections.abc import Iterable
from itertools import product
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
WEIGHT = "own topic over other topics"


def steps(context: Context) -> int:
    """Returns the number of steps of a run, few enough for all runs to be over in a minute."""
    return {"draft": 20, "default": 1000, "paper": 1800}[context.quality]


def trained(model: TopicModel, loss: Loss, rate: float, n_steps: int, seed: int) -> NDArray[np.float64]:
    """Returns the step and the averages of the three classes at each record, (4, records)."""
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
    for rate, (loss, (name, _)) in product(RATES, LOSSES.items()):
        paths = np.array([found[tasks[loss, rate, seed].key] for seed in seeds])
        for k, kind in enumerate(CLASSES.values(), start=1):
            rows += measured(f"{name}: {kind}", title(rate), paths[0, 0], paths[:, k])
        own = (paths[:, 1] + (model.words_per_topic - 1) * paths[:, 2]) / model.words_per_topic
        rows += measured(f"{name}: {rate}", WEIGHT, paths[0, 0], own / paths[:, 3])
    return rows


def measured(curve: str, panel: str, at: NDArray[np.float64], values: NDArray[np.float64]) -> list[Row]:
    """Returns the rows of a curve from values (seeds, steps); only the last step is listed in the table."""
    estimates = [Estimate.of(each) for each in values.T]
    sizes = [None] * (len(at) - 1) + [np.inf]
    return [row(curve, x, panel=panel, d=d, estimate=e) for x, d, e in zip(at, sizes, estimates, strict=True)]


def title(rate: float) -> str:
    return f"Adam, rate {rate}"


def draw(axes: "Axes", rows: "DataFrame") -> None:
    """Draws the paths between the markers, and a line at uniform attention."""
    ratio = rows["panel"].iloc[0] == WEIGHT
    axes.axhline(1.0 if ratio else UNIFORM, color="0.6", linewidth=0.6, zorder=0)
    if ratio:
        axes.set_ylim(0.7, 6.5)
    else:
        axes.set_ylim(0.003, 0.2)
        axes.set_yticks([0.005, 0.01, 0.02, 0.05, 0.1], ["0.005", "0.01", "0.02", "0.05", "0.1"])
    axes.legend(loc="upper left").set_visible(ratio or rows["panel"].iloc[0] == title(RATES[0]))
    for label, curve in rows.groupby("curve", sort=False):
        name, kind = str(label).split(": ")
        color = [*CLASSES.values(), *map(str, RATES)].index(kind) % 3
        style = "--" if name == "squared" else "-"
        axes.plot(curve["x"], curve["simulation"], color=f"C{color}", linestyle=style, zorder=1)


def curves(kinds: Iterable[object]) -> dict[str, Curve]:
    """Returns the curves of a panel, with a color for each kind and a marker for each kind and loss."""
    return {
        f"{name}: {kind}": Curve(model=None, color=k) for name, _ in LOSSES.values() for k, kind in enumerate(kinds)
    }


EXPERIMENT = Experiment(
    title="Attention learned from documents, ten topics of ten words",
    papers={
        "arXiv:2303.04245 (talk: average attention)": "The same optimizer rates; the values of the table in the talk "
        "were not reproduced.",
    },
    compute=compute,
    panels=[
        *(Panel(title=title(rate), curves=curves(list(CLASSES.values())), yscale="log") for rate in RATES),
        Panel(title=WEIGHT, curves=curves(RATES), ylabel=r"$((v-1)\alpha + \beta)/v$ from the averages"),
    ],
    xlabel="training step",
    ylabel="attention times length/100",
    draw=draw,
    caption="Markers are the attention, times the length of the document over 100, averaged over pairs of positions "
    "of unmasked documents; it is 0.01 (gray line) where attention is uniform. Solid lines join the markers of the "
    "cross-entropy, dashed lines those of the squared loss. There are T = 10 topics of v = 10 words, Dirichlet(0.1) "
    "shares of topics, 100 to 150 tokens a document and batches of 40 documents; (p_m, p_c, p_r) = (0.15, 0.1, 0.1) "
    "are the shares of selected positions, and of these the shares that show the true word and a random word. "
    "Weights start normal with standard deviation 1e-6 (squared loss, mean over outputs) or 1e-3 (cross-entropy); "
    "each marker is the mean of two runs of 1000 steps (1800 with QUALITY=paper), with error bars. "
    "Right: the weight of the own topic, the one number on which the loss of tied attention depends, ends between "
    "3.0 and 3.4 for both losses at the rates 0.01 and 0.03. How the same word and the other words of its topic "
    "share this weight differs: under the squared loss at rate 0.01 the same word takes all of it, and the others "
    "get no more than words of other topics. At the rate 0.003 attention has only begun to move.",
)
