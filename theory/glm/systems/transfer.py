"""Transfer: the Gaussian covariate model of the frozen features."""

from theory.glm.systems.registry import as_problem
from theory.models.glm import GeneralizedLinearModel, TransferModel


@as_problem.register
def _(model: TransferModel) -> GeneralizedLinearModel:
    return as_problem(model.covariate_model)
