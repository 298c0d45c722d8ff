"""Spikes asked for by record: the functions of this room for a `SpikedData`, the record that simulations draw from."""

from theory.models import SpikedData
from theory.models.arguments import checked
from theory.random_matrix.bbp.optimal_ridge import SpikeRidge, optimal_spike_ridge
from theory.random_matrix.bbp.outlier import SpikeOutlier, spike_outlier
from theory.random_matrix.bbp.symmetric_part import SymmetricOutlier, symmetric_part_outlier
from theory.random_matrix.bbp.threshold import SpikeThreshold, spike_threshold


@checked
def threshold(data: SpikedData) -> SpikeThreshold:
    """Least strength at which the spike of `data` leaves the bulk to the right; see `spike_threshold`.

    It depends on the noise, the direction, alpha, the method and lam: a strength that the record has is what may be
    compared with it, and the record may leave it out. ConvergenceError where the root is not met.

    >>> from theory.models import Isotropic
    >>> f"{threshold(SpikedData(Isotropic(float('inf')), alpha=4.0, method='pca')).value:.6f}"  # sqrt(d/n)
    '0.500000'
    """
    _require_ridge(data)
    return spike_threshold(data.noise, data.direction, alpha=data.alpha, method=data.method, lam=data.lam)


@checked
def outlier(data: SpikedData) -> SpikeOutlier:
    """Outlier of the spike of `data`, and the overlap of its eigenvectors with the direction; see `spike_outlier`.

    ValueError without a strength; ConvergenceError where the equations are not met.

    >>> from theory.models import Isotropic
    >>> found = outlier(SpikedData(Isotropic(float("inf")), strength=1.0, alpha=4.0, method="pca"))
    >>> f"{found.eigenvalue:.4f} {found.overlap:.4f}"  # (1 + s)(1 + d/(n s)) and (1 - d/(n s^2))/(1 + d/(n s)), s = 1
    '2.5000 0.6000'
    """
    _require_ridge(data)
    return spike_outlier(
        data.noise,
        data.direction,
        strength=_strength(data),
        alpha=data.alpha,
        method=data.method,
        lam=data.lam,
    )


@checked
def symmetric_outlier(data: SpikedData) -> SymmetricOutlier:
    """Outlier of the symmetric part (A + A^T)/2 of the joint predictor; see `symmetric_part_outlier`.

    ValueError without a strength, for another method than "ssr", and where noise and coordinates do not commute.
    """
    strength = _strength(data)
    _require_ridge(data)
    if data.lam is None:
        raise ValueError(f"method must be 'ssr' for the symmetric part of the predictor, got {data.method!r}")
    return symmetric_part_outlier(data.noise, data.direction, strength=strength, alpha=data.alpha, lam=data.lam)


@checked
def optimal_ridge(data: SpikedData) -> SpikeRidge:
    """Ridge at which masked regression sees the spike of `data` best: `optimal_spike_ridge` of its record.

    A strength in the record asks for the largest overlap, none for the least threshold. ValueError for another method
    than "ssr", and for a record with a ridge of its own.
    """
    if data.method != "ssr" or data.lam is not None:
        given = f"method {data.method!r} and lam = {data.lam}"
        raise ValueError(f"data must leave the ridge open, with method 'ssr' and lam = None, got {given}")
    return optimal_spike_ridge(data.noise, data.direction, alpha=data.alpha, strength=data.strength)


def _require_ridge(data: SpikedData) -> None:
    if data.method == "ssr" and data.lam is None:
        raise ValueError("lam is needed for method 'ssr', got None: `optimal_ridge` finds one")


def _strength(data: SpikedData) -> float:
    if data.strength is None:
        raise ValueError("strength must be a positive number for an outlier, got None: `threshold` needs none")
    return data.strength
