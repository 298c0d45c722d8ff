"""Errors on Gaussian mixtures are compared between losses, for equal or unequal shares and three classes."""

from dataclasses import replace
from functools import cache, partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.random import Generator

from figures.core import NONE, Axes, Curve, DataFrame, Experiment, Panel, thinned
from figures.core.names import write_name
from figures.glm.observables import test_error
from simulate.core import stream
from simulate.glm import measure
from theory import glm
from theory.glm.bayes_optimal import bayes_optimal_mixture
from theory.models import GaussianMixture, Modes, MulticlassMixture

LOSSES, LAM, VARIANCE = ("logistic", "hinge", "square"), 0.1, 0.5
CLASS_LOSSES: tuple[Literal["softmax", "square"], ...] = ("softmax", "square")
MEANS = np.array([[1.0, 0.3, 0.0], [0.3, 1.0, 0.2], [0.0, 0.2, 1.0]])[:, :, None]  # Gram matrix of the three means


class Problem(NamedTuple):
    """Holds clusters of these shares: two of `opposite` means, or one of each class, of the scalar products MEANS."""

    alpha: float
    shares: tuple[float, ...]
    opposite: bool

    def models(self) -> dict[str, GaussianMixture | MulticlassMixture]:
        """Return the model of each loss; others are compared with the first."""
        if self.opposite:
            share = self.shares[0]
            return {
                loss: glm.gaussian_mixture(1.0, VARIANCE, probability=share, alpha=self.alpha, lam=LAM, loss=loss)
                for loss in LOSSES
            }
        K = len(self.shares)
        modes = Modes([1.0], [[0.4]], MEANS[:K, :K])
        return {
            loss: MulticlassMixture(modes=modes, probabilities=self.shares, alpha=self.alpha, lam=LAM, loss=loss)
            for loss in CLASS_LOSSES
        }


def optimum(share: float) -> Curve:
    return Curve(
        model=lambda alpha: alpha,
        theory=lambda alpha: bayes_optimal_mixture(alpha, VARIANCE, 1.0, share).test_error,
        replicate=NONE,
        points=(),
        style="-.",
        color=6,
    )


def compared(errors: dict[str, float]) -> dict[str, float]:
    """Add to the error of each loss what those after the first have more than the first."""
    first, *others = errors
    return errors | {difference(loss, first): errors[loss] - errors[first] for loss in others}


def difference(loss: str, first: str = LOSSES[0]) -> str:
    return f"{loss} - {first}"


def measured(problem: Problem, d: int, rng: Generator) -> dict[str, float]:
    """Measure the test error of each loss on one sample, and how they differ."""
    state, errors = rng.bit_generator.state, {}
    for loss, model in problem.models().items():
        rng.bit_generator.state = state
        errors[loss] = measure(model, d, rng).test_error
    return compared(errors)


@cache
def predicted(problem: Problem) -> dict[str, float]:
    return compared({loss: test_error(model) for loss, model in problem.models().items()})


def samples(setting: str, alpha: float) -> str:
    return f"{setting}, {alpha:g}"


def draws(seed: int, setting: str, alpha: float, d: int, replicate: int) -> Generator:
    return stream(seed, "mixtures", samples(setting, alpha), d, replicate)


def losses(share: float) -> dict[str, Curve]:
    own = {loss: Curve(number=loss, setting=str(share)) for loss in LOSSES}
    return own | {"Bayes-optimal": optimum(share)}


def several(*shares: float) -> dict[str, partial[Problem]]:
    """Return the setting of more than two classes."""
    return {"classes": partial(Problem, shares=shares, opposite=False)}


MULTICLASS = Panel(
    title="three classes, shares 0.5, 0.3, 0.2",
    curves={
        loss: Curve(number=loss, setting="classes", color=k, marker=mark, style=style)
        for loss, k, mark, style in (("softmax", 3, "^", "--"), ("square", 2, "D", ":"))
    },
    line=np.geomspace(0.3, 10, 25),
    points=(0.5, 1.0, 3.0),
    replicates=20,
)
EQUAL, UNEQUAL = "equal shares", "1/4 and 3/4"
DIFFERENCES = Panel(
    title="two clusters: what the others have more than the logistic loss",
    curves={
        f"{loss}, {name}": Curve(
            number=difference(loss), setting=str(share), color=color, marker="osD"[color], style=("-", "--", ":")[color]
        )
        for share, name in ((0.5, EQUAL), (0.25, UNEQUAL))
        for color, loss in enumerate(LOSSES)
        if color
    },
    ylabel="difference of the test errors",
)
BINARY = [
    Panel(title="two clusters, equal shares", curves=losses(0.5)),
    Panel(title="shares 1/4 and 3/4", curves=losses(0.25)),
]


def two_classes(own: Experiment) -> Experiment:
    """Take two classes: with three, softmax needs averages over the plane, half a second for every point."""
    return thinned(replace(own, settings=SETTINGS | several(0.6, 0.4)), line=3, points=1)


SETTINGS = {str(share): partial(Problem, shares=(share, 1 - share), opposite=True) for share in (0.5, 0.25)}


def draw(axes: Axes, rows: DataFrame) -> None:
    """Draw the line of equal errors, and say which pair of lines has which shares."""
    if rows["panel"].iloc[0] == DIFFERENCES.title:
        axes.axhline(0.0, color="0.6", linewidth=0.8, zorder=0)
        axes.legend().remove()
        write_name(axes, EQUAL, (0.21, 0.046), along="bottom")
        write_name(axes, UNEQUAL, (0.5, -0.035), along="top")


EXPERIMENT = Experiment(
    title="No loss is always nearest to the least error of Gaussian mixtures",
    papers={
        "arXiv:2106.03791": "Errors on Gaussian mixtures of two and three clusters by the equations of the paper; "
        "variances, shares, ridges and means are our own.",
    },
    panels=[*BINARY, MULTICLASS, DIFFERENCES],
    measure=measured,
    theory=predicted,
    settings=SETTINGS | several(0.5, 0.3, 0.2),
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
    caption="With equal shares the logistic loss comes nearest to the least error; with shares 1/4 and 3/4 and few "
    "samples the hinge and the square loss are better. (a, b) Two clusters at ±mu, |mu| = 1, variance 0.5; "
    "dash-dotted is the error of the posterior mean of mu with known shares, the least possible. (c) Three clusters "
    "whose means have the scalar products (1, 0.3, 0; 0.3, 1, 0.2; 0, 0.2, 1), variance 0.4. (d) Differences of the "
    "errors in (a, b). Biases are trained, lambda = 0.1. Lines are the theory for p = infinity, markers simulations "
    "at p = {sizes}, the same samples for all losses, extrapolated in 1/p.",
    draft=two_classes,
    draw=draw,
)
