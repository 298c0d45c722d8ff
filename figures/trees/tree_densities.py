"""Depths and shapes of the trees of numbers come to their exact densities, up to N and at random places."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from figures.core import Axes, Context, DataFrame, Experiment, Panel, Row, row
from figures.core.ratios import MARKERS
from figures.trees.all_numbers import counts_up_to, sizes
from simulate.core import Estimate, Replicate, Task, stream
from simulate.trees import (
    WordCounts,
    ngram_counts,
    read_text,
    window_depth_share,
    window_excess_edges,
    window_pattern_share,
)
from theory import trees
from theory.models import NumberText

UP_TO, PLACES = "all numbers up to $N$", "random places below $10^{12}$"
LENGTHS, WINDOWS = (1_000, 8_000, 64_000), 16
LINEAR = 1e-4  # relative differences that are drawn on a linear scale
IN_MEMORY = 10**7  # numbers whose pairs are counted
PAIRS = "$n$ and $n + 1$ squarefree"


@dataclass(frozen=True)
class Quantity:
    """Describes one mean over numbers: its exact limit, and how it is counted up to N and in a window."""

    limit: float
    counted: Callable[[WordCounts], float]
    window: Replicate
    model: int | str | None


def depth(k: int) -> Quantity:
    limit = trees.depth_density(k).density
    return Quantity(limit, lambda counts: counts.depth_share(k), window_depth_share, k)


def pattern(word: str) -> Quantity:
    limit = trees.pattern_density(word).density
    return Quantity(limit, lambda counts: counts.pattern_share(word), window_pattern_share, word)


def quantities() -> dict[str, Quantity]:
    edges = trees.mean_excess_edges().mean
    return {
        "depth 1 (squarefree)": depth(1),
        "depth 1 or 2": depth(2),
        "pattern (())(())": pattern("(())(())"),
        "edges minus primes": Quantity(
            edges,
            lambda counts: (counts.n_edges - counts.n_children) / counts.numbers.n_words,
            window_excess_edges,
            None,
        ),
    }


def squarefree_pairs(n_numbers: int) -> float:
    pairs = ngram_counts(read_text(NumberText(n_numbers)), 2)
    both = sum(int(k) for k, words in zip(pairs.counts, pairs.words, strict=True) if "((" not in "".join(words))
    return both / n_numbers


def window(name: str, length: int, replicate: int) -> float:
    own = quantities()[name]
    return float(own.window(own.model, length, stream(0, "tree densities", name, length, replicate)))


def compute(context: Context) -> list[Row]:
    rows = []
    for name, own in quantities().items():
        for n in sizes(context):
            share = own.counted(counts_up_to(n))
            rows.append(row(name, n, panel=UP_TO, d=n, theory=own.limit, measured=share))
    limit = trees.squarefree_run_density(2).density
    for n in sizes(context):
        if n <= IN_MEMORY:
            share = squarefree_pairs(n)
            rows.append(row(PAIRS, n, panel=UP_TO, d=n, theory=limit, measured=share))

    number, lengths = range(context.replicates(WINDOWS)), context.thin(LENGTHS, 2)
    # Each quantity has windows a quarter longer than those of the one before, so that bars stand beside each other.
    plan = [(name, round(d * 1.25**k)) for k, name in enumerate(quantities()) for d in lengths]
    found = context.sweep(Task(f"{name}/{d}/{r}", window, (name, d, r)) for name, d in plan for r in number)
    for name, d in plan:
        limit = quantities()[name].limit
        relative = Estimate.of(np.array([found[f"{name}/{d}/{r}"] for r in number]) / limit - 1)
        rows.append(row(name, d, panel=PLACES, d=d, theory=0.0, estimate=relative))
    return rows


def draw(axes: Axes, rows: DataFrame) -> None:
    """Draw the absolute distances from the limit instead of the shares themselves, or a line where they are none."""
    if axes.get_title() != UP_TO:
        axes.axhline(0.0, color="0.6", linewidth=0.8, zorder=0)
        axes.set_yscale("symlog", linthresh=LINEAR)  # one bar is a thousand times as long as another
        axes.set_yticks([sign * 10.0**power for sign in (-1, 1) for power in (-4, -3, -2)] + [0.0])
        axes.set_ylim(-0.08, 0.08)
        return
    labels = {"title": UP_TO, "xlabel": axes.get_xlabel(), "ylabel": axes.get_ylabel()}
    axes.clear()
    for k, (name, own) in enumerate(rows.groupby("curve", sort=False)):
        gaps = (own["simulation"] - own["theory"]).abs()
        look: dict[str, Any] = {"color": f"C{k}", "marker": MARKERS[k], "linestyle": ":", "linewidth": 0.7}
        axes.plot(own["x"], gaps, markerfacecolor="white", **look, label=name)
    axes.set(**labels, xscale="log", yscale="log", ylim=(1e-8, 0.3))
    axes.legend()


EXPERIMENT = Experiment(
    title="Shares of trees agree with their exact limits",
    compute=compute,
    panels=(
        Panel(title=UP_TO, xlabel="$N$", ylabel="|measured $-$ exact|", xscale="log", yscale="log"),
        Panel(title=PLACES, xlabel="numbers in a window", ylabel="measured/exact $-$ 1", xscale="log"),
    ),
    draw=draw,
    unjudged="all numbers up to N are counted, so that there is no error bar",
    caption="Measured shares of trees agree with their exact limits, products and sums over all primes. Every natural"
    " number is written as a tree whose children are the exponents of its primes. (a) The distance of shares "
    "and means over all numbers up to N from these limits, which falls about as N^-1/2 or faster. All numbers"
    " are counted, so that there is no error bar and no z. (b) The relative differences from the same limits,"
    " of all curves but that of neighbors, in 16 windows at random places below 10^12; windows of each curve "
    "are a quarter longer than those of the one before. The axis is linear within 10^-4 and logarithmic "
    "beyond; gray: no difference.",
    papers={
        "arXiv:2512.01870": "Counts agree with the exact densities to what finitely many numbers allow.",
    },
)
