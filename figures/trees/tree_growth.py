"""The mean number of children and the shares of single words approach their leading laws slowly, in log log N."""

import math
from typing import Any

import numpy as np
from scipy.special import expi

from figures.core import Axes, Context, Curve, DataFrame, Experiment, Panel, Row, row
from figures.core.names import name_curve
from figures.trees.all_numbers import counts_up_to, sizes
from theory import trees
from theory.models.trees.factors import primes_up_to

CHILDREN, WORDS = "children of the root", "single words"
SERIES = {0: "$M$ alone", 1: "one term $c_1/\\ln N$", 3: "three terms"}
LEAVES = {"()": 1, "()()": 2, "()()()": 3}  # of words that are nothing else
# The exponents of the first prime of a word that ends in one leaf: those whose tree is its first child.
EXPONENTS = {"(())()": (2, 3, 5, 7, 11, 13, 17, 19, 23), "((()))()": (4, 8, 9, 25, 27, 32)}
MEASURED = "all numbers up to $N$"
LAST = 300  # the lines end at 10^LAST: larger numbers have no double
LINES = dict(zip(SERIES.values(), ("-.", "--", "-"), strict=True))  # all of them in gray
NAMES: dict[str, dict[str, Any]] = {
    SERIES[0]: {"offset": (3.0, -3.0), "along": "top"},
    SERIES[1]: {"x": 1 / math.log(10**4), "offset": (-4.0, 3.0), "across": "right", "along": "bottom"},
    SERIES[3]: {"x": 1 / math.log(3000), "offset": (3.0, -6.0), "along": "top"},
    MEASURED: {"x": 0.0, "offset": (4.0, -6.0), "along": "top"},
}  # where names stand
TICKS = (2, 3, 4, 5, 7, 12)  # powers of ten on the axis


def place(n: float) -> float:
    """Return where N stands on the axis: laws in powers of 1/ln N are straight at its end, which is infinity."""
    return 1 / math.log(n)


def one_leaf(word: str, n: float) -> float:
    """Return the share of a word with one last leaf, by the prime number theorem for its last prime.

    The numbers are b q <= N with the last prime q; li(N/b) - li(p) of these lie beyond p, where b is a power of the
    prime p, or 1. What is left out has p > 10^4 (a share of 1e-5).
    """
    if word not in EXPONENTS:
        return float(expi(math.log(n))) / n
    logs = np.log(primes_up_to(10**4).astype(float))
    total = 0.0
    for exponent in EXPONENTS[word]:
        own = logs[(exponent + 1) * logs < math.log(n)]
        total += float(np.sum(expi(math.log(n) - exponent * own) / n - expi(own) / n))
    return total


def ratio(word: str, n: float) -> float:
    """Return the share of a word over its leading order, by the laws that the lines show.

    Words that end in one leaf have `one_leaf`. Numbers with k different primes, each once, are to leading order in 1/ln
    N, but with all powers of ln ln N, N/ln N times the coefficient of z^(k-1) in (ln N)^z G(z), with G(z) = prod_p (1 +
    z/p) (1 - 1/p)^z / Gamma(1 + z) (the theorem of Sathe and Selberg; this G is derived here). Its logarithm is M z -
    (P(2) + zeta(2)) z^2/2 + ..., with the constant M of Mertens and the prime zeta function P.
    """
    from mpmath import mertens, primezeta, zeta

    L, M, leaves = math.log(math.log(n)), float(mertens), LEAVES.get(word, 1)
    if leaves == 1:
        return one_leaf(word, n) / trees.word_frequency(word, n).frequency
    second = (M**2 - float(primezeta(2) + zeta(2))) / 2
    return 1 + M / L if leaves == 2 else 1 + 2 * M / L + 2 * second / L**2


def compute(context: Context) -> list[Row]:
    n_places = len(context.thin(list(range(41)), 6))
    places = [place(10**LAST) + k / (n_places - 1) * (place(100) - place(10**LAST)) for k in range(n_places)]
    line = [(x, math.exp(1 / x)) for x in places]
    rows = []
    for k, name in SERIES.items():
        rows += [
            row(name, x, panel=CHILDREN, theory=trees.mean_children(n, k).mean - math.log(math.log(n))) for x, n in line
        ]
    for n in sizes(context):
        excess = counts_up_to(n).n_children / n - math.log(math.log(n))
        best = trees.mean_children(n, 3).mean - math.log(math.log(n))
        rows.append(row(MEASURED, place(n), panel=CHILDREN, d=n, theory=best, measured=excess))
    for word in (*LEAVES, *EXPONENTS):
        rows += [row(word, x, panel=WORDS, theory=ratio(word, n)) for x, n in line if n >= 999]
        for n in sizes(context, 3):
            share = counts_up_to(n).count(word) / n / trees.word_frequency(word, n).frequency
            rows.append(row(word, place(n), panel=WORDS, d=n, theory=ratio(word, n), measured=share))
    return rows


def draw(axes: Axes, rows: DataFrame) -> None:
    """Label the axis with N, which grows to the right, up to infinity, and name lines where they begin."""
    if rows["panel"].iloc[0] == CHILDREN:
        axes.legend().remove()
        for name, placed in NAMES.items():
            name_curve(axes, name, name.replace("numbers up", "numbers\nup"), **placed)
    else:
        axes.axhline(1.0, color="0.6", linewidth=0.8, zorder=0)
    axes.set_xlim(1.04 * rows["x"].max(), 0)
    ticks = [k for k in TICKS if place(10**k) <= 1.01 * rows["x"].max()]
    axes.set_xticks([*(place(10**k) for k in ticks), 0], [*(f"$10^{{{k}}}$" for k in ticks), r"$\infty$"])
    axes.set_xlabel(r"$N$, in steps of $1/\ln N$")


EXPERIMENT = Experiment(
    title="Trees of the natural numbers approach their leading laws slowly",
    compute=compute,
    panels=(
        Panel(
            title=CHILDREN,
            curves={name: Curve(model=None, color="0.3", style=style) for name, style in LINES.items()}
            | {MEASURED: Curve(model=None, color=6, marker="P")},
            ylabel=r"mean number $-$ $\ln \ln N$",
            ylim=(0.1, 0.29),
        ),
        Panel(title=WORDS, ylabel="share over leading order", ylim=(0.4, 2.4)),
    ),
    draw=draw,
    xlabel=r"$1/\ln N$",
    unjudged="all numbers up to N are counted, so that there is no error bar",
    caption="The mean number of children and the shares of single words approach their leading laws slowly. The axis "
    "ends at infinity. (a) The mean number of different primes, the children of the root, minus ln ln N; "
    "lines are the constant M of Mertens, alone and with terms of its expansion in 1/ln N. (b) Shares of "
    "single words, which themselves tend to 0, over the leading order of Landau's theorem (gray: one). For "
    "words that end in one leaf lines are the prime number theorem for the last prime; for two and three "
    "leaves they hold all powers of 1/ln ln N, but none of 1/ln N. Markers are counted on all numbers up to "
    "N.",
)
