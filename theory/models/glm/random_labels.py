"""The record of labels that are independent of the inputs."""

from dataclasses import dataclass

from theory.core.ranges import Positive
from theory.models.covariance import Covariance
from theory.models.glm.objective import LossOrName, SumObjective


@dataclass(frozen=True, eq=False, repr=False)
class RandomLabels(SumObjective):
    """Inputs with a population `covariance` of the toolkit, and labels +-1 drawn by a fair coin (arXiv:2205.13303).

    A mixture whose clusters share the covariance has the same training loss, if the labels are independent of the
    cluster. There are n = alpha p samples; training with `loss` and `lam` minimizes sum loss + (lam/2) |w|^2 as in
    GeneralizedLinearModel.
    """

    covariance: Covariance
    alpha: Positive
    lam: Positive
    loss: LossOrName = "square"
