"""The power of a test that looks at the norms of the samples only, predicted without a free number."""

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.core import Context, Experiment, Panel, Row, judged_together, row
from simulate.core import Estimate, Task, stream
from simulate.cumulants import NormStatistics, norm_statistics
from theory.cumulants import NormTest, norm_test
from theory.models import SpikedCumulant

BETA, LEVEL, QUANTILE = 10.0, 0.05, 1.6448536269514722  # the Gaussian quantile of 1 - LEVEL
KAPPAS = (0.25, 1, 4, 9, 16, 25)
REPEATS = {10: 600, 20: 150}  # data sets of each hypothesis in one task, by dimension
LARGEST_SKEWNESS = 0.2  # up to which powers and false alarms are judged
MEAN, POWER, ALARMS = "mean under $H_1$ over deviation under $H_0$", "power", "false alarms"


def predicted(d: int, kappa: float) -> NormTest:
    return norm_test(SpikedCumulant(d, BETA, "sphere"), round(kappa * d**2))


def values(d: int, kappa: float, repeats: int, replicate: int) -> NDArray[np.float64]:
    """Return the statistic T4 of data sets under H0 and H1, (2, repeats)."""
    rng = stream(0, "cumulant norm test", d, kappa, replicate)
    found = norm_statistics(SpikedCumulant(d, BETA, "sphere"), round(kappa * d**2), repeats, rng)
    return np.array([found.null, found.spiked])


PANELS: dict[str, tuple[Callable[[NormTest], float], Callable[[NormStatistics, float], Estimate]]] = {
    MEAN: (lambda test: test.mean / test.deviation, lambda found, _limit: found.standardized_mean()),
    POWER: (lambda test: test.corrected_power(LEVEL), lambda found, limit: found.power(limit)),
    ALARMS: (lambda test: test.corrected_level(LEVEL), lambda found, limit: found.level(limit)),
}


def compute(context: Context) -> list[Row]:
    kappas, parts = context.thin(KAPPAS, 2), range(context.replicates(4))
    repeats = {d: 20 if context.is_draft else count for d, count in REPEATS.items()}
    tasks = [
        Task(f"{d}/{kappa}/{part}", values, (d, kappa, repeats[d], part))
        for d in REPEATS
        for kappa in kappas
        for part in parts
    ]
    found, rows = context.sweep(tasks), []
    sets = {key: data_sets(found, *key, parts) for key in product(REPEATS, kappas)}
    together: dict[tuple[int, float], list[Row]] = {key: [] for key in sets}
    line = context.thin(np.geomspace(kappas[0], kappas[-1], 40), 5)
    for panel, (theory, measure) in PANELS.items():
        for d in REPEATS:
            label = f"$d = {d}$"
            rows += [row(label, kappa, panel=panel, theory=theory(predicted(d, kappa))) for kappa in line]
            for kappa in kappas:
                test = predicted(d, kappa)
                estimate = measure(NormStatistics(test.n, *sets[d, kappa]), -QUANTILE * test.deviation)
                judged = not context.is_draft and (panel == MEAN or test.skewness < LARGEST_SKEWNESS)
                made = row(label, kappa, panel=panel, theory=theory(test), d=d, estimate=estimate, judged=judged)
                together[d, kappa].append(made)
                rows.append(made)
        if panel != MEAN:  # with d so large that T4 is Gaussian
            limit = {kappa: LEVEL if panel == ALARMS else predicted(10**6, kappa).power(LEVEL) for kappa in line}
            rows += [row(r"$d \to \infty$", kappa, panel=panel, theory=share) for kappa, share in limit.items()]
    for (d, kappa), members in together.items():
        null, spiked = sets[d, kappa]
        each = by_data_set(null, spiked, -QUANTILE * predicted(d, kappa).deviation)
        rows += judged_together(f"d = {d}, kappa = {kappa}", members, each)[len(members) :]
    return rows


def data_sets(found: Mapping[str, Any], d: int, kappa: float, parts: range) -> NDArray[np.float64]:
    """Return the statistic T4 of all data sets, without a spike and with one, (2, data sets)."""
    return np.concatenate([np.asarray(found[f"{d}/{kappa}/{part}"]) for part in parts], axis=1)


def by_data_set(null: NDArray[np.float64], spiked: NDArray[np.float64], limit: float) -> NDArray[np.float64]:
    """Return what each data set adds to the measured numbers of the three panels, to first order, (data sets, 3)."""
    deviation = null.std(ddof=1)
    ratio = spiked.mean() / deviation
    mean = spiked / deviation - ratio / 2 * (((null - null.mean()) / deviation) ** 2 - 1)
    return np.column_stack([mean, spiked < limit, null < limit])


EXPERIMENT = Experiment(
    title="A test by the norms of the samples sees a hidden direction from order $d^2$ on",
    compute=compute,
    panels=[
        Panel(title=MEAN, ylabel="mean/deviation"),
        Panel(title=POWER, ylabel="share of data sets rejected", ylim=(0, 1)),
        Panel(title=ALARMS, ylabel="share of data sets rejected", ylim=(0, 0.1)),
    ],
    xlabel=r"samples over $d^2$, $\kappa = n/d^2$",
    xscale="log",
    unjudged="where the statistic is skewed the predicted shares are rough",
    caption="A test that takes n d operations notices a direction that is not Gaussian from n of order d^2 "
    "samples on. The statistic T4 sums a polynomial of degree 2 in the squared norm of each sample; Gaussian data "
    "(H0) are rejected where it lies below -1.645 of its exact deviations. Markers are 2400 (d = 10) and 600 (d = "
    "20) data sets of each hypothesis. (a) Its mean; the lines are exact for every d. (b, c) Power and false "
    "alarms; the lines have the first correction for the skewness, the dotted one is the Gaussian limit. At small "
    "kappa false alarms and powers are smaller than in the limit; shares are judged where the skewness is small.",
)
