"""With more levels there are more groups of close solutions, and they keep replica symmetry up to larger loads."""

from typing import Any

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import logsumexp

from figures.core import Axes, Context, DataFrame, Experiment, Panel, Row, row
from figures.core.names import write_name
from simulate.core import Estimate, Task, stream
from simulate.perceptron import extrapolate_sizes, pair_entropy_change
from theory.models import DiscretePerceptron, equally_spaced_levels
from theory.perceptron import CopyEntropy, copy_entropy, solution_entropy, zero_entropy_capacity

ALPHA, LEVELS, COPIES = 0.4, (2, 3, 5, 9), 10
PAIRS, GROUPS = f"pairs, $\\alpha = {ALPHA}$", f"groups of {COPIES}, $\\alpha = {ALPHA}$"
LOADS = f"largest load of groups of {COPIES}"
TOLERANCE = 1e-9
# Enumerated weights by the number of levels, and squared differences |W - W'|^2/N at which their pairs are counted.
COUNTED = {2: ((10, 20), (0.4, 0.8, 1.2)), 3: ((5, 10), (0.4, 0.8))}
INSTANCES = 7  # under one median
# Distances at which the largest load is computed, dense where it changes; the last are near those of typical pairs.
LOAD_DISTANCES = {
    2: (0.01, 0.025, 0.04, 0.055, 0.07, 0.085, 0.104),
    3: (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.075, 0.104),
    5: (0.01, 0.018, 0.028, 0.038, 0.048, 0.06, 0.076),
    9: (0.01, 0.013, 0.016, 0.02, 0.04),
}
SHARES = (0.75, 0.87, 0.97)  # of the capacity: loads through which a parabola is laid


def model_of(n_levels: int, alpha: float = ALPHA) -> DiscretePerceptron:
    return DiscretePerceptron(levels=equally_spaced_levels(n_levels), alpha=alpha)


def groups(n_levels: int, distance: float, copies: int, alpha: float = ALPHA) -> CopyEntropy:
    """Return a group of copies, stable or not."""
    return copy_entropy(model_of(n_levels, alpha), distance=distance, copies=copies, tol=TOLERANCE, check=False)


def predicted(n_levels: int, distance: float, copies: int) -> float:
    found = groups(n_levels, distance, copies)
    return found.entropy if found.converged and found.stable else float("nan")


def typical_distance(point: Any) -> float:
    return float((1 - point.overlap / point.norm) / 2)


def free_pairs(n_levels: int, squared: float) -> float:
    """Return the entropy per copy of pairs without patterns at |W - W'|^2/N = `squared`."""
    levels = np.array(equally_spaced_levels(n_levels))
    squares = np.subtract.outer(levels, levels) ** 2

    def bound(b: float) -> float:
        return float(logsumexp(-b * squares) + b * squared) / 2

    return float(minimize_scalar(bound, bounds=(-5, 50), method="bounded", options={"xatol": 1e-9}).fun)


def place(n_levels: int, squared: float) -> float:
    """Return the distance at which pairs of solutions have |W - W'|^2/N = `squared`."""
    last = typical_distance(solution_entropy(model_of(n_levels))) - 1e-6

    def gap(distance: float) -> float:
        return 4 * distance * groups(n_levels, distance, 2).norm - squared

    return float(brentq(gap, 0.005, last, xtol=1e-4))


def counted(n_levels: int, squared: float, d: int, replicate: int) -> float:
    """Return the measured entropy of pairs: what the patterns change, added to that of all weights in the limit."""
    rng = stream(0, "copies levels", n_levels, squared, d, replicate)
    change = pair_entropy_change(model_of(n_levels), d, rng, squared_difference=squared, instances=INSTANCES)
    return change + free_pairs(n_levels, squared)


def largest_load(n_levels: int, distance: float, capacity: float) -> float:
    """Return the load, over the capacity, up to which there are stable groups.

    It is the smaller one of the zeros of two parabolas, through the entropies and the replicons at three loads.
    """
    points = [groups(n_levels, distance, COPIES, share * capacity) for share in SHARES]
    if not all(one.converged for one in points):
        return float("nan")

    def root(values: list[float]) -> float:
        roots = np.roots(np.polyfit(SHARES, values, 2))
        return min((one.real for one in roots if abs(one.imag) < 1e-9 and SHARES[0] < one.real <= 1.0), default=1.0)

    return float(min(root([one.entropy for one in points]), root([one.replicon for one in points])))


def lines(n_levels: int, context: Context) -> list[Row]:
    """Return the theory of one alphabet in all panels."""
    name, end = f"{n_levels} levels", typical_distance(solution_entropy(model_of(n_levels))) - 1e-4
    distances = context.thin(np.append((0.004, 0.015), np.linspace(0.04, end, 7)), 3)
    rows = [
        row(name, x, panel=panel, theory=predicted(n_levels, float(x), copies))
        for panel, copies in ((PAIRS, 2), (GROUPS, COPIES)) for x in distances
    ]  # fmt: skip
    point = zero_entropy_capacity(equally_spaced_levels(n_levels))
    loads = context.thin(LOAD_DISTANCES[n_levels], 2)
    rows += [row(name, x, panel=LOADS, theory=largest_load(n_levels, float(x), point.alpha)) for x in loads]
    return rows


def compute(context: Context) -> list[Row]:
    declared = {3: ((5, 10), (0.4,))} if context.is_draft else COUNTED
    seeds = range(context.replicates(8))
    tasks = [
        Task(f"{n}/{squared}/{d}/{s}", counted, (n, squared, d, s))
        for n, (sizes, all_squared) in declared.items() for squared in all_squared for d in sizes for s in seeds
    ]  # fmt: skip
    values = context.sweep(tasks)
    rows = [one for n in context.thin(LEVELS, 2) for one in lines(int(n), context)]
    for n, (sizes, all_squared) in declared.items():
        for squared in all_squared:
            estimates = {d: Estimate.of([float(values[f"{n}/{squared}/{d}/{s}"]) for s in seeds]) for d in sizes}
            distance = place(n, squared)
            theory, curve = groups(n, distance, 2).entropy, f"{n} levels"
            rows += [
                row(curve, distance, panel=PAIRS, theory=theory, d=d, estimate=one, judged=False)
                for d, one in estimates.items()
            ]
            limit = extrapolate_sizes(estimates, order=1)
            rows.append(row(curve, distance, panel=PAIRS, theory=theory, d=np.inf, estimate=limit))
    return rows


def draw(axes: Axes, rows: DataFrame) -> None:
    """Name the curves at their right ends in the panels beside the first: below them, or above them at the top."""
    if axes.get_title() == PAIRS:
        return
    shown = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    for name, handle in shown.items():
        end = rows[(rows["curve"] == name) & rows["size"].isna()].dropna(subset="theory").sort_values("x").iloc[-1]
        below = axes.get_title() == GROUPS or name == "3 levels"
        look = {"across": "right", "along": "top" if below else "bottom", "color": handle.get_color()}
        write_name(axes, name, (end["x"], end["theory"]), (0.0, -8.0 if below else 3.0), **look)
    axes.legend().remove()


EXPERIMENT = Experiment(
    title="More levels, more groups of close solutions",
    compute=compute,
    panels=[
        Panel(title=PAIRS, xlabel="distance $(1 - q_1/Q)/2$", ylabel="$S_2$ (nats per weight and copy)"),
        Panel(title=GROUPS, xlabel="distance $(1 - q_1/Q)/2$", ylabel="$S_{10}$ (nats per weight and copy)"),
        Panel(title=LOADS, xlabel="distance $(1 - q_1/Q)/2$", ylabel=r"$\alpha$ over the capacity", ylim=(0.74, 1.02)),
    ],
    ordered=True,
    draw=draw,
    caption="With more levels there are more groups of close solutions at each distance, and except at the smallest "
    "distances they are stable nearer to the capacity. (a, b) Lines are the entropy per copy of pairs and of "
    "groups of ten. Markers are pairs counted among all solutions of N = 10 and 20 weights (5 and 10 with three "
    "levels), extrapolated in 1/N. (c) The load up to which groups of ten are locally stable, over the capacity "
    "(to 0.005, from parabolas through three loads); lines of 5 and 9 levels end where it is 1. Groups exist "
    "nearly up to it, but few levels lose replica symmetry earlier. Distances: mean squared differences over "
    "four mean squared weights.",
    papers={
        "arXiv:1602.04129": "The abstract asks whether dense regions of solutions exist for few bits; the published "
        "figures were not readable.",
    },
)
