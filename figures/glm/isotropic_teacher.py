"""Three losses learn a sign teacher, and their errors are compared with the Bayes-optimal one."""

from functools import lru_cache, partial

import numpy as np

from figures.core import NONE, Curve, Experiment, Panel
from figures.glm.observables import test_error, train_loss
from simulate.glm import test_error as error_replicate
from simulate.glm import train_loss as loss_replicate
from theory.glm.bayes_optimal import bayes_optimal_sign
from theory.models import Cluster, GeneralizedLinearModel, Modes

LOSSES = ("logistic", "hinge", "square")
LAM = 0.1


@lru_cache(maxsize=256)
def teacher(alpha: float, loss: str) -> GeneralizedLinearModel:
    return GeneralizedLinearModel(
        modes=Modes([1.0], [[1.0]], [[[1.0]]]), clusters=[Cluster(teacher_signal=0)], alpha=alpha, loss=loss, lam=LAM
    )


LINES = {loss: partial(teacher, loss=loss) for loss in LOSSES}
EXPERIMENT = Experiment(
    title=r"Three losses beside the least error of any method, $\lambda = 0.1$",
    panels=[
        Panel(
            title="test",
            curves=LINES
            | {
                "Bayes-optimal": Curve(
                    model=lambda alpha: alpha,
                    theory=lambda alpha: bayes_optimal_sign(alpha).test_error,
                    replicate=NONE,
                    points=(),
                    style="-.",
                    color=6,
                )
            },
            theory=test_error,
            replicate=error_replicate,
            ylabel="test error (share of wrong signs)",
            yscale="log",
        ),
        Panel(
            title="training",
            curves=LINES,
            theory=train_loss,
            replicate=loss_replicate,
            ylabel="training loss per sample",
            points=(1.0, 3.0, 10.0),
        ),
    ],
    line=np.geomspace(0.2, 20, 41),
    points=(0.3, 1.0, 3.0, 10.0),
    d=50,
    replicates=24,
    xlabel=r"sample ratio $\alpha = n/p$",
    xscale="log",
    caption="At a fixed ridge three losses come within 1, 4 and 8 % of the least error of any method at one "
    "sample per dimension, and fall behind later. Labels are sign(theta.x) without noise, for inputs x ~ N(0, I) "
    "in p dimensions. Lines are the theory in the limit p = infinity; markers are simulations at p = {sizes}, "
    "extrapolated in 1/p. The dash-dotted line is that least error, of the posterior mean, which falls as "
    "0.442/alpha. At alpha = 10 the errors of logistic, hinge and square loss are 0.057, 0.058 and 0.078, against "
    "0.044.",
)
