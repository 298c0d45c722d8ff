"""Stacks of one, two and three layers on samples of a larger four-body model: loss and growth of the layers."""

from collections.abc import Callable
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.core import Axes, Curve, DataFrame, Experiment, Panel, level, numbered
from simulate.core import stream
from simulate.nets import train_on_sequences
from simulate.potts import masked_loss, pseudo_likelihood, sample, site_independent
from theory.models import FactoredStack, Interaction, ManyBodyPottsModel
from theory.nets import norm_ratios

L, C, GROUPS = 20, 10, 60
SAMPLES, TEST = 25_600, 500
# The variance of a true logit over random contexts sets the temperature; see the caption for how it was chosen.
VARIANCE = 0.7
SCALE, RATE, BATCH, STARTS = 1.0, 0.5, 256, 4
RECORD = (100, 200, 400, 700, 1_000, 1_500, 2_500, 4_000, 6_000)
LONG = (*RECORD, 8_000, 12_000, 20_000, 40_000)
SHOWN = (2.21, 2.32)  # the losses that are drawn
LOSS, GROWTH = "masked loss of test sequences", "three layers: growth over that of the last"
LAYERS = {1: "$N = 1$", 2: "$N = 2$", 3: "$N = 3$"}
CORRECTED, DISPLACEMENT = "squared norm", "displacement"
LAWS = {f"layer {layer + 1}: {CORRECTED}": norm_ratios(3)[layer] for layer in (0, 1)}
DISPLACED = [f"layer {layer + 1}: {DISPLACEMENT}" for layer in (0, 1)]  # displacements obey no law
States = NDArray[np.integer[Any]]
Sizes = tuple[int, int]  # of the samples and of the test


@cache
def larger_model(variance: float = VARIANCE) -> ManyBodyPottsModel:
    """Random groups of four sites with Gaussian strengths, and a symmetric Gaussian tensor, at a temperature."""
    rng = stream(0, "paper stacks", GROUPS)
    tensor = rng.standard_normal((C,) * 4)
    tensor = sum(tensor.transpose(axes) for axes in permutations(range(4))) / np.sqrt(24)
    groups = np.stack([np.sort(rng.choice(L, 4, replace=False)) for _ in range(GROUPS)])
    unscaled = ManyBodyPottsModel(L, [Interaction(groups, rng.standard_normal(GROUPS), tensor)])
    z = unscaled.local_scores(rng.integers(C, size=(2000, L)))
    return unscaled.at(float(np.sqrt(variance / np.mean((z - z.mean(axis=2, keepdims=True)) ** 2))))


@cache
def sequences(n_train: int, n_test: int) -> tuple[States, States]:
    """Sample of chains that were seen to mix, shuffled and cut into two."""
    states = sample(larger_model(), n_train + n_test, seed=1).states
    shuffled = states[stream(0, "paper stacks", "order").permutation(len(states))]
    return shuffled[:n_train], shuffled[n_train:]


def course(plan: tuple[int, Sizes], steps: list[int], _d: int, replicate: int) -> dict[str, NDArray[np.float64]]:
    """Test loss, and growth of A_1 and A_2 over that of A_3 by two measures, after `steps`."""
    n_layers, (train, test) = plan[0], sequences(*plan[1])
    stack = FactoredStack.random(n_layers, L, C, SCALE, stream(1, "paper stacks", "start", n_layers, replicate))
    rng = stream(1, "paper stacks", "batches", n_layers, replicate)
    trained = train_on_sequences(
        stack, train, test, n_steps=max(steps), record=[0, *steps], rng=rng, rate=RATE,
        batch_size=min(BATCH, len(train)),
    )  # fmt: skip
    found = {LOSS: trained.losses[1:]}
    for names, grown in ((LAWS, trained.attention_growth), (DISPLACED, trained.displacements)):
        found |= {name: own / grown[1:, -1] for name, own in zip(names, grown[1:, :-1].T, strict=False)}
    return found


UNIFORM, TRUE = "equal probabilities", "true conditionals"
# Where the names of the lines stand: at which end, and on which side.
NAMED = {
    UNIFORM: ("end", "above"),
    "sites alone": ("end", "below"),
    "couplings of all pairs": ("start", "below"),
    TRUE: ("start", "below"),
}
LEVELS: dict[str, Callable[[States, States], float]] = {
    "sites alone": lambda train, test: masked_loss(site_independent(train, C), test).loss,
    "couplings of all pairs": lambda train, test: masked_loss(pseudo_likelihood(train, C).model, test).loss,
    TRUE: lambda _train, test: masked_loss(larger_model(), test).loss,
}


def of(steps: tuple[int, ...], sizes: Sizes) -> dict[str, Any]:
    """Return what the declaration of trainings on so many sequences, up to the last of these steps, has of its own."""
    ends = (steps[0], steps[-1])
    losses = {name: Curve(number=LOSS, setting=name) for name in LAYERS.values()}
    look: dict[str, Any] = {"style": "--", "color": 6}  # their names stand beside them
    losses |= {f"_{UNIFORM}": level(lambda: np.log(C), ends, "reference", **look)}
    losses |= {
        f"_{name}": level(lambda loss=loss: loss(*sequences(*sizes)), ends, "measured", **look)  # type: ignore[misc]  # binds the loop
        for name, loss in LEVELS.items()
    }
    growth = {
        name: Curve(number=name, setting=LAYERS[3], line=steps, style="-", color=3 + k, marker="^v"[k])
        for k, name in enumerate(LAWS)
    }
    growth |= {
        name: Curve(number=name, setting=LAYERS[3], average="geometric mean", color=3 + k, marker="PX"[k])
        for k, name in enumerate(DISPLACED)
    }
    panels = (
        Panel(title=LOSS, curves=losses, ylabel="nats per site", ylim=SHOWN),
        Panel(
            title=GROWTH,
            curves=growth,
            theory=lambda _plan, _steps: LAWS,
            ylabel="ratio",
            yscale="log",
            ylim=(0.3, 6.0),
        ),
    )
    return {"panels": panels, "points": steps, "settings": {name: (n, sizes) for n, name in LAYERS.items()}}


def draw(axes: Axes, rows: DataFrame) -> None:
    """Name the losses to compare with, of which that of the true conditionals lies far below the panel."""
    if axes.get_title() != LOSS:
        return
    heights = {name: rows.loc[rows["curve"] == f"_{name}", ["simulation", "theory"]].max().max() for name in NAMED}
    start, end = rows["x"].min(), rows["x"].max()
    for name, (at, side) in NAMED.items():
        look: dict[str, Any] = {"ha": "right", "x": end} if at == "end" else {"ha": "left", "x": start}
        look |= {
            "va": "bottom" if side == "above" else "top",
            "y": heights[name] + (0.0005 if side == "above" else -0.001),
        }
        if name == TRUE:
            look |= {"va": "bottom", "y": SHOWN[0] + 0.003}
        text = f"$\\downarrow$ {name}: {heights[name]:.3f}" if name == TRUE else name
        # A draft has losses off the axes, whose names must not make room for themselves.
        axes.text(s=text, fontsize=7, clip_on=True, in_layout=False, **look)
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 0.1))


EXPERIMENT = Experiment(
    title="Two and three layers pass below what pairs of sites can predict",
    measure=course,
    by_point=True,
    streams=numbered,
    **of(RECORD, (SAMPLES, TEST)),
    d=L,
    extrapolate=False,
    replicates=STARTS,
    draft=of((10, 20), (400, 50)),
    paper=of(LONG, (SAMPLES, TEST)),
    xlabel=f"step (batches of {BATCH}, one hidden site each, rate {RATE})",
    xscale="log",
    draw=draw,
    unjudged="corrected squared norms obey the law but for rounding",
    caption="Stacks of two and three layers of factored attention pass below the loss of all pair couplings, and "
    "none comes near the true conditional probabilities. Samples, 25600 in training, are of 20 sites of 10 colors, of "
    "which 60 groups of four interact; 100 steps are one pass. Markers are means over {replicates} random starts. (a) "
    "The loss of 500 test sequences; dashed lines are the losses of equal probabilities (ln C), sites alone, all "
    "pairs, and the true conditionals. (b) The growth of layers 1 and 2 of three over that of layer 3: squared norms "
    "without the squares of the steps lie on 4 and 2, as symmetry demands; displacements (geometric means) obey no "
    "such law.",
    papers={
        "arXiv:2410.19637, Fig. 2 (another network)": "Sites, colors, samples and batch are those of the paper "
        "(section 2). Its stacks have skip connections, its couplings are sums over 200 Bernoulli patterns and its "
        "initial rate is 0.1; all three are our own here.",
    },
)
