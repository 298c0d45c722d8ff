"""Trained layers learn to attend to the own topic, under both losses and with both optimizers."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from figures.core import Context, Curve, Experiment, Panel, Row, row
from simulate.core import Estimate, Task, stream
from simulate.topics import Training, train_single_layer
from simulate.topics.layer import Loss
from simulate.topics.settings import OptimizerName
from theory.models import Masking, TopicModel
from theory.topics import stage2_optimum

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

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


def trained(loss: Loss, optimizer: OptimizerName, n_steps: int, seed: int) -> NDArray[np.float64]:
    """Returns the step and the averages of the three classes at each record, (4, records)."""
    training = Training(
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
    run = train_single_layer(MODEL, MASKING, training, stream(seed, "trained_attention", loss, optimizer))
    return np.array([run.column(name) for name in ("step", *CLASSES)])


def compute(context: Context) -> list[Row]:
    seeds, rows = range(context.replicates(8)), []
    tasks = {
        (*cell, seed): Task(f"{'/'.join(cell)}/{seed}", trained, (*cell, context.size(n_steps, 20), seed))
        for cell, (_, n_steps) in SETTINGS.items()
        for seed in seeds
    }
    found = context.sweep(tasks.values())
    for loss, optimizer in SETTINGS:
        paths, panel = np.array([found[tasks[loss, optimizer, seed].key] for seed in seeds]), title(loss, optimizer)
        for k, kind in enumerate(CLASSES.values(), start=1):
            rows += measured(kind, panel, paths[0, 0], paths[:, k])
        if loss == "squared":
            rows += optimum(panel, paths[0, 0, [0, -1]])
    return rows


def measured(curve: str, panel: str, at: NDArray[np.float64], values: NDArray[np.float64]) -> list[Row]:
    """Returns the rows of a curve from values (seeds, steps); only the last step is listed in the table."""
    estimates = [Estimate.of(each) for each in values.T]
    sizes = [None] * (len(at) - 1) + [MODEL.n_tokens]
    return [row(curve, x, panel=panel, d=d, estimate=e) for x, d, e in zip(at, sizes, estimates, strict=True)]


def optimum(panel: str, steps: NDArray[np.float64]) -> list[Row]:
    """Returns the lines of the least loss: the attention to a word of the own topic, on average, and of the other one.

    With tau topics in a document, all equally long, a word of the own topic gets A times the attention of another one,
    and the mean over all words of the document is `UNIFORM`.
    """
    tau, A = MODEL.topics_per_document, stage2_optimum(MODEL, MASKING, mask_weight="free").topic_weight
    other = UNIFORM * tau / (A + tau - 1)
    return [row(name, x, panel=panel, theory=y) for name, y in ((OWN, A * other), (OTHER, other)) for x in steps]


def draw(axes: "Axes", rows: "DataFrame") -> None:
    """Draws the paths between the markers and a line at uniform attention, and says what the dotted lines are."""
    axes.axhline(UNIFORM, color="0.6", linewidth=0.6, zorder=0)
    for k, kind in enumerate(CLASSES.values()):
        path = rows[rows["curve"] == kind]
        axes.plot(path["x"], path["simulation"], color=f"C{k}", zorder=1)
    if rows["curve"].eq(OWN).any():
        axes.plot([], [], ":k", label="theory of the optimum")
        axes.legend()


CURVES = {kind: Curve(model=None, color=k) for k, kind in enumerate(CLASSES.values())} | {
    name: Curve(model=None, style=":", color=6) for name in (OWN, OTHER)
}
EXPERIMENT = Experiment(
    title="Attention learned from documents, four topics of two words",
    papers={
        "arXiv:2303.04245 (talk: average attention)": "The same layout, two losses by two optimizers, for a smaller "
        "vocabulary; the values of the table in the talk were not reproduced.",
    },
    compute=compute,
    panels=[Panel(title=title(*cell), curves=CURVES) for cell in SETTINGS],
    xlabel="training step",
    ylabel="attention times length/100",
    yscale="log",
    ylim=(0.0008, 0.035),
    draw=draw,
    unjudged="the lines hold for infinitely long documents and a value matrix that is frozen, and there are none for "
    "the cross-entropy",
    caption="The panels are the cells of a table: the squared loss above and the cross-entropy below, stochastic "
    "gradient descent on the left and Adam on the right. Markers are the attention that a layer gives to a position, "
    "times the length of the document over 100, averaged over the pairs of positions of unmasked documents that hold "
    "the same word, two words of one topic, or words of two topics; it is 0.01 (gray line) where attention is uniform. "
    "They are means over {replicates} runs, each with its own start and its own documents, with error bars. There are "
    "T = 4 topics of v = 2 words, two topics in a document of 40 to 60 tokens, and 20 new documents in each step; "
    "(p_m, p_c, p_r) = (0.5, 0.3, 0.1) are the shares of selected positions, and of these the shares that show the "
    "true word and a random word. Weights start normal with standard deviation 0.1. In all four cells words of "
    "another topic lose attention to those of the own topic. Dotted lines are the optimum under the squared loss for "
    "infinitely long documents: the mean over the words of the own topic (upper) and another topic (lower). The loss "
    "of tied attention depends on this mean alone, and not on how it is shared between the same word and the others.",
)
