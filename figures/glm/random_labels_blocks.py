"""Two clusters of unequal covariances have another training loss on random labels than their mean covariance has."""

from functools import partial

import numpy as np

from figures.core import Curve, Experiment, Panel
from figures.core.drafts import thinned
from figures.glm.observables import train_loss
from simulate.glm import train_loss as fitted_loss
from theory.models import Cluster, GeneralizedLinearModel, Modes

# Variances of three blocks of equally many inputs: of two clusters around zero, equally frequent.
CLUSTERS = np.array([[0.01, 0.98, 0.01], [0.495, 0.01, 0.495]])
LAMS = (0.1, 0.5, 1.0)
LAWS = {"one Gaussian": CLUSTERS.mean(axis=0, keepdims=True), "two clusters": CLUSTERS}


def labels(alpha: float, law: str, lam: float, loss: str) -> GeneralizedLinearModel:
    covariances = LAWS[law]
    return GeneralizedLinearModel(
        modes=Modes(np.full(3, 1 / 3), covariances),
        clusters=[
            Cluster(probability=1 / len(covariances), labels="random", covariance=c) for c in range(len(covariances))
        ],
        alpha=alpha,
        loss=loss,
        lam=lam,
    )


def panel(loss: str) -> Panel:
    curves = {
        rf"{law}, $\lambda = {lam:g}$": Curve(
            model=partial(labels, law=law, lam=lam, loss=loss),
            style="-" if law == "one Gaussian" else "--",
            color=color,
            points=(0.5, 1.0, 2.0) if lam == LAMS[0] else (1.0,),
        )
        for color, lam in enumerate(LAMS)
        for law in LAWS
    }
    return Panel(title=f"{loss} loss", curves=curves)


EXPERIMENT = Experiment(
    title="Random labels, variances in three blocks",
    papers={
        "arXiv:2205.13303": "Blocks, variances and ridges are those of the authors' code, with 1000 inputs there. The "
        "loss of two clusters of these unequal covariances is not that of one Gaussian, by theory and simulation; "
        "universality at finite ridges is claimed here for clusters of one covariance only.",
    },
    panels=[panel(loss) for loss in ("square", "logistic", "hinge")],
    theory=train_loss,
    replicate=fitted_loss,
    line=np.linspace(0.1, 3.5, 35),
    d=240,
    toy_d=21,
    extrapolate=False,
    replicates=16,
    xlabel=r"sample ratio $\alpha = n/p$",
    ylabel="training loss per sample",
    caption="Two clusters whose covariances differ have another training loss on random labels than one Gaussian with "
    "their mean covariance. A third of the inputs each has the variances 0.01, 0.98, 0.01 in one cluster and 0.495, "
    "0.01, 0.495 in the other (dashed), and 0.2525, 0.495, 0.2525 on average (solid); means are zero, labels those of "
    "a fair coin, independent of the cluster. Lines are the theory in the limit p = infinity, markers simulations at "
    "p = {sizes} with error bars. The difference is largest for few samples and a small ridge, 25 % for the hinge loss "
    "at alpha = 0.5 and lambda = 0.1; at lambda = 1 it is below 0.2 % everywhere.",
    draft=thinned,
)
