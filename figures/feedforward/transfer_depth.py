"""The best number of layers to freeze falls with the number of samples, as the risks of all depths show."""

import numpy as np
from numpy.typing import NDArray

from figures.core import Axes, Context, Curve, DataFrame, Experiment, Panel, Row, judged_together, row
from simulate.core import Estimate, Task, stream
from simulate.feedforward import frozen_risks, warm_start_risks
from theory.feedforward import frozen_risk, switching_sizes, warm_start_risk
from theory.models import NestedFeatures

DIMENSIONS, POWERS, NOISE = np.array((400, 100, 25, 5)), (1.0, 0.9, 0.7, 0.4), 0.1
LAMS = np.geomspace(1e-3, 1e2, 100)
# The number of samples, and a factor by which it and all dimensions are enlarged, so that neither is small.
SIZES = {10: 24, 40: 6, 160: 2, 640: 1, 1_600: 1}
ENLARGED = (16, 3, 1)  # the same for the three switching sizes
RATIOS = (0.5, 0.7, 1.0, 1.4, 2.0)
OVERLAPS = (0.9, 0.7, 0.3)
WARM_SIZES = (40, 160, 640)
FROZEN, SWITCH, WARM = "frozen features", "around the switching sizes", "fine-tuning of all weights"
NAMES = [f"$k = {k}$, $s = {s:g}$" for k, s in zip(DIMENSIONS, POWERS, strict=True)]


def features(factor: int = 1) -> NestedFeatures:
    return NestedFeatures(dimensions=DIMENSIONS * factor, kept_powers=POWERS, noise=NOISE)


def frozen(n: int, factor: int, depths: list[int], replicate: int) -> NDArray[np.float64]:
    rng = stream(0, "frozen", n, factor, *depths, replicate)
    return frozen_risks(features(factor), n, LAMS, rng, depths=depths)


def warm(n: int, overlap: float, replicate: int) -> NDArray[np.float64]:
    return warm_start_risks(features(), n, overlap, LAMS, stream(0, "warm", n, overlap, replicate))


def tuned(risks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the risk of each replicate at the ridge (on the last axis) that is best for the mean of all others."""
    others = risks.sum(axis=0) - risks
    best = others.argmin(axis=-1)
    return np.take_along_axis(risks, best[..., None], axis=-1)[..., 0]


def compute(context: Context) -> list[Row]:
    system, law = features(), switching_sizes(features())
    sizes = {10: 2, 160: 1} if context.is_draft else SIZES
    ratios, warm_sizes = context.thin(RATIOS, 2), (WARM_SIZES[:1] if context.is_draft else WARM_SIZES)
    seeds, everything = range(context.replicates(16)), list(range(4))
    pairs = list(zip(law.depths, law.depths[1:], law.sizes, ENLARGED, strict=False))[: 1 if context.is_draft else 3]
    tasks = [Task(f"n={n}/{r}", frozen, (n * c, c, everything, r)) for n, c in sizes.items() for r in seeds]
    counts = {(a, ratio): round(ratio * size * c) for a, _, size, c in pairs for ratio in ratios}
    tasks += [
        Task(f"switch {a}/{ratio}/{r}", frozen, (counts[a, ratio], c, [a, b], r))
        for a, b, _, c in pairs
        for ratio in ratios
        for r in seeds
    ]
    tasks += [Task(f"rho={rho}/{n}/{r}", warm, (n, rho, r)) for rho in OVERLAPS for n in warm_sizes for r in seeds]
    found, rows = context.sweep(tasks), []
    grid = context.thin(np.geomspace(5, 2_500, 80), 8)
    laws = {n: frozen_risk(system, n) for n in (*grid, *sizes)}
    for depth, name in enumerate(NAMES):
        rows += [row(name, n, panel=FROZEN, theory=laws[n].risks[depth]) for n in grid]
    rows += [row("best depth", n, panel=FROZEN, theory=laws[n].best_risk) for n in grid]
    rows += [row("switch", n, panel=FROZEN, theory=R, d=np.inf) for n, R in zip(law.sizes, law.risks, strict=True)]
    for n, c in sizes.items():
        measured = tuned(np.array([found[f"n={n}/{r}"] for r in seeds]))
        made = [
            row(name, n, panel=FROZEN, theory=laws[n].risks[depth], d=400 * c,
                estimate=Estimate.of(measured[:, depth]), judged=not context.is_draft)
            for depth, name in enumerate(NAMES)
        ]  # fmt: skip
        rows += judged_together(f"n = {n}", made, measured[:, : len(NAMES)])

    def gain(n: float, a: int, b: int) -> float:
        risks = frozen_risk(system, n).risks
        return float((risks[a] - risks[b]) / risks[b])

    for a, b, size, c in pairs:
        name = f"{DIMENSIONS[a]} to {DIMENSIONS[b]} features, $n_* = {size:.1f}$"
        rows += [
            row(name, r, panel=SWITCH, theory=gain(r * size, a, b)) for r in context.thin(np.geomspace(0.45, 2.2), 6)
        ]
        for ratio in ratios:
            measured = tuned(np.array([found[f"switch {a}/{ratio}/{r}"] for r in seeds]))
            law_here = frozen_risk(system, counts[a, ratio] / c).risks[b]
            estimate = Estimate.of((measured[:, 0] - measured[:, 1]) / law_here)
            rows.append(row(name, ratio, panel=SWITCH, theory=gain(counts[a, ratio] / c, a, b), d=400 * c,
                            estimate=estimate, judged=not context.is_draft))  # fmt: skip
    for rho in OVERLAPS:
        name = rf"$\rho = {rho}$"
        rows += [row(name, n, panel=WARM, theory=warm_start_risk(system, n, rho).risk) for n in grid]
        for n in warm_sizes:
            measured = tuned(np.array([found[f"rho={rho}/{n}/{r}"] for r in seeds]))
            rows.append(row(name, n, panel=WARM, theory=warm_start_risk(system, n, rho).risk, d=400,
                            estimate=Estimate.of(measured), judged=not context.is_draft))  # fmt: skip
    return rows + [row("best frozen depth", n, panel=WARM, theory=laws[n].best_risk) for n in grid]


def draw(axes: Axes, rows: DataFrame) -> None:
    """Draw a line at every switching size, and one where two depths are equally good."""
    if axes.get_title() == FROZEN:
        for size in rows.loc[rows["curve"] == "switch", "x"]:
            axes.axvline(size, color="0.8", linewidth=0.7, zorder=0)
    if axes.get_title() == SWITCH:
        axes.axhline(0, color="0.8", linewidth=0.7, zorder=0)


EXPERIMENT = Experiment(
    title="Freeze many layers with few samples, none with many",
    compute=compute,
    panels=(
        Panel(title=FROZEN, curves={}, ylabel=r"risk $E(w \cdot x - \hat y)^2$", yscale="log"),
        Panel(
            title=SWITCH,
            curves={},
            xlabel="samples over the switching size, $n/n_*$",
            ylabel="excess risk of the deeper freezing",
        ),
        Panel(
            title=WARM,
            curves={"best frozen depth": Curve(model=None, color=4)},
            ylabel=r"risk $E(w \cdot x - \hat y)^2$",
            yscale="log",
        ),
    ),
    xlabel="samples $n$ (at $d = 400$)",
    xscale="log",
    draw=draw,
    unjudged="a draft is too small for the theory",
    caption="With few samples it is best to freeze many layers, with many samples none. A linear target is "
    "learned by ridge regression on the features that are left. Lines are closed forms at the best ridge; markers "
    "are means over draws of samples. (a) The risk by depth; k features are left, which hold the share s of the "
    "target's variance. Crosses mark the sizes at which the best depth changes. (b) The relative risk of the "
    "deeper of two depths: its sign changes where theory finds them equal. (c) All weights fine-tuned from a "
    "source with overlap rho: at 0.9 better than freezing at every n, at 0.7 not at intermediate n.",
    papers={
        "arXiv:2303.01429": "The published text was not readable. Its question is asked of a model that can be solved: "
        "it is best to freeze many layers with few samples and none with many.",
    },
)
