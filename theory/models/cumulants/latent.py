"""The law of the latent variable along a hidden direction: finitely many values, mean zero, variance one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated

import numpy as np

from theory.core import Array, AtLeast, Within, checked, checks
from theory.models.covariance import set_checked

ROUNDING = 1e-9  # by which sums, means and variances may miss their values; the record removes what it finds
LARGEST_ATOM = 25.0  # Hermite polynomials there are of order exp(25^2/4) = 1e68, and their squares still fit
MAX_ATOMS = 20
# A moment this small relative to the mean of its absolute terms is rounding, and counts as zero.
ROUNDING_MOMENT = 1e-13


@dataclass(frozen=True)
class AtomicLatent:
    """The law of a variable g that takes the values `atoms` with the given `probabilities`; E g = 0 and E g^2 = 1.

    Both are sequences of equal length, stored as tuples. Deviations below 1e-9 of the sum of the probabilities, the
    mean and the variance are taken for rounding and removed. The law need not be symmetric. ValueError for fewer than
    two or more than 20 atoms, atoms that coincide or lie beyond +-25, probabilities that are not positive, and for
    another sum, mean or variance.

    >>> AtomicLatent.signs()
    AtomicLatent(atoms=(-1.0, 1.0), probabilities=(0.5, 0.5))
    >>> AtomicLatent.diluted_signs(1 / 3).hermite_moment(4)  # here the kurtosis is that of a Gaussian
    0.0
    """

    atoms: Sequence[float]
    probabilities: Sequence[float]

    def __post_init__(self) -> None:
        g = checks.finite_array("atoms", self.atoms, 1)
        p = checks.finite_array("probabilities", self.probabilities, 1)
        if not 2 <= len(g) <= MAX_ATOMS:
            raise ValueError(f"atoms must be 2 to {MAX_ATOMS} values, got {len(g)}")
        if abs(g).max() > LARGEST_ATOM:
            raise ValueError(f"atoms must lie in [-{LARGEST_ATOM:g}, {LARGEST_ATOM:g}], got {checks.shown(self.atoms)}")
        if len(np.unique(g)) < len(g):
            raise ValueError(f"atoms must differ from each other, got {checks.shown(self.atoms)}")
        if p.shape != g.shape or p.min() <= 0 or abs(p.sum() - 1) > ROUNDING:
            wanted = f"probabilities must be {len(g)} positive numbers (one for each of the atoms) with the sum 1"
            raise ValueError(f"{wanted}, got {checks.shown(self.probabilities)}")
        p = p / p.sum()
        mean, variance = float(p @ g), float(p @ g**2)
        if abs(mean) > ROUNDING or abs(variance - 1) > ROUNDING:
            raise ValueError(f"atoms must have mean 0 and variance 1, got mean {mean:.9g} and variance {variance:.9g}")
        if mean != 0 or variance != 1:
            g = (g - mean) / math.sqrt(variance - mean**2)
        set_checked(self, atoms=tuple(g.tolist()), probabilities=tuple(p.tolist()))

    @classmethod
    def signs(cls) -> "AtomicLatent":
        """Return the law of a fair sign +-1: h_4 = -2, h_6 = 16."""
        return cls((-1.0, 1.0), (0.5, 0.5))

    @classmethod
    @checked
    def diluted_signs(
        cls, probability: Annotated[float, Within(LARGEST_ATOM**-2, 1.0, closed=(True, True))]
    ) -> "AtomicLatent":
        """Return the law of +-1/sqrt(p) with `probability` p, and else 0: h_4 = 1/p - 3.

        ValueError unless 1/625 <= p <= 1, so that the atoms lie within +-25.
        """
        if (p := probability) == 1:
            return cls.signs()
        size = 1 / math.sqrt(p)
        return cls((-size, 0.0, size), (p / 2, 1 - p, p / 2))

    @checked
    def hermite_moment(self, order: Annotated[int, AtLeast(0, most=150)]) -> float:
        """Return h_k = E He_k(g), with He_k the probabilists' Hermite polynomial: h_0 = 1, h_1 = h_2 = 0.

        ValueError for an order above 150, where k! is near the end of the range of floating-point numbers.
        """
        return float(self.normalized_moments(order)[order] * math.sqrt(math.factorial(order)))

    @checked
    def normalized_moments(self, order: Annotated[int, AtLeast(0, most=10**6)]) -> Array:
        """Return h_k/sqrt(k!) for k = 0 to `order`, (order + 1,): they stay finite where h_k does not."""
        return _normalized_moments(self, order)

    @property
    def is_symmetric(self) -> bool:
        """Whether g and -g have the same law, up to rounding."""
        g, p = np.array(self.atoms), np.array(self.probabilities)
        up, down = np.argsort(g), np.argsort(-g)
        return bool(np.all(abs(g[up] + g[down]) < ROUNDING) and np.all(abs(p[up] - p[down]) < ROUNDING))


@cache
def _normalized_moments(latent: AtomicLatent, order: int) -> Array:
    """Compute E He_k(g)/sqrt(k!) by the recursion He_(k+1) = g He_k - k He_(k-1), divided by the roots."""
    g, p = np.array(latent.atoms), np.array(latent.probabilities)
    moments = np.zeros(order + 1)
    before, now = np.zeros_like(g), np.ones_like(g)
    for k in range(order + 1):
        terms = p * now
        total = float(terms.sum())
        moments[k] = 0.0 if abs(total) <= ROUNDING_MOMENT * abs(terms).sum() else total
        before, now = now, (g * now - math.sqrt(k) * before) / math.sqrt(k + 1)
    moments[1:3] = 0.0  # mean zero and variance one are exact by definition
    moments.setflags(write=False)
    return moments
