"""Random features of a Gaussian input, and their Gaussian equivalent."""

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from theory.core import Array, NonNegative, Positive, checked_fields, checks
from theory.models.covariance import set_checked
from theory.models.glm.objective import LossOrName, SumObjective
from theory.numerics.normal_panels import normal_panels, normal_rule

MOMENT_TOLERANCE = 1e-9  # largest difference of moments between 16 and 32 nodes a panel, relative to their size


def _relu(z: Array) -> Array:
    return np.maximum(z, 0)


def _erf(z: Array) -> Array:
    from scipy.special import erf

    return np.asarray(erf(z))


ACTIVATIONS: dict[str, Callable[[Array], Array]] = {"sign": np.sign, "erf": _erf, "tanh": np.tanh, "relu": _relu}


@dataclass(frozen=True, repr=False)
class RandomFeatures(SumObjective):
    """Random features v = f(F c) of inputs c ~ N(0, I_d), with the labels of a linear teacher of c (arXiv:2002.09339).

    The teacher's field is nu = theta.c/sqrt(d) with |theta|^2 = d. F (p, d) has rows of unit norm on average: it is
    "gaussian", with entries of variance 1/d, or "orthogonal", a Haar matrix times sqrt(max(1, p/d)). The activation f
    is centered; where a function of one's own jumps or bends is found, and need be told by `jumps` only of places less
    than about 0.001 apart. `samples_per_input` is n/d and `features_per_input` p/d. A hidden manifold is the same
    model. Training minimizes sum loss + (lam/2) |w|^2 as in `GeneralizedLinearModel`.
    """

    activation: str | Callable[[Array], Array] = "sign"
    _: KW_ONLY
    samples_per_input: Positive
    features_per_input: Positive
    loss: LossOrName = "logistic"
    lam: Positive
    labels: Literal["sign", "linear"] = "sign"
    noise: NonNegative = 0.0
    projection: Literal["gaussian", "orthogonal"] = "gaussian"
    jumps: Sequence[float] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        checked_fields(self)
        if not callable(self.activation) and not (isinstance(self.activation, str) and self.activation in ACTIVATIONS):
            raise ValueError(
                f"activation must be one of {', '.join(ACTIVATIONS)} or a function, got {checks.shown(self.activation)}"
            )
        set_checked(self, jumps=self._places())
        if not math.isfinite(self.alpha):
            raise ValueError(
                "features_per_input must be large enough for a finite number of samples per feature, "
                f"got {self.features_per_input!r} for samples_per_input = {self.samples_per_input!r}"
            )

    def _places(self) -> tuple[float, ...]:
        if np.size(self.jumps) == 0:
            return ()
        if isinstance(self.activation, str):
            raise ValueError(f"jumps must be left out for activation={self.activation!r}, whose jumps are known")
        return tuple(checks.finite_array("jumps", self.jumps, 1).tolist())

    @property
    def alpha(self) -> float:
        """The number of samples per feature, n/p."""
        return self.samples_per_input / self.features_per_input

    @property
    def function(self) -> Callable[[Array], Array]:
        """The activation as a function of arrays, not centered."""
        return ACTIVATIONS[self.activation] if isinstance(self.activation, str) else self.activation

    @cached_property
    def moments(self) -> tuple[float, float, float]:
        """The moments E f, E z f and sqrt(E f^2 - (E f)^2 - (E z f)^2) of f(z) at standard normal z.

        f may have kinks and jumps anywhere, which are found by halving panels. A feature that is narrower than about
        0.001 may be missed, unless `jumps` tell its ends. ValueError where the moments do not exist or cannot be
        verified: for a pole, a growth like exp(z^2/4), or a function that varies everywhere at the smallest scales.
        """
        if isinstance(self.activation, str):  # smooth but at zero
            z, weights = normal_rule(np.linspace(-12, 12, 25), 32)
            f = _values(self.function, z)
            mean, linear, square = float(weights @ f), float(weights @ (z * f)), float(weights @ f**2)
            return mean, linear, math.sqrt(max(square - mean**2 - linear**2, 0.0))
        edges = normal_panels(lambda z: _values(self.function, z), places=self.jumps)
        fine, coarse = (_moments(self.function, edges, order) for order in (32, 16))
        size = float(np.linalg.norm(fine))
        gap = float(abs(fine - coarse).max())
        if not gap <= MOMENT_TOLERANCE * size:
            raise ValueError(
                f"activation must vary slowly enough for a quadrature, got moments that differ by {gap / size:.1g} of "
                "its size between 16 and 32 nodes a panel"
            )
        mean, linear, rest = fine.tolist()
        return mean, linear, rest


def _moments(function: Callable[[Array], Array], edges: Array, order: int) -> Array:
    z, weights = normal_rule(edges, order)
    f = _values(function, z)
    mean, linear = float(weights @ f), float(weights @ (z * f))
    # Of the rest itself and not as a difference of squares, which would leave rounding of a linear function.
    return np.array([mean, linear, math.sqrt(float(weights @ (f - mean - linear * z) ** 2))])


def _values(function: Callable[[Array], Array], z: Array) -> Array:
    """Evaluate the activation at nodes z; ValueError where a user's function does not map arrays to finite ones."""
    try:
        f = np.asarray(function(z.copy()))  # a function may work in place, as z[z < 0] = 0 does
    except Exception as failed:
        raise ValueError(f"activation must be a function of an array, got one that fails: {failed!r}") from None
    if f.shape != z.shape or f.dtype.kind not in "iuf" or not np.isfinite(f).all():
        raise ValueError(f"activation must map an array {z.shape} to finite real numbers, got {checks.shown(f)}")
    return np.asarray(f, float)
