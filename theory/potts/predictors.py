"""Linear prediction of sites from the other sites with a ridge: spectra, errors and moments."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from theory.core.arrays import Array
from theory.models.potts.one_hot_contrasts import ContrastPopulation
from theory.random_matrix import RidgeMoments


@dataclass(frozen=True, eq=False)
class LinearPredictors:
    """The ridge predictors of the contrasts y of S sites from the u contrasts x of the others, in Sxx's eigenbasis.

    Sxx = sum_k w_k v_k v_k^T is the covariance of x and Sxy its covariance with y. `eigenvalues` (S, u) are w_k,
    `loadings` (S, u) are |v_k^T Sxy|^2, and `variance` (S,) is tr Syy.
    """

    eigenvalues: Array
    loadings: Array
    variance: Array

    @classmethod
    def of(cls, population: ContrastPopulation) -> Self:
        """Return the predictors of all sites of a population."""
        return cls(*population.conditional_modes, population.variances)

    def at(self, sites: NDArray[np.intp]) -> Self:
        """Return the predictors of some of the sites."""
        return type(self)(self.eigenvalues[sites], self.loadings[sites], self.variance[sites])

    @cached_property
    def ranks(self) -> NDArray[np.intp]:
        """The ranks of Sxx, (S,)."""
        return np.asarray(np.count_nonzero(self.eigenvalues, axis=1))

    @cached_property
    def noise(self) -> Array:
        """The variance tr(Syy - Sxy^T Sxx^+ Sxy) that no linear prediction explains, (S,); never below zero."""
        return np.asarray(np.maximum(self.variance - self._over_eigenvalues(self.loadings).sum(axis=1), 0.0))

    def errors(self, kappa: Array) -> Array:
        """Return the errors on the population of the predictors (Sxx + kappa)^-1 Sxy, (S,), for ridges kappa (S,)."""
        shrinkage = np.divide(
            kappa[:, None], self.eigenvalues + kappa[:, None], out=np.zeros_like(self.loadings), where=self._resolved
        )
        return np.asarray(self.noise + self._over_eigenvalues(self.loadings * shrinkage**2).sum(axis=1))

    def moments(self, kappa: Array) -> RidgeMoments:
        """Return the moments, per dimension, of each Sxx at its own kappa, (S,); all Sxx must have the same rank."""
        total = self.eigenvalues + kappa[:, None]
        p = np.divide(self.eigenvalues, total, out=np.zeros_like(total), where=self._resolved)
        t = np.divide(kappa[:, None], total, out=np.zeros_like(total), where=self._resolved)
        df2, spread = (p * p).mean(axis=1), (p * t).mean(axis=1)
        return RidgeMoments(df2 + spread, df2, t.mean(axis=1), spread, float(self._resolved[0].mean()))

    @cached_property
    def scale(self) -> float:
        """The geometric mean of the positive eigenvalues, and zero if there is none."""
        return float(np.exp(np.log(self.eigenvalues[self._resolved]).mean())) if self._resolved.any() else 0.0

    @cached_property
    def _resolved(self) -> NDArray[np.bool_]:
        return self.eigenvalues > 0

    def _over_eigenvalues(self, values: Array) -> Array:
        return np.divide(values, self.eigenvalues, out=np.zeros_like(values), where=self._resolved)
