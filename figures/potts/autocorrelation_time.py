"""Single-site sampling slows down through the ordering transition, and tempered sampling less so."""

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

RATIOS = (0.5, 0.7, 0.85, 0.95, 1.0, 1.05, 1.15, 1.3)
STRIDE, CHAINS = 2, 8
SWEEPS = {"single site": 6000, "tempered": 2000}
WINDOWS = 12  # an autocorrelation time is measured from so many times its length on
WIDTH, COLORS = 8, (3, 10)


def title(n_colors: int) -> str:
    order = "continuous" if n_colors <= 4 else "first order"
    return f"square lattice {WIDTH} x {WIDTH}, q = {n_colors} ({order})"


def models() -> dict[str, Any]:
    """Makes the lattices at their critical betas, by the title of their panel."""
    return {title(q): SquareLatticePotts(WIDTH, WIDTH, q, potts.square_lattice_critical_beta(q)) for q in COLORS}


def measured_times(model: Potts, tempered: bool, sweeps: int, replicate: int) -> NDArray[np.float64]:
    """Measures autocorrelation times of score and mean color in sweeps, (2,); cut off where the run is too short."""
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
    return np.minimum(times, sweeps / WINDOWS)


def compute(context: Context) -> list[Row]:
    n = context.replicates(3)
    sweeps = {kind: count // 20 if context.is_draft else count for kind, count in SWEEPS.items()}
    cases = [
        (name, model, ratio, kind)
        for name, model in models().items()
        for ratio in context.thin(RATIOS)
        for kind in SWEEPS
    ]
    tasks = {
        f"{name}/{ratio}/{kind}/{k}": (model.at(ratio * model.beta), kind == "tempered", sweeps[kind], k)
        for name, model, ratio, kind in cases
        for k in range(n)
    }
    values = context.sweep([Task(key, measured_times, arguments) for key, arguments in tasks.items()])
    rows = []
    for name, model, ratio, kind in cases:
        times = np.array([values[f"{name}/{ratio}/{kind}/{k}"] for k in range(n)])
        for which, observable in enumerate(("score", "mean color")):
            if times[:, which].max() < sweeps[kind] / WINDOWS:
                estimate = Estimate.of(times[:, which])
                rows.append(row(f"{kind}, {observable}", ratio, panel=name, d=model.n_sites, estimate=estimate))
    return rows


def mark_transition(ax: Any, _rows: Any) -> None:
    """Marks the critical beta, and says what lies above it."""
    ax.axvline(1.0, color="0.7", linewidth=0.8, zorder=0)
    ax.text(1.01, 0.97, "ordered", transform=ax.get_xaxis_transform(), va="top", fontsize=7, color="0.4")


EXPERIMENT = Experiment(
    title="Autocorrelation time through the transition",
    compute=compute,
    panels=[Panel(title=title(q), curves={}) for q in COLORS],
    draw=mark_transition,
    xlabel=r"inverse temperature $\beta/\beta_c$",
    ylabel=r"autocorrelation time $\tau$ (sweeps)",
    yscale="log",
    caption="Markers are the autocorrelation times of the score and of the mean color, for a heat bath of single "
    "sites and for parallel tempering with a ladder of inverse temperatures from beta = 0 on (in sweeps of each "
    "replica), with error bars. In the ordered phase, right of the gray line, the score still "
    "forgets fast, while the mean color, which tells the equivalent ordered states apart, takes ever longer. A "
    f"marker is missing where 8 chains of {SWEEPS['single site']} sweeps ({SWEEPS['tempered']} tempered) are too "
    "short to measure the time.",
)
