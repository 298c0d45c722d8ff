"""The law of the entries of a signal, of which a separable penalty sees more than the power."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self, get_args

import numpy as np

from theory.core import Accepted, Array, CheckedRecord, PositiveShare, checks
from theory.models.glm.modes import Modes

NamedLaw = Literal["gaussian", "signs"]
MATCH = 1e-8  # relative difference of a signal's own powers to those of the modes: what rounding may leave


@dataclass(frozen=True)
class BernoulliGauss(CheckedRecord):
    """Entries that are normal with probability `share` and zero otherwise; the modes tell their mean square.

    >>> BernoulliGauss(0.25).share
    0.25
    """

    share: PositiveShare


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
    def of(cls, modes: Modes, law: NamedLaw | BernoulliGauss | Array | None) -> Self:
        """Make the mixture of the signals of these modes, normal ones if no law is given."""
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


SignalLaw = Annotated[
    NamedLaw | BernoulliGauss | Array | None, Accepted(lambda name, value: checked_signal_law(name, value))
]


def checked_signal_law(name: str, value: Any) -> Any:
    """Return the law of signals: a known name, a `BernoulliGauss`, values (signals, modes), or None; else ValueError.

    One row of values stands for those of one signal.
    """
    if value is None or isinstance(value, BernoulliGauss):
        return value
    if isinstance(value, str):
        return checks.choice(name, value, get_args(NamedLaw))
    if isinstance(value, type) or np.ndim(value) == 0:
        known = ", ".join(map(repr, get_args(NamedLaw)))
        raise ValueError(
            f"{name} must be one of {known}, a BernoulliGauss or an array (signals, modes), got {checks.shown(value)}"
        )
    return checks.finite_array(name, np.atleast_2d(checks.real_array(name, value)), 2)


def require_law_of(modes: Modes, law: NamedLaw | BernoulliGauss | Array | None) -> None:
    """Refuse a law that these signals cannot have: values of other powers, or one that is known for one signal only."""
    if law is None or (isinstance(law, str) and law == "gaussian"):
        return
    if not isinstance(law, np.ndarray):
        if modes.n_signals > 1:
            raise ValueError(
                f"signals must be 'gaussian' or an array for several signals, whose joint law {checks.shown(law)} does "
                f"not tell, got {modes.n_signals} signals"
            )
        return
    shape = (modes.n_signals, len(modes.weights))
    if law.shape != shape:
        raise ValueError(f"signals must have shape {shape} (signals, modes), got {law.shape}")
    own = modes.weights * law[:, None, :] * law[None, :, :]
    if abs(own - modes.gram).max(initial=0.0) > MATCH * abs(modes.gram).max(initial=0.0):
        raise ValueError(
            "signals must have the Gram matrix of the modes, weights times signals times signals, whose order they "
            f"follow, got a difference of {abs(own - modes.gram).max():.3g}; Modes.of_coordinates keeps the order"
        )
