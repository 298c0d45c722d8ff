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
from theory.models import Flow, SpikedData, SpikeMethod

OVERLAP = 0.2  # of the direction read off in standard units
BEST = 6.0  # about the best time at alpha = 1
ENDS = {1.0: (0.02, 400.0), 0.5: (0.02, 30.0)}  # of the time; later the edge at alpha = 1/2 is not resolved
TITLES = {alpha: rf"$\alpha = {alpha:g}$" for alpha in ENDS}
NEEDED = "strength for an overlap of 0.2"
RELATIVE = r"$\alpha = 1$: over $t = 6$"


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
    return {NEEDED: np.array([needed_at(alpha, float(time)) for time in times]) / needed_at(alpha, BEST)}


def measured(alpha: float, times: Sequence[float], d: int, rng: np.random.Generator) -> dict[str, Array]:
    """Find the strengths that one draw needs at all times, over that at the best: ratios of one draw vary little."""
    found = needed_strengths([flow(alpha, time) for time in (*times, BEST)], OVERLAP, d, rng, "standard_units")
    return {NEEDED: found[:-1] / found[-1]}


def others(alpha: float) -> dict[str, Curve]:
    """Declare the thresholds of the best ridge and of the kinds of PCA, and the bound, as lines."""

    def least(method: SpikeMethod, lam: float | None = None) -> float:
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
    title="By theory a spike is seen earliest if training stops in time",
    measure=measured,
    by_point=True,
    settings={TITLES[1.0]: 1.0},
    panels=[
        *(Panel(title=title, curves=lines(alpha), ylim=(0.15, 7)) for alpha, title in TITLES.items()),
        Panel(
            title=RELATIVE,
            curves={
                NEEDED: Curve(
                    number=NEEDED,
                    setting=TITLES[1.0],
                    theory=needed,
                    line=np.geomspace(0.4, 30, 11),
                    points=(0.5, 1.0, 2.5, 18.0),
                )
            },
            ylabel="strength / strength at $t = 6$",
            ylim=(0.8, 4),
        ),
    ],
    d=64,
    toy_d=64,  # of fewer coordinates some draws reach the overlap at no strength
    replicates=20,
    xlabel="time of training $t$",
    ylabel=r"strength of the spike $\theta$",
    xscale="log",
    yscale="log",
    caption="Masked regression sees the weakest directions if training stops in time: by theory the threshold of "
    "gradient flow has a minimum in t, below that of every ridge and of three kinds of PCA. Noise: variance 0.3 "
    "on 80 % of the coordinates, 4 on 20 %. (a, b) The minimum is 0.350 at alpha = 1, against 0.368 of the best "
    "ridge and correlation PCA, which coincide; at alpha = 1/2 0.497, against 0.988 and 0.521. (c) strength for "
    "the overlap 0.2 in standard units, over that at t = 6 in the same draw; markers are simulations at d = "
    "{sizes}, extrapolated in 1/d, with bars, which do not resolve the late rise.",
)
