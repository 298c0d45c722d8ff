"""An encoder learns to predict hidden words of the text of numbers better than counts of the nearest words do."""

import math
from collections.abc import Callable
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from figures.core import Axes, Curve, DataFrame, Experiment, level, missing_extra, numbered
from figures.core.names import name_curve
from simulate.core import stream
from simulate.nets import train_encoder_on_sequences
from simulate.nets.network import PACKAGES
from simulate.trees import PredictionLoss, TreeText, neighbor_loss, read_text, remainder_loss
from theory.models import NumberText, VanillaEncoder

NUMBERS, SEEN = 10**6, 0.8  # the last fifth of the numbers is held out, for all predictors
LENGTH, WIDTH, HEADS, RATE, BATCH = 18, 32, 4, 8e-3, 64
WINDOWS, TEST = 200_000, 600
SEEDS = (2, 3, 4, 5)  # of the starts and windows
RECORD = (30, 60, 100, 200, 400, 700, 1_000, 1_500, 2_000, 2_500)
LONG = (*RECORD, 4_000, 6_000, 10_000, 15_000)
NEIGHBORS = {0: "counts, no context", 1: "both neighbors", 2: "two on each side"}
ORACLES = {M: f"oracle: $n$ modulo {M}" for M in (4, 12, 36)}
ENCODER = "encoder"
COUNTED, KNOWN = ("0.45", "--"), ("black", ":")  # the look of levels of counts and of oracles


@cache
def text_up_to(n_numbers: int) -> TreeText:
    return read_text(NumberText(n_numbers))


def windows(n_numbers: int, low: float, high: float, n: int, name: str, replicate: int) -> NDArray[np.int64]:
    """Draw windows of words at random places, so that the place in a window says nothing about the number."""
    ids = text_up_to(n_numbers).ids.astype(np.int64)
    first, stop = int(low * len(ids)), int(high * len(ids)) - LENGTH
    starts = stream(0, "trees transformer", name, replicate).integers(first, stop, size=n)
    return np.asarray(ids[starts[:, None] + np.arange(LENGTH)])


def losses(sizes: tuple[int, int], steps: list[int], n_numbers: int, replicate: int) -> dict[str, NDArray[np.float64]]:
    """Return the masked loss in bits after each of `steps`, on windows of numbers that were not trained on."""
    train = windows(n_numbers, 0.0, SEEN, sizes[0], "train", replicate)
    test = windows(n_numbers, SEEN, 1.0, sizes[1], "test", replicate)
    settings = VanillaEncoder(
        n_sites=LENGTH, n_colors=text_up_to(n_numbers).vocabulary.n_words, n_layers=1, n_heads=HEADS, width=WIDTH,
        final_norm=True,
    )  # fmt: skip
    trained = train_encoder_on_sequences(
        settings, train, test, n_steps=max(steps), seed=replicate, rate=RATE, batch_size=BATCH, record=steps
    )
    return {ENCODER: trained.losses / math.log(2)}


def bits(of: Callable[..., PredictionLoss], n_numbers: int, extent: int) -> float:
    return float(of(text_up_to(n_numbers), extent, held_out="end").held_out_bits)


def curves(n_numbers: int, steps: tuple[int, ...]) -> dict[str, Curve]:
    """Return the losses of the encoder after each of `steps`, and the levels to compare them with."""
    counts = {name: partial(bits, neighbor_loss, n_numbers, radius) for radius, name in NEIGHBORS.items()}
    oracles = {name: partial(bits, remainder_loss, n_numbers, M) for M, name in ORACLES.items()}
    ends = (steps[0], steps[-1])
    lines = {
        f"_{name}": level(value, ends, "measured", color=color, style=style)
        for levels, (color, style) in ((counts, COUNTED), (oracles, KNOWN))
        for name, value in levels.items()
    }
    return {f"_{ENCODER}": Curve(number=ENCODER, points=steps, d=n_numbers, color=0)} | lines


def draw(axes: Axes, _rows: DataFrame) -> None:
    """Name the levels at their ends, and the encoder at its first marker."""
    name_curve(axes, f"_{ENCODER}", ENCODER, x=0.0, offset=(-3.0, 8.0), along="bottom")
    for name in (*NEIGHBORS.values(), *ORACLES.values()):
        name_curve(axes, f"_{name}", name)


EXPERIMENT = Experiment(
    title="An encoder of rooted-tree text falls below counts of two neighbors on each side",
    measure=losses,
    by_point=True,
    settings={"": (WINDOWS, TEST)},
    streams=numbered,
    seed=SEEDS[0],
    curves=curves(NUMBERS, RECORD),
    extrapolate=False,
    replicates=len(SEEDS),
    draft={"curves": curves(10**4, (1, 3)), "settings": {"": (500, 20)}},
    paper={"curves": curves(NUMBERS, LONG)},
    xlabel=f"step of Adam ({BATCH} windows each)",
    ylabel="masked loss (bits per word)",
    xscale="log",
    ylim=(2.2, 4.6),
    skip=partial(missing_extra, "nets", *PACKAGES),
    draw=draw,
    caption="A transformer encoder of one block falls below the loss of counts of up to two neighboring words on each"
    " side, and below an oracle that knows the hidden number modulo 4. Each number is a word, its tree of "
    "prime exponents; 2, 3, ... are a text. Markers are the masked loss on the last fifth of the numbers up "
    "to 10^6, from windows of which one word is hidden: means over four runs. Horizontal lines are losses of "
    "counts of which word stands between which neighbors, and of oracles that know the number modulo M alone."
    " After 2500 steps the loss is within its error of that of M = 12. How it does so is not shown.",
    papers={
        "arXiv:2512.01870 (transformer)": "The encoder is far smaller than the published one; its loss lies below "
        "those of counts of up to two neighbors on each side.",
    },
)
