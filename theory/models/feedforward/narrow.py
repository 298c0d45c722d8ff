"""The record of a teacher with one narrow hidden layer, and of what its student is told."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

import numpy as np

from theory.core import Accepted, Array, NonNegative, Positive, checked_fields, checks
from theory.models.covariance import set_checked

ActivationName = Literal["erf", "sign", "relu", "quadratic"]
Activation = ActivationName | Callable[[Array], Array]
SMALLEST_NOISE = 1e-12  # below it the equations of a student that errs by so little lose their digits
MAX_NOISE = 1e12
LARGEST_CONSTANT = 100.0  # over the change of an activation: the variance loses its digits beyond
MIN_BALANCED_UNITS, MIN_EQUAL_UNITS = 4, 2  # hidden units that have a difference between units of one sign
MAX_UNITS = 10_000  # beyond, the limit of infinitely many units differs by less than one part in ten thousand
SMALLEST_CHANGE, LARGEST_CHANGE = 1e-100, 1e100  # change of an activation, so that no square overflows or vanishes


def _erf(h: Array) -> Array:
    from scipy.special import erf

    return np.asarray(erf(h / math.sqrt(2)))


ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "erf": _erf,
    "sign": np.sign,
    "relu": lambda h: np.maximum(h, 0),
    "quadratic": lambda h: (h * h - 1) / math.sqrt(2),
}


@dataclass(frozen=True, kw_only=True)
class NarrowNetwork:
    """Describes a teacher with one hidden layer of K units, learned by a student of the same shape (arXiv:2507.00629).

    Inputs x in R^N have independent standard normal entries. The network puts out
    s(x) = K^(-1/2) sum_k v_k f(w_k.x/sqrt(N)) with K known signs v_k = +-1, half of each, so that the mean of f
    cancels; its weights w_k have independent standard normal entries. A sample is x with the label y = s(x) + noise
    (`labels` "linear") or y = sign(s(x) + noise) ("sign"); `noise` is the variance of this Gaussian noise. There are
    n = `alpha` N K samples, that is alpha for each weight, and the theory is that of 1 << K << N.

    The `activation` f is "erf", which here is erf(h/sqrt(2)), "sign", "relu", "quadratic", which is
    (h^2 - 1)/sqrt(2), or a function that maps an array to one of the same shape; it may have kinks and jumps.

    `hidden_units` is K where the theory shall keep it (see `theory.feedforward.tempered_orders` and
    `theory.feedforward.bayes_optimal`): the component of the
    output that is linear in x is then known only as well as n samples allow, and units overlap with each other. None
    stands for infinitely many units. With `readout` "equal" all signs are +1 and the output is s(x) minus its mean over
    inputs, as in the published runs. This differs from "balanced", half of each sign, only at finite K and for
    activations that are not odd.

    ValueError for alpha that is not positive, for noise that is negative, positive but below 1e-12 or above 1e12, for
    `hidden_units` that are odd or below 4 with balanced signs, below 2, or above 10000, and for a function that fails,
    or returns another shape, NaN, infinity, or nearly the same value everywhere. It must compute in double precision:
    single precision has no Hermite series that could be verified.

    >>> NarrowNetwork(alpha=3.0, activation="erf", noise=0.01).labels
    'linear'
    """

    alpha: Positive
    activation: Annotated[Activation, Accepted(lambda _, value: checked_activation(value))]
    noise: NonNegative = 0.0
    labels: Literal["linear", "sign"] = "linear"
    hidden_units: int | None = None
    readout: Literal["balanced", "equal"] = "balanced"

    def __post_init__(self) -> None:
        checked_fields(self)
        set_checked(self, hidden_units=_units(self.hidden_units, self.readout))
        if 0 < self.noise < SMALLEST_NOISE or self.noise > MAX_NOISE:
            raise ValueError(
                f"noise must be zero or lie between {SMALLEST_NOISE:g} and {MAX_NOISE:g}, got {self.noise:g}"
            )

    @property
    def function(self) -> Callable[[Array], Array]:
        """The activation as a function of arrays; ValueError where what a user's function returns is not finite."""
        return activation_function(self.activation)


def _units(given: int | None, readout: str) -> int | None:
    """Return K, or None for infinitely many; balanced signs need an even number, two of each at least."""
    if given is None:
        return None
    K = checks.count("hidden_units", given)
    if readout == "balanced" and (K < MIN_BALANCED_UNITS or K % 2):
        raise ValueError(f"hidden_units must be even and at least {MIN_BALANCED_UNITS} with balanced signs, got {K}")
    if K < MIN_EQUAL_UNITS or K > MAX_UNITS:
        raise ValueError(f"hidden_units must lie between {MIN_EQUAL_UNITS} and {MAX_UNITS}, got {K}")
    return K


def activation_function(activation: Activation) -> Callable[[Array], Array]:
    """Return an activation as a function of arrays that refuses what is no array of finite numbers."""
    if isinstance(activation, str):
        return ACTIVATIONS[activation]
    return lambda h: activation_values(activation, h)


def checked_activation(activation: Any) -> Any:
    """Return the name of an activation, or a function that maps arrays to arrays; ValueError otherwise."""
    if not callable(activation):
        if not isinstance(activation, str) or activation not in ACTIVATIONS:
            names = ", ".join(get_args(ActivationName))
            raise ValueError(f"activation must be one of {names} or a function, got {checks.shown(activation)}")
        return activation
    values = activation_values(activation, np.linspace(-6.0, 6.0, 49))
    if np.ptp(values) == 0:
        raise ValueError(f"activation must vary, got a function that is {values[0]:g} everywhere")
    if not SMALLEST_CHANGE <= np.max(values) / 2 - np.min(values) / 2 <= LARGEST_CHANGE:
        allowed = f"by numbers from {SMALLEST_CHANGE:g} to {LARGEST_CHANGE:g}"
        raise ValueError(f"activation must vary {allowed}, got values from {np.min(values):g} to {np.max(values):g}")
    if not abs(np.median(values)) <= LARGEST_CONSTANT * np.ptp(values):
        raise ValueError(
            "activation must not be nearly constant: subtract the constant, which cancels in the network, "
            f"got values from {np.min(values):.17g} to {np.max(values):.17g}"
        )
    return activation


def activation_values(function: Callable[[Array], Array], h: Array) -> Array:
    """Evaluate a user's activation; ValueError where it does not map an array to one of finite real numbers."""
    try:
        with np.errstate(all="ignore"):
            values = np.asarray(function(h.copy()))  # a function may work in place, as h[h < 0] = 0 does
    except Exception as failed:  # a stranger's function may raise anything
        raise ValueError(f"activation must be a function of an array, got one that fails: {failed!r}") from None
    if values.shape != h.shape or values.dtype.kind not in "iuf":
        raise ValueError(
            f"activation must map an array {h.shape} to real numbers of that shape, "
            f"got {values.dtype} of shape {values.shape}"
        )
    wrong = np.flatnonzero(~np.isfinite(values))
    if wrong.size:
        place = float(h.ravel()[wrong[0]])
        raise ValueError(f"activation must be finite, got {values.ravel()[wrong[0]]} at h = {place:g}")
    return np.asarray(values, float)
