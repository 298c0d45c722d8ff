"""The norm of the likelihood ratio explodes beyond a number of samples per dimension: the statistical scale."""

import math

import numpy as np
from numpy.typing import NDArray

from figures.core import Axes, Context, Curve, DataFrame, Experiment, Panel, Row, row
from simulate.core import Estimate, Task, stream
from simulate.cumulants import enumerated_norm
from theory.cumulants import likelihood_ratio_norm, likelihood_ratio_rate, likelihood_ratio_threshold
from theory.models import SpikedCumulant
from theory.models.cumulants import Prior

BETA, SMALL_BETA = 5.0, 2.0
TITLES: dict[Prior, str] = {"signs": "spikes of signs", "sphere": "spikes on the sphere"}
LARGEST: dict[Prior, float] = {"signs": 4.0, "sphere": 9.0}  # n/d
DIMENSIONS = (20, 80, 400)
KINK = r"$\gamma_{LR}$"
ENUMERATED, SMALL, COUNTS = "signs, all spikes enumerated", (4, 6), (1, 2, 4, 7, 12)


def measured(d: int, n: int, repeats: int, replicate: int) -> NDArray[np.float64]:
    """Measure ||L||^2 - 1 on `repeats` data sets of H1, and its standard error."""
    rng = stream(0, "likelihood ratio norm", d, n, replicate)
    found = enumerated_norm(SpikedCumulant(d, SMALL_BETA), n, repeats, rng)
    return np.array([found.mean - 1, found.stderr])


def pooled(runs: NDArray[np.float64], repeats: int) -> Estimate:
    """Average all data sets of runs (R, 2): their own scatter gives a better error than that of a few run means."""
    return Estimate(float(runs[:, 0].mean()), float(np.linalg.norm(runs[:, 1])) / len(runs), len(runs) * repeats)


def exact_lines(context: Context, prior: Prior) -> list[Row]:
    rows, grid = [], context.thin(np.linspace(0.02, 1, 50) * LARGEST[prior], 6)
    for d in DIMENSIONS:
        sizes = sorted({max(1, round(gamma * d)) for gamma in grid})
        for n in sizes:
            norm = likelihood_ratio_norm(SpikedCumulant(d, BETA, prior), n)
            rows.append(row(f"$d = {d}$", n / d, panel=TITLES[prior], theory=norm.log_norm / d))
    limit = SpikedCumulant(math.inf, BETA, prior)
    kink = likelihood_ratio_threshold(limit).gamma
    for gamma in sorted([*grid, kink]):
        rate = likelihood_ratio_rate(limit, gamma).rate
        rows.append(row(r"$d \to \infty$", gamma, panel=TITLES[prior], theory=rate))
    rows.append(row(KINK, kink, panel=TITLES[prior], theory=0.0, d=math.inf))
    return rows


def compute(context: Context) -> list[Row]:
    parts, repeats = range(context.replicates(10)), 300 if context.is_draft else 10_000
    counts = [int(n) for n in context.thin(COUNTS, 2)]
    tasks = [Task(f"{d}/{n}/{r}", measured, (d, n, repeats, r)) for d in SMALL for n in counts for r in parts]
    found = context.sweep(tasks)
    rows = [line for prior in TITLES for line in exact_lines(context, prior)]
    for d in SMALL:
        exact = {n: likelihood_ratio_norm(SpikedCumulant(d, SMALL_BETA), n).excess for n in range(1, COUNTS[-1] + 1)}
        rows += [row(f"$d = {d}$", n, panel=ENUMERATED, theory=excess) for n, excess in exact.items()]
        for n in counts:
            estimate = pooled(np.array([found[f"{d}/{n}/{r}"] for r in parts]), repeats)
            judged = not context.is_draft
            rows.append(row(f"$d = {d}$", n, panel=ENUMERATED, theory=exact[n], d=d, estimate=estimate, judged=judged))
    return rows


def draw(axes: Axes, rows: DataFrame) -> None:
    """Write the number at the marked kink."""
    for kink in rows.loc[rows["curve"] == KINK, "x"]:
        axes.annotate(f"{kink:.3f}", (kink, 0.0), (-4, 13), textcoords="offset points", ha="right", fontsize=7)


EXPERIMENT = Experiment(
    title="Below a threshold of $n/d$ no test detects a spike in higher cumulants for certain",
    compute=compute,
    panels=[
        *(
            Panel(
                title=title,
                curves={KINK: Curve(color="C1", marker="v")},
                xlabel="samples per dimension, $n/d$",
                ylabel=r"$\log\,\|L\|^2/d$",
                ordered=True,
            )
            for title in TITLES.values()
        ),
        Panel(
            title=ENUMERATED,
            curves={f"$d = {d}$": Curve(color=color) for d, color in zip(SMALL, (2, 3), strict=True)},
            xlabel="samples $n$",
            ylabel=r"$\|L\|^2 - 1$",
            xscale="log",
            yscale="log",
        ),
    ],
    draw=draw,
    unjudged="a draft has too few data sets for a mean of so skewed a law",
    caption="Below gamma_LR the logarithm of the norm of the likelihood ratio, over d, tends to zero; by theory the "
    "norm is bounded, and no test that tells the hidden direction has both errors tending to zero. L is the "
    "likelihood ratio of n samples that are not Gaussian along one hidden direction (H1) to Gaussian ones (H0). (a, "
    "b) Theory only, exact at each d (beta = 5), and the limit of large d, whose kink is marked. Above it the norm "
    "diverges exponentially, which alone does not prove that any test succeeds. (c) Very small dimensions, beta = 2: "
    "markers are the mean under H1 of the likelihood ratio, a sum over all 2^d spikes, over 100000 data sets.",
    papers={
        "arXiv:2312.14922, Fig. 7": "The norm is that of theorem 2 and grows beyond bounds at n of order d, below "
        "which detection is impossible. The spike strengths 5 and 2 are our own.",
    },
)
