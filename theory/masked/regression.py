"""The regression of one coordinate on the others, in the numbers that its replica saddle point depends on."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from theory.core.arrays import Array
from theory.masked.errors import conditional_variances
from theory.models import Covariance, MaskedRidge, RowScales, Spectrum
from theory.models.conventions import ridge_per_unknown, samples_per_unknown
from theory.models.eigenmodes import eigenmodes
from theory.random_matrix import minor_moments
from theory.random_matrix.moments import RidgeMoments, SpectrumMoments

WELL_CONDITIONED = 1e4  # ratio of eigenvalues, or of variances, up to which a minor and its matrix keep 11 digits


@dataclass(frozen=True)
class Overlaps:
    """What the population's ridge row w = (Sigma_x + kappa)^-1 Sigma_x a has, in sums of terms of one sign."""

    first: float  # a^T Sigma_x w
    second: float  # w^T Sigma_x w
    error: float  # rho + sigma^2 - 2 first + second
    missed: float  # rho + sigma^2 - first
    norm: float  # |w|^2


@dataclass(frozen=True, eq=False)
class Regression:
    """The regression of coordinate k on the others, whose covariance is Sigma_x."""

    moments: Callable[[Array], RidgeMoments]  # of Sigma_x, at ridges (1,)
    variance: float  # the mean one of the others, tr Sigma_x/d
    explained: float  # rho = a^T Sigma_x a, a the population predictor
    noise: float  # sigma^2 = 1/(Sigma^-1)_kk
    alpha: float  # samples per unknown
    lam: float  # ridge L per unknown, see theory.models.conventions
    rows: RowScales
    overlaps: Callable[[float], Overlaps]


def minor(model: MaskedRidge, k: int) -> Regression:
    """Describe the regression of coordinate k of a finite Sigma, by the matrix without row and column k.

    The entries of a matrix carry its small eigenvalues to rounding of the largest one only, while a family of
    covariances may know its own small eigenvalues exactly. Where the minor is nearly singular, or the others explain
    nearly all of coordinate k, what depends on small eigenvalues is therefore taken from the modes of Sigma, from which
    coordinate k is eliminated by block inversion; the two overlaps, which do not depend on them, stay those of the
    minor.
    """
    covariance = model.covariance
    matrix = covariance.matrix
    d = len(matrix)
    if not 0 <= k < d or d < 2:
        raise ValueError(f"coordinate must lie in 0..{d - 1} and d be at least 2, got {k!r} and d = {d}")
    others = np.delete(np.arange(d), k)
    s, basis = eigenmodes(matrix[np.ix_(others, others)])
    resolved = s > 0
    projected = np.divide(basis.T @ matrix[others, k], np.sqrt(s), out=np.zeros(d - 1), where=resolved)  # sqrt(s) (u.a)
    signal = projected**2
    explained = float(signal.sum())

    noise = max(float(matrix[k, k]) - explained, 0.0)

    def overlaps(kappa: float) -> Overlaps:
        p, t = s / (s + kappa), kappa / (s + kappa)
        return Overlaps(
            first=float(signal @ p),
            second=float(signal @ (p * p)),
            error=noise + float(signal @ (t * t)),
            missed=noise + float(signal @ t),
            norm=float(signal @ (p / (s + kappa))),
        )

    found = Regression(
        SpectrumMoments(Spectrum(s, np.full(d - 1, 1 / (d - 1)))),
        float(s.mean()),
        explained,
        noise,
        samples_per_unknown(model.alpha, d),
        ridge_per_unknown(model.lam, model.alpha, d),
        model.row_law,
        overlaps,
    )
    least = s[resolved].min(initial=np.inf)
    if s[-1] <= WELL_CONDITIONED * least and matrix[k, k] <= WELL_CONDITIONED * noise:
        return found
    return _of_own_modes(found, covariance, k)


def _of_own_modes(found: Regression, covariance: Covariance, k: int) -> Regression:
    """Take from the modes of Sigma what the minor's entries leave of small eigenvalues only to rounding."""
    own = _row(covariance.spectrum, k)
    eliminated = _eliminated(own, 0)

    def overlaps(kappa: float) -> Overlaps:
        return replace(eliminated(kappa), first=(of := found.overlaps(kappa)).first, second=of.second)

    return replace(found, moments=lambda kappa: minor_moments(own, covariance.size, kappa), overlaps=overlaps)


def _row(spectrum: Spectrum, k: int) -> Spectrum:
    """Return the same modes with the loadings of a single coordinate."""
    if spectrum.homogeneous:
        return spectrum
    loadings = np.eye(len(spectrum.weights))[[k]] if spectrum.loadings is None else spectrum.loadings[[k]]
    return replace(spectrum, loadings=loadings, axes=False)


def limit(model: MaskedRidge, k: int) -> Regression:
    """Describe the regression for d -> infinity, where the matrix without row and column k has Sigma's spectrum."""
    spectrum = model.covariance.spectrum
    if spectrum.heavy and not spectrum.axes:
        raise ValueError(f"replica needs coordinates of finite variance, got {model.covariance}")
    classes = len(spectrum.coordinate_weights)
    if not 0 <= k < classes:
        raise ValueError(f"coordinate must lie in 0..{classes - 1}, one a class of coordinates at d = inf, got {k!r}")
    s, overlaps = spectrum.eigenvalues, _eliminated(spectrum, k)
    return Regression(
        SpectrumMoments(spectrum),
        float(spectrum.mean(s)),
        overlaps(1e-30 * float(s[s > 0].min())).first,
        float(conditional_variances(model.covariance)[k]),
        model.alpha,
        ridge_per_unknown(model.lam, model.alpha),
        model.row_law,
        overlaps,
    )


def _eliminated(spectrum: Spectrum, k: int) -> Callable[[float], Overlaps]:
    """Return the overlaps of coordinate k as a function of kappa, by block inversion of Sigma's resolvent.

    It gives 1/((Sigma + kappa)^-1)_kk = kappa + Sigma_kk - overlap. With c = Sigma_kk and t = kappa (Sigma + kappa)^-1
    = 1 - p the overlap is [(Sigma - c)^2 t]_kk/((c + kappa) t_kk), where nothing cancels. Likewise what is missed is
    kappa p_kk/t_kk, the error kappa [p t]_kk/t_kk^2 and the squared norm [(t - t_kk)^2]_kk/t_kk^2.
    """
    s = spectrum.eigenvalues

    def entry(values: Array) -> float:
        return float(spectrum.diagonal(values)[k])

    variance = entry(s)

    def overlaps(kappa: float) -> Overlaps:
        p, t = s / (s + kappa), kappa / (s + kappa)
        signal, own = entry((s - variance) ** 2 * t), entry(t)
        first, second = signal / ((variance + kappa) * own), 0.0
        if first > 0:  # else an independent coordinate
            # The second overlap is the first plus kappa times the derivative of the first.
            growth = entry((s - variance) ** 2 * p * t) / signal - entry(p * t) / own
            second = first * (variance / (variance + kappa) + growth)
        return Overlaps(
            first=first,
            second=second,
            error=entry(p * t) / own * (kappa / own),
            missed=entry(p) * (kappa / own),
            norm=entry(((t - own) / own) ** 2),
        )

    return overlaps
