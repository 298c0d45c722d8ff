"""The mean number of children and the shares of single words have no limit: both change with log log N, slowly."""

import math

from figures.core import Context, Experiment, Panel, Row, row
from figures.trees.all_numbers import counts_up_to, sizes
from theory import trees

CHILDREN, WORDS = "children of the root", "single words"
SERIES = {0: "$M$ alone", 1: "one term $c_1/\\ln N$", 3: "three terms"}
SINGLE = ("()", "()()", "()()()", "(())()", "((()))()")
MEASURED = "all numbers up to $N$"


def compute(context: Context) -> list[Row]:
    rows, line = [], context.thin([10 ** (k / 4) for k in range(8, 41)], 6)
    for k, name in SERIES.items():
        rows += [
            row(name, n, panel=CHILDREN, theory=trees.mean_children(n, k).mean - math.log(math.log(n))) for n in line
        ]
    for n in sizes(context):
        excess = counts_up_to(n).n_children / n - math.log(math.log(n))
        best = trees.mean_children(n, 3).mean - math.log(math.log(n))
        rows.append(row(MEASURED, n, panel=CHILDREN, d=n, theory=best, measured=excess))
    for word in SINGLE:
        for n in sizes(context, 3):
            share = counts_up_to(n).count(word) / n / trees.word_frequency(word, n).frequency
            rows.append(row(word, n, panel=WORDS, d=n, theory=1.0, measured=share))
    return rows + [row("leading order", n, panel=WORDS, theory=1.0) for n in (1e3, sizes(context)[-1])]


EXPERIMENT = Experiment(
    title="What has no limit grows slowly in the trees of the natural numbers",
    compute=compute,
    panels=(
        Panel(title=CHILDREN, ylabel="mean number - $\\ln \\ln N$", ylim=(0.1, 0.29)),
        Panel(title=WORDS, ylabel="share over leading order", ylim=(0.4, 2.6)),
    ),
    xlabel="$N$",
    xscale="log",
    unjudged="all numbers up to N are counted, so that there is no error bar",
    caption="The mean number of children and the shares of single words have no limit, and approach their leading "
    "laws slowly. (a) The mean number of children of the root, the mean number of different primes, minus ln ln "
    "N; lines are the constant M of Mertens and the expansion in 1/ln N, which is much better from 10^4 on. (b) "
    "The shares of single words, over the leading order of Landau's theorem, which falls to zero. By theory the "
    "ratio approaches 1 as 1/ln N for words that end in one leaf, and only as 1/ln ln N for words that end in "
    "more leaves. Markers are counted on all numbers up to N.",
)
