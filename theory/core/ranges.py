"""Ranges of arguments and fields, written where their types stand: `lam: Positive`, `n_layers: Count`.

`theory.core.arguments` reads them: `checked` for the arguments of a function, `checked_fields` for the fields of a
record. A type checker sees the bare type, since `Positive` is `Annotated[float, Within(low=0.0)]`.
"""

import math
from dataclasses import dataclass
from typing import Annotated, Any

from theory.core import checks


@dataclass(frozen=True)
class AtLeast:
    """The range of integers from `least` up to 2^63 - 1, the largest size that numpy can index.

    >>> AtLeast(2).check("n_colors", 3.0)
    3
    >>> AtLeast(2).check("n_colors", 1)
    Traceback (most recent call last):
    ...
    ValueError: n_colors must be an integer of at least 2, got 1
    """

    least: int

    def check(self, name: str, value: Any) -> int:
        """Return `value` as an int of this range, or raise ValueError that names the argument `name`."""
        return checks.count(name, value, least=self.least)


@dataclass(frozen=True)
class Within:
    """The interval of finite real numbers from `low` to `high`; `closed` says which of the ends belong to it.

    >>> Within(0.0, 1.0, closed=(True, False)).check("mask_rate", 0)
    0.0
    """

    low: float = -math.inf
    high: float = math.inf
    closed: tuple[bool, bool] = (False, False)

    def check(self, name: str, value: Any) -> float:
        """Return `value` as a float of this interval, or raise ValueError that names the argument `name`."""
        return checks.between(name, value, self.low, self.high, closed=self.closed)


Range = AtLeast | Within

Count = Annotated[int, AtLeast(1)]  # how many there are of something that cannot be missing
NonNegativeCount = Annotated[int, AtLeast(0)]  # how many there are of something that may be missing
Real = Annotated[float, Within()]  # any finite number
Positive = Annotated[float, Within(0.0)]
NonNegative = Annotated[float, Within(0.0, closed=(True, False))]
OpenShare = Annotated[float, Within(0.0, 1.0)]  # a share that is neither nothing nor all
Share = Annotated[float, Within(0.0, 1.0, closed=(True, True))]
