"""In stage 2 the loss is flat along a line in the two weights of tied attention, and minimizers end anywhere on it."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from figures.core import Axes, Context, DataFrame, Experiment, Row, row
from figures.topics.tied import tied_layer
from simulate.core import Task
from simulate.topics import layer_loss, population_batch
from theory.models import Masking, TopicModel
from theory.topics import stage2_loss, stage2_optimum

MODEL = TopicModel(n_topics=4, words_per_topic=3, topics_per_document=2)
MASKING = Masking(selected=0.15, kept=0.1, randomized=0.1)
WEIGHTS = np.linspace(0.1, 12, 61)
LEVELS = np.arange(-6, -0.9, 0.5)  # powers of ten of the excess loss
MAP, VALLEY, FOUND, UNIFORM = "_map", "$(v-1)\\alpha + \\beta = vA^*$", "minimized, five starts", "uniform"
STARTS = ((1.0, 1.0), (5.0, 0.5), (2.0, 9.0), (0.5, 4.0), (7.0, 7.0))


def minimized(alpha: float, beta: float) -> NDArray[np.float64]:
    """Return the weights (alpha, beta) at which Nelder-Mead ends, on the loss summed over all queries and words."""
    batch = population_batch(MODEL, MASKING)

    def loss(logs: NDArray[np.float64]) -> float:
        return layer_loss(tied_layer(MODEL, MASKING, *np.exp(logs)), batch, "squared")

    options = {"xatol": 1e-7, "fatol": 1e-14}
    return np.asarray(np.exp(minimize(loss, np.log([alpha, beta]), method="Nelder-Mead", options=options).x))


def compute(context: Context) -> list[Row]:
    starts = context.thin(range(len(STARTS)), 2)
    ends = context.sweep([Task(str(k), minimized, STARTS[int(k)]) for k in starts])
    grid = [(a, b) for b in WEIGHTS for a in WEIGHTS]
    at = stage2_optimum(MODEL, MASKING)
    rows = [row(MAP, k, theory=stage2_loss(MODEL, MASKING, a, b) - at.loss) for k, (a, b) in enumerate(grid)]
    v, best = MODEL.words_per_topic, at.topic_weight
    rows += [row(VALLEY, a, theory=v * best - (v - 1) * a) for a in (0.0, v * best / (v - 1))]
    rows += [row(FOUND, end[0], measured=end[1], d=MODEL.n_tokens) for end in map(np.asarray, ends.values())]
    return [*rows, row(UNIFORM, 1.0, theory=1.0, d=MODEL.n_tokens, reference=True)]


def draw(axes: Axes, rows: DataFrame) -> None:
    """Draw contours of the excess loss below the line and the markers."""
    for line in axes.lines[:1]:  # the map, which was drawn as if it were a curve
        line.remove()
    n = len(WEIGHTS)
    loss = rows[rows["curve"] == MAP].sort_values("x")["theory"].to_numpy(dtype=float).reshape(n, n)
    axes.set(xlim=(WEIGHTS[0], WEIGHTS[-1]), ylim=(WEIGHTS[0], WEIGHTS[-1]))
    shown = np.log10(np.maximum(loss, np.finfo(float).tiny))  # smaller on the line than any level
    filled = axes.contourf(WEIGHTS, WEIGHTS, shown, levels=LEVELS, cmap="cividis", extend="min", zorder=-1)
    bar = axes.figure.colorbar(filled, ax=axes, label="excess loss", ticks=LEVELS[::2])
    bar.ax.set_yticklabels([f"$10^{{{level:.0f}}}$" for level in LEVELS[::2]])
    axes.legend(loc="upper right", frameon=True, framealpha=0.9)


EXPERIMENT = Experiment(
    title="Only the mean weight of a topic matters: one flat direction",
    compute=compute,
    draw=draw,
    xlabel=r"weight of other words of the topic $\alpha$",
    ylabel=r"weight of the same word $\beta$",
    caption="All attention weights with the same mean A = ((v - 1) alpha + beta)/v over a topic have the same "
    "loss, so that the optimum A* = 4.0509 is a whole line. Colors show the excess of the squared loss over its "
    "minimum, against the weight alpha of the other words of a topic and beta of the same word; other topics have "
    "weight 1, and the value matrix is that of stage 1. T = 4 topics of v = 3 words, tau = 2 in a document, "
    "masking rates (0.15, 0.1, 0.1). Markers show where a numerical minimization over all tokens ends from five "
    "starts: always on the line, each time elsewhere.",
)
