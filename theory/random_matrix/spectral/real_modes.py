"""The eigenvectors of h Sigma_D + Lam D at a real h: given for commuting ensembles, computed for dense ones."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from theory.core.arrays import Array
from theory.random_matrix.spectral.ensemble import CommutingEnsemble, DenseEnsemble, Ensemble

Moments = tuple[float, float, float, float]


@dataclass(frozen=True, eq=False)
class Modes:
    """Holds poles of the resolvent at one h with their residues in <Sigma_D G>, G = (h Sigma_D + Lam D - nu)^-1."""

    poles: Array = field(repr=False)  # (r,)
    residues: Array = field(repr=False)  # (r,)
    moments: Callable[[Array], Moments] = field(repr=False)
    # from g = 1/(poles - nu): traces over d of (Sigma_D G)^2, Sigma_D G^2, (Sigma_D G)^3, Sigma_D G Sigma_D G^2


def modes(ensemble: Ensemble, h: float) -> Modes:
    """Find the modes at h: by an eigendecomposition for a dense ensemble, at O(r) for a commuting one."""
    return _of_atoms(ensemble, h) if isinstance(ensemble, CommutingEnsemble) else _of_matrix(ensemble, h)


def simplified(ensemble: Ensemble) -> Ensemble:
    """Drop modes of zero variance, on which no eigenvalue moves, and reduce to eigenvalues where all commutes."""
    if isinstance(ensemble, DenseEnsemble):
        if np.ptp(ensemble.offset) > 1e-14 * abs(ensemble.offset).max():
            return ensemble
        sigma: Array = np.linalg.eigvalsh(ensemble.covariance).astype(float)
        d = len(sigma)
        offset, weights = np.full(d, ensemble.offset.mean()), np.full(d, 1 / d)
        ensemble = CommutingEnsemble(ensemble.alpha, sigma, offset, weights, ensemble.rows)
    present = ensemble.sigma > 1e-14 * ensemble.sigma.max()
    if not present.any():
        raise FloatingPointError("all variances are zero in double precision")
    if present.all():
        return ensemble
    kept = (ensemble.sigma[present], ensemble.offset[present], ensemble.weights[present])
    return CommutingEnsemble(ensemble.alpha, *kept, ensemble.rows)


def shares(ensemble: Ensemble) -> Array:
    """Return the share of the d dimensions that each offset stands for."""
    if isinstance(ensemble, CommutingEnsemble):
        return ensemble.weights
    return np.full(len(ensemble.offset), 1 / len(ensemble.offset))


def _of_atoms(ensemble: CommutingEnsemble, h: float) -> Modes:
    sigma, weights = ensemble.sigma, ensemble.weights

    def moments(g: Array) -> Moments:
        first = sigma * g
        second = first * first * weights
        return (
            float(second.sum()),
            float((first * g) @ weights),
            float(second @ first),
            float(second @ g),
        )

    return Modes(sigma * h + ensemble.offset, weights * sigma, moments)


def _of_matrix(ensemble: DenseEnsemble, h: float) -> Modes:
    d = len(ensemble.offset)
    matrix = h * ensemble.covariance
    matrix[np.diag_indices(d)] += ensemble.offset
    poles, vectors = np.linalg.eigh(matrix)
    sigma = vectors.T @ ensemble.covariance @ vectors

    def moments(g: Array) -> Moments:
        # G is diagonal in this basis, so that each trace is a quadratic form in g.
        squares = sigma * sigma
        cubes = ((sigma * g) @ sigma) * sigma
        return (
            float(g @ squares @ g) / d,
            float(np.diagonal(sigma) @ (g * g)) / d,
            float(g @ cubes @ g) / d,
            float(g @ squares @ (g * g)) / d,
        )

    return Modes(poles, np.diagonal(sigma) / d, moments)
