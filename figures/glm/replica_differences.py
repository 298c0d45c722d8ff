"""Two runs of message passing on one training set of a loss that is not convex: where small differences grow."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from figures.core import Axes, Curve, DataFrame, Experiment, Panel
from figures.glm.sigmoid import Sigmoid
from simulate.glm import replica_pairs
from theory import glm
from theory.glm.replica_growth import replica_difference, replica_growth
from theory.glm.saddle_point import SaddlePoint
from theory.models import Isotropic, RandomLabels

ALPHA = 3.0
RIDGES = (0.03, 0.06, 0.12)  # with a jump of the proximal operator, unstable without one, stable
DIFFERENCES = (1e-4, 1e-3, 1e-2, 0.1, 1.0)
LAMS = (0.03, 0.06, 0.07, 0.09, 0.12)
THRESHOLD = 0.0798  # ridge at which the replicon changes its sign
FINER = tuple(np.geomspace(1e-4, 1, 9).round(9).tolist())
LINE = (0.03, 0.04, 0.05, 0.06, 0.065, 0.07, 0.075, THRESHOLD, 0.12)
GROWTH, LASTING = "growth", "lasting difference"


def labels(lam: float) -> RandomLabels:
    return RandomLabels(covariance=Isotropic(np.inf), alpha=ALPHA, lam=lam, loss=Sigmoid())


@cache
def point_of(lam: float) -> SaddlePoint:
    return glm.solve(labels(lam), check=False)


def predicted(lam: float, xs: Sequence[float]) -> dict[str, NDArray[np.float64]]:
    """Return the growth of each difference at a ridge, or for the ridge NaN the lasting difference at each ridge."""
    if np.isnan(lam):
        return {LASTING: np.array([lasting(x) for x in xs])}
    return {GROWTH: np.array([growth(lam, x) for x in xs])}


@cache
def lasting(lam: float) -> float:
    return replica_difference(point_of(lam))


@cache
def growth(lam: float, difference: float) -> float:
    return float(replica_growth(point_of(lam), np.array([difference]))[0])


def measured(lam: float, xs: Sequence[float], d: int, rng: Generator) -> dict[str, NDArray[np.float64]]:
    if np.isnan(lam):
        return {LASTING: np.array([replica_pairs.replica_difference(labels(x), d, rng) for x in xs])}
    return {GROWTH: replica_pairs.replica_growth(labels(lam), np.array(xs), d, rng)}


def draw(axes: Axes, rows: DataFrame) -> None:
    """Mark the factor one, beyond which differences grow, and the ridge below which they last."""
    if rows["panel"].iloc[0] == "one step":
        axes.axhline(1.0, color="0.6", linewidth=0.8, zorder=0)
    else:
        axes.axvline(THRESHOLD, color="0.6", linewidth=0.8, linestyle=":", zorder=0)


EXPERIMENT = Experiment(
    title="Two runs of message passing on one training set part where the replicon is negative",
    measure=measured,
    theory=predicted,
    by_point=True,
    settings={str(lam): lam for lam in RIDGES} | {LASTING: np.nan},
    panels=[
        Panel(
            title="one step",
            curves={
                rf"$\lambda = {lam}$": Curve(number=GROWTH, setting=str(lam), line=FINER, points=DIFFERENCES)
                for lam in RIDGES
            },
            xlabel="difference of the runs, 1 $-$ overlap",
            ylabel="factor by which it grows",
            ordered=True,
            yscale="log",
            replicates=40,
        ),
        Panel(
            title="what is left in the end",
            curves={
                f"_{LASTING}": Curve(number=LASTING, setting=LASTING, line=LINE, points=LAMS, color="black", marker="^")
            },
            judged_where=lambda lam: lam < THRESHOLD,
            unjudged="where replicas meet, a little is left of their difference after finitely many steps",
            xlabel=r"ridge $\lambda$",
            ylabel="difference of the runs, 1 $-$ overlap",
            replicates=12,
        ),
    ],
    d=100,
    extrapolate=False,
    xscale="log",
    draw=draw,
    caption="Where replica symmetry is unstable, two runs of message passing on one training set part: small "
    "differences of them grow, and a difference stays for ever. The loss is 1/(1 + e^(yh)), labels are random, alpha "
    "= 3. (a) The factor of one step. It is below 1 at ridge 0.12; at 0.06 it tends to 1 minus the replicon, 3.47; at "
    "0.03, where the proximal operator jumps, it rises as the inverse root of the difference. (b) The difference "
    "after 13 to 24 steps from random starts; the replicon changes its sign at 0.0798 (dotted), the jump begins at "
    "0.0564. Lines are the theory for infinitely many inputs; markers are runs at d = {sizes}.",
)
