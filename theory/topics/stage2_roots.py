"""The stationary points of the stage-2 loss, all of which are roots of a quartic."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import polynomial
from scipy.optimize import brentq

from theory.core.arrays import Array
from theory.topics.stage2_terms import N_TOPIC_QUERIES, Setting, Terms

NEVER = 1e-24  # an excess below this, relative to the pull, is rounding: attention concentrates without end


@dataclass(frozen=True)
class ConvexSlope:
    """Holds dL/dx of the convex form, without positive factors: (excess x - pull)(1 + rho x)^3 + far x (1 + x)^3.

    x = R1 (A - 1), R1 the share of a topic of the document in uniform attention; y = x/(1 + x) is the share of the
    attention that goes to the query's own topic in excess of uniform, and the loss is convex in y (mask weight 1).
    """

    excess: float
    pull: float
    rho: float
    far: float

    @classmethod
    def of(cls, setting: Setting) -> "ConvexSlope":
        """Make the coefficients of a setting.

        They follow from N1 = E|g - mu_S|^2 where g is the output of attention to the query's topic alone and this topic
        is in S, and from N2, the same where it is not in S (a random word from elsewhere).
        """
        model, masking, kappa = setting.model, setting.masking, setting.seen.true_fraction
        T, v, tau, hidden = (
            model.n_topics,
            model.words_per_topic,
            model.topics_per_document,
            setting.seen.hidden_fraction,
        )
        (delta, base, _), (inside, outside, _) = setting.outputs, setting.masses
        pull = (tau - 1) / (tau * v * kappa)
        off = T * v * (base + hidden / (kappa * T * v)) ** 2  # zero for a free bias
        excess = hidden / (v * kappa**2) * (1 - kappa / tau - hidden / T) + off  # N1 - pull, without cancellation
        near, rho = masking.randomized * tau / T, outside / inside
        far = (masking.randomized - near) * (excess + pull + 2 * delta / tau) * rho**2
        return cls(masking.kept * excess + near * (excess + pull), masking.kept * pull, rho, far)

    def __call__(self, x: float) -> float:
        """Return dL/dx up to a positive factor."""
        return (self.excess * x - self.pull) * (1 + self.rho * x) ** 3 + self.far * x * (1 + x) ** 3

    def root(self) -> float:
        """Return the only root x >= 0, infinite where nothing limits the attention."""
        if self.pull <= 0:
            return 0.0
        if self.excess <= NEVER * self.pull:
            return math.inf
        ceiling = self.pull / self.excess
        if self(ceiling) <= 0:  # far is zero, or lost in rounding
            return ceiling
        return float(brentq(self, 0, ceiling, xtol=1e-300, rtol=1e-15))

    def residual(self, x: float) -> float:
        """Return the absolute slope at x, relative to the terms that cancel in it."""
        size = (self.excess * x + self.pull) * (1 + self.rho * x) ** 3 + self.far * x * (1 + x) ** 3
        return abs(self(x)) / size if 0 < size < math.inf else 0.0


def stationary_weights(terms: Terms, mask_weight: float) -> list[float]:
    """Return all A > 0 with dL/dA = 0 at a fixed mask weight.

    The six near squares share the denominator Z1(A), the three far ones Z2(A), so that the condition is
    l1(A) Z2(A)^3 + l2(A) Z1(A)^3 = 0 with l1, l2, Z1 and Z2 linear: a quartic.
    """
    fixed = np.array([[0.0, 1.0], [mask_weight, 0.0], [1.0, 0.0]])  # (A, mask weight, 1) -> powers of A
    above, below = terms.numerators @ fixed, terms.totals @ fixed
    turns = terms.weights * (above[:, 1] * below[:, 0] - above[:, 0] * below[:, 1])
    pulls = turns[:, None] * above
    near, far = pulls[:N_TOPIC_QUERIES].sum(axis=0), pulls[N_TOPIC_QUERIES:].sum(axis=0)
    cubes = [polynomial.polypow(total, 3) for total in (below[0], below[-1])]
    quartic = polynomial.polyadd(polynomial.polymul(near, cubes[1]), polynomial.polymul(far, cubes[0]))
    quartic = quartic[: np.max(np.nonzero(quartic)[0], initial=0) + 1]
    roots = polynomial.polyroots(quartic) if len(quartic) > 1 else np.empty(0)
    return [
        _polished(root.real, near, far, below) for root in roots if root.real > 0 and abs(root.imag) < 1e-5 * abs(root)
    ]


def _polished(A: float, near: Array, far: Array, below: Array) -> float:
    """Return a root after Newton steps on the factors, since the expanded quartic has lost digits."""
    (near_0, near_1), (far_0, far_1) = near, far
    (z1, slope_1), (z2, slope_2) = below[0], below[-1]
    for _ in range(3):
        Z1, Z2 = z1 + slope_1 * A, z2 + slope_2 * A
        l1, l2 = near_0 + near_1 * A, far_0 + far_1 * A
        value = l1 * Z2**3 + l2 * Z1**3
        slope = near_1 * Z2**3 + 3 * l1 * slope_2 * Z2**2 + far_1 * Z1**3 + 3 * l2 * slope_1 * Z1**2
        if slope == 0 or not 0.5 * A < (moved := A - value / slope) < 2 * A:
            break
        A = float(moved)
    return float(A)
