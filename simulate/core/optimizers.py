"""The steps by which networks are trained along stochastic gradients."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from theory.core.blocks import blocks

Numbers = NDArray[np.floating[Any]]  # of single or double precision, which the steps keep
CACHED = 2**14  # numbers that are worked on together: what is computed on the way to a step stays in the cache

Precision = TypeVar("Precision", bound=np.floating[Any])

FIRST, SECOND, EPSILON = 0.9, 0.999, 1e-8  # the usual decay rates of Adam's moments, and what keeps its ratio finite


def adam_direction(
    gradient: NDArray[Precision], mean: NDArray[Precision], power: NDArray[Precision], step: int
) -> NDArray[Precision]:
    """Return what Adam (arXiv:1412.6980) subtracts at its step number `step` = 1, 2, ..., up to the learning rate.

    `mean` and `power`, zeros before the first step, are the running moments of the gradient and of its square; they are
    brought up to date in place.
    """
    if mean.size <= CACHED or mean.ndim == 0:
        return _direction(gradient, mean, power, step)
    found = np.empty_like(mean)
    for rows in blocks(len(mean), mean[0].size, most=CACHED):
        found[rows] = _direction(gradient[rows], mean[rows], power[rows], step)
    return found


def _direction(
    gradient: NDArray[Precision], mean: NDArray[Precision], power: NDArray[Precision], step: int
) -> NDArray[Precision]:
    mean += (1 - FIRST) * (gradient - mean)
    power += (1 - SECOND) * (gradient**2 - power)
    return np.asarray(mean / (1 - FIRST**step) / (np.sqrt(power / (1 - SECOND**step)) + EPSILON))


@dataclass
class Adam:
    """The Adam optimizer (arXiv:1412.6980), with its usual decay rates 0.9 and 0.999."""

    learning_rate: float
    _moments: list[tuple[Numbers, Numbers]] = field(default_factory=list)
    _count: int = 0

    def __call__(self, parameters: Sequence[Numbers], gradients: Sequence[Numbers]) -> None:
        """Step along the gradients, in place."""
        self._moments = self._moments or [(np.zeros_like(g), np.zeros_like(g)) for g in gradients]
        self._count += 1
        for x, g, moments in zip(parameters, gradients, self._moments, strict=True):
            x -= self.learning_rate * adam_direction(g, *moments, self._count)


@dataclass
class SGD:
    """The optimizer that steps along the stochastic gradient."""

    learning_rate: float

    def __call__(self, parameters: Sequence[Numbers], gradients: Sequence[Numbers]) -> None:
        """Step along the gradients, in place."""
        for x, g in zip(parameters, gradients, strict=True):
            x -= self.learning_rate * g
