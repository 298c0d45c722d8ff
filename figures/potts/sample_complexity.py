"""Full pseudo-likelihood needs many more samples than factored attention for the same masked loss."""

import numpy as np
from numpy.typing import NDArray

from figures.core import Context, Experiment, Panel, Row, row
from figures.potts.sparse_pairs import C, L, own_loss, sequences, sparse_model
from simulate.core import Estimate, Task
from simulate.potts import factored_attention, full_recovery_error, masked_loss, pseudo_likelihood, recovery_error

LOSS, ERROR = "excess masked loss", "recovery error"
FACTORED, FULL = "factored", "full, best ridge"
COUNTED = {FACTORED: L * (L - 1) + (C - 1) ** 2 - 1 + L * (C - 1), FULL: L * (C - 1) * (1 + (L - 1) * (C - 1))}
SIZES = (200, 500, 1_200, 2_500, 5_000)
RIDGES: tuple[float, ...] = (4.0, 16.0, 64.0)  # times 1/M
TEST = 5_000


def fits(n_samples: int, n_test: int, ridges: tuple[float, ...], seed: int) -> NDArray[np.float64]:
    """Excess masked loss and recovery error of a factored fit without tuning and of the full fit, (2, 2).

    Of the ridges of the full fit the best counts, for each number by itself: it is given every advantage.
    """
    states, test, model = sequences(n_samples, 2 * seed), sequences(n_test, 2 * seed + 1), sparse_model()
    fit, floor, found = factored_attention(states, C), own_loss(test), []
    for ridge in ridges:
        full = pseudo_likelihood(states, C, l2=ridge / n_samples, field_l2=0.01 / n_samples, tol=1e-3)
        found.append((masked_loss(full.model, test).loss - floor, full_recovery_error(full.couplings, model)))
    error = recovery_error(fit.site_couplings, fit.color_couplings, model)
    return np.array([(fit.masked_loss(test) - floor, error), np.min(found, axis=0)])


def compute(context: Context) -> list[Row]:
    sizes, ridges, seeds = list(SIZES), RIDGES, range(context.replicates(3))
    if context.is_draft:
        sizes, ridges = [40, 80], RIDGES[2:]  # a strong ridge is fitted soonest
    n_test = context.size(TEST, 50)
    tasks = [
        Task(f"{n}/{seed}", fits, (n, n_test, ridges, seed))
        for n in reversed(sizes)  # the longest first
        for seed in seeds
    ]
    values, rows = context.sweep(tasks), []
    for place, name in enumerate(COUNTED):
        law = {n: COUNTED[name] / (2 * L * n) for n in sizes}
        for n in sizes:
            loss, error = np.stack([np.asarray(values[f"{n}/{seed}"])[place] for seed in seeds]).T
            rows.append(row(name, n, panel=LOSS, theory=law[n], d=L, estimate=Estimate.of(loss), judged=False))
            rows.append(row(name, n, panel=ERROR, d=L, estimate=Estimate.of(error), judged=False))
        rows += [row(name, n, panel=LOSS, theory=law[n]) for n in (sizes[0], sizes[-1])]
    return rows


EXPERIMENT = Experiment(
    title=f"Full and factored fits of the same sequences, $L = {L}$, $C = {C}$",
    compute=compute,
    panels=(
        Panel(title=LOSS, curves={}, ylabel="excess over the floor (nats a site)"),
        Panel(title=ERROR, curves={}, ylabel="error of the couplings"),
    ),
    xlabel="samples $M$",
    xscale="log",
    yscale="log",
    unjudged="the law is of unpenalized fits to many samples, which the fits with a ridge need not obey",
    caption="Left: the masked loss of held-out sequences above that of the true conditional probabilities. Right: "
    "the error of the couplings, which does not depend on the gauge. Markers compare a factored fit without any "
    "tuning with a full symmetric fit at the best of three ridges for each point, with error bars. "
    "Lines are the law p/(2 L M) of large M without a ridge, where p is the number of parameters that a fit site by "
    "site can tell apart; it is right up to a few percent for the factored fit, and the ridge keeps the loss of the "
    "full fit below it. The factored fit needs far fewer samples for the same loss.",
)
