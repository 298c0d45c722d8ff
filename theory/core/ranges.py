"""Ranges of arguments and fields, written where their types stand: `lam: Positive`, `n_layers: Count`.

`theory.core.arguments` reads them: `checked` for the arguments of a function, `checked_fields` for the fields of a
record. A type checker sees the bare type, since `Positive` is `Annotated[float, Within(low=0.0)]`.

A range says what an argument means, not how far the digits reach: numbers are promised for parameters (ratios, ridges,
variances, inverse temperatures) from 1e-6 to 1e6, and zero or infinity where their limits are named, unless the record
says otherwise. Further out a solver returns what it has verified or raises an error; no branch is written for it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from theory.core import checks
from theory.core.arrays import Array


@dataclass(frozen=True)
class AtLeast:
    """The range of integers from `least` up to `most`, by default 2^63 - 1, the largest size that numpy can index.

    >>> AtLeast(2).check("n_colors", 3.0)
    3
    >>> AtLeast(2).check("n_colors", 1)
    Traceback (most recent call last):
    ...
    ValueError: n_colors must be an integer of at least 2, got 1

    With `infinite`, infinity belongs to it too, for sizes whose limit is known.
    """

    least: int
    infinite: bool = False
    most: float = math.inf

    def check(self, name: str, value: Any) -> int | float:
        """Return `value` as an int of this range or as inf, or raise ValueError that names the argument `name`."""
        number = checks.dimension(value, infinite=self.infinite, least=self.least, name=name)
        if number > self.most:
            raise ValueError(f"{name} must be at most {self.most}, got {number}")
        return number


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


@dataclass(frozen=True)
class FiniteArray:
    """The arrays of finite real numbers with `ndim` axes, at least one number; they arrive as read-only copies.

    With `positive` all numbers are above zero; with `single` one number stands for an array of one.

    >>> FiniteArray(1).check("scales", [1, 2])
    array([1., 2.])
    """

    ndim: int
    positive: bool = False
    single: bool = False

    def check(self, name: str, value: Any) -> Array:
        """Return `value` as a float array with these axes, or raise ValueError that names the argument `name`."""
        given = np.atleast_1d(checks.real_array(name, value)) if self.single else value
        array = checks.finite_array(name, given, self.ndim)
        if self.positive and array.min() <= 0:
            raise ValueError(f"{name} must be positive, got {array.min()} at index {int(array.argmin())}")
        return array


@dataclass(frozen=True)
class Accepted:
    """The values that a check of one's own lets pass, which is given the name of the argument and the value."""

    check: Callable[[str, Any], Any]


Range = AtLeast | Within | FiniteArray | Accepted

Count = Annotated[int, AtLeast(1)]  # how many there are of something that cannot be missing
NonNegativeCount = Annotated[int, AtLeast(0)]  # how many there are of something that may be missing
Several = Annotated[int, AtLeast(2)]  # how many there are of something that is compared with others
Dimension = Annotated[int | float, AtLeast(1, infinite=True)]  # a size whose limit of infinity is known
Real = Annotated[float, Within()]  # any finite number
Positive = Annotated[float, Within(0.0)]
NonNegative = Annotated[float, Within(0.0, closed=(True, False))]
OpenShare = Annotated[float, Within(0.0, 1.0)]  # a share that is neither nothing nor all
Share = Annotated[float, Within(0.0, 1.0, closed=(True, True))]
PositiveShare = Annotated[float, Within(0.0, 1.0, closed=(False, True))]
Correlation = Annotated[float, Within(-1.0, 1.0, closed=(True, True))]
Vector = Annotated[Any, FiniteArray(1)]  # whoever calls may give a list
PositiveVector = Annotated[Any, FiniteArray(1, positive=True)]
Grid = Annotated[Any, FiniteArray(1, single=True)]
PositiveGrid = Annotated[Any, FiniteArray(1, positive=True, single=True)]
Matrix = Annotated[Any, FiniteArray(2)]
Numbers = Annotated[Any, Accepted(checks.numbers)]  # of any shape, where infinity has its limit
