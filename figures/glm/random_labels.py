"""Training loss on random labels: at lam -> 0 one curve for all inputs, at a finite ridge one for each spectrum."""

from functools import partial

import numpy as np

from figures.core import NONE, Curve, Experiment, Panel
from figures.glm.observables import train_loss
from simulate.glm import train_loss as replicate
from theory import glm
from theory.models import AR1, Covariance, Isotropic, RandomLabels

SMALL, FINITE = 1e-4, 1.0  # ridges
CORRELATED: Covariance = AR1(np.inf, 0.8)
FAMILIES: dict[str, tuple[Covariance, str]] = {
    "Gaussian, isotropic": (Isotropic(np.inf), "gaussian"),
    "Gaussian, AR(1)": (CORRELATED, "gaussian"),
    "two clusters, AR(1)": (CORRELATED, "mixture"),
    "random features, AR(1)": (CORRELATED, "features"),
    "Rademacher, AR(1)": (CORRELATED, "rademacher"),
}
TRACKED = ("Gaussian, isotropic", "Gaussian, AR(1)", "two clusters, AR(1)")  # of those at a finite ridge


def labels(alpha: float, covariance: Covariance, lam: float, loss: str) -> RandomLabels:
    return glm.random_labels(covariance, alpha, lam, loss)


def universal(loss: str) -> Curve:
    return Curve(
        model=lambda alpha: alpha,
        theory=lambda alpha: glm.random_labels_limit(alpha, loss).train_loss,
        replicate=NONE,
        points=(),
        style="-",
        color=6,
    )


def family(name: str, lam: float, loss: str, line: np.ndarray, color: int) -> Curve:
    covariance, inputs = FAMILIES[name]
    return Curve(
        model=partial(labels, covariance=covariance, lam=lam, loss=loss),
        replicate=partial(replicate, inputs=inputs),
        line=line,
        color=color,
    )


def panel(loss: str, lam: float) -> Panel:
    drawn = () if lam == SMALL else TRACKED[:2]  # the rest lie on these
    names = FAMILIES if lam == SMALL else TRACKED
    curves = {
        name: family(name, lam, loss, LINE if name in drawn else np.empty(0), color)
        for color, name in enumerate(FAMILIES)
        if name in names
    }
    limit = {r"$\lambda \to 0$": universal(loss)}
    size = r"10^{-4}" if lam == SMALL else f"{lam:g}"
    return Panel(title=rf"{loss} loss, $\lambda = {size}$", curves=limit | curves)


LINE = np.linspace(0.25, 5, 39)
EXPERIMENT = Experiment(
    title="Random labels",
    panels=[panel(loss, lam) for loss in ("square", "hinge") for lam in (SMALL, FINITE)],
    theory=train_loss,
    replicate=replicate,
    line=LINE,
    points=(1.5, 2.5, 4.0),
    d=50,
    replicates=20,
    judged=lambda model: train_loss(model) > 1e-6,
    xlabel=r"sample ratio $\alpha = n/p$",
    ylabel="training loss per sample",
    figsize=(10.2, 2.6),
    caption="Labels drawn by a fair coin. At lambda = 0.0001 inputs of any law and covariance have the loss of the "
    "limit lambda -> 0, which rises at alpha = 1 (square: (1 - 1/alpha)/2) and 2 (hinge: where labels stop being "
    "separable). At lambda = 1 the loss depends on the spectrum, but not on the law: two clusters at +-mu, |mu| = 2, "
    "lie on the line of a single Gaussian. Markers: simulation at p = 50 and 100 extrapolated in 1/p.",
)
