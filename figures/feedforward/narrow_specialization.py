"""Hidden units of a narrow network specialize with a jump for erf, and continuously for ReLU."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from operator import lt
from typing import Literal

import numpy as np
from numpy.random import Generator

from figures.core import NONE, Axes, Curve, DataFrame, Experiment, Panel, thinned
from simulate.core import stream
from simulate.feedforward import sample_narrow
from theory.feedforward import bayes_optimal, specialization, stable_states
from theory.models import NarrowNetwork

Start = Literal["teacher", "random"]
Problem = tuple[NarrowNetwork, Start]

N, K = 60, 6
NOISE: dict[str, float] = {"erf": 0.01, "relu": 0.1}
RANGE = {"erf": (0.8, 4.2), "relu": (0.4, 4.2)}
PANELS = {"erf": r"erf units, $\Delta = 0.01$", "relu": r"ReLU units, $\Delta = 0.1$"}
# Sample ratios by activation and start, on both sides of the spinodal (2.15), the transition (2.33), the onset (1.20).
POINTS: dict[tuple[str, Start], Sequence[float]] = {
    ("erf", "teacher"): (2.0, 2.3, 2.6, 3.0, 4.0),
    ("erf", "random"): (1.2, 1.6, 2.0, 2.6, 3.0),
    ("relu", "teacher"): (0.8, 1.6, 2.0, 3.0),
    ("relu", "random"): (0.8, 2.0),
}
SLOW = 2.0  # the alpha from which on erf units that begin alike may leave that state within the run, or may not
JUDGED = 1.25  # times the alpha of the transition: beyond, corrections for a finite K are below the error bars
PLACES = {name: specialization(name, noise=noise) for name, noise in NOISE.items()}  # type: ignore[arg-type]  # text
RISK = "risk"
EQUAL, KNOWING = "$q = 0$: units alike", "$q > 0$: specialized"
NAMES = {"teacher": "HMC from the teacher", "random": "HMC from random weights"}


def network(activation: str, alpha: float) -> NarrowNetwork:
    """Return the record of the networks of a panel."""
    return NarrowNetwork(alpha=alpha, activation=activation, noise=NOISE[activation])  # type: ignore[arg-type]  # text


def risk(problem: Problem, n_inputs: int, rng: Generator, n_units: int = K, n_samples: int = 80) -> dict[str, float]:
    """Measure the error of the posterior mean of one student."""
    at, start = problem
    slow = (at.activation, start) == ("erf", "random") and at.alpha >= SLOW
    made = sample_narrow(at, n_inputs, n_units, rng, start=start, n_samples=n_samples, r_hat_limit=1.2, check=not slow)
    return {RISK: made.mean_risk}


def of_start(problem: Problem) -> float:
    """Return the error in the state that runs from this start find: so small a system does not stay off equilibrium."""
    at, start = problem
    return bayes_optimal(at, state="largest_q" if start == "teacher" else "equilibrium").bayes_risk


def of_state(at: NarrowNetwork, equal: bool) -> float | None:
    """Return the error in the stable state in which units are alike, or specialized; None where there is none."""
    return next((state.bayes_risk for state in stable_states(at) if (state.q == 0) == equal), None)


def curves(activation: str) -> dict[str, Curve]:
    """Declare both stable states as far as they exist, the runs, and the places where a state begins or takes over."""
    found, (low, high), at = PLACES[activation], RANGE[activation], partial(network, activation)
    ends = [end for end in (found.spinodal * (1 + 1e-9), found.onset * (1 - 1e-9)) if end <= high]
    grid = sorted({*np.linspace(low, high, 90).tolist(), *ends})

    def state(equal: bool) -> Curve:
        theory = partial(of_state, equal=equal)
        return Curve(model=at, theory=theory, line=lambda: [x for x in grid if theory(at(x)) is not None], points=())

    def mark(alpha: float, start: Start = "teacher", color: int | None = None) -> Curve:
        return Curve(
            model=lambda x: (at(x), start), points=(alpha,), line=(), replicate=NONE, extrapolate=True, color=color
        )

    runs = {
        NAMES[start]: Curve(number=RISK, setting=f"{activation}/{start}", points=alphas)
        for (own, start), alphas in POINTS.items()
        if own == activation
    }
    marks = {f"_onset, {found.onset:.3f}": mark(found.onset * (1 + 1e-9), color=6)}
    if found.order != "continuous":
        marks = {
            f"_spinodal, {found.spinodal:.3f}": mark(found.spinodal * (1 + 1e-9), color=4),
            f"_transition, {found.transition:.3f}": mark(found.transition, color=5),
        }
    return {EQUAL: state(True), KNOWING: state(False)} | runs | marks


def draw(axes: Axes, rows: DataFrame) -> None:
    """Begin the axis of the errors at zero, and name the places where a state begins or takes over."""
    axes.set_ylim(bottom=0)
    for _, place in rows[rows["curve"].str.match("_(onset|spinodal|transition)")].iterrows():
        name = place["curve"].removeprefix("_")
        axes.annotate(name, (place["x"], place["theory"]), (8, 5), textcoords="offset points", fontsize=7)


EXPERIMENT = Experiment(
    title="By theory erf units specialize suddenly, ReLU units continuously",
    measure=risk,
    theory=of_start,
    settings={f"{name}/{start}": lambda x, name=name, start=start: (network(name, x), start) for name, start in POINTS},
    streams=lambda seed, setting, alpha, _d, r: stream(seed, "narrow specialization", *setting.split("/"), alpha, r),
    panels=[
        Panel(title=title, curves=curves(name), judged_where=partial(lt, JUDGED * PLACES[name].transition))
        for name, title in PANELS.items()
    ],
    d=N,
    extrapolate=False,
    replicates=6,
    draft=lambda own: thinned(replace(own, measure=partial(risk, n_units=2, n_samples=20), d=12), line=8, points=1),
    xlabel=r"samples per weight, $\alpha = n/(NK)$",
    ylabel=r"error of the posterior mean, $\varepsilon_{\mathrm{Bayes}}$",
    draw=draw,
    unjudged="the theory is the limit of many inputs and many units",
    caption="By theory students with erf units specialize suddenly, at the transition, and those with ReLU units "
    "continuously from the onset on. Student and teacher have the same architecture (K = 6 hidden units, N = 60 "
    "inputs, noise); q is the overlap of a unit with its counterpart. Lines are stable states of the theory for 1 "
    "<< K << N; where two coexist, that of larger free entropy is the equilibrium. Markers are students sampled "
    "by Hamiltonian Monte Carlo, over {replicates} teachers. So small a system rounds the jump of erf; both "
    "starts agree beyond it; errors are up to 30 % larger where units are alike, but just before it smaller. z is "
    "judged beyond the thresholds.",
    papers={
        "arXiv:2507.00629": "The figure has both branches of the error against the sample ratio, and the transition, "
        "for infinitely many hidden units, labels with noise and Bayes-optimal temperature; the authors draw 10 "
        "hidden units, labels without noise and other temperatures.",
    },
)
