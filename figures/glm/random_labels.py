"""The training loss on random labels is universal without a ridge, and depends on the spectrum with one."""

from functools import cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from figures.core import NONE, Axes, Curve, DataFrame, Experiment, Panel, thinned
from figures.core.digits import missing, varying_pixels
from figures.core.names import name_curve
from figures.glm.observables import train_loss
from simulate.glm import random_inputs
from simulate.glm import train_loss as fitted_loss
from simulate.glm.random_labels import InputLaw
from theory import glm
from theory.models import AR1, Covariance, Isotropic, RandomLabels

RIDGE = 1.0
LINE = np.unique(np.concatenate([np.linspace(0.25, 3, 23), np.linspace(3.25, 8, 20), (2.01, 2.05)]))
POINTS = np.array([1.2, 2.4, 4.0])
SHOWN = {"square": np.array([0.5, *POINTS]), "hinge": POINTS}  # without a ridge, on both sides of where the loss begins
ANY = "theory, any inputs"
ROUNDING = 1e-20  # squares of residuals up to which labels are fitted exactly
CORRELATED: Covariance = AR1(np.inf, 0.8)
FAMILIES: dict[str, tuple[Covariance, InputLaw]] = {
    "Gaussian, isotropic": (Isotropic(np.inf), "gaussian"),
    "Gaussian, AR(1)": (CORRELATED, "gaussian"),
    "two clusters, AR(1)": (CORRELATED, "mixture"),
    "random features, AR(1)": (CORRELATED, "features"),
    "Rademacher, AR(1)": (CORRELATED, "rademacher"),
}


def labels(alpha: float, covariance: Covariance, loss: str) -> RandomLabels:
    return glm.random_labels(covariance, alpha, RIDGE, loss)


def universal(model: RandomLabels) -> float:
    return glm.random_labels_limit(model.alpha, model.loss).train_loss


def least_loss(model: RandomLabels, d: int, rng: np.random.Generator, inputs: InputLaw) -> float:
    """Measure the mean training loss without a ridge, by least squares or, for the hinge loss, by a linear program."""
    X = random_inputs(model.covariance.resized(d), round(model.alpha * d), rng, inputs)
    return least_loss_of(X, model, rng)


def least_loss_of_digits(model: RandomLabels, d: int, rng: np.random.Generator) -> float:
    """Measure the loss without a ridge on the d pixels of images that are drawn without replacement."""
    images = digits()
    return least_loss_of(images[rng.choice(len(images), round(model.alpha * d), replace=False)], model, rng)


@cache
def digits() -> NDArray[np.float64]:
    """Load the centered gray levels, (1797, 61), each with the variance one."""
    pixels = varying_pixels()
    return np.asarray((pixels - pixels.mean(axis=0)) / pixels.std(axis=0))


def least_loss_of(X: NDArray[np.float64], model: RandomLabels, rng: np.random.Generator) -> float:
    y = rng.choice((-1.0, 1.0), len(X))
    if model.loss == "square":
        loss = float(np.mean((y - X @ np.linalg.lstsq(X, y)[0]) ** 2) / 2)
        return loss if loss > ROUNDING else 0.0
    # By duality this is the largest mean of multipliers 0 <= a <= 1 with sum a y x = 0, which has d equations, not n.
    gain = -np.ones(len(X)) / len(X)
    exact = {"A_eq": (y[:, None] * X).T, "b_eq": np.zeros(X.shape[1]), "bounds": (0, 1)}
    found = linprog(
        gain, **exact, method="highs-ds", options={"presolve": False}
    )  # dense rows leave nothing to presolve
    if not found.success:
        raise RuntimeError(f"the linear program was not solved: {found.message}")
    return float(-found.fun)


def without_ridge(loss: str) -> Panel:
    hidden = "_" if loss == "hinge" else ""  # one legend for both
    curves = {
        hidden + name: Curve(
            model=partial(labels, covariance=covariance, loss=loss),
            replicate=partial(least_loss, inputs=inputs),
            line=(),
            points=SHOWN[loss] + 0.1 * position,  # side by side
        )
        for position, (name, (covariance, inputs)) in enumerate(FAMILIES.items())
    }
    curves[f"{hidden}digits, 61 pixels"] = Curve(
        model=partial(labels, covariance=Isotropic(np.inf), loss=loss),
        theory_at=lambda model, _d: universal(model),
        replicate=least_loss_of_digits,
        line=(),
        points=(2.9, 4.5, 7.0),  # below, some pixels often do not vary in the sample
        color=5,
        d=61,
        replicates=10,
        extrapolate=False,
        unjudged="pixels are not Gaussian, and the digits have one size",
    )
    curves[f"_{ANY}"] = Curve(
        model=partial(labels, covariance=Isotropic(np.inf), loss=loss),
        replicate=NONE,
        line=LINE,
        points=(),
        style="-",
        color=6,
    )
    return Panel(title=rf"{loss} loss, $\lambda \to 0$", curves=curves, theory=universal)


def with_ridge(loss: str) -> Panel:
    """Declare the first three families; the third has the theory of the second."""
    curves = {
        name: Curve(
            model=partial(labels, covariance=covariance, loss=loss),
            replicate=partial(fitted_loss, inputs=inputs),
            line=LINE if inputs == "gaussian" else np.empty(0),
        )
        for name, (covariance, inputs) in list(FAMILIES.items())[:3]
    }
    return Panel(title=rf"{loss} loss, $\lambda = {RIDGE:g}$", curves=curves, theory=train_loss)


def draw(axes: Axes, rows: DataFrame) -> None:
    """Name the line of all inputs."""
    if rows["curve"].eq(f"_{ANY}").any():
        name_curve(axes, f"_{ANY}", ANY, x=5.0, offset=(4.0, -10.0), along="top")


EXPERIMENT = Experiment(
    title="Without a ridge the least loss of random labels is the same for all inputs",
    papers={
        "arXiv:2205.13303": "It agrees that the training loss on random labels is universal as the ridge vanishes. The "
        "paper takes 1000 or 2000 features of mixtures and images; the chain of 40 and the small images are our own.",
    },
    panels=[make(loss) for loss in ("square", "hinge") for make in (without_ridge, with_ridge)],
    points=POINTS + 0.2,
    d=40,
    replicates=20,
    skip=missing,
    xlabel=r"sample ratio $\alpha = n/p$",
    ylabel="training loss per sample",
    caption="The least loss of labels of a fair coin is the same for inputs of any law without a "
    "ridge, and with one depends on the spectrum alone. Lines are the theory for p = infinity; markers are "
    "simulations at p = {sizes}, extrapolated in 1/p, at neighboring ratios. (a, c) Without a ridge the loss "
    "leaves zero at alpha = 1 (square loss, as (1 - 1/alpha)/2) and at alpha = 2 (hinge loss), where labels stop "
    "being separable. (b, d) At lambda = 1 two clusters at +-mu with |mu| = 2 lie on the line of one Gaussian. "
    "Real digits, not judged, lie within 0.4 % (square) and 6 % (hinge) of the line.",
    draft=thinned,
    draw=draw,
)
