"""An encoder that learns four-body data is tested, along its training, on clones of the data of order one to three."""

from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.core import Experiment, missing_extra, numbered
from figures.nets.four_body import C, L, four_body_model
from simulate.nets import Clone, MaskedContexts, clone, sampled_contexts, train_encoder_on_sequences
from simulate.nets.network import PACKAGES
from simulate.potts import sample
from theory.models import VanillaEncoder
from theory.potts import enumerate_states

SAMPLES, TEST, BATCH, WIDTH, HEADS, RATE = 20_000, 8_000, 256, 16, 2, 3e-3
RECORD = (1, 5, 10, 20, 30, 45, 60, 80, 100, 150, 200, 300, 400, 600, 800, 1_200)
STARTS = 8
CLONES = {1: "clone of order 1", 2: "clone of order 2", 3: "clone of order 3"}
ORIGINAL = "original"


@cache
def sequences(n_samples: int, seed: int) -> NDArray[np.integer[Any]]:
    """Sample of the model; those of seed 0 are learned and cloned, those of seed 1 are held out."""
    return sample(four_body_model(), n_samples, seed=seed).states


@cache
def clones(n_samples: int) -> dict[int, Clone]:
    """Return the clones of `n_samples` sequences of the model."""
    states = sequences(n_samples, 0)
    return {order: clone(states, C, order, seed=order, n_samples=TEST) for order in CLONES}


@cache
def cloned_contexts(n_samples: int) -> dict[str, MaskedContexts]:
    """Return the masked contexts of the samples of each clone."""
    return {str(order): sampled_contexts(made.states, C) for order, made in clones(n_samples).items()}


def losses(n_samples: int, steps: list[int], _d: int, replicate: int) -> dict[str, NDArray[np.float64]]:
    """Return the masked losses after `steps` on the original and on each clone."""
    settings = VanillaEncoder(n_sites=L, n_colors=C, n_layers=1, n_heads=HEADS, width=WIDTH, mlp_ratio=2)
    trained = train_encoder_on_sequences(
        settings, sequences(n_samples, 0), sequences(TEST, 1), n_steps=max(steps), seed=replicate, rate=RATE,
        batch_size=BATCH, record=steps, others=cloned_contexts(n_samples),
    )  # fmt: skip
    return {ORIGINAL: trained.losses} | {name: trained.other_losses[str(k)] for k, name in CLONES.items()}


@cache
def true_losses(n_samples: int) -> dict[str, float]:
    laws = {ORIGINAL: four_body_model()} | {CLONES[k]: made.model for k, made in clones(n_samples).items()}
    return {name: true_loss(law) for name, law in laws.items()}


def true_loss(law: Any) -> float:
    """Return the masked loss of the true conditional distributions of the original on another law, by enumeration."""
    states = enumerate_states(law)
    logs = four_body_model().log_conditionals(states.states)
    chosen = np.take_along_axis(logs, states.states[:, :, None], axis=2)
    return float(-states.probabilities @ chosen.mean(axis=(1, 2)))


EXPERIMENT = Experiment(
    title="What an encoder learns beyond the order of a clone is wrong on it",
    measure=losses,
    by_point=True,
    theory=lambda n_samples, _steps: true_losses(n_samples),
    settings={"": SAMPLES},
    streams=numbered,
    curves={name: name for name in (ORIGINAL, *CLONES.values())},
    line=(RECORD[0], RECORD[-1]),
    points=RECORD,
    d=L,
    extrapolate=False,
    replicates=STARTS,
    draft={"points": RECORD[:2], "settings": {"": 2_000}},
    xlabel=f"step of Adam ({BATCH} sequences each)",
    ylabel="masked loss (nats per site)",
    xscale="log",
    ylim=(0.72, 1.55),
    skip=partial(missing_extra, "nets", *PACKAGES),
    unjudged="the lines are where a perfect learner would end",
    caption="On a clone of the data of order k the loss leaves that on the original and rises, the later the higher k "
    "is: what is learned beyond that order is wrong there. A clone is a sample of a model with interactions of "
    "up to k sites, fitted to the data, here to four-body data with L = 5, C = 3. One block of width 16 is "
    "trained on 20000 sequences. Markers are mean losses over 8 starts (of weights and batches) on 8000 "
    "held-out sequences (circles) and as many of the clones of order 1 (squares), 2 (diamonds) and 3 "
    "(triangles). Lines are the losses of the true conditional distributions on the original and on each clone.",
    papers={
        "arXiv:2410.19637, Figs. 1, 3 to 5 (clones)": "It agrees on a small exact system: the loss on a clone leaves "
        "that on the original the later, the higher the order of the clone. The published networks and texts are far "
        "larger.",
    },
)
