"""A few bits for each weight are nearly as good as real weights; how many solutions there are, and how far apart."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.core import Axes, Context, Curve, DataFrame, Experiment, Panel, Row, judged_together, row
from figures.core.names import write_name
from simulate.core import Estimate, Task, stream
from simulate.perceptron import entropy_profile, extrapolate_sizes, pair_entropies, zero_entropy_capacity
from theory.models import DiscretePerceptron, equally_spaced_levels
from theory.perceptron import (
    copy_entropy,
    entropy_curve,
    first_moment_bound,
    gardner_capacity,
    solution_entropy,
)
from theory.perceptron import zero_entropy_capacity as capacity

CAPACITY, ENTROPY, COPIES = "capacity", "entropy of solutions", r"groups of solutions, $\alpha = 0.4$"
LEVELS = (2, 3, 4, 5, 6, 7, 9, 11, 13, 17, 25, 33, 65)
ALPHA, COPY_NUMBERS = 0.4, (1, 2, 5)
ALPHABETS = {"$\\pm 1$": (-1.0, 1.0), "$-1, 0, 1$": (-1.0, 0.0, 1.0), "$0, 1$": (0.0, 1.0)}
FIRST, REAL = "_$\\log_2 L$", "_real weights"  # named beside their lines
SPACED, MEASURED = "equally spaced in $[-1, 1]$", 45  # instances under one median


@dataclass(frozen=True)
class Sizes:
    """Says at which sizes something is enumerated, and how many instances one replicate has at each of them."""

    sizes: tuple[int, ...]
    instances: tuple[int, ...]
    order: int  # of the polynomial in 1/N that is extrapolated


CAPACITIES = {
    2: Sizes((8, 12, 16, 20), (800, 400, 200, 80), 2),
    3: Sizes((5, 7, 9, 12), (800, 400, 200, 80), 2),
    4: Sizes((4, 6, 8, 10), (800, 400, 200, 80), 2),
}
ENTROPIES = {
    "$\\pm 1$": ((0.25, 0.5, 0.75), Sizes((12, 16, 20), (900, 450, 270), 1)),
    "$-1, 0, 1$": ((0.5, 1.0), Sizes((6, 8, 10, 12), (1800, 900, 450, 135), 2)),
    "$0, 1$": ((0.25, 0.5), Sizes((8, 12, 16, 20), (1800, 900, 450, 180), 2)),
}
PAIRS = Sizes((10, 20), (450, 45), 1)


def stored(n_levels: int, d: int, instances: int, replicate: int) -> float:
    """Return the mean number of patterns per weight that are stored, over some instances."""
    rng = stream(0, "few bits", CAPACITY, n_levels, d, replicate)
    levels = equally_spaced_levels(n_levels)
    return zero_entropy_capacity(levels, d, rng, instances=instances)


def entropies(name: str, d: int, instances: int, replicate: int) -> NDArray[np.float64]:
    """Return the entropy at every load of one set of levels: medians over groups of instances, averaged."""
    alphas, _ = ENTROPIES[name]
    rng, counts = stream(0, "few bits", ENTROPY, name, d, replicate), [round(alpha * d) for alpha in alphas]
    groups = range(max(1, instances // MEASURED))
    found = [entropy_profile(ALPHABETS[name], counts, d, rng, instances=MEASURED) for _ in groups]
    return np.asarray(np.mean(found, axis=0))


def pairs(d: int, instances: int, replicate: int) -> NDArray[np.float64]:
    """Return the entropy of pairs of solutions that differ in a tenth to four tenths of the weights."""
    rng, model = stream(0, "few bits", COPIES, d, replicate), DiscretePerceptron(levels=(-1, 1), alpha=ALPHA)
    groups = range(max(1, instances // MEASURED))
    each = min(MEASURED, instances)
    found = np.mean([pair_entropies(model, d, rng, instances=each) for _ in groups], axis=0)
    return np.asarray(found[[d * tenth // 10 for tenth in (1, 2, 3)]])


class Measured:
    """Holds the replicates of everything that is enumerated, as tasks and then as estimates."""

    def __init__(self, context: Context) -> None:
        self.context, self.seeds = context, range(context.replicates(11))

    def plan(self, sizes: Sizes) -> Sizes:
        """Return the declaration itself; in a draft the smallest sizes, with few instances."""
        if not self.context.is_draft:
            return sizes
        n = sizes.order + 1
        return Sizes(sizes.sizes[:n], tuple(min(4 * MEASURED, each // 5) for each in sizes.instances[:n]), sizes.order)

    def tasks(self) -> list[Task]:
        found: list[tuple[str, Callable[..., Any], tuple[Any, ...], Sizes]]
        found = [(f"{CAPACITY}/{n}", stored, (n,), sizes) for n, sizes in CAPACITIES.items()]
        found += [(f"{ENTROPY}/{name}", entropies, (name,), sizes) for name, (_, sizes) in ENTROPIES.items()]
        found += [(COPIES, pairs, (), PAIRS)]
        tasks = []
        for key, function, arguments, declared in found:
            sizes = self.plan(declared)
            for d, instances in zip(sizes.sizes, sizes.instances, strict=True):
                tasks += [Task(f"{key}/{d}/{s}", function, (*arguments, d, instances, s)) for s in self.seeds]
        return tasks

    def rows(
        self,
        values: Mapping[str, Any],
        key: str,
        declared: Sizes,
        curve: str,
        panel: str,
        points: Sequence[tuple[float, float]],
    ) -> list[Row]:
        """Return rows at every size and extrapolated ones; `points` lists (x, theory) of each entry of a replicate."""
        sizes, rows = self.plan(declared), []
        measured = {d: np.array([np.atleast_1d(values[f"{key}/{d}/{s}"]) for s in self.seeds]) for d in sizes.sizes}
        limits, at_limit = [], []
        for k, (x, theory) in enumerate(points):
            estimates = {d: Estimate.of(found[:, k]) for d, found in measured.items()}
            rows += [
                row(curve, x, panel=panel, theory=theory, d=d, estimate=one, judged=False)
                for d, one in estimates.items()
            ]
            limit = extrapolate_sizes(estimates, order=sizes.order)
            at_limit.append(row(curve, x, panel=panel, theory=theory, d=np.inf, estimate=limit))
            # The extrapolation is linear in the means: each replicate has a limit of its own, with the same weights.
            limits.append(
                [
                    extrapolate_sizes({d: replace(one, mean=measured[d][s, k]) for d, one in estimates.items()},
                                      order=sizes.order).mean
                    for s in range(len(self.seeds))
                ]
            )  # fmt: skip
        return rows + (judged_together(key, at_limit, np.transpose(limits)) if len(points) > 1 else at_limit)


def compute(context: Context) -> list[Row]:
    measured = Measured(context)
    values = context.sweep(measured.tasks())
    rows = []
    for n in context.thin(LEVELS, 4):
        levels = equally_spaced_levels(int(n))
        rows.append(row(SPACED, n, panel=CAPACITY, theory=capacity(levels).alpha))
        if n <= 5:
            rows.append(row(FIRST, n, panel=CAPACITY, theory=first_moment_bound(levels)))
        rows.append(row(REAL, n, panel=CAPACITY, theory=gardner_capacity()))
    for n, sizes in CAPACITIES.items():
        predicted = capacity(equally_spaced_levels(n)).alpha
        rows += measured.rows(values, f"{CAPACITY}/{n}", sizes, SPACED, CAPACITY, [(n, predicted)])
    for name, (alphas, sizes) in ENTROPIES.items():
        levels = ALPHABETS[name]
        grid = context.thin(np.linspace(0.01, 1, 28) * capacity(levels).alpha, 8)
        curve = entropy_curve(levels, grid)
        rows += [row(name, x, panel=ENTROPY, theory=s) for x, s in zip(grid, curve.entropies, strict=True)]
        points = [(a, solution_entropy(DiscretePerceptron(levels=levels, alpha=a)).entropy) for a in alphas]
        rows += measured.rows(values, f"{ENTROPY}/{name}", sizes, name, ENTROPY, points)
    model = DiscretePerceptron(levels=(-1, 1), alpha=ALPHA)
    typical = solution_entropy(model).overlap
    for y in COPY_NUMBERS:
        for distance in context.thin(np.linspace(0.004, (1 - typical) / 2 - 1e-6, 20), 3):
            theory = copy_entropy(model, 1 - 2 * distance, y).entropy
            rows.append(row(f"$y = {y}$", distance, panel=COPIES, theory=theory))
    points = [(x, copy_entropy(model, 1 - 2 * x, 2).entropy) for x in (0.1, 0.2, 0.3)]
    return rows + measured.rows(values, COPIES, PAIRS, "$y = 2$", COPIES, points)


def draw(axes: Axes, rows: DataFrame) -> None:
    """Write the names of the bounds of the capacity beside their lines."""
    if axes.get_title() == CAPACITY:
        write_name(axes, FIRST[1:], (3.3, np.log2(3.3)))
        limit = rows[rows["curve"] == REAL].iloc[-1]
        write_name(axes, REAL[1:], (limit["x"], limit["theory"]), (0.0, 1.5), across="right", along="bottom")


EXPERIMENT = Experiment(
    title="Weights of a few bits store by theory nearly as much as real weights",
    compute=compute,
    panels=[
        Panel(
            title=CAPACITY,
            curves={
                SPACED: Curve(color=0, marker="o"),
                FIRST: Curve(color=6, style="--"),
                REAL: Curve(color=6, style=":"),
            },
            xlabel="number of levels $L$",
            ylabel=r"patterns per weight, $\alpha_0$",
            xscale="log",
            ylim=(0.6, 2.2),
        ),
        Panel(
            title=ENTROPY,
            curves={
                name: Curve(color=1 + k, marker=marker)
                for k, (name, marker) in enumerate(zip(ALPHABETS, "sD^", strict=True))
            },
            xlabel=r"patterns per weight, $\alpha = P/N$",
            ylabel=r"$\mathbb{E}\,\log Z/N$ (nats per weight)",
        ),
        Panel(
            title=COPIES,
            curves={f"$y = {y}$": Curve(color=k, marker="v") for k, y in enumerate(COPY_NUMBERS)},
            ordered=True,
            xlabel="fraction of weights that differ, $(1 - q_1)/2$",
            ylabel="$S_y$ (nats per weight and copy)",
        ),
    ],
    draw=draw,
    caption="Weights of four or five bits store by theory nine tenths of what real weights store (dotted: 2 patterns "
    "per weight). (a) The solid line is the load at which the entropy of solutions vanishes, the dashed one the "
    "first-moment bound; markers are the mean load up to which enumeration of all weight vectors (N = 4 to 20) finds "
    "a solution, extrapolated in 1/N. (b) Lines are the entropy of solutions, markers means of medians of log Z/N "
    "over 45 instances, extrapolated. (c) Lines are the entropy per copy of groups of y binary solutions at a "
    "distance; markers are pairs at N = 10 and 20, extrapolated: groups of close solutions are many, and rarer than "
    "distant ones.",
    papers={
        "arXiv:1602.04129": "A few levels come near the capacity of real weights, as the title says, and the "
        "capacities of two and three levels and of {0, 1} are the known ones. The published figures were not readable.",
    },
)
