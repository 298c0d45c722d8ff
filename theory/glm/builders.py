"""Functions that make the record of a model from what defines it, the usual arguments first."""

from collections.abc import Callable
from typing import Literal

from numpy.typing import ArrayLike

from theory.core.arguments import checked
from theory.core.arrays import Array
from theory.core.ranges import Vector
from theory.glm.losses import Loss
from theory.models import Covariance
from theory.models.glm import (
    GaussianCovariateModel,
    GaussianMixture,
    Modes,
    MulticlassMixture,
    RandomFeatures,
    RandomLabels,
    TeacherMixture,
)
from theory.models.glm.cluster import Pair

Activation = str | Callable[[Array], Array]


@checked
def random_features(
    activation: Activation = "sign",
    *,
    samples_per_input: float,
    features_per_input: float,
    lam: float,
    loss: str | Loss = "logistic",
    labels: Literal["sign", "linear"] = "sign",
    noise: float = 0.0,
    projection: Literal["gaussian", "orthogonal"] = "gaussian",
) -> RandomFeatures:
    """Make the record `RandomFeatures`: features f(F c) of a Gaussian input, labels of a linear teacher of c.

    `activation` is "sign", "erf", "tanh", "relu" or a function of arrays; samples_per_input = n/d and
    features_per_input = p/d. Everything else as in the record.

    >>> random_features("sign", samples_per_input=3.0, features_per_input=1.5, lam=1e-4).alpha
    2.0
    """
    return RandomFeatures(
        activation=activation,
        samples_per_input=samples_per_input,
        features_per_input=features_per_input,
        lam=lam,
        loss=loss,
        labels=labels,
        noise=noise,
        projection=projection,
    )


@checked
def covariate_model(
    Psi: ArrayLike,
    Phi: ArrayLike,
    Omega: ArrayLike,
    teacher: ArrayLike,
    *,
    alpha: float,
    lam: float,
    loss: str | Loss = "logistic",
    labels: Literal["sign", "linear"] = "sign",
    noise: float = 0.0,
) -> GaussianCovariateModel:
    """Make the record `GaussianCovariateModel` of teacher features u in R^k and student features v in R^p.

    The blocks are Psi = E u u^T (k, k), Phi = E u v^T (k, p) and Omega = E v v^T (p, p), `teacher` is theta (k,), the
    teacher's field theta.u/sqrt(k). Everything else as in the record.
    """
    return GaussianCovariateModel.from_blocks(
        Psi, Phi, Omega, teacher, alpha=alpha, lam=lam, loss=loss, labels=labels, noise=noise
    )


@checked
def gaussian_mixture(
    mean_power: float = 1.0,
    variances: ArrayLike = 1.0,
    *,
    alpha: float,
    lam: float,
    weights: ArrayLike | None = None,
    probability: float = 0.5,
    loss: str | Loss = "logistic",
    bias: bool = True,
) -> GaussianMixture:
    """Make the record `GaussianMixture` of two clusters with means +-mu, |mu|^2 = `mean_power`, and labels +-1.

    `probability` is the share of the label 1. `variances` are one number, (M,) blocks of shares `weights`, or (2, M)
    for the clusters +1 and -1; see `GaussianMixture.opposite`.

    >>> gaussian_mixture(variances=0.5, probability=0.25, alpha=1.0, lam=0.1).probabilities
    (0.25, 0.75)
    """
    return GaussianMixture.opposite(
        mean_power=mean_power,
        variances=variances,
        weights=weights,
        probability=probability,
        alpha=alpha,
        lam=lam,
        loss=loss,
        bias=bias,
    )


@checked
def multiclass_mixture(
    modes: Modes,
    probabilities: Vector,
    *,
    alpha: float,
    lam: float,
    loss: Literal["square", "softmax"] = "square",
    bias: bool = True,
) -> MulticlassMixture:
    """Make the record `MulticlassMixture` of K clusters, each a class: `modes` hold K means, K shares sum to one."""
    return MulticlassMixture(
        modes=modes, probabilities=tuple(probabilities.tolist()), alpha=alpha, lam=lam, loss=loss, bias=bias
    )


@checked
def random_labels(covariance: Covariance, alpha: float, lam: float, loss: str | Loss = "square") -> RandomLabels:
    """Make the record `RandomLabels`: inputs with a population covariance of the toolkit, labels by a fair coin.

    >>> from theory.models import AR1
    >>> random_labels(AR1(20, 0.5), alpha=3.0, lam=0.1, loss="hinge").loss
    'hinge'
    """
    return RandomLabels(covariance=covariance, alpha=alpha, lam=lam, loss=loss)


@checked
def teacher_mixture(
    group_fraction: float,
    *,
    alpha: float,
    lam: float,
    loss: str | Loss = "logistic",
    variances: Pair = (0.5, 0.5),
    teacher_overlap: float = 1.0,
    mean_overlaps: Pair = (0.0, 0.0),
    teacher_biases: Pair = (0.0, 0.0),
    loss_weights: tuple[Pair, Pair] = ((1.0, 1.0), (1.0, 1.0)),
    coupling: float | None = None,
) -> TeacherMixture:
    """Make the record `TeacherMixture` of two groups with a teacher each; pairs list group + before group -.

    `group_fraction` is the share of group +. With a `coupling` each group has a classifier of its own, pulled to the
    other's; without one, both share one. Everything else as in the record.

    >>> teacher_mixture(0.2, alpha=2.0, lam=0.1, teacher_overlap=0.8).coupling is None
    True
    """
    return TeacherMixture(
        group_fraction=group_fraction,
        alpha=alpha,
        lam=lam,
        loss=loss,
        variances=variances,
        teacher_overlap=teacher_overlap,
        mean_overlaps=mean_overlaps,
        teacher_biases=teacher_biases,
        loss_weights=loss_weights,
        coupling=coupling,
    )
