"""Errors on Gaussian mixtures are compared between losses, for equal or unequal shares and three classes."""

from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.random import Generator

from figures.core import NONE, Curve, Experiment, Panel, thinned
from figures.glm.observables import test_error
from simulate.core import stream
from simulate.glm import measure
from theory import glm
from theory.glm.bayes_optimal import bayes_optimal_mixture
from theory.models import GaussianMixture, Modes, MulticlassMixture

LOSSES, LAM, VARIANCE, ERROR = ("logistic", "hinge", "square"), 0.1, 0.5, "test error"
MEANS = np.array([[1.0, 0.3, 0.0], [0.3, 1.0, 0.2], [0.0, 0.2, 1.0]])[:, :, None]  # Gram matrix of the three means


def binary(alpha: float, loss: str, share: float) -> GaussianMixture:
    return glm.gaussian_mixture(1.0, VARIANCE, probability=share, alpha=alpha, lam=LAM, loss=loss)


def classes(alpha: float, loss: Literal["square", "softmax"], shares: tuple[float, ...]) -> MulticlassMixture:
    modes = Modes([1.0], [[0.4]], MEANS[: len(shares), : len(shares)])
    return MulticlassMixture(modes=modes, probabilities=shares, alpha=alpha, lam=LAM, loss=loss)


def optimum(share: float) -> Curve:
    return Curve(
        model=lambda alpha: alpha,
        theory=lambda alpha: bayes_optimal_mixture(alpha, VARIANCE, 1.0, share).test_error,
        replicate=NONE,
        points=(),
        style="-.",
        color=6,
    )


SETTINGS = {f"{share}/{loss}": partial(binary, loss=loss, share=share) for share in (0.5, 0.25) for loss in LOSSES}


def measured(model: GaussianMixture | MulticlassMixture, d: int, rng: Generator) -> dict[str, float]:
    return {ERROR: measure(model, d, rng).test_error}


def predicted(model: GaussianMixture | MulticlassMixture) -> dict[str, float]:
    return {ERROR: test_error(model)}


def samples(setting: str, alpha: float) -> str:
    """Name the samples, which are the same for all losses."""
    return f"{setting.partition('/')[0]}, {alpha:g}"


def draws(seed: int, setting: str, alpha: float, d: int, replicate: int) -> Generator:
    return stream(seed, "mixtures", samples(setting, alpha), d, replicate)


def losses(share: float) -> dict[str, Curve]:
    own = {loss: Curve(number=ERROR, setting=f"{share}/{loss}") for loss in LOSSES}
    return own | {"Bayes-optimal": optimum(share)}


def several(shares: tuple[float, ...]) -> dict[str, partial[MulticlassMixture]]:
    """Return the settings of more than two classes."""
    return {
        "classes/softmax": partial(classes, loss="softmax", shares=shares),
        "classes/square": partial(classes, loss="square", shares=shares),
    }


def multiclass() -> Panel:
    return Panel(
        title="three classes, shares 0.5, 0.3, 0.2",
        curves={
            "softmax": Curve(number=ERROR, setting="classes/softmax", line=np.geomspace(0.3, 10, 25)),
            "square": Curve(number=ERROR, setting="classes/square"),
        },
        line=np.geomspace(0.3, 10, 41),
        points=(0.5, 1.0, 3.0),
        replicates=20,
    )


BINARY = [
    Panel(title="two clusters, equal shares", curves=losses(0.5)),
    Panel(title="shares 1/4 and 3/4", curves=losses(0.25)),
]


def two_classes(own: Experiment) -> Experiment:
    """Take two classes: with three, softmax needs averages over the plane, half a second for every point."""
    return thinned(replace(own, settings=SETTINGS | several((0.6, 0.4))), line=3, points=1)


EXPERIMENT = Experiment(
    title="Which loss is nearest to the least error of Gaussian mixtures",
    papers={
        "arXiv:2106.03791": "Errors on Gaussian mixtures of two and three clusters by the equations of the paper; "
        "variances, shares, ridges and means are our own.",
    },
    panels=[*BINARY, multiclass()],
    measure=measured,
    theory=predicted,
    settings=SETTINGS | several((0.5, 0.3, 0.2)),
    streams=draws,
    together=samples,
    line=np.geomspace(0.2, 10, 41),
    points=(0.3, 1.0, 3.0, 6.0),
    d=80,
    replicates=40,
    seed=1,  # samples that no earlier table had
    xlabel=r"sample ratio $\alpha = n/p$",
    ylabel="test error (share of wrong labels)",
    xscale="log",
    caption="With equal shares the logistic loss comes nearest to the least error; with shares 1/4 and 3/4 and "
    "few samples the hinge and the square loss are better. (a, b) Black dash-dotted lines are the error of "
    "classifying by the posterior mean of mu with known shares, the least possible. (a, b) Two clusters at +-mu, "
    "|mu| = 1, variance 0.5. (c) Three clusters whose means have the scalar products (1, 0.3, 0; 0.3, 1, 0.2; 0, "
    "0.2, 1), variance 0.4: softmax is better than the square loss. Biases are trained, lambda = 0.1. Lines are "
    "the theory in the limit p = infinity, markers are simulations at p = {sizes}, the same samples for all "
    "losses, extrapolated in 1/p.",
    draft=two_classes,
)
