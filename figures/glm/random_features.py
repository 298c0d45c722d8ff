"""Random features show double descent, with the peak at the separability threshold of the logistic loss."""

from functools import partial
from typing import Literal

import numpy as np
from numpy.random import Generator

from figures.core import NONE, Axes, Curve, DataFrame, Experiment, Panel, thinned
from figures.glm.observables import test_error
from simulate.core import stream
from simulate.glm import measure
from theory import glm
from theory.models import RandomFeatures

SAMPLES, ERROR = 3.0, "test error"  # n/d, and the name of what is measured
Projection = Literal["gaussian", "orthogonal"]
PROJECTIONS: tuple[Projection, ...] = ("gaussian", "orthogonal")
LAMS = {1e-4: "", 1e-2: r", $\lambda = 10^{-2}$"}
NEAR = np.unique(np.concatenate([np.geomspace(0.1, 3, 41), np.linspace(0.28, 0.5, 23), np.linspace(0.9, 1.12, 7)]))


def features(ratio: float, loss: str, projection: Projection, lam: float = 1e-4) -> RandomFeatures:
    """Make the model with p/n = ratio."""
    return glm.random_features(
        "sign", samples_per_input=SAMPLES, features_per_input=SAMPLES * ratio, loss=loss, lam=lam, projection=projection
    )


def threshold(projection: Projection) -> list[float]:
    return [glm.random_features_threshold(features(1.0, "logistic", projection)) / SAMPLES]


def measured(model: RandomFeatures, d: int, rng: Generator) -> dict[str, float]:
    return {ERROR: measure(model, d, rng).test_error}


def predicted(model: RandomFeatures) -> dict[str, float]:
    return {ERROR: test_error(model)}


CURVES = {
    f"{projection.capitalize()} projection{label}": (projection, lam)
    for lam, label in LAMS.items()
    for projection in (PROJECTIONS if lam == 1e-4 else PROJECTIONS[:1])
}
SETTINGS = {
    f"{projection}/{loss}/{lam}": partial(features, loss=loss, projection=projection, lam=lam)
    for projection, lam in CURVES.values()
    for loss in ("logistic", "square")
}


def samples(setting: str, ratio: float) -> str:
    """Name the samples, which are the same for all losses and ridges."""
    return f"{setting.partition('/')[0]}, {ratio:.3g}"


def draws(seed: int, setting: str, ratio: float, d: int, replicate: int) -> Generator:
    return stream(seed, "random features", samples(setting, ratio), d, replicate)


def curves(loss: str) -> dict[str, Curve]:
    shown = {
        name: Curve(number=ERROR, setting=f"{projection}/{loss}/{lam}") for name, (projection, lam) in CURVES.items()
    }
    if loss == "square":
        return shown
    stars = {
        f"_star, {projection.capitalize()} projection": Curve(
            model=partial(features, loss=loss, projection=projection),
            theory=test_error,
            points=partial(threshold, projection),
            line=(),
            replicate=NONE,
            color=position,
        )
        for position, projection in enumerate(PROJECTIONS)
    }
    return shown | stars


def mark_transitions(axes: Axes, rows: DataFrame) -> None:
    """Mark where labels become separable (logistic loss) or are interpolated (square loss), clear of the legends."""
    for position, projection in enumerate(PROJECTIONS):
        for x in rows.loc[rows["curve"] == f"_star, {projection.capitalize()} projection", "x"]:
            axes.axvline(x, color=f"C{position}", linewidth=0.8, linestyle=":", ymax=0.65, zorder=0)
    if "square loss" in set(rows["panel"]):
        axes.axvline(1.0, color="0.6", linewidth=0.8, linestyle=":", ymin=0.3, zorder=0)


EXPERIMENT = Experiment(
    title="By theory two losses peak at different numbers of random features",
    papers={
        "arXiv:2002.09339": "The published settings were not readable; these are our own. The error of the logistic "
        "loss peaks at the threshold of separability.",
    },
    panels=[
        Panel(title="logistic loss", curves=curves("logistic")),
        Panel(title="square loss", curves=curves("square")),
    ],
    measure=measured,
    theory=predicted,
    settings=SETTINGS,
    streams=draws,
    together=samples,
    line=NEAR,
    points=(0.1, 0.2, 1 / 3, 0.37, 0.5, 1.0, 1.5, 2.5),
    d=40,
    replicates=20,
    xlabel="features per sample $p/n$",
    ylabel="test error (share of wrong signs)",
    xscale="log",
    ylim=(0.18, 0.52),
    draw=mark_transitions,
    caption="Almost without a ridge, the error of the logistic loss has by theory its bump where the training set "
    "becomes separable, that of the square loss its peak where it is interpolated. Labels are sign(theta.c) of "
    "Gaussian inputs c in d dimensions; the classifier reads p features sign(F c), n/d = 3, lambda = 0.0001 "
    "unless stated. Lines are the theory for d = infinity; markers use the nonlinear features themselves at d "
    "= {sizes}, extrapolated in 1/d, the same samples for all losses and ridges. Dotted lines and stars mark "
    "separability (p/n = 0.368; 0.326 for orthogonal F) and p = n. The bump, 0.009 high, is below its bars. A "
    "ridge of 0.01 removes it, lowering the peak.",
    draft=thinned,
)
