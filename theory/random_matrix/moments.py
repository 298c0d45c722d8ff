"""Traces and diagonals of the population resolvent, arranged so that nothing cancels at a small or a large ridge."""

from dataclasses import dataclass

import numpy as np

from theory.core import Array, Several, checked, checks
from theory.core.blocks import in_blocks
from theory.models import Spectrum
from theory.numerics.extremes import within_range

MAX_TEMPORARY_NUMBERS = 2_000_000  # 16 MB
SUM_ROUNDING = 1e-13  # of sums over coordinates, relative to their terms


@dataclass(frozen=True, eq=False)
class RidgeMoments:
    """Traces over d of p = Sigma (Sigma + kappa)^-1 and t = kappa (Sigma + kappa)^-1 = 1 - p, one for each ridge kappa.

    `df1` and `df2` are the degrees of freedom per dimension of a regression with the ridge kappa; `left` and `spread`
    are kept beside them because differences of degrees of freedom lose their digits at a small or a large ridge.
    """

    df1: Array  # tr p
    df2: Array  # tr p^2
    left: Array  # rank - tr p, what the ridge leaves unresolved of the range of Sigma
    spread: Array  # tr p t = df1 - df2
    rank: float = 1.0

    @checked
    def above_df1(self, alpha: Array) -> Array:
        """Compute alpha - df1 without cancellation: at a small alpha from df1, near 1 from what df1 leaves."""
        self._require_fitting(alpha)
        return np.where(self.df1 < self.left, alpha - self.df1, alpha - self.rank + self.left)

    @checked
    def above_df2(self, alpha: Array) -> Array:
        """Compute alpha - df2 in the same way."""
        self._require_fitting(alpha)
        return np.where(self.df1 < self.left, alpha - self.df2, alpha - self.rank + self.left + self.spread)

    def _require_fitting(self, alpha: Array) -> None:
        if alpha.shape not in ((), (1,), self.df1.shape) and self.df1.shape not in ((), (1,)):
            raise ValueError(f"alpha must be one number, or one for each ridge, {self.df1.shape}, got {alpha.shape}")
        if np.isnan(alpha).any():
            raise ValueError(f"alpha must be real numbers, got nan among {checks.shown(alpha)}")


def non_negative_array(name: str, values: Array) -> Array:
    """Check that all entries are finite and not negative."""
    values = np.asarray(values, float)
    if values.size and not (values.min() >= 0 and values.max() < np.inf):
        raise ValueError(f"{name} must be finite and not negative, got {checks.shown(values)}")
    return values


@checked
def shrinkage(spectrum: Spectrum, kappa: Array) -> tuple[Array, Array]:
    """Compute p = s/(s + kappa) and t = kappa/(s + kappa) for every ridge kappa (...) and eigenvalue s: (..., r) each.

    p is the share of a mode that a ridge regression keeps, t = 1 - p what it shrinks away. A zero mode has p = 0.
    Source: the factors by which ridge regression shrinks (A. E. Hoerl and R. W. Kennard, Technometrics 12, 55 (1970),
    not looked up for this project), with kappa in the place of the ridge. Raises ValueError for a kappa that is
    negative or not finite.
    """
    return _shares(spectrum.eigenvalues, non_negative_array("kappa", kappa)[..., None])


def _shares(s: Array, kappa: Array) -> tuple[Array, Array]:
    total = s + kappa
    if s.min(initial=np.inf) > 0 or kappa.min(initial=np.inf) > 0:  # plain division takes half the time
        return s / total, kappa / total
    p = np.divide(s, total, out=np.zeros_like(total), where=total > 0)
    return p, np.divide(kappa, total, out=np.ones_like(total), where=total > 0)


@checked
@within_range
def ridge_moments(spectrum: Spectrum, kappa: Array, budget: int = MAX_TEMPORARY_NUMBERS) -> RidgeMoments:
    """Compute the degrees of freedom and their complements at every ridge kappa (points,), kappa >= 0.

    `budget` bounds the number of entries of temporaries. Derived here: what `RidgeMoments` defines is summed over the
    modes, the complements p t and t by themselves, so that no difference loses its digits. Raises ValueError for a
    kappa that is negative or not finite.
    """
    kappa = np.atleast_1d(non_negative_array("kappa", kappa))
    if kappa.ndim != 1:
        raise ValueError(f"kappa must have shape (points,), got {kappa.shape}")
    if budget < 1:
        raise ValueError(f"budget must be at least 1, got {budget}")
    return SpectrumMoments(spectrum, budget)(kappa)


class SpectrumMoments:
    """A function that does what `ridge_moments` does, at one set of ridges after another, which it does not check."""

    def __init__(self, spectrum: Spectrum, budget: int = MAX_TEMPORARY_NUMBERS) -> None:
        seen = spectrum.eigenvalues > 0
        self.eigenvalues, self.weights, self.budget = spectrum.eigenvalues[seen], spectrum.weights[seen], budget
        self.entries = len(seen)  # of one ridge
        self.rank = 1.0 if seen.all() else float(self.weights.sum())

    def __call__(self, kappa: Array) -> RidgeMoments:
        """Compute the moments at every ridge kappa (points,), all positive or zero."""
        columns = zip(*(self._traces(block) for block in in_blocks(kappa, self.entries, self.budget)), strict=True)
        df1, df2, left, spread = (np.concatenate(column) for column in columns)
        return RidgeMoments(df1, df2, left, spread, self.rank)

    def _traces(self, kappa: Array) -> tuple[Array, Array, Array, Array]:
        p, t = _shares(self.eigenvalues, kappa[:, None])
        left = t @ self.weights
        t *= p
        spread = t @ self.weights
        p *= p
        df2 = p @ self.weights
        return df2 + spread, df2, left, spread


@checked
@within_range
def minor_moments(spectrum: Spectrum, d: Several, kappa: Array) -> RidgeMoments:
    """Compute the traces of `ridge_moments` for the minors of Sigma, Sigma without row and column k, divided by d - 1.

    Entry k of each trace belongs to the minor k. Every minor has a ridge kappa[k] > 0 of its own: kappa is (c,), one
    for each coordinate, or one for all where they are alike. Derived here by block inversion: with R = (Sigma +
    kappa)^-1 the minor's resolvent has the trace tr R - (R^2)_kk / R_kk; everything else follows by differentiation.
    Raises ValueError for d < 2 or a kappa that is not positive and finite.
    """
    kappa = np.atleast_1d(non_negative_array("kappa", kappa))
    classes = len(spectrum.coordinate_weights)
    if kappa.shape != (classes,) or not np.all(kappa > 0):
        raise ValueError(f"kappa must be positive, of shape ({classes},), got {checks.shown(kappa)}")
    p, t = shrinkage(spectrum, kappa)
    of = CoordinateDiagonal(spectrum)
    share = t / of(t)[:, None]  # of each mode in R_kk
    ratio, unresolved = of(p * share), of(t * share)  # they sum to 1
    df1 = d * spectrum.mean(p) - ratio
    df2 = d * spectrum.mean(p * p) - 2 * of(p * p * share) + ratio**2
    left = d * spectrum.mean(t) - unresolved
    # Both are the same expression, each in powers of what is small where it is used.
    large = of(p * (p - t) * share) - ratio**2
    small = 2 * of(t * t * share) - unresolved - unresolved**2
    spread = d * spectrum.mean(p * t) + np.where(ratio < unresolved, large, small)
    wholes = (spectrum.mean(one) for one in (p, p * p, t, p * t))
    pairs = zip((df1, df2, left, spread), wholes, strict=True)
    df1, df2, left, spread = (_positive_part(one, d * whole) / (d - 1) for one, whole in pairs)
    return RidgeMoments(df1, df2, left, spread)


def _positive_part(trace: Array, whole: Array) -> Array:
    """Return traces of minors with 0 for what is below it by rounding of the traces of the whole, and kept otherwise.

    A trace of a minor is the difference of that of the whole and of one coordinate's share, and may be so small beside
    them that rounding decides its sign.
    """
    return np.where((trace < 0) & (trace > -SUM_ROUNDING * whole), 0.0, trace)


class CoordinateDiagonal:
    """A function that takes the diagonal of f(Sigma) where f differs between coordinates: values (c, r) to (c,)."""

    def __init__(self, spectrum: Spectrum) -> None:
        self.spectrum = spectrum

    def __call__(self, values: Array) -> Array:
        """Return (d,) diagonal entries from the values of f, one row for each coordinate."""
        if self.spectrum.loadings is not None:
            return np.asarray(np.einsum("kj,kj->k", self.spectrum.loadings, values))
        return np.diagonal(values) if self.spectrum.axes else self.spectrum.mean(values)
