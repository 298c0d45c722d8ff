"""The law of the entries of a signal, of which a separable penalty sees more than the power."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

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
    array = None if isinstance(value, type) else checks.real_array(name, value)
    if array is None or array.ndim == 0:
        known = ", ".join(map(repr, get_args(NamedLaw)))
        raise ValueError(
            f"{name} must be one of {known}, a BernoulliGauss or an array (signals, modes), got {checks.shown(value)}"
        )
    return checks.finite_array(name, np.atleast_2d(array), 2)


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
