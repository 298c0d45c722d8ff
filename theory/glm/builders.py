"""Functions that make the record of a model from what defines it, the usual arguments first."""

from typing import Any

from theory.models import Covariance
from theory.models.glm import (
    GaussianCovariateModel,
    GaussianMixture,
    MulticlassMixture,
    RandomFeatures,
    RandomLabels,
    TeacherMixture,
)


def random_features(activation: Any = "sign", **options: Any) -> RandomFeatures:
    """`RandomFeatures` of an activation: samples_per_input, features_per_input, lam, loss, labels, projection."""
    return RandomFeatures(activation=activation, **options)


def covariate_model(Psi: Any, Phi: Any, Omega: Any, teacher: Any, **options: Any) -> GaussianCovariateModel:
    """`GaussianCovariateModel` of the blocks E u u^T (k, k), E u v^T (k, p), E v v^T (p, p) and theta (k,)."""
    return GaussianCovariateModel.from_blocks(Psi, Phi, Omega, teacher, **options)


def gaussian_mixture(mean_power: float = 1.0, variances: Any = 1.0, **options: Any) -> GaussianMixture:
    """`GaussianMixture` of two clusters with means +-mu, |mu|^2 = `mean_power`: see `GaussianMixture.opposite`."""
    return GaussianMixture.opposite(mean_power=mean_power, variances=variances, **options)


def multiclass_mixture(modes: Any, probabilities: Any, **options: Any) -> MulticlassMixture:
    """`MulticlassMixture` of K clusters, each a class: alpha, lam, loss ("square" or "softmax"), bias."""
    return MulticlassMixture(modes=modes, probabilities=probabilities, **options)


def random_labels(covariance: Covariance, alpha: float, lam: float, loss: Any = "square") -> RandomLabels:
    """`RandomLabels` of inputs with a population covariance of the toolkit."""
    return RandomLabels(covariance=covariance, alpha=alpha, lam=lam, loss=loss)


def teacher_mixture(group_fraction: float, **options: Any) -> TeacherMixture:
    """`TeacherMixture` of two groups: alpha, lam, variances, teacher_overlap, mean_overlaps, loss_weights, coupling."""
    return TeacherMixture(group_fraction=group_fraction, **options)
