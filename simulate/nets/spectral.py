"""The first thing that one layer of factored attention sees in samples: the top pair of their rearranged covariance."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd

from theory.core import Array, Result, Several, checked, checks
from theory.models.potts.batches import checked_samples
from theory.models.potts.one_hot_contrasts import contrasts, helmert


@dataclass(frozen=True, eq=False, repr=False)
class SpectralEstimate(Result):
    """The best approximation of all pair covariances of the sites by one symmetric product A_ij V_ab.

    `attention` A (L, L) is symmetric with a zero diagonal, and `values` V (C, C) is symmetric with rows that sum to
    zero. Both have Frobenius norm one; the sign of both together is arbitrary. `singular_values` are in falling order.
    The first one, `top`, is the norm of the product over ordered pairs of sites. `share` is its square over the sum of
    the squares of all pair covariances, noise included: how much of them the product is. Of a `whitened` estimate V
    belongs to contrasts that are uncorrelated with unit variance at every site, and is to be compared with that of
    another whitened estimate.
    """

    attention: Array = field(repr=False)
    values: Array = field(repr=False)
    singular_values: Array = field(repr=False)
    share: float
    whitened: bool

    @property
    def top(self) -> float:
        """The largest singular value."""
        return float(self.singular_values[0])

    def attention_overlap(self, site_couplings: Any) -> float:
        """Return the squared cosine between A and a symmetric matrix J (L, L), whose diagonal does not count.

        ValueError for another shape, and for couplings that are all zero.
        """
        given = checks.finite_array("site_couplings", site_couplings, 2)
        J = checks.shaped("site_couplings", given, self.attention.shape)
        return _squared_cosine("site_couplings", self.attention, J - np.diag(np.diag(J)))

    def values_overlap(self, color_couplings: Any) -> float:
        """Return the squared cosine between V and a matrix U (C, C) after its row and column means were subtracted.

        ValueError for another shape, and for couplings that are then all zero.
        """
        given = checks.finite_array("color_couplings", color_couplings, 2)
        U = checks.shaped("color_couplings", given, self.values.shape)
        flat = np.eye(len(U)) - 1 / len(U)
        return _squared_cosine("color_couplings", self.values, flat @ U @ flat)


@checked
def spectral_estimate(
    states: NDArray[np.integer[Any]], n_colors: Several, *, whitened: bool = False
) -> SpectralEstimate:
    """Compute the top singular pair of the rearranged covariance of samples `states` (M, L), without any training.

    The matrix has a row for each pair of sites i < j, and a column for each of the orthonormal symmetric matrices B of
    size C - 1. Its entries are sqrt(2) <Cov_ij, B>, where Cov_ij is the covariance of the Helmert contrasts of the two
    sites; the factor sqrt(2) counts ordered pairs. The covariances of a model with weak couplings J_ij U_ab are
    proportional to the couplings, so that the top pair points along J and U. It is also the direction in which the
    training of a layer from small weights starts.

    Where colors have unequal frequencies, the noise of the covariances is not the same in all directions, and the top
    pair is first that of the common colors. `whitened` turns the contrasts of every site into uncorrelated ones of
    variance 1/C, by the inverse root of their sample covariance: the noise of all entries is then that of equal
    frequencies, of variance 2/(C^2 M). Contrasts that do not vary are left out.

    ValueError for fewer than two samples, sites or colors.

    >>> states = np.random.default_rng(0).integers(3, size=(1000, 4))
    >>> states[:, 2] = states[:, 0]  # two of the sites always have the same color
    >>> estimate = spectral_estimate(states, 3)
    >>> couplings = np.zeros((4, 4))
    >>> couplings[0, 2] = couplings[2, 0] = 1.0
    >>> estimate.attention_overlap(couplings) > 0.98, estimate.values_overlap(np.eye(3)) > 0.98
    (True, True)
    """
    samples = checked_samples("states", states, n_colors)
    (M, L), C = samples.shape, n_colors
    if M < 2 or L < 2:
        raise ValueError(f"states must be at least two samples of at least two sites, got shape {samples.shape}")
    checks.fits_in_memory(
        f"covariances of {L} sites with {C} colors", 3.0 * (L * C) ** 2 + (1.0 + whitened) * M * L * C
    )
    X = contrasts(samples, C)
    X -= X.mean(axis=0)
    if whitened:
        X = np.concatenate([_uncorrelated(each) for each in np.split(X, L, axis=1)], axis=1) / np.sqrt(C)
    covariance = (X.T @ X / M).reshape(L, C - 1, L, C - 1)
    i, j = np.triu_indices(L, 1)
    pairs = covariance[i, :, j, :]
    a, b = np.triu_indices(C - 1)
    # Symmetric orthonormal matrices: (E_ab + E_ba)/sqrt(2) off the diagonal and E_aa on it.
    scale = np.where(a == b, 1.0, np.sqrt(0.5))
    columns = np.where(a == b, 0.5, 1.0) * (pairs[:, a, b] + pairs[:, b, a]) * scale
    left, singular, right = svd(np.sqrt(2.0) * columns, full_matrices=False)
    A, B = np.zeros((L, L)), np.zeros((C - 1, C - 1))
    A[i, j] = left[:, 0] / np.sqrt(2.0)
    B[a, b] = B[b, a] = right[0] * scale
    basis = helmert(C)
    total = 2 * float(np.sum(pairs**2))
    return SpectralEstimate(
        attention=A + A.T,
        values=basis @ B @ basis.T,
        singular_values=singular,
        share=float(singular[0] ** 2 / total) if total > 0 else 1.0,
        whitened=whitened,
    )


def _uncorrelated(X: Array) -> Array:
    """Return X (X'X/M)^(-1/2) of centered numbers X (M, C - 1), from the singular vectors of those that vary."""
    left, size, right = svd(X, full_matrices=False)
    varies = size > 1e-6 * np.sqrt(len(X))
    return np.asarray(np.sqrt(len(X)) * left[:, varies] @ right[varies])


def _squared_cosine(name: str, unit: Array, other: Array) -> float:
    size = float(np.sqrt(np.sum((other / (abs(other).max() or 1.0)) ** 2)))
    if size == 0:
        raise ValueError(f"{name} must not all be zero, or equal where means are subtracted")
    return float((np.sum(unit * (other / abs(other).max())) / size) ** 2)
