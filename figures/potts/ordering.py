"""The Gaussian theory of Potts data loses its accuracy where the square lattice orders."""

import math

import numpy as np

from figures.core import Axes, Context, Curve, DataFrame, Experiment, Panel, Row, row
from figures.potts.potts_data import errors_of_fits, population_of, sampled_moments, theory
from simulate.core import Estimate, Task
from theory.models import SquareLatticePotts

WIDTH, COLORS = 8, 3
CRITICAL = math.log(1 + math.sqrt(COLORS))
SHARES = (0.5, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1)
PROBLEMS = [(2.5, 0.2), (2.5, 0.02), (2.5, 0.0)]  # samples and ridge per unknown
LINEAR = 0.3  # deviations up to which a linear axis shows all of them
LAW = "from heteroskedasticity"
DEVIATION, MONITOR = "deviation from the Gaussian theory", "heteroskedasticity"


def compute(context: Context) -> list[Row]:
    width = 4 if context.is_draft else WIDTH
    lattices = {share: SquareLatticePotts(width, width, COLORS, share * CRITICAL) for share in context.thin(SHARES)}
    chains, sweeps = context.size(2000, 200), 20
    population_tasks = [
        Task(f"population/{share}", sampled_moments, (lattice, chains, 20, sweeps, True, f"lattice {share}"))
        for share, lattice in lattices.items()
    ]
    moments = context.sweep(population_tasks)
    of = {share: population_of(np.asarray(moments[f"population/{share}"]), COLORS) for share in lattices}
    replicates = range(context.replicates(24))
    fits = [
        Task(
            f"fit/{share}/{r}", errors_of_fits, (lattice, of[share][0], PROBLEMS, 10 * sweeps, (f"lattice {share}", r))
        )
        for share, lattice in lattices.items()
        for r in replicates
    ]
    errors = context.sweep(fits)
    rows = []
    for share, (population, monitor) in of.items():
        measured = np.array([errors[f"fit/{share}/{r}"] for r in replicates])
        d = population.covariance.size
        for (ratio, ridge), values in zip(PROBLEMS, measured.T, strict=True):
            relative = Estimate.of(values / theory(population, ratio, ridge).mean_test_error - 1)
            rows.append(row(label(ridge), share, panel=DEVIATION, theory=0.0, d=d, estimate=relative, judged=False))
        ratio = PROBLEMS[-1][0]
        rows.append(row(LAW, share, panel=DEVIATION, theory=(monitor - 1) / ratio))
        rows += [row("_monitor", share, panel=MONITOR, theory=monitor, d=size) for size in (d, None)]
        explained = float(theory(population, *PROBLEMS[0]).explained.mean())
        rows += [row("_explained", share, panel="explained", theory=explained, d=size) for size in (d, None)]
    return rows


def label(ridge: float) -> str:
    return rf"$\lambda' = {ridge:g}$" if ridge else r"$\lambda' \to 0$"


def draw(axes: Axes, rows: DataFrame) -> None:
    axes.axvline(1, color="0.6", linewidth=0.8, linestyle=":", zorder=0)
    if rows["panel"].iloc[0] == DEVIATION and rows["simulation"].max() > LINEAR:  # without a ridge, of short chains
        axes.set_yscale("symlog", linthresh=LINEAR)
        axes.set_ylim(bottom=-LINEAR)
        axes.legend(loc="upper left")


EXPERIMENT = Experiment(
    title="Near ordering the errors exceed the Gaussian theory as heteroskedasticity says",
    compute=compute,
    panels=[
        Panel(
            title=DEVIATION,
            curves={LAW: Curve(color="black", style="-.")},
            ylabel="simulation / theory $-$ 1",
            ordered=True,
        ),
        Panel(
            title=MONITOR,
            curves={"_monitor": Curve(color=1, marker="v", style="-")},
            ylabel=r"$E|r|^2 x^T \Sigma^{-1} x / (u\, E|r|^2)$",
        ),
        Panel(
            title="explained",
            curves={"_explained": Curve(color=2, marker="P", style="-")},
            ylabel="$R^2$ of the best linear prediction",
            ylim=(0, 1),
        ),
    ],
    unjudged="the theory is that of Gaussian data, and the figure shows how far Potts data are from it",
    caption="Toward the transition (dotted) of a three-color Potts model ridgeless errors exceed the Gaussian "
    "theory, by 10 % there, as the heteroskedasticity h says; in the ordered phase by more. Every site of the 8 by 8 "
    "torus is predicted from the others, inputs x of u = 126 unknowns, with 2.5 u samples. (a) The error relative to "
    "the theory for Gaussian data of the same covariance, known to 0.3 %; markers are means over {replicates} "
    "independent samples, the line is (h - 1)/2.5. A ridge of 0.2 hides most of the excess, 0.02 a third. (b) The "
    "heteroskedasticity, 1 where residuals r do not depend on x; (c) the explained share of the variance: without "
    "bars.",
    xlabel=r"inverse temperature $\beta/\beta_c$",
    draw=draw,
)
