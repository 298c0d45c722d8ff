"""Full pseudo-likelihood needs many more samples than factored attention for the same masked loss."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.core import Context, Experiment, Panel, Row, row
from figures.potts.sparse_pairs import C, L, own_loss, sequences, sparse_model
from simulate.core import Estimate, Task
from simulate.potts import factored_attention, full_recovery_error, pseudo_likelihood, recovery_error
from simulate.potts.inference.sequence_losses import sequence_losses

LOSS, ERROR = "excess masked loss", "recovery error"
FACTORED, FULL, FREE = "factored", "full, best ridge", "full, hardly any ridge"
COUNTED = {FACTORED: L * (L - 1) + (C - 1) ** 2 - 1 + L * (C - 1), FREE: L * (C - 1) * (1 + (L - 1) * (C - 1))}
SIZES = (200, 500, 1_200, 2_500, 5_000)
FREE_SIZES = (2_500, 5_000, 10_000, 20_000)
WEAK = 0.01  # times 1/M: a fit without any ridge has no minimum where two colors never occur together
RIDGES: tuple[float, ...] = (4.0, 16.0, 64.0)  # times 1/M
FIELD_RIDGE = 0.01  # times 1/M, of the fields beside those of the couplings
TEST = 5_000
Array = NDArray[Any]


def samples(sizes: list[int], n_test: int, seed: int) -> tuple[list[Array], Array]:
    """Samples sequences of all sizes, of which the smaller ones are the first of the largest, and sequences to test."""
    states, test = np.split(sequences(max(sizes) + n_test, seed), [max(sizes)])
    return [states[:n] for n in sizes], test


def fits(sizes: list[int], n_test: int, ridges: tuple[float, ...], seed: int) -> NDArray[np.float64]:
    """Measures excess masked loss and recovery error of a factored fit and of the best full fit, (sizes, 2, 2).

    The factored fit is not tuned. For the full fit the least loss and the least error over all ridges are returned,
    each at a ridge of its own, so that it has every advantage.
    """
    (every, test), model = samples(sizes, n_test, seed), sparse_model()
    floor, found = own_loss(test), []
    for states in every:
        fit = factored_attention(states, C, tol=1e-4)
        error = recovery_error(fit.site_couplings, fit.color_couplings, model)
        full = [full_fit(states, test, floor, ridge, FIELD_RIDGE) for ridge in ridges]
        found.append([(fit.masked_loss(test) - floor, error), np.min(full, axis=0)])
    return np.array(found)


def free_fits(sizes: list[int], n_test: int, seed: int) -> NDArray[np.float64]:
    """Measures excess masked loss and recovery error of the full fit with hardly any ridge, (sizes, 2)."""
    every, test = samples(sizes, n_test, seed)
    floor = own_loss(test)
    return np.array([full_fit(states, test, floor, WEAK, WEAK) for states in every])


def full_fit(states: Array, test: Array, floor: float, ridge: float, field_ridge: float) -> tuple[float, float]:
    """Measures excess masked loss and recovery error of the full fit whose ridges are these numbers times 1/M."""
    n = len(states)
    full = pseudo_likelihood(states, C, l2=ridge / n, field_l2=field_ridge / n, tol=1e-3)
    loss = float(sequence_losses(full.model, test).mean())
    return loss - floor, full_recovery_error(full.couplings, sparse_model())


def compute(context: Context) -> list[Row]:
    sizes, ridges, seeds = list(SIZES), RIDGES, range(context.replicates(3))
    free_sizes = list(FREE_SIZES)
    if context.is_draft:
        sizes, ridges, free_sizes = [40, 80], RIDGES[2:], [80]  # a strong ridge is fitted soonest
    n_test = context.size(TEST, 50)
    tasks = [Task(f"free/{seed}", free_fits, (free_sizes, n_test, seed)) for seed in seeds]  # the longest first
    tasks += [Task(f"fits/{seed}", fits, (sizes, n_test, ridges, seed)) for seed in seeds]
    values = context.sweep(tasks)
    both = np.stack([np.asarray(values[f"fits/{seed}"]) for seed in seeds])  # (seeds, sizes, kinds, 2)
    measured = {
        name: dict(zip(sizes, both[:, :, place].swapaxes(0, 1), strict=True))
        for place, name in enumerate((FACTORED, FULL))
    }
    free = np.stack([np.asarray(values[f"free/{seed}"]) for seed in seeds], axis=1)
    measured[FREE] = dict(zip(free_sizes, free, strict=True))
    rows = []
    for name, by_size in measured.items():
        for n, each in by_size.items():
            law = COUNTED[name] / (2 * L * n) if name in COUNTED else None
            loss, error = (Estimate.of(own) for own in each.T)
            rows.append(row(name, n, panel=LOSS, theory=law, d=L, estimate=loss, judged=False))
            rows.append(row(name, n, panel=ERROR, d=L, estimate=error, judged=False))
    ends = {FACTORED: (sizes[0], sizes[-1]), FREE: (sizes[-2], free_sizes[-1])}
    rows += [row(name, n, panel=LOSS, theory=COUNTED[name] / (2 * L * n)) for name in ends for n in ends[name]]
    return rows


EXPERIMENT = Experiment(
    title=f"Full and factored fits of the same sequences, $L = {L}$, $C = {C}$",
    compute=compute,
    panels=(
        Panel(title=LOSS, curves={}, ylabel="excess over the floor (nats a site)"),
        Panel(title=ERROR, curves={}, ylabel="relative error of the couplings"),
    ),
    xlabel="samples $M$",
    xscale="log",
    yscale="log",
    unjudged="the law is the limit of many samples, which the fits of the table only approach",
    caption="Left: the masked loss of held-out sequences above that of the true conditional probabilities. Right: the "
    "relative error of the couplings, |learned - true|/|true|, which does not depend on the gauge. Markers compare a "
    "factored fit without any tuning with two full symmetric fits of the same sequences: one at the best of three "
    f"ridges for each point, and one whose ridge of {WEAK}/M only keeps finite the couplings of colors that never "
    "occur together. Error bars are over {replicates} sets of sequences, and smaller samples are the first sequences "
    "of larger ones. Lines are the law p/(2 L M) of large M without a ridge, where p is the number of parameters "
    "that a fit site by site can tell apart; with the best ridge there is no such law. From 500 samples on the "
    "factored fit is 8 to 13 % above its law, in three sets of sequences. The full fit with hardly any ridge is 37 % "
    "above its own at 2,500 samples and 19 % above at 20,000, so that it approaches the law slowly. A good ridge "
    "brings the loss of the full fit at 5,000 samples from 0.20 to 0.06, which the factored fit beats with fewer "
    "than 500; the couplings of neither full fit come near the true ones, while the relative error of the factored "
    "fit falls to 0.15.",
)
