"""How long a stack with small weights stays on its first plateau: a power of their size, a logarithm for one layer."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from figures.core import Curve, Experiment, Panel, numbered, thinned
from figures.nets.four_body import C, L, four_body_model, population, start
from simulate.nets import gradient_flow
from theory.nets import escape_time, plateau_rate

STARTS = 8
GAIN = 0.01  # nats per site below ln C, at which a stack counts as escaped
SCALES = {1: (1e-4, 1e-3, 1e-2, 0.1), 2: (0.1, 0.15, 0.2, 0.3, 0.45), 3: (0.4, 0.45, 0.5, 0.55, 0.6)}
DEEP, RATIO, ONE = "two and three layers", "over the law", "one layer"
NAMES = {"$N = 1$": 1, "$N = 2$": 2, "$N = 3$": 3}


def times(n_layers: int, scales: list[float], _d: int, replicate: int) -> dict[str, NDArray[np.float64]]:
    """Return when gradient flow from one start has gained `GAIN`, in units of that start, at each of its scales.

    For one layer it is counted from the time that the start alone would need, which differs from one to another.
    """
    flows = [gradient_flow(start(n_layers, s, replicate), population(), stop_loss=np.log(C) - GAIN) for s in scales]
    found = np.array([flow.time if flow.converged else np.nan for flow in flows])
    if n_layers == 1:
        rate = plateau_rate(four_body_model())
        return {ONE: rate.rate * (found - rate.escape_time(start(1, 1.0, replicate), GAIN))}
    in_units = found / escape_time(four_body_model(), start(n_layers, 1.0, replicate)).blow_up_time
    return {DEEP: in_units, RATIO: in_units / laws(n_layers, scales)[DEEP]}


def laws(n_layers: int, scales: Sequence[float]) -> dict[str, NDArray[np.float64]]:
    s = np.asarray(scales)
    return {ONE: -np.log(s), DEEP: s ** (4.0 - 2 ** (n_layers + 1)), RATIO: np.ones(len(s))}


def curves(number: str, *layers: int) -> dict[str, Curve]:
    """Return the curves of these numbers of layers, with lines through all of their scales or only between the ends."""
    each = 4 if number == RATIO else 1
    return {
        name: Curve(number=number, setting=name, line=SCALES[n][::each], points=SCALES[n])
        for name, n in NAMES.items()
        if n in layers
    }


EXPERIMENT = Experiment(
    title="The time to leave the first plateau follows its law",
    measure=times,
    by_point=True,
    theory=laws,
    settings=NAMES,
    streams=numbered,
    panels=(
        Panel(title=DEEP, curves=curves(DEEP, 2, 3), ylabel="time over that of the start, $t/T_1$", yscale="log"),
        Panel(title=RATIO, curves=curves(RATIO, 2, 3), ylabel=r"$t\,\varepsilon^{D-2}/T_1$", ylim=(0.8, 1.35)),
        Panel(title=ONE, curves=curves(ONE, 1), ylabel=r"$\sigma_1 (t - t_1)$"),
    ),
    d=L,
    extrapolate=False,
    replicates=STARTS,
    draft=thinned,
    xlabel=r"scale $\varepsilon$ of the initial weights",
    xscale="log",
    unjudged="the laws are those of small weights",
    caption="The time to leave the first plateau follows its law within 0.1 % at the smallest starts. Markers are the "
    "time, rate times steps, until the masked loss of N layers has fallen 0.01 nats per site below ln C, "
    "means over 8 starts. (a, b) Lines are the law T_1 eps^-(D-2), where T_1 is the time at which the leading "
    "flow from each start blows up, and D = 2^(N+1) - 2 a degree in the weights. (c) For one layer the line "
    "is ln(1/eps)/sigma_1, counted from the time t_1 that the growing part of the start alone would need, "
    "from which the true time differs by a constant. The laws, for small eps, are not judged.",
)
