"""Colors as numbers: orthonormal contrasts of the one-hot vectors, and the record of their mean and covariance."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

from theory.core import Array, Several, checked, checked_fields, checks
from theory.core.read_only import KeepsReadOnly
from theory.models.composed import Empirical
from theory.models.covariance import Covariance, frozen, set_checked
from theory.models.eigenmodes import without_rounding
from theory.models.potts.batches import blocks, checked_samples, normalized_weights


@checked
def helmert(n_colors: Several) -> Array:
    """Return Helmert's contrasts of C >= 2 colors, (C, C-1): orthonormal columns that sum to zero.

    >>> helmert(3).round(3).tolist()
    [[0.707, 0.408], [-0.707, 0.408], [0.0, -0.816]]
    """
    C = n_colors
    checks.fits_in_memory(f"contrasts of {C} colors", 4 * float(C) ** 2)
    order = np.arange(1, C)
    columns = np.triu(np.ones((C, C - 1))) - np.eye(C, C - 1, -1) * order
    return np.asarray(columns / np.sqrt(order * (order + 1)))


@checked
def contrasts(states: Any, n_colors: int) -> Array:
    """Turn states (M, L) into numbers (M, L (C-1)): those of site i are columns i (C-1) to (i+1) (C-1) - 1.

    They are the coordinates of the one-hot vectors in Helmert's basis, which leaves out the direction in which one-hot
    vectors do not vary and keeps distances between colors.
    """
    table = helmert(n_colors)
    colors = checked_samples("states", states, n_colors, least=0)
    return np.asarray(table[colors].reshape(len(colors), colors.shape[1] * (n_colors - 1)))


@dataclass(frozen=True, eq=False)
class ContrastPopulation(KeepsReadOnly):
    """The mean and the covariance of the contrasts of L >= 2 sites with C colors.

    `covariance` is a covariance record of dimension L (C-1), in the order of `contrasts`; every site must vary. `mean`
    (L (C-1),) is zero where None, as it is for models in which all colors are alike.
    """

    covariance: Covariance
    n_colors: Several
    mean: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        checked_fields(self)
        n_colors = self.n_colors
        d = self.covariance.size
        if d % (n_colors - 1) or d < 2 * (n_colors - 1):
            raise ValueError(
                f"covariance must have n_colors - 1 = {n_colors - 1} contrasts for each of 2 or more sites, got d = {d}"
            )
        mean = checks.finite_array("mean", np.zeros(d) if self.mean is None else self.mean, 1)
        if mean.shape != (d,):
            raise ValueError(f"mean must have shape ({d},) as the covariance, got {mean.shape}")
        set_checked(self, mean=mean)
        constant = np.flatnonzero(self.variances <= 0)
        if constant.size:
            raise ValueError(f"covariance must let every site vary, got no variance at sites {constant.tolist()}")

    @classmethod
    def from_states(cls, states: Any, n_colors: int, weights: Any = None) -> Self:
        """Compute the moments of states (M, L), a sample or all states of a model, with weights (M,).

        The weights are divided by their sum, and are equal where None. MemoryError, before anything is computed, where
        the covariance does not fit.
        """
        n_colors = int(checks.dimension(n_colors, least=2, name="n_colors"))
        colors = checked_samples("states", states, n_colors)
        weights = normalized_weights(weights, len(colors))
        d = contrasts(colors[:1], n_colors).shape[1]
        checks.fits_in_memory(f"the covariance of {d} contrasts", 4 * d**2)
        mean, second = np.zeros(d), np.zeros((d, d))
        for rows in blocks(len(colors), d):
            x = contrasts(colors[rows], n_colors)
            mean += weights[rows] @ x
            second += x.T @ (weights[rows, None] * x)
        covariance = second - np.outer(mean, mean)
        # A variance of zero may come out as a small number by rounding.
        exact_zero = np.diagonal(covariance) <= 1e-14 * np.diagonal(second)
        covariance[exact_zero] = covariance[:, exact_zero] = 0.0
        constant = np.flatnonzero(exact_zero.reshape(-1, n_colors - 1).all(axis=1))
        if constant.size:
            raise ValueError(f"states must let every site vary, got no variance at sites {constant.tolist()}")
        return cls(Empirical(covariance), n_colors, mean)

    @property
    def n_sites(self) -> int:
        """The number L of sites."""
        return self.covariance.size // (self.n_colors - 1)

    @property
    def variances(self) -> Array:
        """The variance of each site's one-hot vector, summed over its contrasts, (L,)."""
        return frozen(self.covariance.variances.reshape(-1, self.n_colors - 1).sum(axis=1))

    @cached_property
    def conditional_modes(self) -> tuple[Array, Array]:
        """The eigenvalues and loadings by which each site is predicted linearly from the others, two arrays (L, u).

        For site i, Sxx = sum_k w_k v_k v_k^T is the covariance of the u = (L-1)(C-1) contrasts of the other sites and
        Sxy their covariance with the site. The arrays are w_k and the squared lengths |v_k^T Sxy|^2. L matrices are
        decomposed once.
        """
        eigenvalues, loadings = [], []
        for i in range(self.n_sites):
            own = slice(i * (self.n_colors - 1), (i + 1) * (self.n_colors - 1))
            others = np.delete(np.arange(self.covariance.size), own)
            w, v = np.linalg.eigh(self.covariance.matrix[np.ix_(others, others)])
            eigenvalues.append(without_rounding(w))
            loadings.append(((v.T @ self.covariance.matrix[others, own]) ** 2).sum(axis=1))
        return frozen(np.array(eigenvalues)), frozen(np.array(loadings))
