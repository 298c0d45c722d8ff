"""Steps of gradient descent and of Adam."""

from typing import Literal

import numpy as np

from theory.models.arrays import Array

OptimizerName = Literal["adam", "sgd"]
FIRST, SECOND, EPSILON = 0.9, 0.999, 1e-8


class Optimizer:
    """Adam (arXiv:1412.6980) or plain gradient descent on named arrays; `moments` is empty for the latter."""

    def __init__(self, name: OptimizerName, rate: float, like: dict[str, Array]) -> None:
        self.rate = rate
        names = [f"{array}_{moment}" for array in like for moment in (1, 2)] if name == "adam" else []
        self.moments = {each: np.zeros_like(like[each[:-2]]) for each in names}

    def advanced(self, arrays: dict[str, Array], gradient: dict[str, Array], step: int) -> dict[str, Array]:
        """New arrays after step `step`, counted from 1."""
        if not self.moments:
            return {name: array - self.rate * gradient[name] for name, array in arrays.items()}
        rate = self.rate / (1 - FIRST**step)
        return {name: array - rate * self._direction(name, gradient[name], step) for name, array in arrays.items()}

    def _direction(self, name: str, gradient: Array, step: int) -> Array:
        mean, power = self.moments[name + "_1"], self.moments[name + "_2"]
        mean += (1 - FIRST) * (gradient - mean)
        power += (1 - SECOND) * (gradient**2 - power)
        return np.asarray(mean / (np.sqrt(power / (1 - SECOND**step)) + EPSILON))
