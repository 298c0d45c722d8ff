"""The scalar equation of a commuting ensemble, for many real or complex nu at once.

With h = 1/K and t_j = 1/(sigma_j h + offset_j - nu), the resolvent (S - nu)^-1 is equivalent to one with the entries t_j
on the common eigenvectors, where 1/h = 1 + <sigma t>/alpha; h -> 1 as |nu| -> infinity, and Im h has the sign opposite
to Im nu. The real line outside the support has m = h^2 <sigma^2 t^2>/alpha < 1, with equality at the edges.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theory.random_matrix.spectral.ensemble import CommutingEnsemble

ComplexArray = NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class Averages:
    """Means over atoms at every point (h, nu)."""

    residual: ComplexArray  # 1/h - 1 - <sigma t>/alpha
    slope: ComplexArray  # its derivative in h at fixed nu, -(1 - m)/h^2
    trace: ComplexArray  # <t> = tr (S - nu)^-1/d


def averages(ensemble: CommutingEnsemble, h: ComplexArray, nu: ComplexArray, budget: int = 1_000_000) -> Averages:
    """At points h, nu of shape (points,), in blocks of at most `budget` numbers."""
    blocks = max(1, -(-h.size * ensemble.sigma.size // budget))
    parts = [
        _block(ensemble, *pair) for pair in zip(np.array_split(h, blocks), np.array_split(nu, blocks), strict=True)
    ]
    return Averages(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _block(ensemble: CommutingEnsemble, h: ComplexArray, nu: ComplexArray) -> tuple[ComplexArray, ...]:
    t = 1 / (ensemble.sigma * h[:, None] + (ensemble.offset - nu[:, None]))
    trace = t @ ensemble.weights
    t *= ensemble.sigma
    first = t @ ensemble.weights / ensemble.alpha
    t *= t
    return 1 / h - 1 - first, t @ ensemble.weights / ensemble.alpha - 1 / h**2, trace
