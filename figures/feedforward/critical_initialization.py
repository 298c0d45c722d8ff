"""Signals and gradients of binary networks decay over a few layers, unless tanh weights lose their randomness."""

import numpy as np
from numpy.typing import NDArray

from figures.core import Axes, Context, Curve, DataFrame, Experiment, Panel, Row, judged_together, row
from figures.core.names import write_name
from simulate.core import Estimate, Task, stream
from simulate.feedforward import decay, stochastic_activations
from theory.feedforward import criticality, signal_fixed_point
from theory.models import BinaryNetwork
from theory.models.feedforward import BinaryNeurons

WIDTH, PAIRS = 500, 4
SHARES = (0.3, 0.6, 0.8, 0.9, 0.97)
NAMES: dict[BinaryNeurons, str] = {"sign": "signs", "tanh": "tanh"}
CURVES = {
    f"{name}, $\\sigma_b^2 = {bias}$": (neurons, bias) for neurons, name in NAMES.items() for bias in (0.001, 0.05)
}
BOUND = "bound for signs"
SIGNALS, GRADIENTS, DRAWN = "signals", "gradients", "the network of random weights"
DRAWS, DEPTH, SMALL = 80, 4, 200
STOCHASTIC = (0.3, 0.7)


def network(neurons: BinaryNeurons, share: float, bias: float) -> BinaryNetwork:
    return BinaryNetwork(mean_variance=share, bias_variance=bias, neurons=neurons)


def layers(system: BinaryNetwork) -> int:
    """Return the number of layers after which about a quarter of the signal is left, and at most 20."""
    scale = signal_fixed_point(system).depth_scale
    return int(np.clip(round(1.4 * scale), 4 if system.neurons == "sign" else 2, 20))


def decays(system: BinaryNetwork, width: int, replicate: int) -> NDArray[np.float64]:
    """Measure what is left of a change of the correlation, and of the mean square of gradients, after the layers."""
    point = signal_fixed_point(system)
    rng = stream(0, "binary decay", system.neurons, system.mean_variance, system.bias_variance, replicate)
    q, c = point.variance, point.correlation
    found = decay(system, width, layers(system), rng, variance=q, correlation=c, n_pairs=PAIRS)
    return np.array([found.correlations[-1], found.gradients[-1]])


def slopes(share: float, width: int, replicate: int) -> NDArray[np.float64]:
    """Measure the slopes of the mean signs on the surrogate's outputs, layer by layer."""
    rng = stream(0, "stochastic signs", share, replicate)
    return stochastic_activations(network("sign", share, 0.1), width, DEPTH, DRAWS, rng).slopes


def scale(left: Estimate, n_layers: int) -> Estimate:
    """Return the depth scale -layers/log(left), with its error to first order."""
    log = np.log(left.mean)
    return Estimate(float(-n_layers / log), float(n_layers / log**2 * left.stderr / left.mean), left.n)


def compute(context: Context) -> list[Row]:
    width, small = context.size(WIDTH, 100), context.size(SMALL, 50)
    shares, grid = context.thin(SHARES, 2), context.thin(np.linspace(0.02, 1, 99), 8)
    seeds = range(context.replicates(16))
    systems = {(label, s): network(neurons, s, bias) for label, (neurons, bias) in CURVES.items() for s in shares}
    tasks = [Task(f"{label}/{s}/{r}", decays, (systems[label, s], width, r)) for label, s in systems for r in seeds]
    tasks += [Task(f"signs/{s}/{r}", slopes, (s, small, r)) for s in STOCHASTIC for r in seeds]
    found, rows = context.sweep(tasks), []
    for label, (neurons, bias) in CURVES.items():
        for s in grid:
            point = signal_fixed_point(network(neurons, s, bias))
            rows.append(row(label, s, panel=SIGNALS, theory=point.depth_scale))
            rows.append(row(label, s, panel=GRADIENTS, theory=point.gradient_depth_scale))
        for s in shares:
            point, count = signal_fixed_point(systems[label, s]), layers(systems[label, s])
            left = np.array([found[f"{label}/{s}/{r}"] for r in seeds])
            laws = (point.depth_scale, point.gradient_depth_scale)
            estimates = [scale(Estimate.of(values), count) for values in left.T]
            made = [
                row(label, s, panel=panel, theory=law, d=width, estimate=estimate, judged=not context.is_draft)
                for panel, estimate, law in zip((SIGNALS, GRADIENTS), estimates, laws, strict=True)
            ]
            spread = left.std(axis=0, ddof=1) / np.sqrt(len(left))
            slopes_of_scale = np.array([one.stderr for one in estimates]) / np.where(spread > 0, spread, 1.0)
            to_first_order = (left - left.mean(axis=0)) * slopes_of_scale + [one.mean for one in estimates]
            rows += judged_together(f"{label}, variance {s}", made, to_first_order)
    bound = criticality("sign").largest_depth_scale
    rows += [row(f"_{BOUND}", s, panel=SIGNALS, theory=bound) for s in (grid[0], grid[-1])]
    for s in STOCHASTIC:
        measured = np.array([found[f"signs/{s}/{r}"] for r in seeds])
        label = f"$\\sigma_m^2 = {s}$"
        made = [
            row(label, k + 1, panel=DRAWN, theory=1.0, d=small, estimate=Estimate.of(measured[:, k]),
                judged=not context.is_draft)
            for k in range(DEPTH)
        ]  # fmt: skip
        rows += judged_together(f"{label}, all layers", made, measured[:, :DEPTH])
        rows += [row(label, k, panel=DRAWN, theory=1.0) for k in (1, DEPTH)]
    return rows


def draw(axes: Axes, rows: DataFrame) -> None:
    """Label the axis of layers with whole numbers, and write the name of the bound beside its line."""
    if axes.get_title() == SIGNALS:
        bound = rows[rows["curve"] == f"_{BOUND}"].iloc[0]
        write_name(axes, BOUND, (bound["x"], bound["theory"]), (0.0, 1.5), along="bottom")
    if axes.get_title() == DRAWN:
        axes.set_xticks(range(1, DEPTH + 1))


EXPERIMENT = Experiment(
    title="Networks of binary sign neurons have no critical initialization",
    compute=compute,
    panels=(
        Panel(
            title=SIGNALS,
            curves={f"_{BOUND}": Curve(color=6, style="--")},
            ylabel=r"depth scale $\xi$ (layers)",
            yscale="log",
        ),
        Panel(title=GRADIENTS, curves={}, ylabel=r"depth scale $\xi$ (layers)", yscale="log"),
        Panel(
            title=DRAWN,
            curves={f"$\\sigma_m^2 = {s}$": Curve(color=4 + k, marker="vP"[k]) for k, s in enumerate(STOCHASTIC)},
            xlabel="layer",
            ylabel="slope of mean signs on the surrogate",
            xscale="linear",
            ylim=(0.95, 1.05),
        ),
    ),
    xlabel=r"variance of the means $\sigma_m^2$",
    draw=draw,
    unjudged="a draft is too small for the theory",
    caption="Signals in binary networks with sign neurons decay within few layers whatever the initialization: there "
    "is no critical point. Weights are drawn at random with given means; a surrogate is the network of "
    "continuous outputs that replaces their average. Lines are fixed points of the maps of infinitely wide "
    "layers; markers are means over 16 drawn networks. (a) Layers over which a change of the correlation of "
    "two inputs decays by a factor e: below 2.214 with signs; with tanh it diverges by theory as squared "
    "means tend to one and biases vanish. (b) The same for squared gradients. (c) Regressions of the mean "
    "sign of each neuron on its surrogate, whose slope is one in every layer.",
    papers={
        "arXiv:1902.00177, Figs. 1 and 4": "The paper gives the deterministic surrogate a line of critical "
        "initializations for phi with slope 1 at zero, such as tanh, and the sampled surrogate with binary neurons "
        "none. Here the deterministic one has the probit phi, which is never critical, and the sampled one has "
        "continuous neurons.",
    },
)
