"""Convex losses: which ones are built in, and which methods the saddle-point equations need of one.

A margin loss l(t) depends on t = y h, labels y = +-1; a residual loss l(e) on e = y - h, real labels. With the response
V the prox of t is argmin_x (x - t)^2/(2V) + l(x), and the force (prox - t)/V = -l'(prox) is what a sample exerts.
"""

from typing import Protocol

from theory.core.arrays import Array
from theory.glm.custom_loss import ConvexMargin
from theory.glm.margin_losses import HardMargin, Hinge, Logistic, Square, SquareResidual
from theory.models.glm.objective import checked_loss

__all__ = ["LOSSES", "ConvexMargin", "HardMargin", "Hinge", "Logistic", "Loss", "Square", "loss_of", "residual_form"]


class Loss(Protocol):
    """The methods of a loss that the equations need; any object that has them can be used as a loss.

    It need not be convex. The prox is searched for jumps, and for kinks that `breakpoints` does not tell where averages
    show them; where it jumps the saddle point is unstable (`SaddlePoint.jumps`).
    """

    @property
    def name(self) -> str:
        """The name by which messages call it."""

    def value(self, t: Array, /) -> Array:
        """Return the loss l(t) at arguments t, (samples,)."""

    def prox(self, t: Array, V: float, /) -> Array:
        """Return argmin_x (x - t)^2/(2V) + l(x), the proximal operator at the response V."""

    def force(self, t: Array, prox: Array, V: float, /) -> Array:
        """Return (prox - t)/V, in a form without cancellation where there is one."""

    def slope(self, t: Array, prox: Array, V: float, /) -> Array | None:
        """Return the derivative of the force by t, or None where it is not known."""

    def breakpoints(self, V: float, /) -> list[tuple[float, float]]:
        """Return pairs (t, width): where the force bends, and on what scale; the width of a kink is 0."""


LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Square(), Logistic(), Hinge(), HardMargin())}


def loss_of(loss: str | Loss) -> Loss:
    """Return the built-in loss with this name, or the object itself; ValueError lists the names."""
    known = checked_loss(loss)
    found: Loss = LOSSES[known] if isinstance(known, str) else known
    return found


def residual_form(loss: Loss) -> Loss:
    """Return the loss as a function of the residual y - h; ValueError for one that needs labels +-1."""
    if isinstance(loss, Square):
        return SquareResidual()
    if isinstance(loss, Logistic | Hinge | HardMargin):
        raise ValueError(
            f"loss={loss.name!r} needs labels +-1, got linear labels; use 'square' or a ConvexMargin of y - h"
        )
    return loss
