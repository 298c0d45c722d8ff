"""Separable penalties of the weights: lasso, elastic net, and weights that are not negative."""

from dataclasses import dataclass, fields, replace
from typing import ClassVar, Self

from theory.core import CheckedRecord, Positive, checked, checked_fields
from theory.core import NonNegative as Amount  # a record below has the name of this range


class Penalty(CheckedRecord):
    """The base of penalties sum_j r(w_j) with r(w) = l1 |w| + (l2/2) w^2, of all weights or of weights w >= 0.

    They add to a sum of losses over samples, as the ridge of `GeneralizedLinearModel` does. A separable penalty refers
    to the coordinates of the weights, so that the inputs must have diagonal covariances.
    """

    non_negative: ClassVar[bool] = False

    @property
    def strengths(self) -> tuple[float, float]:
        """The pair (l1, l2)."""
        raise NotImplementedError

    @checked
    def scaled(self, factor: Positive) -> Self:
        """Return this penalty times a factor.

        >>> ElasticNet(l1=0.25, l2=0.5).scaled(2.0)
        ElasticNet(l1=0.5, l2=1.0)
        """
        own = {field.name: factor * getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return replace(self, **own)  # type: ignore[type-var]  # the records below are dataclasses


@dataclass(frozen=True)
class Lasso(Penalty):
    """The penalty strength |w|_1, which sets weights to zero.

    For inputs X (n, p) and square loss its minimum is that of scikit-learn's `Lasso(alpha=strength/n,
    fit_intercept=False)` on X/sqrt(p).

    >>> Lasso(0.3).strengths
    (0.3, 0.0)
    """

    strength: Positive

    @property
    def strengths(self) -> tuple[float, float]:
        """The pair (l1, l2), of which l2 is zero."""
        return self.strength, 0.0


@dataclass(frozen=True)
class ElasticNet(Penalty):
    """The penalty l1 |w|_1 + (l2/2) |w|^2; ValueError where both are zero.

    >>> ElasticNet(l1=0.3, l2=0.2).strengths
    (0.3, 0.2)
    """

    l1: Amount
    l2: Amount

    def __post_init__(self) -> None:
        checked_fields(self)
        if self.l1 == self.l2 == 0:
            raise ValueError("l1 and l2 must not both be 0, without a penalty the minimum need not be unique")

    @property
    def strengths(self) -> tuple[float, float]:
        """The pair (l1, l2)."""
        return self.l1, self.l2


@dataclass(frozen=True)
class NonNegative(Penalty):
    """The penalty (ridge/2) |w|^2 of weights that are not negative, w_j >= 0.

    >>> NonNegative(0.2).strengths, NonNegative.non_negative
    ((0.0, 0.2), True)
    """

    ridge: Positive
    non_negative: ClassVar[bool] = True

    @property
    def strengths(self) -> tuple[float, float]:
        """The pair (l1, l2), of which l1 is zero."""
        return 0.0, self.ridge
