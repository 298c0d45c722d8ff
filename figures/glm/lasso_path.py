"""The lasso along its strength, beside the least error of any rule, and up to which sparsity it recovers a teacher."""

from functools import cache, partial
from typing import Any

import numpy as np
from numpy.random import Generator

from figures.core import NONE, Axes, Curve, DataFrame, Experiment, Panel
from figures.core.names import name_curve
from figures.glm.observables import saddle_point, test_error
from simulate.glm import measure
from simulate.glm import test_error as error_replicate
from theory import glm
from theory.models import BernoulliGauss, Cluster, GeneralizedLinearModel, Lasso, Modes

SHARE, NOISE = 0.25, 0.1
PATH = np.geomspace(0.02, 2, 25)
STRENGTH = 1e-3  # without noise, small against a teacher of size sqrt(share)
RATIOS = (0.25, 0.5, 0.75)  # samples over weights
BELOW_AND_ABOVE = (0.4, 0.6, 1.5, 2.0)  # of the share over its threshold
HUES = {0.25: 3, 0.5: 0, 0.75: 4, 1: 1, 2: 2}  # of the sample ratios, the same in all panels
MARKERS = {0.25: "^", 0.5: "o", 0.75: "v", 1: "s", 2: "D"}
BEST = {0.5: 0.24, 1: 0.267, 2: 0.366}  # strength of the least error by `glm.optimal_strength`
SHARES = "nonzero weights over samples"


@cache
def teacher(alpha: float, strength: float, share: float = SHARE, noise: float = NOISE) -> GeneralizedLinearModel:
    cluster = Cluster(labels="linear", teacher_signal=0, teacher_variance=share, noise=noise)
    return GeneralizedLinearModel(
        modes=Modes([1.0], [[1.0]], [[[share]]]),
        clusters=[cluster],
        alpha=alpha,
        loss="square",
        penalty=Lasso(strength),
        signals=BernoulliGauss(share),
    )


@cache
def least_error(alpha: float) -> float:
    return glm.bayes_optimal_signal(teacher(alpha, 1.0)).test_error


def along(alpha: float) -> Any:
    return lambda strength: teacher(alpha, float(strength))


def scaled(alpha: float, ratio: float) -> GeneralizedLinearModel:
    """Return a noiseless teacher whose share of nonzero weights is `ratio` times the threshold of recovery."""
    return teacher(alpha, STRENGTH, float(ratio * glm.sparse_recovery_threshold(alpha)), 0.0)


def relative_error(model: GeneralizedLinearModel) -> float:
    return test_error(model) / model.clusters[0].teacher_variance


def measured_relative_error(model: GeneralizedLinearModel, d: int, rng: Generator) -> float:
    return error_replicate(model, d, rng) / model.clusters[0].teacher_variance


def share_measured(model: GeneralizedLinearModel, d: int, rng: Generator, *, name: str) -> float:
    return float(getattr(measure(model, d, rng), name))


def marks(alpha: float) -> tuple[float, ...]:
    """Return the strengths that are simulated: below, at and above the best one."""
    return 0.05, BEST[alpha], 1.0


def threshold(alpha: float) -> float:
    return glm.sparse_recovery_threshold(alpha) / alpha


def simulated(ratio: float) -> Curve:
    """Declare the places in the last panel of what the third one simulates at this share of the threshold."""
    return Curve(
        model=float, theory=lambda alpha: ratio * threshold(alpha), replicate=NONE, line=(), points=RATIOS,
        color=6 if ratio < 1 else 1,
    )  # fmt: skip


def draw(axes: Axes, rows: DataFrame) -> None:
    """Draw places of simulations as disks, filled where the teacher is recovered, and name the dotted lines."""
    panel = rows["panel"].iloc[0]
    if panel == PATHS:
        name_curve(axes, "_2 best", "least error", x=0.0, offset=(0.0, 2.5), along="bottom")
    if panel == NOISELESS:  # by another name than in the first panel, where names are at the ends of curves
        for line in axes.get_legend_handles_labels()[0]:
            line.set_label(str(line.get_label()).replace(r"\alpha", "n/p"))
        axes.legend()
    if panel == PHASES:
        for line in axes.get_lines():
            if line.get_marker() == "*":
                filled = line.get_color() == "C6"
                line.set(marker="o", markersize=4, color="black", markerfacecolor="black" if filled else "white")
        axes.legend(loc="upper left")


SUPPORT = {"nonzero": "nonzero weights", "support_f1": r"support's $F_1$"}
FOUND: tuple[tuple[int | str, str, str], ...] = ((5, "<", "-"), ("0.35", ">", "--"))  # the looks of these
NOISELESS = "without noise: recovered below 1"
PATHS, PHASES = "each sample ratio has its strength", "the threshold of recovery"
EXPERIMENT = Experiment(
    title="By theory a lasso of the best strength comes within 4 % of the least error",
    panels=[
        Panel(
            title=PATHS,
            curves={
                rf"$\alpha = {alpha}$": Curve(
                    model=along(alpha), color=HUES[alpha], marker=MARKERS[alpha], style="-", points=marks(alpha)
                )
                for alpha in (0.5, 1, 2)
            }
            | {
                f"_{alpha} best": Curve(
                    model=float,
                    theory=lambda _strength, alpha=alpha: least_error(alpha),
                    replicate=NONE,
                    points=(),
                    line=(float(PATH[0]), float(PATH[-1])),
                    style=":",
                    color=HUES[alpha],
                )
                for alpha in (0.5, 1, 2)
            },
            theory=test_error,
            replicate=error_replicate,
            ylabel=r"test error $E\,(y - h)^2$",
        ),
        Panel(
            title=r"what is found at $\alpha = 1$",
            curves={
                label: Curve(
                    model=along(1),
                    theory=lambda model, name=name: float(getattr(saddle_point(model), name)),
                    replicate=partial(share_measured, name=name),
                    color=color,
                    marker=marker,
                    style=style,
                )
                for (color, marker, style), (name, label) in zip(FOUND, SUPPORT.items(), strict=True)
            },
            points=(0.05, 0.3, 1.0),
            ylabel="share",
        ),
        Panel(
            title=NOISELESS,
            curves={
                rf"$\alpha = {alpha}$": Curve(
                    model=partial(scaled, alpha), color=HUES[alpha], marker=MARKERS[alpha], style=style
                )
                for alpha, style in zip(RATIOS, ("--", "-", ":"), strict=True)
            },
            theory=relative_error,
            replicate=measured_relative_error,
            line=np.concatenate([np.linspace(0.3, 0.8, 6), np.linspace(0.88, 1.2, 17), np.linspace(1.3, 2.1, 9)]),
            points=BELOW_AND_ABOVE,
            xlabel="nonzero weights over their threshold",
            xscale="linear",
            yscale="log",
            ylabel="error over that of no weights",
        ),
        Panel(
            title=PHASES,
            curves={
                "least $|w|_1$": Curve(
                    model=float,
                    theory=threshold,
                    replicate=NONE,
                    points=(),
                    line=0.5 - 0.49 * np.cos(np.linspace(0, np.pi, 41)),
                    color=6,
                    style="-",
                )
            }
            | {"recovered": simulated(0.4), "_0.6": simulated(0.6)}
            | {"not recovered": simulated(1.5), "_2": simulated(2.0)},
            xlabel=r"sample ratio $\alpha = n/p$",
            xscale="linear",
            ylabel=SHARES,
        ),
    ],
    line=PATH,
    d=150,
    extrapolate=False,
    replicates=10,
    xlabel=r"strength $\lambda$ of the lasso",
    xscale="log",
    draw=draw,
    caption="The best strength of a lasso depends on the sample ratio alpha, and leaves its error by theory 3 to 4 "
    "percent above the least of any rule. A quarter of the teacher's weights is not zero; inputs are isotropic, "
    "labels have noise of variance 0.1. Lines are theory (p = infinity), markers simulations at p = {sizes}. (a) "
    "Middle markers stand at the best strengths; dotted is the least error if the law of the weights is known. (b) "
    "The share of nonzero weights, and F1 of their places (the harmonic mean of precision and recall). (c) Without "
    "noise, strength 0.001. (d) Theory of Donoho, Maleki and Montanari; disks are markers of (c), filled below an "
    "error of 0.0001.",
)
