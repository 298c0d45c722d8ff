"""The objective that all records of generalized linear models minimize, and the losses that they may name."""

import dataclasses
from typing import Annotated, Any

import numpy as np

from theory.core import checks
from theory.core.arguments import CheckedRecord
from theory.core.ranges import Accepted

LOSSES = ("square", "logistic", "hinge", "hard_margin")
METHODS = ("name", "value", "prox", "force", "slope", "breakpoints")  # the methods of an own loss, see theory.glm.Loss


class SumObjective(CheckedRecord):
    """The base of records whose `lam` is that of a sum over samples, sum loss + (lam/2) |w|^2, and not of a mean.

    `theory.models.ridge_per_unknown` and `ridge_per_sample` convert to and from the ridge of
    `theory.models.MaskedRidge`, which belongs to (1/n) sum + lam |w|^2 of the loss (y - h)^2 without its half.
    """

    def __repr__(self) -> str:
        fields = [field for field in dataclasses.fields(self) if field.repr]  # type: ignore[arg-type]  # records all
        shown = ", ".join(f"{field.name}={_short(getattr(self, field.name))}" for field in fields)
        return f"{type(self).__name__}({shown}; minimizes sum loss + (lam/2) |w|^2)"


def checked_loss(loss: Any) -> Any:
    """Return the name of a known loss, or an object with the methods of a loss; ValueError otherwise."""
    if isinstance(loss, str):
        return checks.choice("loss", loss, LOSSES)
    if isinstance(loss, type) or not all(hasattr(loss, name) for name in METHODS):
        known = ", ".join(map(repr, LOSSES))
        raise ValueError(
            f"loss must be one of {known}, a ConvexMargin or an object with the methods of theory.glm.Loss, "
            f"got {checks.shown(loss)}"
        )
    return loss


LossOrName = Annotated[Any, Accepted(lambda _, loss: checked_loss(loss))]


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, np.ndarray):
        return f"<array {value.shape}>"
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:116]} ..."
