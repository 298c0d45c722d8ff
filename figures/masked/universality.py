"""Gaussian, Rademacher, heavy-tailed and uniform inputs of one covariance have one learning curve."""

from functools import partial

import numpy as np

from figures.core import Axes, Curve, DataFrame, Experiment, Panel
from simulate.masked import Inputs, mean_test_error
from theory import masked
from theory.models import AR1, MaskedRidge

LAWS: dict[str, Inputs] = {
    "Gaussian": "gaussian",
    "Rademacher": "rademacher",
    "Student, 5 d.o.f.": "student",
    "uniform": "uniform",
}
LEARNING, THEORY = "learning curve", "theory"


def inputs(law: Inputs, line: np.ndarray) -> Curve:
    return Curve(
        model=lambda alpha: MaskedRidge(AR1(np.inf, 0.7), alpha, 0.01),
        replicate=partial(mean_test_error, inputs=law),
        line=line,
    )


def draw(axes: Axes, rows: DataFrame) -> None:
    """Give the line, with which all laws are compared, an entry of its own in the legend."""
    if rows["panel"].iloc[0] != LEARNING:
        return
    dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))["Gaussian"].set_linestyle("")
    for line in axes.get_lines():
        if line.get_gid() == "Gaussian" and np.size(line.get_xdata()) and line.get_linestyle() != "None":
            line.set(color="black", gid=THEORY, zorder=1)
    axes.plot([], [], color="black", label=THEORY, gid=THEORY)
    axes.legend()


EXPERIMENT = Experiment(
    title="Only the covariance matters: four laws of the inputs, one error",
    panels=[
        Panel(
            title=LEARNING,
            curves={
                name: inputs(law, np.geomspace(0.2, 5, 121) if law == "gaussian" else np.empty(0))
                for name, law in LAWS.items()
            },
        ),
        Panel(
            title="its points over the line",
            ratio_of=LEARNING,
            curves={},
            ylabel="simulation/theory $-$ 1",
            yscale="linear",
        ),
    ],
    theory=lambda model: masked.solve(model).mean_test_error,
    points=(0.25, 0.5, 0.75, 1.0, 1.5, 2.5, 4.0),
    d=100,
    replicates=40,
    xlabel=r"sample ratio $\alpha = n/d$",
    ylabel="mean test error",
    draw=draw,
    xscale="log",
    yscale="log",
    caption="The error of masked regression on data of four different laws is that of Gaussian data with the same "
    "covariance. Independent variables with equal variances are mixed linearly to the covariance of AR(1) with r "
    "= 0.7; the ridge is 0.01. (a) The mean squared error on new samples: the line is the theory for Gaussian "
    "data in the limit d = infinity; markers are simulations at d = {sizes}, extrapolated in 1/d. (b) The "
    "simulations over the line minus 1, moved a little aside where they share a sample ratio: all deviations are "
    "below 1 %, within their error bars.",
)
