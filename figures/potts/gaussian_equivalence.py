"""Masked ridge regression of Potts data has nearly the errors of Gaussian data of the same covariance."""

import math
from typing import TYPE_CHECKING

import numpy as np

from figures.core import Context, Experiment, Panel, Row, row
from figures.potts.potts_data import (
    errors_of_fits,
    population_of,
    random_model,
    ring_with_matching,
    sampled_moments,
    theory,
    unknowns,
)
from simulate.core import Estimate, Task
from theory.models import DensePottsModel, PottsModel
from theory.models.potts import ring_graph
from theory.models.potts.one_hot_contrasts import ContrastPopulation
from theory.potts.contrasts import ring_contrasts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

L = 81
RIDGES = (0.2, 0.02, 0.0)
RATIOS = (0.4, 0.7, 1.0, 1.4, 2.5)
LINE = np.concatenate([np.geomspace(0.3, 0.97, 40), np.geomspace(1.03, 3, 40)])
PROBLEMS = [(ratio, ridge) for ridge in RIDGES for ratio in RATIOS if ridge or ratio != 1]  # the limit diverges at 1
RELATIVE = {0.02: r"against Gaussian data, $\lambda' = 0.02$", 0.0: r"against Gaussian data, $\lambda' \to 0$"}
RINGS = ("ring", "ring, six colors")  # drawn exactly, with an exact population


def models(n_sites: int) -> dict[str, DensePottsModel | PottsModel]:
    """Makes the model of each panel, by its title."""
    ring = ring_graph(n_sites)
    return {
        "dense $J$, random $U$": random_model(n_sites),
        "ring and matching": ring_with_matching(n_sites),
        "ring": PottsModel(ring, np.eye(3), beta=1.5),
        "ring, six colors": PottsModel(ring_graph(max(3, n_sites // 2)), np.eye(6), beta=2.5),
    }


def populations(context: Context, known: dict[str, DensePottsModel | PottsModel]) -> dict[str, ContrastPopulation]:
    """Returns the population of each model: exact for rings, and measured on 120,000 states for the others."""
    chains = context.size(4000, 200)
    tasks = [
        Task(f"population/{title}", sampled_moments, (model, chains, 30, 3, isinstance(model, PottsModel), title))
        for title, model in known.items()
        if title not in RINGS
    ]
    sampled = {key: np.asarray(value) for key, value in context.sweep(tasks).items()}
    return {
        title: ring_contrasts(model.n_sites, model.color_couplings, model.beta)
        if isinstance(model, PottsModel) and title in RINGS
        else population_of(sampled[f"population/{title}"], model.n_colors)[0]
        for title, model in known.items()
    }


def compute(context: Context) -> list[Row]:
    known = models(context.size(L, 9))
    of = populations(context, known)
    replicates = range(context.replicates(24))
    tasks = [
        Task(f"fit/{title}/{r}", errors_of_fits, (model, of[title], PROBLEMS, 0 if title in RINGS else 30, (title, r)))
        for title, model in known.items()
        for r in replicates
    ]
    errors = context.sweep(tasks)
    rows = []
    for title, population in of.items():
        measured = np.array([errors[f"fit/{title}/{r}"] for r in replicates])
        rows += lines(context, title, population)
        for problem, values in zip(PROBLEMS, measured.transpose(2, 1, 0), strict=True):
            rows += points(title, population, problem, Estimate.of(values[0]), Estimate.of(values[1]))
    return rows


def lines(context: Context, title: str, population: ContrastPopulation) -> list[Row]:
    return [
        row(label(ridge), ratio, panel=title, theory=theory(population, ratio, ridge).mean_test_error)
        for ridge in RIDGES
        for ratio in context.thin(LINE, 8)
    ]


def points(
    title: str, population: ContrastPopulation, problem: tuple[float, float], potts: Estimate, gaussian: Estimate
) -> list[Row]:
    (ratio, ridge), u, d = problem, unknowns(population), population.covariance.size
    whole = round(ratio * u) / u  # samples are whole
    predicted = theory(population, whole, ridge).mean_test_error
    stderr = math.hypot(potts.stderr, gaussian.stderr) / gaussian.mean
    relative = Estimate(potts.mean / gaussian.mean - 1, stderr, potts.n)
    found = [row(label(ridge), ratio, panel=title, d=d, theory=predicted, estimate=potts, judged=ridge > 0)]
    if ridge in RELATIVE:
        found.append(row(title, ratio, panel=RELATIVE[ridge], d=d, theory=0.0, estimate=relative))
    return found


def label(ridge: float) -> str:
    return rf"$\lambda' = {ridge:g}$" if ridge else r"$\lambda' \to 0$"


def draw(axes: "Axes", rows: "DataFrame") -> None:
    if rows["panel"].isin(RELATIVE.values()).all():
        axes.axhspan(-0.01, 0.01, color="0.9", zorder=0)
        axes.legend(loc="upper left")


EXPERIMENT = Experiment(
    title="Masked ridge regression of Potts data and the Gaussian theory",
    compute=compute,
    panels=[
        *(Panel(title=title, curves={}) for title in models(9)),
        *(
            Panel(title=title, curves={}, ylabel="ratio of test errors $-$ 1", yscale="linear", ylim=(-0.03, 0.08))
            for title in RELATIVE.values()
        ),
    ],
    figsize=(15, 2.5),
    xlabel="samples for each unknown $n/u$",
    ylabel="test error of a site",
    yscale="log",
    draw=draw,
    caption="The first four panels show the squared error of the one-hot vector of a masked site, predicted from "
    "the u = (L-1)(C-1) contrasts of the other sites. Lines are the theory for Gaussian data of the same covariance; "
    "markers are ridge regressions of Potts data, with error bars over 24 samples. From the left: L "
    "= 81 sites and C = 3 colors with all pairs coupled; a ring with a random matching, beta = 0.9; a ring, beta = "
    "1.5; and a ring of 40 sites with six colors, beta = 2.5. The covariances of both rings are exact; the others "
    "are measured on 120,000 states, which biases the ridgeless theory by 0.1 %. The ridge lambda' counts for each "
    "unknown, beside half the sum of squares. The last two panels compare Potts data with Gaussian data of the same "
    "size (gray band: 1 %), in which the effect of the finite size cancels; it adds 1 to 3 % to ridgeless errors at "
    "n/u = 0.7 and 1.4. The size of the residuals depends a little on the inputs: the heteroskedasticity h, which is "
    "1 for Gaussian data, is 1.004, 1.001, 1.003 and 1.013 in the four models, and ridgeless errors should exceed "
    "the Gaussian ones by about (h - 1) u/n.",
)
