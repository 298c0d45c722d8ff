"""The record of a perceptron whose weights take a few given values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

import numpy as np

from theory.core import Accepted, AtLeast, Positive, checked, checked_fields, checks
from theory.models.covariance import set_checked

LARGEST_LEVEL = 1e100  # so that no square of a level overflows
LARGEST_MARGIN = 1e3  # over the largest level: beyond it, even one pattern is classified with probability exp(-5e5)
MAX_LEVELS = 1000

Levels = Annotated[Sequence[float], Accepted(lambda _, value: checked_levels(value))]


@dataclass(frozen=True, kw_only=True)
class DiscretePerceptron:
    """A perceptron that stores random patterns with weights from a finite alphabet (arXiv:1602.04129).

    N weights W_i each take one of the `levels` w_1 < ... < w_L. They store P = `alpha` N patterns x_mu whose N entries
    are independent with mean 0 and variance 1, and whose random labels +-1 are already multiplied into them. W is a
    solution if

        x_mu.W / sqrt(N) > `margin`    for all mu = 1, ..., P.

    The margin is measured in the same units as the levels: levels and margin times a common factor are the same
    problem. Nothing fixes the mean or the length of W, also where the mean of the alphabet is not zero. The inequality
    is strict, so that W = 0 is no solution at margin 0.

    `levels` are kept as an ascending tuple. ValueError for fewer than two of them or more than 1000, for a level that
    is given twice or is not finite, for alpha <= 0, and for a margin beyond 1000 times the largest level.

    >>> DiscretePerceptron(levels=[1, -1], alpha=0.4)
    DiscretePerceptron(levels=(-1.0, 1.0), alpha=0.4, margin=0.0)
    """

    levels: Levels  # the values that a weight can take, in any order
    alpha: Positive  # patterns per weight, P/N
    margin: float = 0.0  # the smallest stability x.W/sqrt(N) that counts as stored

    def __post_init__(self) -> None:
        checked_fields(self)
        set_checked(self, margin=checked_margin(self.margin, self.levels))

    @property
    def n_levels(self) -> int:
        """The number L of values that a weight can take."""
        return len(self.levels)


@checked
def equally_spaced_levels(n_levels: Annotated[int, AtLeast(2, most=MAX_LEVELS)]) -> tuple[float, ...]:
    """Return `n_levels` >= 2 equally spaced values from -1 to 1.

    >>> equally_spaced_levels(3)
    (-1.0, 0.0, 1.0)
    """
    return tuple((2.0 * k - (n_levels - 1)) / (n_levels - 1) for k in range(n_levels))


def checked_levels(value: Any) -> tuple[float, ...]:
    """Return an alphabet as an ascending tuple; ValueError says what is wrong with it."""
    levels = sorted(checks.finite_array("levels", value, 1).tolist())
    if not 2 <= len(levels) <= MAX_LEVELS:
        raise ValueError(f"levels must be from 2 to {MAX_LEVELS} different numbers, got {len(levels)}")
    twice = [low for low, high in pairwise(levels) if low == high]
    if twice:
        raise ValueError(f"levels must be different numbers, got {twice[0]:g} more than once")
    if max(-levels[0], levels[-1]) > LARGEST_LEVEL:
        raise ValueError(f"levels must be at most {LARGEST_LEVEL:g} in absolute value, got {checks.shown(value)}")
    return tuple(levels)


def checked_margin(value: Any, levels: Sequence[float]) -> float:
    """Return a margin that is not absurdly large for an alphabet, or raise ValueError."""
    margin = checks.real("margin", value)
    largest = float(np.max(np.abs(levels)))
    if not abs(margin) <= LARGEST_MARGIN * largest or math.isinf(margin / largest):
        raise ValueError(
            f"margin must be at most {LARGEST_MARGIN:g} times the largest of the levels, {largest:g}, got {margin:g}"
        )
    return margin
