"""Colors as numbers: orthonormal contrasts of the one-hot vectors, and the record of their mean and covariance."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

from theory.models import checks
from theory.models.arrays import Array
from theory.models.composed import Empirical
from theory.models.covariance import Covariance, frozen, set_checked
from theory.models.eigenmodes import without_rounding
from theory.models.potts.base import BLOCK


def helmert(n_colors: int) -> Array:
    """Helmert's contrasts of C >= 2 colors, (C, C-1): orthonormal columns that sum to zero."""
    C = int(checks.dimension(n_colors, least=2, name="n_colors"))
    order = np.arange(1, C)
    columns = np.triu(np.ones((C, C - 1))) - np.eye(C, C - 1, -1) * order
    return np.asarray(columns / np.sqrt(order * (order + 1)))


def contrasts(states: Any, n_colors: int) -> Array:
    """Numbers (M, L (C-1)) of states (M, L): those of site i are columns i (C-1) to (i+1) (C-1) - 1.

    The one-hot vectors less their mean 1/C, without their null direction: distances between colors are kept.
    """
    table = helmert(n_colors)
    colors = checks.colors("states", states, n_colors)
    if colors.ndim != 2:
        raise ValueError(f"states must have shape (samples, sites), got {colors.shape}")
    return np.asarray(table[colors].reshape(len(colors), colors.shape[1] * (n_colors - 1)))


@dataclass(frozen=True, eq=False)
class ContrastPopulation:
    """Mean and covariance of the contrasts of L >= 2 sites with C colors.

    `covariance` is of dimension L (C-1), ordered as by `contrasts`; no site may have a single color only. `mean`
    (L (C-1),) is zero where None, as it is where all colors are alike.
    """

    covariance: Covariance
    n_colors: int
    mean: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        checks.record("covariance", self.covariance, Covariance)
        n_colors = int(checks.dimension(self.n_colors, least=2, name="n_colors"))
        d = self.covariance.size
        if d % (n_colors - 1) or d < 2 * (n_colors - 1):
            raise ValueError(
                f"covariance must have n_colors - 1 = {n_colors - 1} contrasts for each of 2 or more sites, got d = {d}"
            )
        mean = checks.finite_array("mean", np.zeros(d) if self.mean is None else self.mean, 1)
        if mean.shape != (d,):
            raise ValueError(f"mean must have shape ({d},) as the covariance, got {mean.shape}")
        set_checked(self, n_colors=n_colors, mean=mean)
        constant = np.flatnonzero(self.variances <= 0)
        if constant.size:
            raise ValueError(f"covariance must let every site vary, got no variance at sites {constant.tolist()}")

    @classmethod
    def from_states(cls, states: Any, n_colors: int, weights: Any = None) -> Self:
        """Moments of states (M, L), a sample or all states of a model, counted by `weights` (M,), equal where None.

        MemoryError, before anything is computed, where the covariance does not fit.
        """
        colors = checks.colors("states", states, n_colors)
        weights = checked_weights(weights, len(colors))
        d = contrasts(colors[:1], n_colors).shape[1]
        checks.fits_in_memory(f"the covariance of {d} contrasts", 4 * d**2)
        mean, second = np.zeros(d), np.zeros((d, d))
        for rows in _blocks(len(colors), max(1, BLOCK // d)):
            x = contrasts(colors[rows], n_colors)
            mean += weights[rows] @ x
            second += x.T @ (weights[rows, None] * x)
        covariance = second - np.outer(mean, mean)
        exact_zero = np.diagonal(covariance) <= 1e-14 * np.diagonal(second)  # what rounding leaves of a constant
        covariance[exact_zero] = covariance[:, exact_zero] = 0.0
        return cls(Empirical(covariance), n_colors, mean)

    @property
    def n_sites(self) -> int:
        """L."""
        return self.covariance.size // (self.n_colors - 1)

    @property
    def variances(self) -> Array:
        """(L,): the variance of a site's one-hot vector, that is, of its contrasts together."""
        return frozen(self.covariance.variances.reshape(-1, self.n_colors - 1).sum(axis=1))

    @cached_property
    def conditional_modes(self) -> tuple[Array, Array]:
        """What linear prediction of each site from the others needs, for u = (L-1)(C-1): two arrays (L, u).

        The eigenvalues of the others' covariance Sxx = sum_k w_k v_k v_k^T, and the squared lengths |v_k^T Sxy|^2 of
        their covariance with the site. Costs L decompositions, once.
        """
        eigenvalues, loadings = [], []
        for i in range(self.n_sites):
            own = slice(i * (self.n_colors - 1), (i + 1) * (self.n_colors - 1))
            others = np.delete(np.arange(self.covariance.size), own)
            w, v = np.linalg.eigh(self.covariance.matrix[np.ix_(others, others)])
            eigenvalues.append(without_rounding(w))
            loadings.append(((v.T @ self.covariance.matrix[others, own]) ** 2).sum(axis=1))
        return frozen(np.array(eigenvalues)), frozen(np.array(loadings))


def checked_weights(weights: Any, count: int) -> Array:
    """Weights (M,) that sum to one, equal where None; ValueError where none is positive or one is negative."""
    if count == 0:
        raise ValueError("states must hold at least one state, got none")
    given = checks.finite_array("weights", np.ones(count) if weights is None else weights, 1)
    if given.shape != (count,):
        raise ValueError(f"weights must have shape ({count},), one for each state, got {given.shape}")
    if given.min() < 0 or given.max() <= 0:
        raise ValueError(f"weights must be >= 0 and not all zero, got a minimum of {given.min()}")
    return np.asarray(given / given.sum())


def _blocks(count: int, size: int) -> Iterator[slice]:
    return (slice(start, start + size) for start in range(0, count, size))
