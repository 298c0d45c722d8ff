"""The step from conjugates to overlaps for a separable penalty: a thresholded Gaussian average in each coordinate.

With diagonal covariances om_cj each weight is by itself. In the conjugates Vhat, qhat (one for each covariance) and
rhat (one for each signal) it is w_j = argmin r(w) + A w^2/2 - B w, with A = sum_c Vhat_c om_cj and
B = sum_a rhat_a s_aj + sqrt(sum_c qhat_c om_cj) xi, xi standard normal; for r(w) = l1 |w| + l2 w^2/2 the soft threshold
of B at l1, over A + l2. The overlaps are V_c = mean om_c dw/dB, q_c = mean om_c w^2 and r_a = mean s_a w over the
coordinates, the laws of s and xi (derived here, by the replica method as for a ridge).
"""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from theory.core.arrays import Array
from theory.glm.overlaps import Overlaps
from theory.glm.signal_components import Components, components_of
from theory.glm.soft_threshold import Thresholded, soft_threshold
from theory.models.glm import GeneralizedLinearModel, Modes


@dataclass(frozen=True)
class Weights:
    """The averages of the weights in each component of the signals and each mode, (K, M) each, and those of w s."""

    components: Components
    inverse: Array  # 1/(A + l2), (M,)
    B: Thresholded
    cross: Array  # E w s_a, (K, A, M)

    @classmethod
    def of(cls, problem: GeneralizedLinearModel, Vhat: Array, qhat: Array, rhat: Array) -> Self:
        """Average the weights at given conjugates."""
        modes, penalty, components = problem.modes, problem.penalty, components_of(problem)
        assert isinstance(modes, Modes)  # the record requires them
        assert penalty is not None  # as whoever calls has made sure
        l1, l2 = penalty.strengths
        stiffness = Vhat @ modes.covariances + l2
        inverse = np.divide(1.0, stiffness, out=np.zeros_like(stiffness), where=stiffness > 0)
        pulled = np.einsum("kabm,b->kam", components.powers, rhat)  # the covariance of a signal with B
        mean = np.einsum("kam,a->km", components.values, rhat)
        variance = np.einsum("kam,a->km", pulled, rhat) + qhat @ modes.covariances
        B = soft_threshold(mean, variance, l1, penalty.non_negative)
        cross = inverse * (components.values * B.mean[:, None] + pulled * B.share[:, None])
        return cls(components, inverse, B, cross)

    @property
    def square(self) -> Array:
        """The mean square of the weights in each mode, times its share, (M,)."""
        return np.asarray(np.sum(self.components.shares * self.B.square, axis=0) * self.inverse**2)

    @property
    def active(self) -> Array:
        """The share of all coordinates, in each mode, that have a weight other than zero, (M,)."""
        return np.asarray(np.sum(self.components.shares * self.B.share, axis=0))

    @property
    def mean_size(self) -> float:
        """The mean of |w|."""
        return float(np.sum(self.components.shares * self.B.size * self.inverse))


class Support(NamedTuple):
    """The shares of the coordinates with a weight, with a signal, and with both: weights and signals other than 0."""

    weights: float
    signals: float
    both: float

    @classmethod
    def of(cls, problem: GeneralizedLinearModel, Vhat: Array, qhat: Array, rhat: Array) -> Self:
        """Return the shares at given conjugates; under a ridge all weights are other than zero."""
        if problem.penalty is None:
            return cls(1.0, np.nan, np.nan)
        found = Weights.of(problem, Vhat, qhat, rhat)
        shares, present = found.components.shares, found.components.present
        return cls(
            float(found.active.sum()), float(np.sum(shares * present)), float(np.sum(shares * present * found.B.share))
        )


def separable_prior(problem: GeneralizedLinearModel, Vhat: Array, qhat: Array, rhat: Array) -> tuple[Overlaps, Array]:
    """Return the overlaps, and the mean square of the weights as a matrix (1, 1)."""
    modes, weights = problem.modes, Weights.of(problem, Vhat, qhat, rhat)
    assert isinstance(modes, Modes)
    square = weights.square
    r = np.einsum("km,kam->a", weights.components.shares, weights.cross)
    V = modes.covariances @ (weights.active * weights.inverse)
    return Overlaps(V, modes.covariances @ square, r), np.array([[square.sum()]])


def absolute_penalty(problem: GeneralizedLinearModel, Vhat: Array, qhat: Array, rhat: Array) -> float:
    """Return l1 times the mean of |w|, what a penalty adds to the energy beyond its quadratic part."""
    if problem.penalty is None or not (l1 := problem.penalty.strengths[0]):
        return 0.0
    return l1 * Weights.of(problem, Vhat, qhat, rhat).mean_size


def separable_responses(problem: GeneralizedLinearModel, Vhat: Array, qhat: Array, rhat: Array) -> Array:
    """Return mean om_c om_d (dw/dB)^2 for all covariances c and d, (C, C); what tr(Omega_c G Omega_d G)/p is here."""
    modes, weights = problem.modes, Weights.of(problem, Vhat, qhat, rhat)
    assert isinstance(modes, Modes)
    return np.asarray((weights.active * weights.inverse**2 * modes.covariances) @ modes.covariances.T)
