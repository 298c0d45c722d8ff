"""Masked regression under a pattern of masks: random ones, one span of coordinates, or windows of a length."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from theory.core import Count, Within, checks
from theory.models.covariance import set_checked
from theory.models.masked_ridge import RidgeProblem

MOST_MASKS = 10**9  # more differ from infinitely many by less than rounding, and take minutes to sum over
LEAST_RATE = 1e-100  # least rate of masks that are drawn: below it the squares of their number vanish


@dataclass(frozen=True, repr=False)
class RandomMasks(RidgeProblem):
    """Masked regression whose inputs are masked too, each with probability `mask_rate`, as in masked language modeling.

    Each of n = alpha d rows x ~ N(0, Sigma) is masked `n_masks` times independently; None stands for infinitely often,
    the mean over all masks. Setting the masked inputs to 0 makes z of x. Coordinate k is regressed on z over the pairs
    of a sample and a mask that hide it: the sum of (x_k - a.z)^2 over these pairs, divided by their expected number N =
    n n_masks mask_rate, plus lam |a|^2 is minimized. mask_rate lies in [0, 1); with mask_rate 0, n_masks must be None,
    and the problem is then MaskedRidge.

    >>> import numpy as np
    >>> from theory.models import AR1
    >>> RandomMasks(AR1(d=np.inf, correlation=0.6), alpha=1.0, lam=0.1, mask_rate=0.25, n_masks=4).terms_per_unknown
    1.0
    """

    mask_rate: Annotated[float, Within(0.0, 1.0, closed=(True, False))]
    n_masks: Count | None = None

    objective: ClassVar[str] = "mean of (x_k - a.z)^2 over masks that hide k + lam |a|^2"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_masks is None:
            return
        count = self.n_masks
        if count > MOST_MASKS:
            raise ValueError(f"n_masks must be at most {MOST_MASKS}, or None for infinitely many, got {count}")
        if self.mask_rate < LEAST_RATE:
            raise ValueError(
                f"mask_rate must be positive with a finite number of masks, at least {LEAST_RATE:g}, "
                f"got {self.mask_rate!r}: none hides any"
            )

    @property
    def terms_per_unknown(self) -> float:
        """The ratio N/(d - 1), N the pairs of a sample and a mask that hide a coordinate; infinite for all masks."""
        return math.inf if self.n_masks is None else super().terms_per_unknown * self.n_masks * self.mask_rate


@dataclass(frozen=True, repr=False)
class SpanMask(RidgeProblem):
    """Masked regression of the coordinates of `span`, all masked together, on the coordinates outside it.

    The data are n = alpha d rows x ~ N(0, Sigma) with finite d. Each coordinate k of the span is predicted by `argmin_a
    (1/n) |X_k - X_outside a|^2 + lam |a|^2`. `span` holds different integers from 0 to d - 1, at least one and fewer
    than d; results keep their order.

    >>> from theory.models import AR1
    >>> SpanMask(AR1(d=400, correlation=0.6), alpha=1.0, lam=0.1, span=range(100, 103)).span
    (100, 101, 102)
    """

    span: Sequence[int]

    objective: ClassVar[str] = "(1/n) |X_k - X_outside a|^2 + lam |a|^2"

    def __post_init__(self) -> None:
        super().__post_init__()
        d, chosen = self.covariance.size, self.span
        if not chosen:
            raise ValueError("span must hold at least one coordinate, got none")
        if min(chosen) < 0 or max(chosen) >= d:
            low, high = checks.shown(min(chosen)), checks.shown(max(chosen))
            raise ValueError(f"span must lie in 0..{d - 1}, got {low}..{high} at d = {d}")
        if len(set(chosen)) < len(chosen):
            raise ValueError(f"span must not repeat a coordinate, got {chosen}")
        if len(chosen) == d:
            raise ValueError(f"span must leave a coordinate to predict from, got all {d}")
        set_checked(self, span=tuple(chosen))

    @property
    def terms_per_unknown(self) -> float:
        """The ratio n/(d - b), with b the length of the span."""
        return self.n / (self.d - len(self.span))


@dataclass(frozen=True, repr=False)
class SpanWindows(RidgeProblem):
    """Masked regression of every window of `length` consecutive coordinates, each masked as `SpanMask` masks one span.

    The data are n = alpha d rows x ~ N(0, Sigma), with d finite and above `length`. The windows begin at 0, step, 2
    step, ...

    >>> from theory.models import AR1
    >>> SpanWindows(AR1(d=100, correlation=0.6), alpha=1.0, lam=0.1, length=5, step=10).starts
    range(0, 96, 10)
    """

    length: Count
    step: Count = 1

    objective: ClassVar[str] = "(1/n) |X_k - X_outside a|^2 + lam |a|^2"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.length >= self.covariance.size:
            raise ValueError(f"length must be below d = {self.covariance.size}, got {self.length!r}")

    @property
    def starts(self) -> range:
        """The first coordinate of every window."""
        return range(0, self.covariance.size - self.length + 1, self.step)

    @property
    def terms_per_unknown(self) -> float:
        """The ratio n/(d - length)."""
        return self.n / (self.d - self.length)
