"""A student learns from a teacher that sees other nonlinear features of the same latent vector."""

from dataclasses import replace
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from figures.core import Curve, Experiment, Panel, thinned
from figures.glm.observables import test_error, train_loss
from simulate.core import stream
from simulate.glm import test_error as error_replicate
from simulate.glm import train_loss as loss_replicate
from theory.models import GaussianCovariateModel

LATENT, TEACHER, STUDENT = 80, 100, 120  # dimensions: c, u = sign(F c), v = erf(G c)
SETTINGS = {"logistic": 0.01, "hinge": 0.1, "square": 0.1}  # the ridge of each loss


@lru_cache(maxsize=1)
def blocks() -> tuple[NDArray[np.float64], ...]:
    """Return Psi, Phi and Omega (the covariances of teacher and student features) of one draw, and the teacher theta.

    erf(g) is the mean of sign(sqrt(2) g + noise) over standard normal noise, so that one arcsine law serves both.
    """
    rng = stream(0, "covariate model")
    F, G = (rng.standard_normal((rows, LATENT)) / np.sqrt(LATENT) for rows in (TEACHER, STUDENT))
    rows = np.vstack((F, np.sqrt(2) * G))
    covariance = rows @ rows.T + np.diag(np.repeat((0.0, 1.0), (TEACHER, STUDENT)))
    scale = 1 / np.sqrt(np.diag(covariance))
    moments = 2 / np.pi * np.arcsin(np.clip(covariance * np.outer(scale, scale), -1, 1))
    own = np.arange(TEACHER, TEACHER + STUDENT)  # a square of erf(g) has two independent noises, unlike that of a sign
    inner = (rows[TEACHER:] @ rows[TEACHER:].T).diagonal()
    moments[own, own] = 2 / np.pi * np.arcsin(inner / (1 + inner))
    theta = rng.standard_normal(TEACHER)
    return moments[:TEACHER, :TEACHER], moments[:TEACHER, TEACHER:], moments[TEACHER:, TEACHER:], theta


@lru_cache(maxsize=1)
def of_blocks() -> GaussianCovariateModel:
    """Make the record of the blocks, whose compatibility takes longest to check."""
    return GaussianCovariateModel.from_blocks(*blocks(), alpha=1.0, lam=1.0)


@lru_cache(maxsize=256)
def covariate(alpha: float, loss: str) -> GaussianCovariateModel:
    return replace(of_blocks(), alpha=alpha, lam=SETTINGS[loss], loss=loss)


@lru_cache(maxsize=256)
def regression(alpha: float, lam: float) -> GaussianCovariateModel:
    return replace(of_blocks(), alpha=alpha, lam=lam, loss="square", labels="linear", noise=0.1)


CLASSIFIERS = {rf"{loss}, $\lambda = {lam}$": partial(covariate, loss=loss) for loss, lam in SETTINGS.items()}
EXPERIMENT = Experiment(
    title="Theory of a large system predicts a student with features of its own",
    papers={
        "arXiv:2102.08127, example 1 of the code": "Learning curves of a teacher and a student with different features "
        "of one Gaussian input, as in the authors' example; it has 1000 inputs, 1000 and 2000 features, here there "
        "are 80, 100 and 120.",
    },
    panels=[
        Panel(
            title="sign labels: test",
            curves=CLASSIFIERS,
            theory=test_error,
            replicate=error_replicate,
            ylabel="test error (share of wrong signs)",
        ),
        Panel(
            title="sign labels: training",
            curves=CLASSIFIERS,
            theory=train_loss,
            replicate=loss_replicate,
            ylabel="training loss per sample",
            points=(0.5, 2.0, 5.0),
        ),
        Panel(
            title=r"ridge regression, noise $\Delta = 0.1$",
            curves={
                rf"$\lambda = {lam}$": Curve(model=partial(regression, lam=lam), color=color, marker="^v<"[color - 3])
                for color, lam in enumerate((1e-3, 0.05, 0.5), start=3)
            },
            theory=test_error,
            replicate=error_replicate,
            ordered=True,
            ylabel="mean squared test error",
            yscale="log",
            ylim=(0.6, 4.0),
            line=np.geomspace(0.2, 6, 121),
            points=(0.3, 0.95, 1.25, 2.5, 5.0),
        ),
    ],
    line=np.geomspace(0.2, 6, 41),
    points=(0.3, 1.0, 2.0, 5.0),
    d=STUDENT,
    extrapolate=False,
    replicates=24,
    xlabel=r"samples per student feature $\alpha = n/p$",
    xscale="log",
    caption="Theory of a large system describes a student that learns from other features than its teacher, already "
    "at 120 features. A teacher has 100 sign features of 80 latent Gaussian numbers; it labels samples by the "
    "sign of a sum (a, b), or by a sum with noise of variance Delta (c). A student learns from its own erf "
    "features with the ridge lambda. The features are drawn once; their covariances are known in closed form "
    "(arcsine law). Lines are the theory of a large system with these covariances; markers are simulations "
    "with Gaussian samples of these covariances at p = 120. Nothing is extrapolated: terms of order 1/p may "
    "separate theory and simulation, which bars do not show.",
    draft=thinned,
)
