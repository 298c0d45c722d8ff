"""Traces of the resolvent of Sigma without a span of coordinates, for many spans at once."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from theory.core.arrays import Array
from theory.models import Covariance, Spectrum
from theory.random_matrix import RidgeMoments, shrinkage


@dataclass(frozen=True, eq=False)
class Spans:
    """Spans of equal size b of a finite covariance; `rows` (spans, b, d) are their rows of the eigenvectors."""

    spectrum: Spectrum = field(repr=False)  # one mode an eigenvector
    rows: Array = field(repr=False)

    @classmethod
    def of(cls, covariance: Covariance, spans: NDArray[np.intp]) -> "Spans":
        """Make the spans whose coordinates are the rows of `spans`, (spans, b)."""
        d = covariance.size
        modes = Spectrum(covariance.eigenvalues, np.full(d, 1 / d))
        return cls(modes, covariance.eigenvectors[spans])

    def block(self, values: Array) -> Array:
        """Return the blocks (spans, b, b) of f(Sigma), from f at the eigenvalues, (d,) or (spans, d)."""
        return np.asarray((self.rows * values[..., None, :]) @ self.rows.transpose(0, 2, 1))

    def complement_moments(self, kappa: Array) -> RidgeMoments:
        """Compute moments at kappa (spans,) of Sigma restricted to the complement of each span, per dimension of it.

        By block inversion the complement's resolvent has the trace tr R - tr (R_BB)^-1 (R^2)_BB with the full
        R = (Sigma + kappa)^-1; everything else follows by differentiation, as for a single coordinate.
        """
        p, t = shrinkage(self.spectrum, kappa)
        d, b = p.shape[1], self.rows.shape[1]
        own = self.block(t)

        def ratio(values: Array) -> Array:
            return np.asarray(np.linalg.solve(own, self.block(values)))

        first = ratio(p * t)
        trace = np.einsum("...ii", first)
        square = np.einsum("...ij,...ji", first, first)
        df1 = p.sum(axis=1) - trace
        df2 = (p * p).sum(axis=1) - 2 * np.einsum("...ii", ratio(p * p * t)) + square
        left = t.sum(axis=1) - np.einsum("...ii", ratio(t * t))
        spread = (p * t).sum(axis=1) + np.einsum("...ii", ratio(p * t * (p - t))) - square
        return RidgeMoments(*(values / (d - b) for values in (df1, df2, left, spread)))
