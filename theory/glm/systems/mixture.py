"""Gaussian mixtures with labels +-1: each cluster's mean is a signal."""

from theory.glm.systems.registry import as_problem
from theory.models.glm import Cluster, GaussianMixture, GeneralizedLinearModel


@as_problem.register
def _(model: GaussianMixture) -> GeneralizedLinearModel:
    own = model.modes.n_covariances > 1
    clusters = [
        Cluster(probability=share, labels="cluster", label=label, covariance=c if own else 0, mean_signal=c)
        for c, (share, label) in enumerate(zip(model.probabilities, model.labels, strict=True))
    ]
    return GeneralizedLinearModel(
        modes=model.modes, clusters=clusters, alpha=model.alpha, loss=model.loss, lam=model.lam, bias=model.bias
    )
