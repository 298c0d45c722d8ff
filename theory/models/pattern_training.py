"""Masked regression under a pattern of masks that is trained for a while: random masks, and one span of coordinates."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from theory.core import NonNegative, Within
from theory.models.conventions import SampleRatio
from theory.models.masked_ridge import SampledRows
from theory.models.masks import SpanMask
from theory.models.row_scales import shown_fields
from theory.models.training import OnePass, Training


@dataclass(frozen=True, repr=False)
class _PatternTraining(SampledRows):
    """What trained patterns share: a time, and a ridge on top of it; one pass over the rows is not among them."""

    alpha: SampleRatio
    training: Training
    lam: NonNegative = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.training, OnePass):
            raise ValueError(
                f"training must be Flow, Descent, HeavyBall or Nesterov for {type(self).__name__}: one pass with "
                "masked inputs has another equation, which was not derived, got OnePass"
            )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({shown_fields(self)})"


@dataclass(frozen=True, repr=False, kw_only=True)
class RandomMasksTraining(_PatternTraining):
    """Masked regression with masked inputs, as in `RandomMasks` of infinitely many masks, trained for a while.

    Each input is set to zero with probability `mask_rate`, averaged over all masks of each of n = alpha d rows.
    Coordinate k is trained from a = 0 by minus half the gradient of (1/n) sum of E_masks (x_k - a.z)^2 + lam |a|^2, as
    `MaskedTraining` is. `n_masks` must be None: with finitely many masks there are classes of rows, whose equations
    for pairs of ridges were not derived.

    >>> from theory.models import AR1, Flow
    >>> RandomMasksTraining(AR1(d=400, correlation=0.7), 2.0, Flow(3.0), mask_rate=0.15).mask_rate
    0.15
    """

    mask_rate: Annotated[float, Within(0.0, 1.0, closed=(True, False))]
    n_masks: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_masks is not None:
            raise ValueError(
                "n_masks must be None, for infinitely many masks: with finitely many the equations for pairs of ridges "
                f"were not derived, got {self.n_masks!r}"
            )


@dataclass(frozen=True, repr=False, kw_only=True)
class SpanMaskTraining(_PatternTraining):
    """Masked regression of the coordinates of a `span` on those outside it, as in `SpanMask`, trained for a while.

    The coefficients of coordinate k of the span start at zero and follow `training` on (1/n) |X_k - X_outside a|^2 +
    lam |a|^2. d is finite, and much larger than the length of the span.

    >>> from theory.models import AR1, Flow
    >>> SpanMaskTraining(AR1(d=400, correlation=0.7), 2.0, Flow(3.0), span=range(100, 103)).span
    (100, 101, 102)
    """

    span: Sequence[int]

    def __post_init__(self) -> None:
        super().__post_init__()
        checked = SpanMask(self.covariance, self.alpha, 1.0, self.span)
        object.__setattr__(self, "span", checked.span)
