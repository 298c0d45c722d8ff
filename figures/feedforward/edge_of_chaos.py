"""With phi = tanh the deterministic surrogate of binary weights has an edge of chaos, and with the probit none."""

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from figures.core import NONE, Axes, Curve, DataFrame, Experiment, Panel
from figures.core.names import write_name
from simulate.core import Estimate
from simulate.feedforward import decay, field_statistics
from theory.feedforward import critical_mean_variance, propagate, signal_fixed_point
from theory.models import BinaryNetwork
from theory.models.feedforward import MeanSign

SHARES, BIAS = (0.2, 0.5, 0.99), 1e-3
WIDTH, DEPTH = 500, 10
START = {"variance": 1.0, "correlation": 0.3}
LAYERS = (1, 2, 4, 7, 10)
NAMES: dict[MeanSign, str] = {"tanh": r"$\varphi = \tanh$", "erf": "probit"}
MAP, SCALES, EDGE = "map of the correlation", r"depth scale $\xi$", "edge of chaos"
BIASES = {1e-3: "10^{-3}", 1e-6: "10^{-6}"}
# Where depth scales are measured, in how many networks of which width, and after how many layers at most.
MEASURED: list[tuple[MeanSign, float, float]] = [(phi, 1e-3, s) for phi in NAMES for s in (0.2, 0.5, 0.97)]
MEASURED.append(("tanh", 1e-6, 0.97))
DRAWN, NARROW, MAX_LAYERS = 24, 250, 24


def network(s: float, bias: float = BIAS, phi: MeanSign = "tanh") -> BinaryNetwork:
    return BinaryNetwork(mean_variance=s, bias_variance=bias, phi=phi)


def label(s: float) -> str:
    return rf"$\sigma_m^2 = {s}$"


def measured(
    system: BinaryNetwork, points: dict[str, list[float]], width: int, rng: Generator
) -> dict[str, NDArray[np.float64]]:
    """Measure drawn networks: the statistics of the fields by layer, and one layer at the stationary variance."""
    if SCALES in points:
        return {SCALES: np.full(len(points[SCALES]), decay_rate(system, width, rng))}
    found, q = field_statistics(system, width, DEPTH, rng, **START), signal_fixed_point(system).variance
    mapped = [field_statistics(system, width, 1, rng, variance=q, correlation=c).correlations[1] for c in points[MAP]]
    return {
        "variance": found.variances[np.array(points["variance"], dtype=int)],
        "correlation": found.correlations[np.array(points["correlation"], dtype=int)],
        MAP: np.array(mapped),
    }


def decay_rate(system: BinaryNetwork, width: int, rng: Generator) -> float:
    """Measure the rate at which a small change of the correlation decays, as that of its logarithm per layer."""
    point = signal_fixed_point(system)
    n_layers = int(np.clip(round(point.depth_scale), 2, MAX_LAYERS))
    found = decay(system, width, n_layers, rng, variance=point.variance, correlation=point.correlation)
    return float(-np.log(found.correlations[-1]) / n_layers)


def depth_scale(rates: NDArray[np.float64]) -> Estimate:
    """Return the inverse of the mean rate, with its error to first order."""
    rate = Estimate.of(rates)
    return Estimate(1 / rate.mean, rate.stderr / rate.mean**2, rate.n)


def predicted(system: BinaryNetwork, layers: list[float]) -> dict[str, NDArray[np.float64]]:
    found, chosen = propagate(system, DEPTH, **START), np.array(layers, dtype=int)
    return {"variance": found.variances[chosen], "correlation": found.correlations[chosen]}


def predicted_map(system: BinaryNetwork, correlations: list[float]) -> dict[str, NDArray[np.float64]]:
    q = signal_fixed_point(system).variance
    return {MAP: np.array([propagate(system, 1, q, c).correlations[1] for c in correlations])}


def by_layer(number: str) -> dict[str, Curve]:
    return {label(s): Curve(number=number, setting=label(s), style="-") for s in SHARES}


def maps() -> dict[str, Curve]:
    points, line = (0.0, 0.25, 0.5, 0.75), np.linspace(0, 1, 26)
    return {
        label(s): Curve(number=MAP, setting=label(s), theory=predicted_map, line=line, points=points, style="-")
        for s in SHARES
    }


def scale_name(phi: MeanSign, bias: float) -> str:
    return rf"{NAMES[phi]}, $\sigma_b^2 = {BIASES[bias]}$"


def scales() -> dict[str, Curve]:
    line = np.append(np.linspace(0.02, 0.96, 40), np.linspace(0.965, 1, 15))
    looks: dict[MeanSign, Any] = {"tanh": (3, {1e-3: "-", 1e-6: "--"}), "erf": (4, {1e-3: "-"})}
    markers = dict(zip(((phi, bias) for phi, bias, s in MEASURED if s == 0.97), "^vP", strict=True))
    lines = {
        scale_name(phi, bias): Curve(
            model=lambda s, bias=bias, phi=phi: network(s, bias, phi),
            theory=lambda system: signal_fixed_point(system).depth_scale,
            replicate=NONE, line=line, points=(), table_points=SHARES, style=style, color=color,
        )
        for phi, (color, styles) in looks.items() for bias, style in styles.items()
    }  # fmt: skip
    drawn = {
        f"_{scale_name(phi, bias)}, at {s}": Curve(
            number=SCALES, setting=f"{scale_name(phi, bias)}, {s}", line=(), points=(s,),
            replicates=DRAWN, average=depth_scale, d=NARROW,
            color=looks[phi][0], marker=markers[phi, bias],
            theory=lambda system, xs: {SCALES: [signal_fixed_point(system).depth_scale] * len(xs)},
        )
        for phi, bias, s in MEASURED
    }  # fmt: skip
    return lines | drawn


def edges() -> dict[str, Curve]:
    return {
        name: Curve(
            model=float, theory=lambda q, phi=phi: critical_mean_variance(q, phi), replicate=NONE,
            line=np.linspace(0, 3, 61), points=(), table_points=(0.0, 1.0), color=color, style="-",
        )
        for phi, name, color in zip(NAMES, NAMES.values(), (3, 4), strict=True)
    }  # fmt: skip


def draw(axes: Axes, rows: DataFrame) -> None:
    """Shade the mean variances that binary weights can have, draw the diagonal of the map, and name curves.

    Depth scales are named at the right end of their lines, the correlations there or, in their map, where room is.
    """
    title = axes.get_title()
    if title in ("correlation", MAP, SCALES):
        shown = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
        axes.legend().remove()
        for k, (name, handle) in enumerate(shown.items()):
            end = rows[(rows["curve"] == name) & rows["size"].isna()].sort_values("x").iloc[-1]
            place, said = (end["x"], end["theory"]), name.replace(", ", "\n")
            look: dict[str, Any] = {"color": handle.get_color()}
            if title == MAP:
                place, offset = ((0.0, 0.87), (0.05, 0.48), (1.0, 0.4))[k], (0.0, 0.0)
                look |= {"across": "left" if k < 2 else "right", "along": "bottom" if k == 0 else "top"}
            write_name(axes, said, place, (5.0, 0.0) if title != MAP else offset, **look)
    if axes.get_title() == EDGE:
        axes.axhspan(0.0, 1.0, color="0.9", zorder=0)
        axes.text(1.5, 0.95, "possible initializations", ha="center", va="center", fontsize=7)
    if axes.get_title() == MAP:
        axes.plot([0, 1], [0, 1], color="0.7", linewidth=0.8, zorder=0)


EXPERIMENT = Experiment(
    title=r"Signals travel far only at the edge of chaos: binary weights, $\varphi = \tanh$",
    measure=measured,
    theory=predicted,
    by_point=True,
    by_number=True,
    settings={label(s): network(s) for s in SHARES}
    | {f"{scale_name(phi, bias)}, {s}": network(s, bias, phi) for phi, bias, s in MEASURED},
    panels=(
        Panel(
            title="variance",
            curves=by_layer("variance"),
            ylabel="variance of the fields $q$",
            yscale="log",
            ordered=True,
        ),
        Panel(
            title="correlation",
            curves=by_layer("correlation"),
            ylabel="correlation $c$",
            ylim=(0.2, 1.02),
            ordered=True,
        ),
        Panel(
            title=MAP,
            curves=maps(),
            xlabel="correlation $c$",
            ylabel="correlation one layer on",
            ordered=True,
        ),
        Panel(
            title=SCALES,
            curves=scales(),
            xlabel=r"variance of the means $\sigma_m^2$",
            ylabel="layers",
            yscale="log",
            ylim=(0.15, 2000),
        ),
        Panel(
            title=EDGE,
            curves=edges(),
            xlabel="variance of the fields $q$",
            ylabel=r"$\sigma_m^2$ where $\chi = 1$",
            ylim=(0.9, 1.6),
        ),
    ),
    line=tuple(range(DEPTH + 1)),
    points=LAYERS,
    d=WIDTH,
    replicates=50,
    xlabel="layer",
    draw=draw,
    caption="Signals travel ever farther as the variance of the means tends to one and that of the biases vanishes if "
    "phi = tanh, and never more than 2.2 layers if phi is the probit. Lines: wide layers. Markers: drawn "
    "networks, extrapolated from two widths. (a, b, c) Two inputs of variance 1 and correlation 0.3 by layer, "
    "and what one layer makes of a correlation (gray: it stays), at the bias variance 0.001; 50 networks of 500 "
    "and 1000 neurons. (d) Layers over which a difference of correlations falls by a factor e; 24 networks of "
    "250 and 500. (e) Where the slope chi of the map at c = 1 is one: for tanh only at 1 without biases.",
    papers={
        "arXiv:1902.00177, Fig. 1": "The three variances of the means, that of the biases and N = 1000, the larger of "
        "the two widths, and the 50 realizations are as published. Our own are the starting variance and correlation, "
        "and phi = tanh. The edge near (1, 0) agrees with what the paper says of a phi with slope 1.",
    },
)
