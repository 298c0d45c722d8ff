"""The best number of layers to freeze falls with the number of samples, as the risks of all depths show."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.core import Axes, Context, Curve, DataFrame, Experiment, Panel, Row, judged_together, row
from figures.core.names import write_name
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
NAMES = [f"$k = {k}$" for k in DIMENSIONS]

DEPTH = f"small $k$: deep freezing,\n$k = {DIMENSIONS[0]}$: none frozen"
BEST, SWITCHES = "best depth", "switch"
BEST_LOOK = {BEST: Curve(color="black", style="--"), SWITCHES: Curve(color="black", marker="X")}
DEPTHS = {name: Curve(style="-") for name in NAMES}
# Other hues and markers than those of the depths, which are ordered.
PAIRS = {
    f"$k = {few}, {many}$": Curve(color=1 + k, marker="vP<"[k], style="-")
    for k, (few, many) in enumerate(zip(DIMENSIONS[:0:-1], DIMENSIONS[-2::-1], strict=True))
}
FINE_TUNED = {
    rf"$\rho = {rho}$": Curve(color=(0, 4, 5)[k], marker=">ph"[k], style="-") for k, rho in enumerate(OVERLAPS)
}

# Where a name stands beside its line: at which end or share of it, how the text is aligned there, and its distance in
# points.
PLACES: dict[str, dict[str, Any]] = {
    FROZEN: dict.fromkeys(NAMES, (-1, "left", "center", (3.0, 0.0))) | {BEST: (0, "left", "top", (0.0, -20.0))},
    WARM: {list(FINE_TUNED)[2]: (0, "left", "bottom", (0.0, 1.5)), BEST: (0.48, "right", "top", (-2.0, -5.0))}
    | {list(FINE_TUNED)[k]: (0, "left", "top", (0.0, -2.0)) for k in (0, 1)},
}


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
    rows += [row(BEST, n, panel=FROZEN, theory=laws[n].best_risk) for n in grid]
    rows += [row(SWITCHES, n, panel=FROZEN, theory=R, d=np.inf) for n, R in zip(law.sizes, law.risks, strict=True)]
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
        name = f"$k = {DIMENSIONS[a]}, {DIMENSIONS[b]}$"
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
    return rows + [row(BEST, n, panel=WARM, theory=laws[n].best_risk) for n in grid]


def draw(axes: Axes, rows: DataFrame) -> None:
    """Draw a line at every switching size, and one where two depths are equally good; write the names of curves."""
    shown = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    for name, (place, across, along, offset) in PLACES.get(axes.get_title(), {}).items():
        line = rows[(rows["curve"] == name) & rows["size"].isna()].sort_values("x")
        if len(line):
            end, color = line.iloc[place if isinstance(place, int) else int(place * len(line))], shown[name].get_color()
            write_name(axes, name, (end["x"], end["theory"]), offset, color=color, across=across, along=along)
    if axes.get_title() == FROZEN:
        low, high = axes.get_ylim()
        for _, switch in rows[rows["curve"] == SWITCHES].iterrows():  # above the crosses, below which names stand
            axes.vlines(switch["x"], switch["theory"], high, color="0.8", linewidth=0.7, zorder=0)
        axes.set_ylim(low, high)
        write_name(axes, DEPTH, (0.04, 0.03), (0.0, 0.0), color="0.3", along="bottom", x_is_share=True)
    if axes.get_title() == SWITCH:
        axes.set_xticks(RATIOS, [f"{ratio:g}" for ratio in RATIOS])
        axes.axhline(0, color="0.8", linewidth=0.7, zorder=0)
    else:
        axes.legend().remove()


EXPERIMENT = Experiment(
    title="Freeze many layers with few samples, none with many",
    compute=compute,
    panels=(
        Panel(
            title=FROZEN,
            curves=DEPTHS | BEST_LOOK,
            ordered=True,
            ylabel=r"risk $E(w \cdot x - \hat y)^2$",
            yscale="log",
        ),
        Panel(
            title=SWITCH,
            curves=PAIRS,
            xlabel="samples over the switching size, $n/n_*$",
            ylabel="excess risk of the deeper freezing",
        ),
        Panel(
            title=WARM,
            curves=FINE_TUNED | BEST_LOOK,
            ylim=(0.014, 2.5),
            ylabel=r"risk $E(w \cdot x - \hat y)^2$",
            yscale="log",
        ),
    ),
    xlabel="samples $n$ (at $d = 400$)",
    xscale="log",
    draw=draw,
    figsize=(7.0, 3.0),  # high enough for a legend in its panel
    unjudged="a draft is too small for the theory",
    caption="With few samples it is best to freeze many layers, with many samples none. A linear target is learned "
    "by ridge regression on the features that are left. Lines are closed forms at the best ridge; markers "
    "are means over draws of samples. (a) The risk by depth; k features are left, which hold 1, 0.9, 0.7 and "
    "0.4 of the target's variance. Crosses and gray lines mark the sizes n_* at which the best depth "
    "changes. (b) The relative risk of the deeper of two depths: its sign changes where theory finds them "
    "equal. (c) All weights fine-tuned from a source with overlap rho: at 0.9 better than freezing at every "
    "n, at 0.7 not at intermediate n.",
    papers={
        "arXiv:2303.01429": "The published text was not readable. Its question is asked of a model that can be solved: "
        "it is best to freeze many layers with few samples and none with many.",
    },
)
