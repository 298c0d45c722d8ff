"""Networks that were trained on one task keep some of their layers for a related task: errors against their number."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.core import Axes, Context, Curve, DataFrame, Experiment, Panel, Row, row
from figures.core.names import write_name
from figures.core.rows import MEASURED, single_runs
from simulate.core import Estimate, Task, stream
from simulate.feedforward import (
    Multilayer,
    canonical_similarity,
    draw_teachers,
    linear_alignment,
    procrustes_similarity,
    train_multilayer,
    transfer_network,
)
from simulate.feedforward.transfer_networks import Protocol
from theory.models import NetworkTransfer

TASK = NetworkTransfer()
PROTOCOLS: dict[Protocol, str] = {"fresh": "others re-initialized", "warm": "others warm-started"}
SIMILARITIES = {
    "linear CKA": linear_alignment,
    "canonical correlations": canonical_similarity,
    "Procrustes": procrustes_similarity,
}
# Samples of the source, steps of its training and of each transfer, how many sets are drawn of each target size, and
# samples of the target for the network whose layers are compared with those of the source.
# A transfer may end `patience` steps after its best ones: of 24 that were looked at, none found better ones later.
SETTINGS: dict[str, dict[str, Any]] = {
    "draft": {"source": 500, "source_steps": 40, "steps": 40, "patience": None, "sets": {50: 1, 100: 1},
              "scratch": 200, "tested": 500},
    "default": {"source": 60_000, "source_steps": 5_000, "steps": 1_000, "patience": 300,
                "sets": {100: 2, 300: 2, 1_000: 1}, "scratch": 10_000, "tested": 5_000},
    "paper": {"source": 200_000, "source_steps": 20_000, "steps": 3_000, "patience": None,
              "sets": {100: 10, 300: 5, 1_000: 2, 3_000: 1, 10_000: 1},
              "scratch": 10_000, "tested": 10_000},
}  # fmt: skip
KEPT = range(TASK.n_layers + 1)
# Where the names of COMPARED stand, beside the first panel of similarities, which is named automatically.
PLACES = {"canonical correlations": ((0.9, 0.38), (1.6, 0.68)), "Procrustes": ((1.4, 0.95), (0.9, 0.55))}
COMPARED = (("two source networks", 1, "v"), ("source and target network", 2, "P"))


def errors_and_similarity(quality: str, replicate: int) -> NDArray[np.float64]:
    """Return the test errors by protocol, size and number of kept layers, then the similarities of hidden layers.

    They are those of one pair of teachers, all in one row; the errors are means over drawn target sets, and the
    similarities those of each measure, pair of networks and layer in turn.
    """
    settings = SETTINGS[quality]
    rng = stream(0, "transfer of networks", replicate)
    source, target = draw_teachers(TASK, rng)
    inputs, labels = source.samples(settings["source"], rng)

    def trained_on_source() -> Multilayer:
        start = Multilayer.random(TASK.sizes, rng)
        return train_multilayer(
            start, inputs, labels, rng, n_steps=settings["source_steps"], batch=256, record_every=250
        ).network

    network, other = trained_on_source(), trained_on_source()
    tested, truth = target.samples(settings["tested"], rng)
    errors = np.zeros((len(PROTOCOLS), len(settings["sets"]), len(KEPT)))
    for i, (n, sets) in enumerate(settings["sets"].items()):
        for drawn in range(sets):
            X, y = target.samples(n, stream(0, "target set", replicate, n, drawn))
            for (p, protocol), kept in product(enumerate(PROTOCOLS), KEPT):
                found = transfer_network(
                    network,
                    kept,
                    X,
                    y,
                    rng,
                    protocol=protocol,
                    n_steps=settings["steps"],
                    patience=settings["patience"],
                )
                errors[p, i, kept] += found.network.error(tested, truth) / sets
    X, y = target.samples(settings["scratch"], stream(0, "target set", replicate, "scratch"))
    options = {"n_steps": settings["steps"], "patience": settings["patience"]}
    scratch = transfer_network(network, 0, X, y, rng, protocol="fresh", **options).network
    pairs = ((network, other), (network, scratch))
    similarities = [
        similarity(first.hidden(tested, depth), second.hidden(tested, depth))
        for similarity, (first, second), depth in product(SIMILARITIES.values(), pairs, KEPT[1:-1])
    ]
    return np.concatenate([errors.ravel(), similarities])


def compute(context: Context) -> list[Row]:
    settings = SETTINGS[context.quality]
    seeds = range({"draft": 2, "default": 6, "paper": 12}[context.quality])
    found = context.sweep(Task(f"{seed}", errors_and_similarity, (context.quality, seed)) for seed in seeds)
    values = np.array([found[f"{seed}"] for seed in seeds])
    shape = (len(PROTOCOLS), len(settings["sets"]), len(KEPT))
    errors = values[:, : np.prod(shape)].reshape(-1, *shape)
    similarities = values[:, np.prod(shape) :].reshape(len(values), len(SIMILARITIES), 2, -1)
    rows = []
    for (p, title), (i, n) in product(enumerate(PROTOCOLS.values()), enumerate(settings["sets"])):
        rows += means_and_runs(f"$n_t = {n}$", KEPT, title, errors[:, p, i])
    for (m, measure), (k, (name, *_)) in product(enumerate(SIMILARITIES), enumerate(COMPARED)):
        rows += means_and_runs(name, KEPT[1:-1], measure, similarities[:, m, k])
    return rows


def means_and_runs(curve: str, xs: Sequence[int], panel: str, values: NDArray[np.float64]) -> list[Row]:
    """Return the means of `values`, (replicates, xs), and each replicate where these are few."""
    estimates = map(Estimate.of, values.T)
    means = [row(curve, x, panel=panel, d=TASK.width, estimate=one) for x, one in zip(xs, estimates, strict=True)]
    return means + single_runs(curve, xs, values, panel=panel, d=TASK.width, along=True)


def draw(axes: Axes, rows: DataFrame) -> None:
    """Draw a line at the least mean error of each size, with its name beside the first panel."""
    axes.set_xticks(sorted(rows["x"].unique()))
    title = rows["panel"].iloc[0]
    if title in SIMILARITIES:
        if title in PLACES:
            for (name, color, _), place in zip(COMPARED, PLACES[title], strict=True):
                write_name(axes, name, place, color=f"C{color}", across="left")
            axes.legend().remove()
        return
    axes.set_xlim(-0.3, KEPT[-2] + 0.3)  # with all layers frozen errors are far above the others
    shown = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    for label, curve in rows[rows["kind"] == MEASURED].groupby("curve", sort=False):
        color, least = shown[label].get_color(), curve["simulation"].min()
        axes.axhline(least, color=color, linestyle=":", linewidth=0.8, zorder=0)
        if title == PROTOCOLS["fresh"]:
            write_name(axes, str(label), (1.0, least), color=color, x_is_share=True)
    axes.legend().remove()


EXPERIMENT = Experiment(
    title="With few target samples freezing some layers helps in the mean, if the others start anew",
    compute=compute,
    panels=(
        *(
            Panel(title=title, curves={}, ylabel="test error on the target", ylim=(0.13, 0.6), ordered=True)
            for title in PROTOCOLS.values()
        ),
        *(
            Panel(
                title=title,
                curves={name: Curve(color=color, marker=marker) for name, color, marker in COMPARED},
                xlabel="hidden layer",
                ylabel="similarity of hidden layers",
                ylim=(0, 1),
            )
            for title in SIMILARITIES
        ),
    ),
    xlabel="frozen layers $k$",
    draw=draw,
    caption="With 100 target samples the mean error of six runs, whose bars overlap, is least with about three of "
    "five layers frozen, if the others start anew; with 300 or more, or with a warm start, freezing gains "
    "nothing. Source and target teachers share two hidden layers; the others and the read-out overlap by 0.9,"
    " 0.6 and 0.3. A source network keeps its first k layers; the others learn n_t samples, (a) from new or "
    "(b) from its weights. Dotted lines are the least mean error of each n_t. With all five frozen (not "
    "drawn) the error is 0.49. (c, d, e) Similarities of hidden layers; by canonical correlations (d) two "
    "source networks are not the more similar.",
    papers={
        "arXiv:2303.01429 (networks)": "The published text was not readable; teachers, sizes and protocol are our own. "
        "The best depth changes as expected if the other layers are drawn anew, and is 0 if they start from the "
        "source network.",
    },
)
