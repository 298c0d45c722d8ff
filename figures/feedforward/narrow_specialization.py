"""Hidden units of a narrow network specialize with a jump for erf, and continuously for ReLU."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from figures.core import Context, Experiment, Panel, Row, row
from simulate.core import Estimate, Task, stream
from simulate.feedforward import sample_narrow
from theory.feedforward import Specialization, bayes_optimal, specialization, stable_states
from theory.models import NarrowNetwork

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

Start = Literal["teacher", "random"]

N, K = 60, 6
NOISE: dict[str, float] = {"erf": 0.01, "relu": 0.1}
RANGE = {"erf": (0.8, 4.2), "relu": (0.4, 4.2)}
PANELS = {"erf": r"erf units, $\Delta = 0.01$", "relu": r"ReLU units, $\Delta = 0.1$"}
# Sample ratios by activation and start, on both sides of the spinodal (2.15), the transition (2.33), the onset (1.20).
POINTS: dict[tuple[str, Start], Sequence[float]] = {
    ("erf", "teacher"): (1.6, 2.6, 3.0, 4.0),
    ("erf", "random"): (1.2, 1.6),
    ("relu", "teacher"): (0.8, 2.0, 3.0),
    ("relu", "random"): (0.8, 2.0),
}
JUDGED = 1.25  # times the alpha of the transition: beyond, corrections for a finite K are below the error bars
EQUAL, KNOWING = "$q = 0$: units alike", "$q > 0$: specialized"
NAMES = {"teacher": "HMC from the teacher", "random": "HMC from random weights"}


def network(activation: str, alpha: float) -> NarrowNetwork:
    """Returns the record of the networks of a panel."""
    return NarrowNetwork(alpha=alpha, activation=activation, noise=NOISE[activation])  # type: ignore[arg-type]  # text


def risks(activation: str, start: Start, alpha: float, sizes: tuple[int, int, int], replicate: int) -> float:
    """Measures the error of the posterior mean of one student; `sizes` are N, K and the number of trajectories."""
    n_inputs, n_units, n_samples = sizes
    rng = stream(0, "narrow specialization", activation, start, alpha, replicate)
    made = sample_narrow(
        network(activation, alpha), n_inputs, n_units, rng, start=start, n_samples=n_samples, r_hat_limit=1.2
    )
    return made.mean_risk


def lines(activation: str, found: Specialization, grid: list[float]) -> list[Row]:
    """Returns both stable states along alpha, each as far as it exists."""
    ends = [found.spinodal * (1 + 1e-9), found.onset * (1 - 1e-9)]
    places = sorted({*grid, *(end for end in ends if end <= grid[-1])})
    return [
        row(EQUAL if state.q == 0 else KNOWING, alpha, panel=PANELS[activation], theory=state.bayes_risk)
        for alpha in places
        for state in stable_states(network(activation, alpha))
    ]


def marks(activation: str, found: Specialization) -> list[Row]:
    """Returns the places where a state begins or takes over."""

    def marked(name: str, alpha: float, state: Literal["smallest_q", "largest_q"]) -> Row:
        optimum = bayes_optimal(network(activation, alpha), state=state)
        return row(name, alpha, panel=PANELS[activation], theory=optimum.bayes_risk, d=np.inf)

    if found.order == "continuous":
        return [marked(f"onset, {found.onset:.3f}", found.onset * (1 + 1e-9), "largest_q")]
    spinodal = marked(f"spinodal, {found.spinodal:.3f}", found.spinodal * (1 + 1e-9), "largest_q")
    name = f"transition, {found.transition:.3f}"
    return [spinodal, *(marked(name, found.transition, state) for state in ("smallest_q", "largest_q"))]


def compute(context: Context) -> list[Row]:
    sizes = (12, 2, 20) if context.is_draft else (N, K, 80)
    seeds = range(context.replicates(8))
    points = {key: context.thin(alphas, 1) for key, alphas in POINTS.items()}
    tasks = [
        Task(f"{activation}/{start}/{alpha}/{seed}", risks, (activation, start, alpha, sizes, seed))
        for (activation, start), alphas in points.items()
        for alpha in alphas
        for seed in seeds
    ]
    found = context.sweep(tasks)
    rows = []
    places = {name: specialization(name, noise=noise) for name, noise in NOISE.items()}  # type: ignore[arg-type]
    for activation, (low, high) in RANGE.items():
        rows += lines(activation, places[activation], context.thin(np.linspace(low, high, 90), 8))
    for (activation, start), alphas in points.items():
        state: Literal["smallest_q", "largest_q"] = "largest_q" if start == "teacher" else "smallest_q"
        for alpha in alphas:
            estimate = Estimate.of([float(found[f"{activation}/{start}/{alpha}/{seed}"]) for seed in seeds])
            theory = bayes_optimal(network(activation, alpha), state=state).bayes_risk
            judged = alpha > JUDGED * places[activation].transition and not context.is_draft
            rows.append(row(NAMES[start], alpha, panel=PANELS[activation], theory=theory, d=sizes[0],
                            estimate=estimate, judged=judged))  # fmt: skip
    return rows + [mark for activation in NOISE for mark in marks(activation, places[activation])]


def draw(axes: "Axes", _rows: "DataFrame") -> None:
    """Begins the axis of the errors at zero."""
    axes.set_ylim(bottom=0)


EXPERIMENT = Experiment(
    title=f"Bayes-optimal students of narrow networks, HMC with $K = {K}$ hidden units and $N = {N}$ inputs",
    compute=compute,
    panels=[Panel(title=title, curves={}) for title in PANELS.values()],
    xlabel=r"samples for each weight, $\alpha = n/(NK)$",
    ylabel=r"error of the posterior mean, $\varepsilon_{\mathrm{Bayes}}$",
    draw=draw,
    unjudged="the theory is the limit of many inputs and many units",
    caption="A student with the architecture of the teacher learns from noisy labels; q is the overlap of a unit with "
    "its counterpart in the teacher, and a state with q > 0 is specialized. Lines: the stable states of the theory for "
    "1 << K << N. Where two coexist, the one with the larger free entropy is the equilibrium. With erf, whose second "
    "Hermite coefficient vanishes, the specialized state appears at the spinodal and is the equilibrium from the "
    "transition on; ReLU units specialize continuously at the onset. Markers: students sampled by Hamiltonian Monte "
    "Carlo, means over eight teachers with error bars; every run has mixed by its R-hat. Runs that start from the "
    "teacher should lie on the state of largest q, runs from random weights on that of smallest q. The theory is the "
    "limit of large K and N/K. At K = 6 and N = 60 measured errors are larger by up to 30 percent where units are "
    "alike, because n samples determine the N numbers of their sum only with an error, and by a few percent far above "
    "the thresholds. So small a system also rounds the thresholds of erf: from alpha = 2 on runs from random weights "
    f"leave q = 0, and none is shown there. z is judged only beyond {JUDGED} times the transition or onset, where the "
    "corrections are smaller than the error bars.",
    papers={
        "arXiv:2507.00629": "The figure has both branches of the error against the sample ratio, and the transition. "
        "Sampled networks agree up to corrections for their small number of units.",
    },
)
