"""The steps by which networks are trained along stochastic gradients."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.floating[Any]]  # of single or double precision, which the steps keep


@dataclass
class Adam:
    """The Adam optimizer (arXiv:1412.6980), with its usual decay rates 0.9 and 0.999."""

    learning_rate: float
    _moments: list[tuple[Numbers, Numbers]] = field(default_factory=list)
    _count: int = 0

    def __call__(self, parameters: Sequence[Numbers], gradients: Sequence[Numbers]) -> None:
        """Steps along the gradients, in place."""
        self._moments = self._moments or [(np.zeros_like(g), np.zeros_like(g)) for g in gradients]
        self._count += 1
        for x, g, (first, second) in zip(parameters, gradients, self._moments, strict=True):
            first += 0.1 * (g - first)
            second += 0.001 * (g**2 - second)
            mean, square = first / (1 - 0.9**self._count), second / (1 - 0.999**self._count)
            x -= self.learning_rate * mean / (np.sqrt(square) + 1e-8)


@dataclass
class SGD:
    """The optimizer that steps along the stochastic gradient."""

    learning_rate: float

    def __call__(self, parameters: Sequence[Numbers], gradients: Sequence[Numbers]) -> None:
        """Steps along the gradients, in place."""
        for x, g in zip(parameters, gradients, strict=True):
            x -= self.learning_rate * g
