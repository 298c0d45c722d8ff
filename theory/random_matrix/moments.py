"""Traces and diagonals of the population resolvent, arranged so that nothing cancels at a small or a large ridge."""

from dataclasses import dataclass

import numpy as np

from theory.models import Spectrum
from theory.models.arrays import Array


@dataclass(frozen=True, eq=False)
class RidgeMoments:
    """Traces over dimensions of p = Sigma (Sigma + kappa)^-1 and t = kappa (Sigma + kappa)^-1 = 1 - p, one a ridge."""

    df1: Array  # tr p
    df2: Array  # tr p^2
    left: Array  # rank - tr p, what the ridge leaves unresolved of the range of Sigma
    spread: Array  # tr p t = df1 - df2
    rank: float = 1.0

    def above_df1(self, alpha: Array) -> Array:
        """alpha - df1, without cancellation: at a small alpha from df1, near alpha = 1 from what df1 leaves."""
        return np.where(self.df1 < self.left, alpha - self.df1, alpha - self.rank + self.left)

    def above_df2(self, alpha: Array) -> Array:
        """alpha - df2, likewise."""
        return np.where(self.df1 < self.left, alpha - self.df2, alpha - self.rank + self.left + self.spread)


def shrinkage(spectrum: Spectrum, kappa: Array) -> tuple[Array, Array]:
    """p = s/(s + kappa) and t = kappa/(s + kappa) for every kappa (...) and mode, (..., r); a zero mode has p = 0."""
    s, kappa = spectrum.eigenvalues, np.asarray(kappa, float)[..., None]
    total = s + kappa
    p = np.divide(s, total, out=np.zeros_like(total), where=total > 0)
    return p, np.divide(kappa, total, out=np.ones_like(total), where=total > 0)


def ridge_moments(spectrum: Spectrum, kappa: Array, budget: int = 2_000_000) -> RidgeMoments:
    """Moments at every kappa (points,); `budget` bounds the size of temporaries."""
    resolved = spectrum.eigenvalues > 0
    modes = Spectrum(spectrum.eigenvalues[resolved], spectrum.weights[resolved])
    blocks = np.array_split(kappa, max(1, -(-kappa.size * resolved.size // budget)))
    columns = zip(*(_traces(modes, block) for block in blocks), strict=True)
    df1, df2, left, spread = (np.concatenate(column) for column in columns)
    return RidgeMoments(df1, df2, left, spread, 1.0 if resolved.all() else float(modes.weights.sum()))


def _traces(modes: Spectrum, kappa: Array) -> tuple[Array, Array, Array, Array]:
    p, t = shrinkage(modes, kappa)
    left = modes.mean(t)
    t *= p
    spread = modes.mean(t)
    p *= p
    df2 = modes.mean(p)
    return df2 + spread, df2, left, spread


def minor_moments(spectrum: Spectrum, d: int, kappa: Array) -> RidgeMoments:
    """The same per dimension of the minors of Sigma: entry k without row and column k, at its own kappa[k] > 0.

    With R = (Sigma + kappa)^-1 the minor's resolvent has the trace tr R - (R^2)_kk / R_kk; everything else follows by
    differentiation. kappa: (c,), one a coordinate, or one in all where they are alike.
    """
    p, t = shrinkage(spectrum, kappa)
    of = CoordinateDiagonal(spectrum)
    share = t / of(t)[:, None]  # of each mode in R_kk
    ratio, unresolved = of(p * share), of(t * share)  # they sum to 1
    df1 = d * spectrum.mean(p) - ratio
    df2 = d * spectrum.mean(p * p) - 2 * of(p * p * share) + ratio**2
    left = d * spectrum.mean(t) - unresolved
    # one expression written twice: in powers of what is small
    large = of(p * (p - t) * share) - ratio**2
    small = 2 * of(t * t * share) - unresolved - unresolved**2
    spread = d * spectrum.mean(p * t) + np.where(ratio < unresolved, large, small)
    return RidgeMoments(df1 / (d - 1), df2 / (d - 1), left / (d - 1), spread / (d - 1))


class CoordinateDiagonal:
    """diag f(Sigma) where f differs from coordinate to coordinate: (c, r) -> (c,)."""

    def __init__(self, spectrum: Spectrum) -> None:
        self.spectrum = spectrum

    def __call__(self, values: Array) -> Array:
        if self.spectrum.loadings is not None:
            return np.asarray(np.einsum("kj,kj->k", self.spectrum.loadings, values))
        return np.diagonal(values) if self.spectrum.axes else self.spectrum.mean(values)
