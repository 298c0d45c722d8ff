"""The law of the signals as a mixture of normal laws in each mode, of which averages over weights are made."""

from dataclasses import dataclass
from typing import Self
from weakref import WeakKeyDictionary

import numpy as np

from theory.core.arrays import Array
from theory.models.glm import BernoulliGauss, GeneralizedLinearModel, Modes


@dataclass(frozen=True)
class Components:
    """The law of the signals as a mixture of K normal laws in each of M modes.

    `shares` (K, M), which sum to 1, are those of all coordinates; `values` (K, A, M) the means of the signals, and
    `powers` (K, A, A, M) their covariances.
    """

    shares: Array
    values: Array
    powers: Array

    @classmethod
    def of(cls, problem: GeneralizedLinearModel) -> Self:
        """Make the mixture of a problem's signals, normal ones if no law is given."""
        modes, law = problem.modes, problem.signals
        assert isinstance(modes, Modes)  # the law of signals refers to coordinates
        weights, A, M = modes.weights, modes.n_signals, len(modes.weights)
        powers = np.divide(modes.gram, weights, out=np.zeros_like(modes.gram), where=weights > 0)
        if isinstance(law, np.ndarray):
            return cls(weights[None], law[None], np.zeros((1, A, A, M)))
        if isinstance(law, BernoulliGauss) and A:
            shares = np.array([1 - law.share, law.share])[:, None] * weights
            return cls(shares, np.zeros((2, A, M)), np.stack([0 * powers, powers / law.share]))
        if law == "signs" and A:
            size = np.sqrt(powers[0])
            return cls(np.stack([weights, weights]) / 2, np.stack([size, -size]), np.zeros((2, A, A, M)))
        return cls(weights[None], np.zeros((1, A, M)), powers[None])

    @property
    def present(self) -> Array:
        """Whether the signals are not zero, (K, M)."""
        return np.asarray(np.any(self.values != 0, axis=1) | np.any(np.einsum("kaam->kam", self.powers) > 0, axis=1))


_KEPT: "WeakKeyDictionary[GeneralizedLinearModel, Components]" = WeakKeyDictionary()


def components_of(problem: GeneralizedLinearModel) -> Components:
    """Return the mixture of a problem's signals, which is made once for as long as the problem lives."""
    if (found := _KEPT.get(problem)) is None:
        found = _KEPT[problem] = Components.of(problem)
    return found
