"""The record of labels that are independent of the inputs."""

from dataclasses import dataclass

from theory.core import checks
from theory.models.covariance import Covariance, set_checked
from theory.models.glm.objective import LossOrName, SumObjective, checked_loss


@dataclass(frozen=True, eq=False, repr=False)
class RandomLabels(SumObjective):
    """Inputs with a population `covariance` of the toolkit, and labels +-1 drawn by a fair coin (arXiv:2205.13303).

    A mixture whose clusters share the covariance has the same training loss, if the labels are independent of the
    cluster. There are n = alpha p samples; training with `loss` and `lam` minimizes sum loss + (lam/2) |w|^2 as in
    GeneralizedLinearModel.
    """

    covariance: Covariance
    alpha: float
    lam: float
    loss: LossOrName = "square"

    def __post_init__(self) -> None:
        checks.record("covariance", self.covariance, Covariance)
        set_checked(
            self,
            alpha=checks.positive("alpha", self.alpha),
            lam=checks.positive("lam", self.lam),
            loss=checked_loss(self.loss),
        )
