"""How many samples a stack of two layers needs until it leaves its first plateau in the direction of the data."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.core import Axes, Context, Curve, DataFrame, Experiment, Panel, Row, row
from figures.nets.four_body import C, L, four_body_model, population, start
from simulate.core import Estimate, Share, Task, stream
from simulate.nets import gradient_flow, sampled_contexts
from theory.models import FactoredStack, Sequences
from theory.nets import best_direction, escape_time, learning_threshold, structureless_gain
from theory.potts import enumerate_states

GAIN, COSINE, SAME = "largest gain", "direction of escape", "same maximum"
SIZES = (10, 30, 52, 100, 300, 1_000, 3_000)  # with the one where noise and signal offer the same gain
SETS = 8  # of samples
SCALE, ESCAPED = 0.2, 0.01  # of the start, and the gain in nats per site at which it has escaped
STRUCTURELESS, DATA = "uniform colors", "the data"
FLOW, NEAREST = "from the same start", "to the nearest maximum"
EQUAL = Curve(style=":", color=6)  # the line where noise and signal offer the same gain
EQUAL_GAIN = "equal gains"
MAXIMA_STARTS = 24  # of the population's flow, in which all of its three maxima were found


def gains(n_samples: int, replicate: int) -> NDArray[np.float64]:
    """Return the largest gain S* of samples without structure and of samples of the model."""
    rng, exact = stream(0, "escape samples", n_samples, replicate), enumerate_states(four_body_model())
    noise = structureless_gain(L, C, 2, n_samples, rng, n_draws=1)[0] / np.sqrt(n_samples)
    chosen = rng.choice(len(exact.states), size=n_samples, p=exact.probabilities)
    return np.array([noise, best_direction(Sequences(exact.states[chosen], C), 2, rng, n_starts=4).gain])


def sampled_states(n_samples: int, replicate: int) -> NDArray[np.integer[Any]]:
    """Return the samples that the flow of a replicate sees, the same for large and for small weights."""
    rng, exact = stream(0, "escape cosine", n_samples, replicate), enumerate_states(four_body_model())
    return exact.states[rng.choice(len(exact.states), size=n_samples, p=exact.probabilities)]


def cosines(sizes: list[int], replicate: int) -> NDArray[np.float64]:
    """Return the cosines between the logits at escape on samples and on the population, from the same start.

    There is one for each number of samples; the flow on the population is the same for all of them.
    """
    stack, stop = start(2, SCALE, replicate), np.log(C) - ESCAPED
    true = _centered_logits(gradient_flow(stack, population(), stop_loss=stop).stack)
    found = []
    for n_samples in sizes:
        contexts = sampled_contexts(sampled_states(n_samples, replicate), C)
        seen = _centered_logits(gradient_flow(stack, contexts, stop_loss=stop).stack)
        found.append(np.sum(seen * true) / np.linalg.norm(seen) / np.linalg.norm(true))
    return np.array(found)


def limits(sizes: list[int], replicate: int) -> NDArray[np.float64]:
    """How the escape of small weights on samples compares with the maxima of the gain of the population, (sizes, 2).

    The cosine of the logits with those of the nearest maximum, and 1 where this is the maximum that the population
    leads the same start to, else 0.
    """
    stack = start(2, 1.0, replicate)
    true = np.argmax(_cosines(escape_time(four_body_model(), stack).direction))
    found = []
    for n_samples in sizes:
        states = sampled_states(n_samples, replicate)
        seen = _cosines(escape_time(Sequences(states, C), stack).direction)
        found.append([max(seen), float(np.argmax(seen) == true)])
    return np.array(found)


def _cosines(stack: FactoredStack) -> list[float]:
    z = _centered_logits(stack)
    return [float(np.sum(z * one) / np.linalg.norm(z)) for one in population_maxima().values()]


@cache
def population_maxima() -> dict[float, NDArray[np.float64]]:
    """Return the logits of norm one at the maxima of the population's gain that its flow leads to, by their gain."""
    found = [escape_time(four_body_model(), start(2, 1.0, k)) for k in range(MAXIMA_STARTS)]
    logits = {round(one.gain, 8): _centered_logits(one.direction) for one in found}
    return {gain: z / np.linalg.norm(z) for gain, z in logits.items()}


def _centered_logits(stack: FactoredStack) -> NDArray[np.float64]:
    contexts, each = population(), np.arange(len(population().sites))
    inputs = np.eye(C)[contexts.states]
    inputs[each, contexts.sites] = 0.0
    z = stack.logits(inputs)[each, contexts.sites]
    return np.asarray(z - z.mean(axis=1, keepdims=True))


def compute(context: Context) -> list[Row]:
    sizes = [round(M) for M in (SIZES[1:3] if context.is_draft else SIZES)]
    seeds = range(context.replicates(SETS))
    tasks = [Task(f"gains/{M}/{seed}", gains, (M, seed)) for M in sizes for seed in seeds]
    tasks += [Task(f"cosines/{seed}", cosines, (sizes, seed)) for seed in seeds]
    starts = range(context.replicates(32))
    tasks += [Task(f"limits/{seed}", limits, (sizes, seed)) for seed in starts]
    found = context.sweep(tasks)
    agreement = np.array([found[f"cosines/{seed}"] for seed in seeds])  # (seeds, sizes)
    nearest = np.array([found[f"limits/{seed}"] for seed in starts])  # (starts, sizes, 2)
    measured = {M: np.array([found[f"gains/{M}/{seed}"] for seed in seeds]) for M in sizes}
    true = best_direction(four_body_model(), 2, stream(0, "ascent")).gain
    noise = float(np.mean([np.sqrt(M) * measured[M][:, 0].mean() for M in sizes]))
    threshold, rows = learning_threshold(true, noise).n_samples, []
    for k, M in enumerate(sizes):
        chance, gain = (Estimate.of(own) for own in measured[M].T)
        rows.append(row(STRUCTURELESS, M, panel=GAIN, d=L, estimate=chance))
        rows.append(row(STRUCTURELESS, M, panel=GAIN, theory=noise / np.sqrt(M), reference=True))  # fitted to these
        rows.append(row(DATA, M, panel=GAIN, theory=true, d=L, estimate=gain, judged=False))
        rows.append(row(DATA, M, panel=GAIN, theory=true))
        rows.append(row(FLOW, M, panel=COSINE, d=L, estimate=Estimate.of(agreement[:, k])))
        rows.append(row(NEAREST, M, panel=COSINE, d=L, estimate=Estimate.of(nearest[:, k, 0])))
        rows.append(row(f"_{SAME}", M, panel=SAME, d=L, estimate=Share.of(nearest[:, k, 1])))
    return rows + [
        row(EQUAL_GAIN, threshold * near, panel=panel, theory=height)
        for panel in (COSINE, SAME) for near, height in ((0.999, 0), (1.001, 1))
    ]  # fmt: skip


def draw(axes: Axes, rows: DataFrame) -> None:
    """Mark where the lines of gains cross, as in the other panels, and how often three equally likely maxima agree."""
    if axes.get_title() == GAIN:
        noise = rows[(rows["curve"] == STRUCTURELESS) & rows["size"].isna()].iloc[0]
        data = rows[(rows["curve"] == DATA) & rows["size"].isna()].iloc[0]
        axes.axvline(noise["x"] * (noise["theory"] / data["theory"]) ** 2, color="black", linestyle=":", zorder=0)
    if axes.get_title() == SAME:
        axes.axhline(1 / 3, color="0.7", linewidth=0.8, zorder=0)


EXPERIMENT = Experiment(
    title="From few samples two layers leave the first plateau in another direction",
    compute=compute,
    panels=(
        Panel(title=GAIN, ylabel="$S^*$ (nats per site)", yscale="log"),
        Panel(
            title=COSINE,
            curves={FLOW: Curve(color=2, marker="D"), NEAREST: Curve(color=3, marker="^"), EQUAL_GAIN: EQUAL},
            ylabel="cosine of the logits",
            ylim=(-0.25, 1.05),
        ),
        Panel(
            title=SAME,
            curves={f"_{SAME}": Curve(average="share", color=4, marker="v"), EQUAL_GAIN: EQUAL},
            ylabel="share of starts",
            ylim=(0.0, 1.05),
        ),
    ),
    xlabel="samples $M$",
    xscale="log",
    draw=draw,
    unjudged="the line is that of infinitely many samples",
    caption="Where noise and signal offer the same gain, two layers still leave the first plateau elsewhere on samples "
    "than on the population. (a) Markers: the largest gain of weights on the unit sphere for M samples of a "
    "four-body model and for M uniform sequences; lines: the population's gain, and c/sqrt(M) with the mean c "
    "of the uniform ones, which cross at the dotted line. (b) Cosines between logits at escape and those on the "
    "population: of flow from the same weights of scale 0.2 (diamonds), and of small weights with the nearest "
    "of the gain's three maxima (triangles). (c) How often both lead small weights to the same maximum; gray: a "
    "third, if all were equally likely.",
)
