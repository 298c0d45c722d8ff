"""The Gaussian covariate model in the eigenbasis of the student's covariance."""

from theory.glm.systems.registry import as_problem
from theory.models.glm import Cluster, GaussianCovariateModel, GeneralizedLinearModel, Modes


@as_problem.register
def _(model: GaussianCovariateModel) -> GeneralizedLinearModel:
    teacher = Cluster(labels=model.labels, teacher_signal=0, teacher_variance=model.power, noise=model.noise)  # type: ignore[arg-type]
    modes = Modes.of_matrix(model.covariance, model.signal)
    return GeneralizedLinearModel(modes=modes, clusters=[teacher], alpha=model.alpha, loss=model.loss, lam=model.lam)
