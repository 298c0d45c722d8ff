"""Linear prediction of sites from the other sites, with a ridge."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from theory.models.arrays import Array
from theory.models.potts.one_hot_contrasts import ContrastPopulation
from theory.random_matrix import RidgeMoments


@dataclass(frozen=True, eq=False)
class LinearPredictors:
    """S sites whose contrasts y are predicted from the u contrasts x of the others, Sxx = sum_k w_k v_k v_k^T."""

    eigenvalues: Array  # w (S, u)
    loadings: Array  # |v_k^T Sxy|^2 (S, u)
    variance: Array  # tr Syy (S,)

    @classmethod
    def of(cls, population: ContrastPopulation) -> Self:
        """All sites of a population."""
        return cls(*population.conditional_modes, population.variances)

    def at(self, sites: NDArray[np.intp]) -> Self:
        """Some of the sites."""
        return type(self)(self.eigenvalues[sites], self.loadings[sites], self.variance[sites])

    @cached_property
    def ranks(self) -> NDArray[np.intp]:
        """Of Sxx, (S,)."""
        return np.asarray(np.count_nonzero(self.eigenvalues, axis=1))

    @cached_property
    def noise(self) -> Array:
        """tr(Syy - Sxy^T Sxx^+ Sxy), (S,): what no linear prediction explains; rounding can leave no less than zero."""
        return np.asarray(np.maximum(self.variance - self._over_eigenvalues(self.loadings).sum(axis=1), 0.0))

    def errors(self, kappa: Array) -> Array:
        """Of the predictor (Sxx + kappa)^-1 Sxy on the population, kappa (S,) -> (S,)."""
        shrinkage = np.divide(
            kappa[:, None], self.eigenvalues + kappa[:, None], out=np.zeros_like(self.loadings), where=self._resolved
        )
        return np.asarray(self.noise + self._over_eigenvalues(self.loadings * shrinkage**2).sum(axis=1))

    def moments(self, kappa: Array) -> RidgeMoments:
        """Moments of each Sxx at its own kappa, (S,), per dimension; all must have the same rank."""
        total = self.eigenvalues + kappa[:, None]
        p = np.divide(self.eigenvalues, total, out=np.zeros_like(total), where=self._resolved)
        t = np.divide(kappa[:, None], total, out=np.zeros_like(total), where=self._resolved)
        df2, spread = (p * p).mean(axis=1), (p * t).mean(axis=1)
        return RidgeMoments(df2 + spread, df2, t.mean(axis=1), spread, float(self._resolved[0].mean()))

    @cached_property
    def scale(self) -> float:
        """Geometric mean of the positive eigenvalues; zero if there is none."""
        return float(np.exp(np.log(self.eigenvalues[self._resolved]).mean())) if self._resolved.any() else 0.0

    @cached_property
    def _resolved(self) -> NDArray[np.bool_]:
        return self.eigenvalues > 0

    def _over_eigenvalues(self, values: Array) -> Array:
        return np.divide(values, self.eigenvalues, out=np.zeros_like(values), where=self._resolved)
