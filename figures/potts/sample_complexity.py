"""Full pseudo-likelihood against factored attention: how many samples each needs for the same masked loss."""

import numpy as np
from numpy.typing import NDArray

from figures.core import Context, Experiment, Panel, Row, row
from figures.potts.sparse_pairs import C, L, own_loss, sequences, sparse_model
from simulate.core import Estimate, Task
from simulate.potts import factored_attention, full_recovery_error, masked_loss, pseudo_likelihood, recovery_error

LOSS, ERROR = "excess masked loss", "recovery error"
FACTORED, FULL = "factored", "full, best ridge"
COUNTED = {FACTORED: L * (L - 1) + (C - 1) ** 2 - 1 + L * (C - 1), FULL: L * (C - 1) * (1 + (L - 1) * (C - 1))}
SIZES = (200, 500, 1_500, 4_000, 10_000)
RIDGES = (1.0, 4.0, 16.0, 64.0)  # times 1/M
TEST = 5_000


def factored(n_samples: int, n_test: int, seed: int) -> NDArray[np.float64]:
    """Excess masked loss and recovery error of a factored fit without tuning."""
    test = sequences(n_test, 2 * seed + 1)
    fit = factored_attention(sequences(n_samples, 2 * seed), C)
    error = recovery_error(fit.site_couplings, fit.color_couplings, sparse_model())
    return np.array([fit.masked_loss(test) - own_loss(test), error])


def full(n_samples: int, n_test: int, seed: int) -> NDArray[np.float64]:
    """The least excess and the least error over the ridges: the full fit is given every advantage."""
    states, test, found = sequences(n_samples, 2 * seed), sequences(n_test, 2 * seed + 1), []
    for ridge in RIDGES:
        fit = pseudo_likelihood(states, C, l2=ridge / n_samples, field_l2=0.01 / n_samples, tol=1e-3)
        excess = masked_loss(fit.model, test).loss - own_loss(test)
        found.append((excess, full_recovery_error(fit.couplings, sparse_model())))
    return np.asarray(np.min(found, axis=0))


def compute(context: Context) -> list[Row]:
    sizes, seeds = [round(n) for n in context.thin(SIZES, 2)], range(context.replicates(3))
    if context.is_draft:
        sizes = [100, 200]
    n_test = context.size(TEST, 200)
    measured = {FACTORED: factored, FULL: full}
    tasks = [
        Task(f"{name}/{n}/{seed}", function, (n, n_test, seed))
        for n in reversed(sizes)  # the longest first
        for name, function in measured.items()
        for seed in seeds
    ]
    values, rows = context.sweep(tasks), []
    for name in measured:
        for n in sizes:
            runs = np.stack([np.asarray(values[f"{name}/{n}/{seed}"]) for seed in seeds])
            for panel, column in zip((LOSS, ERROR), runs.T, strict=True):
                law = COUNTED[name] / (2 * L * n) if panel == LOSS else None
                rows.append(row(name, n, panel=panel, theory=law, d=L, estimate=Estimate.of(column), judged=False))
        for n in (sizes[0], sizes[-1]):
            rows.append(row(name, n, panel=LOSS, theory=COUNTED[name] / (2 * L * n)))
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
    caption="Held-out masked loss above that of the true conditionals, and gauge-free error of the couplings: factored "
    "fit without tuning, symmetric full fit with the best of four ridges at each point. Lines: p/(2 L M) with p the "
    "number of parameters that a fit site by site can tell apart, the large-M law without ridge (up to a few percent).",
)
