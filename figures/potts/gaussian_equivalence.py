"""Masked ridge regression of Potts data against the theory for Gaussian data of the same mean and covariance."""

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
from theory.models.potts.contrasts import ContrastPopulation
from theory.potts.contrasts import ring_contrasts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

L = 81
RIDGES = (0.2, 0.02, 0.0)
RATIOS = (0.4, 0.6, 0.8, 1.0, 1.25, 1.6, 2.5)
LINE = np.concatenate([np.geomspace(0.3, 0.97, 40), np.geomspace(1.03, 3, 40)])
PROBLEMS = [(ratio, ridge) for ridge in RIDGES for ratio in RATIOS if ridge or ratio != 1]  # the limit diverges at 1
RELATIVE = "relative deviation"
RINGS = ("ring", "ring, six colors")  # drawn exactly, with an exact population


def models(n_sites: int) -> dict[str, DensePottsModel | PottsModel]:
    """Panel title -> model."""
    ring = ring_graph(n_sites)
    return {
        "dense $J$, random $U$": random_model(n_sites),
        "ring and matching": ring_with_matching(n_sites),
        "ring": PottsModel(ring, np.eye(3), beta=1.5),
        "ring, six colors": PottsModel(ring_graph(max(3, n_sites // 2)), np.eye(6), beta=2.5),
    }


def populations(context: Context, known: dict[str, DensePottsModel | PottsModel]) -> dict[str, ContrastPopulation]:
    """Exact for rings, of 120,000 states for the others."""
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
        for (ratio, ridge), values in zip(PROBLEMS, measured.T, strict=True):
            rows += points(title, population, ratio, ridge, Estimate.of(values))
    return rows


def lines(context: Context, title: str, population: ContrastPopulation) -> list[Row]:
    return [
        row(label(ridge), ratio, panel=title, theory=theory(population, ratio, ridge).mean_test_error)
        for ridge in RIDGES
        for ratio in context.thin(LINE, 8)
    ]


def points(title: str, population: ContrastPopulation, ratio: float, ridge: float, measured: Estimate) -> list[Row]:
    u = unknowns(population)
    exact = round(ratio * u) / u  # samples are whole
    predicted = theory(population, exact if ridge or exact != 1 else ratio, ridge * ratio / exact).mean_test_error
    found = [row(label(ridge), ratio, panel=title, d=population.covariance.size, theory=predicted, estimate=measured)]
    if ridge:
        relative = Estimate(measured.mean / predicted - 1, measured.stderr / predicted, measured.n)
        curve = rf"{title}, $\lambda' = {ridge:g}$"
        found.append(row(curve, ratio, panel=RELATIVE, d=population.covariance.size, theory=0.0, estimate=relative))
    return found


def label(ridge: float) -> str:
    return rf"$\lambda' = {ridge:g}$" if ridge else r"$\lambda' \to 0$"


def draw(axes: "Axes", rows: "DataFrame") -> None:
    if (rows["panel"] == RELATIVE).all():
        axes.axhspan(-0.01, 0.01, color="0.9", zorder=0)
        axes.legend(fontsize=5)


EXPERIMENT = Experiment(
    title="Masked ridge regression of Potts data and the Gaussian theory",
    compute=compute,
    panels=[
        *(Panel(title=title, curves={}) for title in models(9)),
        Panel(title=RELATIVE, curves={}, ylabel="simulation / theory $-$ 1", yscale="linear"),
    ],
    xlabel="samples for each unknown $n/((L-1)(C-1))$",
    ylabel="test error of a site",
    yscale="log",
    draw=draw,
)
