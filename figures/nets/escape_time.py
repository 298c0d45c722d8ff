"""How long a stack with small weights stays on its first plateau: a power of their size, a logarithm for one layer."""

import numpy as np
from numpy.typing import NDArray

from figures.core import Context, Experiment, Panel, Row, row
from figures.nets.four_body import C, L, four_body_model, population, start
from simulate.core import Estimate, Task
from simulate.nets import gradient_flow
from theory.nets import escape_time, plateau_rate

STARTS = 8
GAIN = 0.01  # nats a site below ln C, at which a stack counts as escaped
SCALES = {1: (1e-4, 1e-3, 1e-2, 0.1), 2: (0.1, 0.15, 0.2, 0.3, 0.45), 3: (0.4, 0.45, 0.5, 0.55, 0.6)}
DEEP, RATIO, ONE = "two and three layers", "over the law", "one layer"
NAMES = {1: "$N = 1$", 2: "$N = 2$", 3: "$N = 3$"}


def times(n_layers: int, scales: list[float], replicate: int) -> NDArray[np.float64]:
    """The time at which gradient flow from one start has gained `GAIN`, at each scale of that start."""
    flows = [gradient_flow(start(n_layers, s, replicate), population(), stop_loss=np.log(C) - GAIN) for s in scales]
    return np.array([flow.time if flow.converged else np.nan for flow in flows])


def compute(context: Context) -> list[Row]:
    layers = (1, 2) if context.is_draft else (1, 2, 3)
    scales = {n: context.thin(SCALES[n], 2) for n in layers}
    seeds = range(context.replicates(STARTS))
    tasks = [Task(f"{n}/{seed}", times, (n, scales[n], seed)) for n in reversed(layers) for seed in seeds]
    found = context.sweep(tasks)
    model, rows = four_body_model(), []
    for n in layers:
        measured = np.array([found[f"{n}/{seed}"] for seed in seeds])
        if n == 1:
            rate = plateau_rate(model)
            law = np.array([[rate.escape_time(start(1, 1.0, seed), GAIN)] for seed in seeds])
            grown = rate.rate * (
                measured - law
            )  # without the logarithm of the start, which differs from one to another
            for k, s in enumerate(scales[1]):
                rows.append(row(NAMES[1], s, panel=ONE, theory=-np.log(s)))
                estimate = Estimate.of(grown[:, k])
                rows.append(row(NAMES[1], s, panel=ONE, d=L, theory=-np.log(s), estimate=estimate, judged=False))
            continue
        laws = [escape_time(model, start(n, 1.0, seed)) for seed in seeds]
        in_units = measured / np.array([[law.blow_up_time] for law in laws])
        for k, s in enumerate(scales[n]):
            power = s ** -laws[0].exponent
            rows.append(row(NAMES[n], s, panel=DEEP, theory=power))
            for panel, unit in ((DEEP, 1.0), (RATIO, power)):
                estimate = Estimate.of(in_units[:, k] / unit)
                rows.append(row(NAMES[n], s, panel=panel, d=L, theory=power / unit, estimate=estimate, judged=False))
        rows += [row(NAMES[n], s, panel=RATIO, theory=1.0) for s in (scales[n][0], scales[n][-1])]
    return rows


EXPERIMENT = Experiment(
    title="Time to leave the first plateau under gradient flow, $L = 5$, $C = 3$, exact population",
    compute=compute,
    panels=(
        Panel(title=DEEP, curves={}, ylabel="time over that of the start, $t/T_1$", yscale="log"),
        Panel(title=RATIO, curves={}, ylabel=r"$t\,\varepsilon^{D-2}/T_1$", ylim=(0.8, 1.8)),
        Panel(title=ONE, curves={}, ylabel=r"$\sigma_1 (t - t_1)$"),
    ),
    xlabel=r"scale $\varepsilon$ of the initial weights",
    xscale="log",
    unjudged="the laws are those of small weights",
    caption=f"Markers are the time, rate times steps, until the masked loss has fallen {GAIN} nats a site below ln C; "
    f"they are means over {STARTS} random starts, with error bars. For two and three layers lines are the law T_1 "
    "eps^-(D-2), where T_1 is the time at which the leading flow from each start blows up, and D - 2 = 4 and 12. For "
    "one layer the line is ln(1/eps)/sigma_1, counted from the time t_1 that the growing part of the start alone would "
    "need, from which the true time differs by a constant. The laws hold for small eps, and are not judged.",
)
