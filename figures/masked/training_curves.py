"""Along training the test error of masked regression falls and rises again, at n = d as the root of the time."""

import math

import numpy as np

from figures.core import NONE, Axes, Curve, DataFrame, Experiment, Panel
from figures.masked.along_training import errors_along, theory_along
from theory.models import AR1, MaskedRegression

R = 0.7
COVARIANCE = AR1(math.inf, R)
NOISE = (1 - R**2) / (1 + R**2)  # the conditional variance of a coordinate, and one over tau = tr Sigma^-1/d
ALPHAS = (0.5, 1.0, 2.0)
TEST = "test error"
TRAIN_POINTS = {0.5: (0.1, 0.5, 1.5, 5.0, 15.0), 1.0: (0.1, 0.5, 1.5, 5.0, 15.0, 50.0)}


def root_law(time: float) -> float:
    """Return the law of late times at n = d, c sigma^2 sqrt(t/tau) with c = 2 (2 - sqrt 2)/sqrt(pi)."""
    return 2 * (2 - math.sqrt(2)) / math.sqrt(math.pi) * NOISE * math.sqrt(time * NOISE)


def curve(alpha: float, number: str) -> Curve:
    points = TRAIN_POINTS.get(alpha) if number == "train" else None
    return Curve(setting=f"alpha = {alpha:g}", number=number, points=points)


def draw(axes: Axes, rows: DataFrame) -> None:
    """Mark the best time to stop of each line of the test error with a star."""
    if rows["panel"].iloc[0] != TEST:
        return
    shown = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    lines = rows[rows["size"].isna() & rows["curve"].str.contains("alpha")]
    for name, line in lines.groupby("curve"):
        best = line.sort_values("theory").iloc[0]
        axes.plot(best["x"], best["theory"], "*", color=shown[name].get_color(), markersize=9, zorder=3)


EXPERIMENT = Experiment(
    title="The error rises again after a best time to stop (AR(1), $r = 0.7$)",
    panels=[
        Panel(
            title=TEST,
            curves={rf"$\alpha = {alpha:g}$": curve(alpha, "test") for alpha in ALPHAS}
            | {
                r"law $\propto \sqrt{t}$": Curve(
                    model=float,
                    theory=root_law,
                    replicate=NONE,
                    line=np.geomspace(4, 1000, 2),
                    points=(),
                    line_kind="reference",
                    style="-.",
                    color="C1",
                )
            },
            ylabel="mean test error",
            ylim=(0.38, 9),
        ),
        Panel(
            title="training error",
            curves={rf"$\alpha = {alpha:g}$": curve(alpha, "train") for alpha in ALPHAS},
            ylabel="mean training error",
            ylim=(1e-4, 1.3),
        ),
    ],
    settings={f"alpha = {alpha:g}": MaskedRegression(COVARIANCE, alpha) for alpha in ALPHAS},
    measure=errors_along,
    theory=theory_along,
    by_point=True,
    by_number=True,
    line=np.geomspace(0.03, 1000, 61),
    points=(0.1, 0.5, 1.5, 5.0, 15.0, 50.0),
    d=100,
    replicates=20,
    draw=draw,
    xlabel="time $t$",
    xscale="log",
    yscale="log",
    ordered=True,
    caption="Trained from zero, masked regression has a best time to stop (stars), after which its test error rises: "
    "to a plateau below and above n = d, and as the square root of the time, without end, at n = d. "
    "Coordinates are an AR(1) chain; the time is that of gradient flow, steps times step size. Lines are the "
    "theory for d = infinity, markers simulations at d = {sizes}, extrapolated in 1/d; all times of one alpha"
    " share their data. The orange line is the law c sigma^2 sqrt(t/tau), with c = 0.661, conditional "
    "variance sigma^2 = 0.342 and tau = tr Sigma^-1/d = 2.92, which the error exceeds by 6 % at t = 1000.",
)
