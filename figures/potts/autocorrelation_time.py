"""How slow single-site and tempered sampling are through the ordering transition."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.core import Context, Experiment, Panel, Row, row
from simulate.core import Estimate, Task, stream
from simulate.potts import TemperedDynamics, autocorrelation_time, make_dynamics, temper_ladder
from simulate.potts.observables import Observables
from simulate.potts.sampling import ordered_and_random
from theory import potts
from theory.models import Potts, SquareLatticePotts
from theory.models.potts import curie_weiss

RATIOS = (0.5, 0.7, 0.85, 0.95, 1.0, 1.05, 1.15, 1.3)
SWEEPS, STRIDE, CHAINS = 8000, 2, 8
LONGEST = SWEEPS / 12  # the window of six times does not fit into half the run beyond it
LATTICE, MEAN_FIELD = "square lattice 8 x 8, q = 3", "Curie-Weiss, N = 60, q = 3"


def models() -> dict[str, Any]:
    """At their critical betas."""
    return {
        LATTICE: SquareLatticePotts(8, 8, 3, potts.square_lattice_critical_beta(3)),
        MEAN_FIELD: curie_weiss(60, 3, potts.curie_weiss_critical_beta(3)),
    }


def measured_times(model: Potts, tempered: bool, sweeps: int, replicate: int) -> NDArray[np.float64]:
    """Autocorrelation times of score and mean color in sweeps, (2,); at most `LONGEST`."""
    rng = stream(0, "autocorrelation", model.n_sites, model.beta, tempered, replicate)
    dynamics: Any
    if tempered:
        dynamics = TemperedDynamics(model, CHAINS, rng, betas=temper_ladder(model).betas)
    else:
        start = ordered_and_random(CHAINS, model.n_sites, model.n_colors, rng)
        dynamics = make_dynamics(model, CHAINS, rng, start=start)
    watched = Observables(model, rng)
    dynamics.run(sweeps // 4)
    series = np.empty((sweeps // STRIDE, 2, CHAINS))
    for record in series:
        dynamics.run(STRIDE)
        record[:] = watched.values(dynamics.states, dynamics.scores())[[0, -1]]
    times = [STRIDE * autocorrelation_time(series[:, k].T) for k in range(2)]
    return np.minimum(times, LONGEST)


def compute(context: Context) -> list[Row]:
    n, sweeps = context.replicates(3), SWEEPS // 20 if context.is_draft else SWEEPS
    cases = [
        (title, model, ratio, kind)
        for title, model in models().items()
        for ratio in context.thin(RATIOS)
        for kind in ("single site", "tempered")
    ]
    tasks = {
        f"{title}/{ratio}/{kind}/{k}": (model.at(ratio * model.beta), kind == "tempered", sweeps, k)
        for title, model, ratio, kind in cases
        for k in range(n)
    }
    values = context.sweep([Task(key, measured_times, arguments) for key, arguments in tasks.items()])
    rows = []
    for title, model, ratio, kind in cases:
        times = np.array([values[f"{title}/{ratio}/{kind}/{k}"] for k in range(n)])
        for which, name in enumerate(("score", "mean color")):
            if times[:, which].max() < LONGEST:
                estimate = Estimate.of(times[:, which])
                rows.append(row(f"{kind}, {name}", ratio, panel=title, d=model.n_sites, estimate=estimate))
    return rows


def mark_transition(ax: Any, rows: Any) -> None:
    """The critical beta, and what lies above it."""
    ax.axvline(1.0, color="0.7", linewidth=0.8, zorder=0)
    ax.text(1.01, 0.97, "ordered", transform=ax.get_xaxis_transform(), va="top", fontsize=7, color="0.4")


EXPERIMENT = Experiment(
    title="Autocorrelation time through the transition",
    compute=compute,
    panels=[Panel(title=title, curves={}) for title in (LATTICE, MEAN_FIELD)],
    draw=mark_transition,
    xlabel=r"inverse temperature $\beta/\beta_c$",
    ylabel=r"autocorrelation time $\tau$ (sweeps)",
    yscale="log",
    caption="Heat bath of single sites and parallel tempering with a proposed ladder from beta = 0 (sweeps of each "
    "replica). In the ordered phase the score still looks fast, while the mean color, which tells the three equivalent "
    f"ordered states apart, takes ever longer: a marker is missing where tau exceeds {math.floor(LONGEST)} sweeps.",
)
