"""One pass of stochastic descent over the rows has a larger error than gradient flow that is stopped in time."""

import math
from functools import cache, partial
from typing import Any

import numpy as np

from figures.core import Axes, Curve, DataFrame, Experiment, Panel
from figures.core.experiment import level
from figures.core.names import name_curve
from simulate.masked import training_replicate
from theory import masked
from theory.models import AR1, Flow, MaskedTraining, OnePass

COVARIANCE = AR1(math.inf, 0.7)
STEPS = (0.1, 0.3, 1.0)
RATIOS = (1.0, 4.0)
# The looks of the steps and of the flow, none of which is that of a sample ratio in the panel beside them.
LOOKS: tuple[dict[str, Any], ...] = (
    {"color": 1, "style": "--", "marker": "s"},
    {"color": 3, "style": "-.", "marker": "^"},
    {"color": 4, "style": (0, (7, 2)), "marker": "v"},
    {"color": 5, "style": (0, (3, 1, 1, 1, 1, 1)), "marker": "P"},
)
SIMULATED = (0.3, 0.7, 2.0, 5.0)


def in_one_pass(step: float, alpha: float) -> MaskedTraining:
    return MaskedTraining(COVARIANCE, alpha, OnePass(step))


@cache
def stopped(alpha: float) -> MaskedTraining:
    """Return gradient flow on all rows that the pass has seen, up to its best time."""
    return MaskedTraining(COVARIANCE, alpha, Flow(masked.best_time(COVARIANCE, alpha).time))


@cache  # every size of a point asks for the same number
def test_error(model: MaskedTraining) -> float:
    return masked.solve(model).mean_test_error


def measured_error(model: MaskedTraining, d: int, rng: np.random.Generator) -> float:
    return training_replicate(model, d, rng).mean_test_error


def against_step(alpha: float) -> dict[str, Curve]:
    """Return the error of one pass over alpha d rows against the step, and the level of the flow on these rows."""
    look: dict[str, Any] = {"color": 0, "style": "-"} if alpha == RATIOS[0] else {"color": 2, "style": ":"}
    return {
        rf"one pass, $\alpha = {alpha:g}$": Curve(model=lambda step: in_one_pass(step, alpha)),
        rf"_flow, {alpha:g}": level(lambda: test_error(stopped(alpha)), (0.03, 1.6), **look),
    }


def draw(axes: Axes, _rows: DataFrame) -> None:
    """Name the levels of the flow, where they are drawn."""
    drawn = {str(line.get_gid()) for line in axes.lines}
    for alpha in RATIOS:
        if (level_of_flow := f"_flow, {alpha:g}") in drawn:
            name_curve(axes, level_of_flow, f"flow,\n$\\alpha = {alpha:g}$")


EXPERIMENT = Experiment(
    title="Rows used once teach less than rows used until the best time",
    panels=[
        Panel(
            title="against the rows seen",
            curves={
                rf"step {step:g}": Curve(model=partial(in_one_pass, step), **look)
                for step, look in zip(STEPS, LOOKS, strict=False)
            }
            | {"flow, best time": Curve(model=stopped, line=np.geomspace(0.1, 8, 10), **LOOKS[-1])},
            line=np.geomspace(0.1, 8, 13),
            points=SIMULATED,
            xlabel=r"rows seen over coordinates $\alpha = n/d$",
        ),
        Panel(
            title="against the step",
            curves=against_step(RATIOS[0]) | against_step(RATIOS[1]),
            line=np.geomspace(0.03, 1.6, 14),
            points=(0.07, 0.2, 0.5, 1.0),
            xlabel="step",
        ),
    ],
    theory=test_error,
    replicate=measured_error,
    d=50,
    replicates=12,
    ylabel="mean test error",
    xscale="log",
    yscale="log",
    ylim=(0.33, 1.2),
    draw=draw,
    caption="A pass that uses each row once has a larger error, at every constant step, than gradient flow on the "
    "same rows that is stopped at its best time. Coordinates are an AR(1) chain with r = 0.7. In the pass each row x "
    "moves the coefficients by step/d times the residual times x. Lines are the theory for d = infinity, markers "
    "simulations at d = {sizes}, extrapolated in 1/d. (a) The error against the number of rows. (b) Against the step; "
    "horizontal lines are the flow on as many rows. With the best step the pass reaches 0.574 at alpha = 1 and 0.442 "
    "at alpha = 4, the flow 0.524 and 0.401.",
)
