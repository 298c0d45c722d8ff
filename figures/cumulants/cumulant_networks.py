"""A trained network finds a direction that is hidden in higher cumulants; random features of its size do not."""

import numpy as np

from figures.core import Context, Experiment, Row, row
from simulate.core import Estimate, Task, stream
from simulate.cumulants import known_spike_accuracy, network_accuracy, random_features_accuracy
from theory.cumulants import oracle_accuracy
from theory.models import SpikedCumulant

BETA = 10.0
KAPPAS = (0.25, 1, 4, 8, 16, 32, 64)  # samples of each class over d^2
SIZES = {"draft": (8,), "default": (16,), "paper": (16, 24)}
STEPS = {"draft": 300, "default": 6000, "paper": 12_000}
WIDTH = 20  # random features per dimension: four times the units of the network


def network(d: int, kappa: float, n_steps: int, replicate: int) -> float:
    rng = stream(0, "cumulant networks", d, kappa, replicate)
    return network_accuracy(SpikedCumulant(d, BETA), round(kappa * d**2), rng, n_steps=n_steps)


def features(d: int, kappa: float, replicate: int) -> float:
    rng = stream(0, "cumulant features", d, kappa, replicate)
    return random_features_accuracy(SpikedCumulant(d, BETA), round(kappa * d**2), rng, width=WIDTH * d)


def oracle(d: int, replicate: int) -> float:
    return known_spike_accuracy(SpikedCumulant(d, BETA), 2000, stream(0, "cumulant oracle", d, replicate))


def compute(context: Context) -> list[Row]:
    sizes, n_steps, seeds = SIZES[context.quality], STEPS[context.quality], range(context.replicates(5))
    kappas = context.thin(KAPPAS, 3)
    tasks = [
        task
        for d in sizes
        for kappa in sorted(kappas, reverse=True)
        for seed in seeds
        for task in (
            Task(f"network/{d}/{kappa}/{seed}", network, (d, kappa, n_steps, seed)),
            Task(f"features/{d}/{kappa}/{seed}", features, (d, kappa, seed)),
        )
    ]
    checks = range(20)  # runs of the oracle, which cost nothing
    tasks += [Task(f"oracle/{d}/{r}", oracle, (d, r)) for d in sizes for r in checks]
    found, rows = context.sweep(tasks), []
    for d in sizes:
        bound = oracle_accuracy(SpikedCumulant(d, BETA))
        label = f"spike known, $d = {d}$"
        rows += [row(label, kappa, theory=bound) for kappa in (kappas[0], kappas[-1])]
        measured = Estimate.of([float(found[f"oracle/{d}/{r}"]) for r in checks])
        rows.append(row(label, float(np.sqrt(kappas[0] * kappas[-1])), theory=bound, d=d, estimate=measured))
        for name, label in (("network", f"network, $d = {d}$"), ("features", f"random features, $d = {d}$")):
            for kappa in kappas:
                values = [float(found[f"{name}/{d}/{kappa}/{seed}"]) for seed in seeds]
                rows.append(row(label, kappa, d=d, estimate=Estimate.of(values)))
    return rows


EXPERIMENT = Experiment(
    title=rf"One direction that is not Gaussian, $\beta = {BETA:g}$",
    compute=compute,
    xlabel=r"samples of each class over $d^2$",
    ylabel="test accuracy",
    xscale="log",
    ylim=(0.48, 0.76),
    unjudged="there is no theory of the two learners",
    caption="Two learners tell samples that are not Gaussian along one hidden direction (a spike of signs) from "
    "Gaussian samples of the same mean and covariance. Line and circle: the accuracy of a test that knows the "
    "direction, exact and measured. Network: two layers with 5 d ReLU units, all weights trained by Adam. Random "
    f"features: {WIDTH} d ReLU units with a random first layer, fitted with the best ridge. Markers are means over "
    "runs with error bars. There is no theory of the two learners here, so only the circle is judged. The accuracy of "
    "the network rises above 1/2, that of guessing, between one and four d^2 samples, where the degree-4 term of the "
    "low-degree norm is of order one; that of random features of this width stays at 1/2 at all these sizes.",
    papers={
        "arXiv:2312.14922": "Networks notice the direction at n of order d^2 and random features do not, as published.",
    },
)
