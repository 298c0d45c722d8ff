"""Standard errors of learned couplings, from the Hessian of the pseudo-likelihood and the scatter of its scores."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from simulate.potts.inference.full import PseudoLikelihoodFit
from simulate.potts.inference.scores import Places, joint_places, n_parameters, site_places, statistics
from simulate.potts.inference.sequences import Sequences
from theory.models import checks
from theory.models.arrays import Array
from theory.models.potts import helmert

ARRAYS = 5  # of p^2 doubles for p parameters, held at the peak
ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class StandardErrors:
    """Standard deviations of the estimates in the zero-sum gauge; the bias that penalties cause is not in them."""

    couplings: Array = field(repr=False)  # (L, L, C, C)
    fields: Array = field(repr=False)  # (L, C)
    method: str  # "joint" or "by_site"
    effective_samples: float  # 1/sum w^2


def standard_errors(
    fit: PseudoLikelihoodFit, states: Any, weights: Any = None, method: str | None = None
) -> StandardErrors:
    """The sandwich H^-1 K H^-1, where H is the Hessian of f and K = sum_m w_m^2 times the covariance of the scores.

    `states` (M, L) and `weights` are those of the fit. Everything happens in orthonormal contrasts of the colors, where
    H has no null directions; penalties count as in the zero-sum gauge. `method` "joint" (default for symmetric fits)
    inverts the H of all p = L (C - 1) + L (L - 1)/2 (C - 1)^2 parameters. "by_site" (default for asymmetric fits)
    inverts one of (C - 1) (1 + (L - 1) (C - 1)) after the other, and takes for a coupling the mean of the errors of its
    two estimates: an upper bound for the error of their average, nearly attained since both see the same samples. Used
    for a symmetric fit, each site carries half of a pair's penalty.
    A color that no sample shows at a site has errors that the penalty sets: they say nothing about the data.
    ValueError for other numbers of samples than the fit's, or one. MemoryError, before anything is allocated, where
    these matrices do not fit.
    """
    checks.record("fit", fit, PseudoLikelihoodFit)
    data = Sequences.of(fit.model.checked_states(states), fit.model.n_colors, weights)
    if data.n_samples != fit.n_samples or data.n_samples < 2:
        raise ValueError(f"states must be the {fit.n_samples} samples of the fit, at least 2, got {data.n_samples}")
    if method not in (None, "joint", "by_site"):
        raise ValueError(f'method must be "joint", "by_site" or None, got {method!r}')
    chosen = method or ("joint" if fit.symmetric else "by_site")
    if chosen == "joint" and not fit.symmetric:
        raise ValueError('method must be "by_site" for a fit with symmetric=False, got "joint"')
    couplings, fields = (_joint if chosen == "joint" else _by_site)(fit, data)
    return StandardErrors(couplings, fields, chosen, 1 / float(np.sum(data.weights**2)))


def _joint(fit: PseudoLikelihoodFit, data: Sequences) -> tuple[Array, Array]:
    L, C = data.n_sites, data.n_colors
    places = joint_places(L, C)
    covariance = _covariance(fit, data, places, 'method="by_site" needs less')
    couplings, fields = np.zeros((L, L, C, C)), np.empty((L, C))
    for i, place in places.items():
        fields[i], others = _site_errors(covariance, place, C)
        couplings[i, np.arange(L) != i] = others
    return couplings, fields


def _by_site(fit: PseudoLikelihoodFit, data: Sequences) -> tuple[Array, Array]:
    L, C = data.n_sites, data.n_colors
    couplings, fields = np.zeros((L, L, C, C)), np.empty((L, C))
    for i in range(L):
        places = site_places(L, C, i)
        covariance = _covariance(fit, data, places, "take fewer sites or colors")
        fields[i], others = _site_errors(covariance, places[i], C)
        couplings[i, np.arange(L) != i] = others
    return (couplings + couplings.transpose(1, 0, 3, 2)) / 2, fields


def _covariance(fit: PseudoLikelihoodFit, data: Sequences, places: Places, advice: str) -> Array:
    """H^-1 K H^-1 of the parameters in `places`."""
    size = n_parameters(places)
    try:
        checks.fits_in_memory(f"standard errors of {size} parameters", ARRAYS * float(size) ** 2)
    except MemoryError as error:
        raise MemoryError(f"{error}; {advice}") from None
    hessian, scatter = statistics(fit.model, data, places)
    shared = fit.symmetric and len(places) == 1
    diagonal = np.full(size, fit.l2 if shared else 2 * fit.l2)
    diagonal[np.concatenate([each[:, 0] for each in places.values()])] = 2 * fit.field_l2
    hessian[np.diag_indices(size)] += diagonal
    factor = _factor(hessian)
    return np.asarray(cho_solve(factor, cho_solve(factor, scatter).T))


def _factor(hessian: Array) -> tuple[Array, bool]:
    """Cholesky factor; ValueError where its smallest pivot is rounding."""
    try:
        factor, lower = cho_factor(hessian)
    except np.linalg.LinAlgError:
        factor, lower = np.zeros((1, 1)), False
    if factor.diagonal().min() ** 2 <= ROUNDING * hessian.diagonal().max():
        raise ValueError("the Hessian is singular: no sample tells some couplings apart; fit with l2 > 0")
    return factor, lower


def _site_errors(covariance: Array, place: NDArray[np.intp], n_colors: int) -> tuple[Array, Array]:
    """Errors of the fields (C,) and of the couplings (L - 1, C, C) with the other sites, from those of contrasts."""
    Q = helmert(n_colors)
    field = place[:, 0]
    fields = np.einsum("xa,xc,ac->x", Q, Q, covariance[np.ix_(field, field)])
    blocks = place[:, 1:].reshape(n_colors - 1, -1, n_colors - 1).transpose(1, 0, 2)
    couplings = np.empty((len(blocks), n_colors, n_colors))
    for j, block in enumerate(blocks):
        part = covariance[np.ix_(block.ravel(), block.ravel())].reshape(block.shape * 2)
        couplings[j] = np.einsum("xa,yb,xc,yd,abcd->xy", Q, Q, Q, Q, part, optimize=True)
    return np.sqrt(fields), np.sqrt(couplings)
