"""Errors on Gaussian mixtures are compared between losses, for equal or unequal shares and three classes."""

from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np

from figures.core import NONE, Curve, Experiment, Panel, thinned
from figures.glm.observables import test_error
from simulate.glm import test_error as replicate
from theory import glm
from theory.glm.bayes_optimal import bayes_optimal_mixture
from theory.models import GaussianMixture, Modes, MulticlassMixture

LOSSES, LAM, VARIANCE = ("logistic", "hinge", "square"), 0.1, 0.5
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


def losses(share: float) -> dict[str, partial[GaussianMixture] | Curve]:
    return {loss: partial(binary, loss=loss, share=share) for loss in LOSSES} | {"Bayes-optimal": optimum(share)}


def multiclass(shares: tuple[float, ...]) -> Panel:
    return Panel(
        title="three classes, shares 0.5, 0.3, 0.2",
        curves={
            "softmax": Curve(model=partial(classes, loss="softmax", shares=shares), line=np.geomspace(0.3, 10, 31)),
            "square": partial(classes, loss="square", shares=shares),
        },
        line=np.geomspace(0.3, 10, 61),
        points=(0.5, 1.0, 3.0),
        replicates=20,
    )


BINARY = [
    Panel(title="two clusters, equal shares", curves=losses(0.5)),
    Panel(title="shares 1/4 and 3/4", curves=losses(0.25)),
]


def two_classes(own: Experiment) -> Experiment:
    """Take two classes: with three, softmax needs averages over the plane, half a second for every point."""
    return thinned(replace(own, panels=[*BINARY, multiclass((0.6, 0.4))]), line=3, points=1)


EXPERIMENT = Experiment(
    title="Which loss is nearest to the least error of Gaussian mixtures",
    papers={
        "arXiv:2106.03791": "Errors on Gaussian mixtures of two and three clusters by the equations of the paper; "
        "variances, shares, ridges and means are our own.",
    },
    panels=[*BINARY, multiclass((0.5, 0.3, 0.2))],
    theory=test_error,
    replicate=replicate,
    line=np.geomspace(0.2, 10, 61),
    points=(0.3, 1.0, 3.0, 8.0),
    d=50,
    replicates=20,
    xlabel=r"sample ratio $\alpha = n/p$",
    ylabel="test error (share of wrong labels)",
    xscale="log",
    caption="With equal shares the logistic loss comes nearest to the least error; with shares 1/4 and 3/4 and "
    "few samples the hinge and the square loss are better. Black dash-dotted lines are the error of classifying "
    "by the posterior mean of mu with known shares, which no method can beat. (a, b) Two clusters at +-mu, |mu| = "
    "1, variance 0.5. (c) Three clusters whose means have the scalar products (1, 0.3, 0; 0.3, 1, 0.2; 0, 0.2, "
    "1), variance 0.4: softmax is better than the square loss. Biases are trained, lambda = 0.1. Lines are the "
    "theory in the limit p = infinity, markers are simulations at p = {sizes}, extrapolated in 1/p.",
    draft=two_classes,
)
