"""An encoder learns to predict hidden words of the text of numbers better than counts of the nearest words do."""

import math
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from figures.core import Context, Experiment, Row, row
from figures.core.extras import missing_extra
from simulate.core import Estimate, Task, stream
from simulate.nets import train_encoder_on_sequences
from simulate.nets.network import PACKAGES
from simulate.trees import TreeText, neighbor_loss, read_text, remainder_loss
from theory.models import NumberText, VanillaEncoder

NUMBERS, SEEN = 10**6, 0.8  # the last fifth of the numbers is held out, for all predictors
LENGTH, WIDTH, HEADS, RATE, BATCH = 18, 32, 4, 8e-3, 64
WINDOWS, TEST = 200_000, 600
SEEDS = (2, 3, 4, 5)  # of the starts and windows
RECORD = (30, 60, 100, 200, 400, 700, 1_000, 1_500, 2_000, 2_500)
LONG = (*RECORD, 4_000, 6_000, 10_000, 15_000)
NEIGHBORS = {0: "no context", 1: "both neighbors", 2: "two on each side"}
MODULI = (4, 12, 36)


@cache
def text_up_to(n_numbers: int) -> TreeText:
    return read_text(NumberText(n_numbers))


def windows(n_numbers: int, low: float, high: float, n: int, name: str, replicate: int) -> NDArray[np.int64]:
    """Draws windows of words at random places, so that the place in a window says nothing about the number."""
    ids = text_up_to(n_numbers).ids.astype(np.int64)
    first, stop = int(low * len(ids)), int(high * len(ids)) - LENGTH
    starts = stream(0, "trees transformer", name, replicate).integers(first, stop, size=n)
    return np.asarray(ids[starts[:, None] + np.arange(LENGTH)])


def losses(n_numbers: int, steps: list[int], sizes: tuple[int, int], replicate: int) -> NDArray[np.float64]:
    """Returns the masked loss in bits after each of `steps`, on windows of numbers that were not trained on."""
    train = windows(n_numbers, 0.0, SEEN, sizes[0], "train", replicate)
    test = windows(n_numbers, SEEN, 1.0, sizes[1], "test", replicate)
    settings = VanillaEncoder(
        n_sites=LENGTH, n_colors=text_up_to(n_numbers).vocabulary.n_words, n_layers=1, n_heads=HEADS, width=WIDTH,
        final_norm=True,
    )  # fmt: skip
    trained = train_encoder_on_sequences(
        settings, train, test, n_steps=max(steps), seed=replicate, rate=RATE, batch_size=BATCH, record=steps
    )
    return np.asarray(trained.losses / math.log(2))


def compute(context: Context) -> list[Row]:
    n_numbers = 10**4 if context.is_draft else NUMBERS
    steps = {"draft": [1, 3], "default": list(RECORD), "paper": list(LONG)}[context.quality]
    sizes, seeds = (context.size(WINDOWS, 500), context.size(TEST, 20)), SEEDS[:2] if context.is_draft else SEEDS
    found = context.sweep(Task(str(seed), losses, (n_numbers, steps, sizes, seed)) for seed in seeds)
    runs, text = np.array([found[str(seed)] for seed in seeds]), text_up_to(n_numbers)
    rows = [
        row("encoder", step, d=n_numbers, estimate=Estimate.of(runs[:, k]), judged=False)
        for k, step in enumerate(steps)
    ]
    levels = {name: neighbor_loss(text, radius, held_out="end").held_out_bits for radius, name in NEIGHBORS.items()} | {
        f"oracle, $M = {M}$": remainder_loss(text, M, held_out="end").held_out_bits for M in MODULI
    }
    return rows + [row(name, step, measured=level) for name, level in levels.items() for step in (steps[0], steps[-1])]


EXPERIMENT = Experiment(
    title="An encoder on the rooted-tree text of the natural numbers",
    compute=compute,
    xlabel=f"step of Adam ({BATCH} windows each)",
    ylabel="masked loss (bits a word)",
    xscale="log",
    ylim=(2.2, 4.6),
    skip=partial(missing_extra, "nets", *PACKAGES),
    caption="Every number is written as a word that is its rooted tree of prime exponents, and the words of 2, 3, 4, "
    f"... are a text. Markers: the masked loss of a transformer encoder of one block of width {WIDTH}, on windows of "
    f"{LENGTH} words of which one is hidden. The windows lie at random places of the numbers up to 10^6; the loss is "
    "measured on the last fifth of the numbers, which is not trained on. Markers are means over four runs with "
    "different starts and windows, with error bars. Lines: the losses, on the same numbers, of predictors that count "
    "in the first four fifths which word stands between which neighbors, and of oracles that know the hidden number "
    "modulo M and no context. The encoder first stays at the loss without context, falls below that of all three "
    "counts, slows down near the oracle of M = 4, and falls below it. It could do so by inferring from the window "
    "where the multiples of 4 are, and more; how it does so is not shown. After 2500 steps its mean loss has come to "
    "that of M = 12, below which it lies by less than its error bar. At the ends of a window words are known on one "
    "side only, which makes the prediction harder.",
    papers={
        "arXiv:2512.01870 (transformer)": "The encoder is far smaller than the published one; its loss lies below "
        "those of counts of up to two neighbors on each side.",
    },
)
