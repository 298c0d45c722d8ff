"""The weakest spike that masked regression sees is the weakest at a time of training, not at its end."""

import math
from collections.abc import Sequence
from functools import cache, partial

import numpy as np
from scipy.optimize import brentq

from figures.core import Curve, Experiment, Panel, level
from figures.masked.spiked_noise import COLORS, NAMES, two_level
from simulate.masked import needed_strengths
from theory import random_matrix
from theory.core.arrays import Array
from theory.models import Flow, SpikedData

OVERLAP = 0.2  # of the direction read off in standard units
ENDS = {1.0: (0.02, 400.0), 0.5: (0.02, 45.0)}  # of the time; later the edge at alpha = 1/2 is not resolved
TITLES = {alpha: rf"$\alpha = {alpha:g}$" for alpha in ENDS}
NEEDED = "strength for the overlap 0.2"


def flow(alpha: float, time: float, strength: float | None = None) -> SpikedData:
    return SpikedData(two_level(), strength=strength, alpha=alpha, training=Flow(float(time)))


def threshold(alpha: float, time: float) -> float:
    return float(random_matrix.threshold(flow(alpha, time)))


@cache
def needed_at(alpha: float, time: float) -> float:
    least = threshold(alpha, time)

    def excess(factor: float) -> float:
        found = random_matrix.outlier(flow(alpha, time, least * factor), read_out="standard_units")
        return found.overlap - OVERLAP

    return least * float(brentq(excess, 1.0001, 6.0, xtol=1e-3))


def needed(alpha: float, times: Sequence[float]) -> dict[str, Array]:
    return {NEEDED: np.array([needed_at(alpha, float(time)) for time in times])}


def measured(alpha: float, times: Sequence[float], d: int, rng: np.random.Generator) -> dict[str, Array]:
    """Find the strengths that one draw needs at all times: their differences are those of the times."""
    records = [flow(alpha, time) for time in times]
    return {NEEDED: needed_strengths(records, OVERLAP, d, rng, "standard_units")}


def others(alpha: float) -> dict[str, Curve]:
    """Declare the thresholds of the best ridge and of the kinds of PCA, and the bound, as lines."""

    def least(method: str, lam: float | None = None) -> float:
        return float(random_matrix.threshold(SpikedData(two_level(), alpha=alpha, method=method, lam=lam)))

    def bound() -> float:
        spectrum = two_level().spectrum
        return 1 / math.sqrt(alpha * float(spectrum.mean(spectrum.eigenvalues**-2)))

    found = {r"best ridge, $\lambda \to 0$": level(partial(least, "ssr", 0.0), ENDS[alpha], style="--", color=0)}
    found |= {
        name: level(partial(least, method), ENDS[alpha], style="--", color=COLORS[method])
        for method, name in NAMES.items()
    }
    return found | {"bound, variances known": level(bound, ENDS[alpha], style=":", color=6)}


def lines(alpha: float) -> dict[str, Curve]:
    times = np.geomspace(*ENDS[alpha], 33)
    least = Curve(model=float, theory=partial(threshold, alpha), line=times, points=(), color=0, style="-")
    return {"threshold, flow": least} | others(alpha)


EXPERIMENT = Experiment(
    title="The least strength that is seen, along training",
    measure=measured,
    by_point=True,
    settings={TITLES[1.0]: 1.0},
    panels=[
        Panel(
            title=TITLES[1.0],
            curves=lines(1.0)
            | {
                NEEDED: Curve(
                    number=NEEDED,
                    setting=TITLES[1.0],
                    theory=needed,
                    line=np.geomspace(0.25, 30, 13),
                    points=(0.4, 1.0, 2.5, 6.0, 18.0),
                    color=5,
                )
            },
        ),
        Panel(title=TITLES[0.5], curves=lines(0.5)),
    ],
    d=80,
    replicates=16,
    xlabel="time of training $t$",
    ylabel=r"strength of the spike $\theta$",
    xscale="log",
    yscale="log",
    caption="",
)
