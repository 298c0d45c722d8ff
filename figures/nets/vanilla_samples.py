"""How many samples a factored layer, a stack of two layers and an ordinary encoder need to learn a pair model."""

from functools import cache, partial
from typing import Any

import numpy as np

from figures.core import Curve, Experiment, missing_extra, numbered
from simulate.core import stream
from simulate.nets import (
    MaskedContexts,
    enumerated_contexts,
    sampled_contexts,
    stack_gradient,
    train_encoder_on_population,
    train_on_population,
)
from simulate.nets.network import PACKAGES
from theory.models import FactoredStack, PottsModel, VanillaEncoder
from theory.potts import enumerate_states, excess_loss_coefficient

L, C, BETA = 5, 3, 0.8
SIZES, MORE_SIZES = (300, 3_000), (300, 1_000, 3_000, 10_000)  # the latter with QUALITY=paper
ASYMPTOTIC = 3_000  # z is judged from here on
LAYER, STACK, ENCODER, TABLE = "factored layer", "two factored layers", "encoder", "every context by itself"
LAYERS = {LAYER: 1, STACK: 2}
SETS = {LAYER: 24, ENCODER: 8}  # of samples; more of them for the one number that is judged
LAST, BEST, TRAINED = "last", "best", "trained"
STARTS, SCALE, STACK_RATE, ENCODER_RATE = 3, 0.8, 1e-2, 3e-3
STOPS = {
    LAYER: (1_000,),
    STACK: (100, 200, 400, 800, 2_000),
    ENCODER: (20, 30, 45, 60, 80, 100, 150, 200, 300, 450, 700, 1_000, 2_000),
}
MORE_STOPS = (*STOPS[ENCODER], 3_000, 5_000, 10_000)  # of the encoder, with QUALITY=paper
Problem = tuple[str, tuple[int, ...], float]  # the network, its stops, and the number of samples
UNSEEN = 1e-9  # samples of every state beside those that were drawn


def pair_model() -> PottsModel:
    """Couplings of both signs, and colors whose couplings a factored layer without fields can represent."""
    i, j = np.indices((L, L))
    upper = np.triu(np.sin(0.3 + i + 2 * j), 1)
    x, y = np.indices((C, C))
    return PottsModel(upper + upper.T, np.cos(x + y + 0.3 * x * y) + 0.5 * np.eye(C), beta=BETA)


@cache
def population() -> MaskedContexts:
    """All masked contexts of the model with their exact weights."""
    return enumerated_contexts(pair_model())


def samples(n_samples: int, replicate: int) -> MaskedContexts:
    """Return the masked contexts of independent samples, the same for all networks.

    Contexts that no sample has get a weight that changes no digit, so that all data have the same shape and what JAX
    compiles for one serves for all.
    """
    exact = enumerate_states(pair_model())
    counts = stream(0, "samples of the pair model", n_samples, replicate).multinomial(n_samples, exact.probabilities)
    return sampled_contexts(exact.states, C, weights=np.asarray(counts + UNSEEN, dtype=float))


def excess(problem: Problem, _d: int, replicate: int) -> dict[str, float]:
    """Return the excess after the last of the stops and the least one; of stacks that of the start that learns best."""
    kind, stops, data = problem[0], list(problem[1]), samples(round(problem[2]), replicate)
    if kind != ENCODER:
        runs = [stack_run(kind, stops, data, replicate, number) for number in range(STARTS)]
        return min(runs, key=lambda run: (run[TRAINED], run[LAST]))
    trained = train_encoder_on_population(
        VanillaEncoder(n_sites=L, n_colors=C, n_layers=1, n_heads=2, width=16, mlp_ratio=2),
        data,
        n_steps=stops[-1],
        seed=replicate,
        rate=ENCODER_RATE,
        record=stops,
        others={"population": population()},
    )
    found = trained.other_losses["population"] - population().floor
    return {LAST: found[-1], BEST: found.min()}


def stack_run(kind: str, stops: list[int], data: MaskedContexts, replicate: int, number: int) -> dict[str, float]:
    """Return the excess after the last of `stops`, the least one, and the training loss at the end, from one start."""
    n_layers, found = LAYERS[kind], []
    start = FactoredStack.random(n_layers, L, C, SCALE, stream(0, "start on pairs", n_layers, replicate, number))
    for stop in stops:  # each from the start anew, since a training of a stack is not measured on other data
        trained = train_on_population(start, data, n_steps=stop, rate=STACK_RATE, optimizer="adam", record=[stop])
        found.append(stack_gradient(trained.stack, population()).loss - population().floor)
    return {LAST: found[-1], BEST: min(found), TRAINED: float(trained.losses[-1])}


def law(problem: Problem) -> float:
    return float(excess_loss_coefficient(pair_model(), "factored", fields=False).masked_loss(problem[2]))


def of(sizes: tuple[int, ...], stops: dict[str, tuple[int, ...]]) -> dict[str, Any]:
    """Return what the declaration for samples of these sizes, and trainings with these stops, has of its own."""
    ends = (sizes[0] / 1.5, sizes[-1] * 1.5)
    curves = {LAYER: Curve(number=LAST, setting=LAYER, theory=law, line=ends, replicates=SETS[LAYER])}
    for kind in (STACK, ENCODER):
        for number, when in ((LAST, f"{stops[kind][-1]} steps"), (BEST, "best stop")):
            curves[f"{kind}, {when}"] = Curve(number=number, setting=kind)
    curves[TABLE] = Curve(model=float, theory=lambda M: (C - 1) * C ** (L - 1) / (2 * M), line=ends, points=())
    settings = {kind: lambda M, kind=kind: (kind, stops[kind], M) for kind in stops}
    return {"curves": curves, "settings": settings, "points": sizes}


EXPERIMENT = Experiment(
    title="One factored layer needs fewer samples of a pair model than an encoder",
    measure=excess,
    streams=numbered,
    **of(SIZES, STOPS),
    d=L,
    extrapolate=False,
    replicates=SETS[ENCODER],
    judged_where=lambda n_samples: n_samples >= ASYMPTOTIC,
    draft=of(SIZES[:1], dict.fromkeys(STOPS, (1, 2))),
    paper=of(MORE_SIZES, STOPS | {ENCODER: MORE_STOPS}),
    xlabel="samples $M$",
    ylabel="excess over the floor (nats per site)",
    xscale="log",
    yscale="log",
    skip=partial(missing_extra, "nets", *PACKAGES),
    unjudged="the law is of many samples, and is judged from 3000 on",
    caption="On a pair model (L = 5, C = 3) one factored layer learns better than an encoder from as many samples, "
    "with the excess loss of its law; at 3000 it and two layers at their best stop are not told apart. "
    "Networks are trained by Adam on all M samples at each step and tested on the population. Of 3 starts of "
    "stacks the one with the lowest training loss counts. The best stop is the least test loss along the run,"
    " chosen on the population itself, which no user can do. Lines are tr(H^+ K)/(2 L M), the layer's law "
    "without fields (judged from 3000 on), and (C - 1) C^(L-1)/(2 M), of frequencies in every context.",
    papers={
        "arXiv:2304.07235 (samples needed)": "It agrees that one factored layer needs fewer samples than an encoder; "
        "the published sizes were not readable.",
    },
)
