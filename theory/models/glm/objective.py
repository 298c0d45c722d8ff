"""The objective that all records of generalized linear models minimize, and the losses that they may name."""

import dataclasses
from typing import Annotated, Any, Protocol

import numpy as np

from theory.core import Accepted, Array, CheckedRecord, checks

LOSSES = ("square", "logistic", "hinge", "hard_margin", "poisson")
METHODS = ("name", "value", "prox", "force", "slope", "breakpoints")  # of an own `Loss`


class Loss(Protocol):
    """The methods of a loss that the equations need; any object that has them can be used as a loss.

    A margin loss l(t) depends on t = y h, labels y = +-1; a residual loss l(e) on e = y - h, real labels. It need not
    be convex. The prox is searched for jumps, and for kinks that `breakpoints` does not tell where averages
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


LossOrName = Annotated[str | Loss, Accepted(lambda _, loss: checked_loss(loss))]  # one of LOSSES, or an own one


class Minimization(Protocol):
    """What every record of a generalized linear model has: n/p, the loss and the ridge of the sum over samples."""

    @property
    def alpha(self) -> float:
        """The number of samples per weight, n/p."""

    @property
    def loss(self) -> LossOrName:
        """The name of a known loss, or an own one."""

    @property
    def lam(self) -> float:
        """The ridge in sum loss + (lam/2) |w|^2."""


class SumObjective(CheckedRecord):
    """The base of records whose `lam` is that of a sum over samples, sum loss + (lam/2) |w|^2, and not of a mean.

    `theory.models.ridge_per_unknown` and `ridge_per_sample` convert to and from the ridge of
    `theory.models.MaskedRidge`, which belongs to (1/n) sum + lam |w|^2 of the loss (y - h)^2 without its half.
    """

    def __repr__(self) -> str:
        fields = [field for field in dataclasses.fields(self) if field.repr]  # type: ignore[arg-type]  # records all
        shown = ", ".join(f"{field.name}={_short(getattr(self, field.name))}" for field in fields)
        penalty = "(lam/2) |w|^2" if getattr(self, "penalty", None) is None else "penalty(w)"
        return f"{type(self).__name__}({shown}; minimizes sum loss + {penalty})"


def checked_loss(loss: LossOrName) -> LossOrName:
    """Return the name of a known loss, or an object with the methods of a loss; ValueError otherwise."""
    if isinstance(loss, str):
        return str(checks.choice("loss", loss, LOSSES))
    if isinstance(loss, type) or not all(hasattr(loss, name) for name in METHODS):
        known = ", ".join(map(repr, LOSSES))
        raise ValueError(
            f"loss must be one of {known}, a ConvexMargin or an object with the methods of theory.glm.Loss, "
            f"got {checks.shown(loss)}"
        )
    return loss


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, np.ndarray):
        return f"<array {value.shape}>"
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:116]} ..."
