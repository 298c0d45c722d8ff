"""Convex losses: which ones are built in, and how a name or an object becomes one.

A margin loss l(t) depends on t = y h, labels y = +-1; a residual loss l(e) on e = y - h, real labels. With the response
V the prox of t is argmin_x (x - t)^2/(2V) + l(x), and the force (prox - t)/V = -l'(prox) is what a sample exerts.
"""

from theory.glm.custom_loss import ConvexMargin
from theory.glm.margin_losses import HardMargin, Hinge, Logistic, Square, SquareResidual
from theory.glm.poisson_loss import PoissonLoss
from theory.models.glm.objective import Loss, checked_loss

__all__ = ["LOSSES", "ConvexMargin", "HardMargin", "Hinge", "Logistic", "Loss", "Square", "loss_of", "residual_form"]


LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Square(), Logistic(), Hinge(), HardMargin(), PoissonLoss())}


def loss_of(loss: str | Loss) -> Loss:
    """Return the built-in loss with this name, or the object itself; ValueError lists the names."""
    known = checked_loss(loss)
    return LOSSES[known] if isinstance(known, str) else known


def residual_form(loss: Loss) -> Loss:
    """Return the loss as a function of the residual y - h; ValueError for one that needs labels +-1."""
    if isinstance(loss, Square):
        return SquareResidual()
    if isinstance(loss, Logistic | Hinge | HardMargin | PoissonLoss):
        if isinstance(loss, PoissonLoss):
            raise ValueError("loss='poisson' needs labels that are counts 0, 1, 2, ..., got others")
        raise ValueError(
            f"loss={loss.name!r} needs labels +-1, got linear labels; use 'square' or a ConvexMargin of y - h"
        )
    return loss
