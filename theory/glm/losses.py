"""Convex losses: which there are, and what the channel needs of one.

A margin loss l(t) depends on t = y h, labels y = +-1; a residual loss l(e) on e = y - h, real labels. With the response
V the prox of t is argmin_x (x - t)^2/(2V) + l(x), and the force (prox - t)/V = -l'(prox) is what a sample exerts.
"""

from typing import Protocol

from theory.glm.custom_loss import ConvexMargin
from theory.glm.margin_losses import HardMargin, Hinge, Logistic, Square, SquareResidual
from theory.models.arrays import Array
from theory.models.glm.objective import checked_loss

__all__ = ["LOSSES", "ConvexMargin", "HardMargin", "Hinge", "Logistic", "Loss", "Square", "loss_of", "residual_form"]


class Loss(Protocol):
    """What the channel needs of a loss; any object with these serves, built in or not."""

    @property
    def name(self) -> str:
        """How messages call it."""

    def value(self, t: Array) -> Array:
        """l(t)."""

    def prox(self, t: Array, V: float) -> Array:
        """argmin_x (x - t)^2/(2V) + l(x)."""

    def force(self, t: Array, prox: Array, V: float) -> Array:
        """(prox - t)/V, in a form without cancellation where there is one."""

    def slope(self, t: Array, prox: Array, V: float) -> Array | None:
        """The derivative of the force by t, or None where it is not known."""

    def breakpoints(self, V: float) -> list[tuple[float, float]]:
        """(t, width): where the force bends, and on what scale; width 0 is a kink."""


LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Square(), Logistic(), Hinge(), HardMargin())}


def loss_of(loss: str | Loss) -> Loss:
    """The loss of a name, or the object itself; ValueError lists the names."""
    known = checked_loss(loss)
    found: Loss = LOSSES[known] if isinstance(known, str) else known
    return found


def residual_form(loss: Loss) -> Loss:
    """The loss as a function of the residual y - h; ValueError for one that needs labels +-1."""
    if isinstance(loss, Square):
        return SquareResidual()
    if isinstance(loss, Logistic | Hinge | HardMargin):
        raise ValueError(
            f"loss={loss.name!r} needs labels +-1, got linear labels; use 'square' or a ConvexMargin of y - h"
        )
    return loss
