"""Computes standard errors of learned couplings, from the curvature and the scatter of the gradients.

Both are taken in color contrasts. Site i predicts its color from y = (1, contrasts of all other sites), of
d = 1 + (L - 1)(C - 1) numbers; its parameters are (C - 1, d): fields in the first column, then a block of couplings for
every other site in order.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import softmax

from simulate.potts.inference.full import PseudoLikelihoodFit
from simulate.potts.inference.sequences import Sequences
from theory.core import Array, Result, checked, checks
from theory.models import DensePottsModel
from theory.models.potts import helmert
from theory.models.potts.batches import blocks

PEAK_ARRAYS = 5  # arrays of p^2 doubles for p parameters that are held at the peak
MIN_PIVOT_SHARE = 1e-13  # least square of a pivot of the Hessian, relative to its diagonal
BLOCK_SAMPLES = 512  # samples whose scores are held at a time

Places = dict[int, NDArray[np.intp]]  # where the parameters (C - 1, d) of a site stand in a vector


@dataclass(frozen=True, eq=False, repr=False)
class StandardErrors(Result):
    """Holds the standard deviations of fitted couplings (L, L, C, C) and fields (L, C) in the zero-sum gauge.

    They do not include the bias that penalties cause. `effective_samples` is 1/sum w^2 of the normalized weights.
    """

    couplings: Array = field(repr=False)
    fields: Array = field(repr=False)
    method: Literal["joint", "by_site"]
    effective_samples: float


@checked
def standard_errors(
    fit: PseudoLikelihoodFit,
    states: Any,
    weights: Any = None,
    method: Literal["joint", "by_site"] | None = None,
) -> StandardErrors:
    """Compute the standard errors of a pseudo-likelihood fit from its `states` (M, L) and `weights` (M,).

    The covariance of the estimates is the sandwich H^-1 K H^-1, where H is the Hessian of the objective and K is sum_m
    w_m^2 times the covariance of the gradients of single samples. Both are taken in orthonormal contrasts of the
    colors, where H has no null directions; penalties count as in the zero-sum gauge.

    The `method` "joint", the default for symmetric fits, inverts the Hessian of all p = L (C - 1) + L (L - 1)/2 (C -
    1)^2 parameters. The method "by_site", the default for asymmetric fits, inverts for one site after the other a
    matrix of size (C - 1) (1 + (L - 1) (C - 1)), and takes as the error of a coupling the mean of the errors of its two
    estimates. That bounds the error of their average from above, and is nearly attained since both see the same
    samples. If "by_site" is used for a symmetric fit, each site carries half of a pair's penalty. A color that no
    sample shows at a site has errors that the penalty sets, and which say nothing about the data.

    ValueError for another number of samples than the fit's, or for a single one, and for a singular Hessian;
    MemoryError, before anything is allocated, where these matrices do not fit.
    """
    data = Sequences.of(fit.model.checked_states(states), fit.model.n_colors, weights)
    if data.n_samples != fit.n_samples or data.n_samples < 2:
        raise ValueError(f"states must be the {fit.n_samples} samples of the fit, at least 2, got {data.n_samples}")
    chosen: Literal["joint", "by_site"] = method or ("joint" if fit.symmetric else "by_site")
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
    """Return the covariance H^-1 K H^-1 of the parameters in `places`."""
    size = n_parameters(places)
    try:
        checks.fits_in_memory(f"standard errors of {size} parameters", PEAK_ARRAYS * float(size) ** 2)
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
    """Return the Cholesky factor of the Hessian; ValueError where its smallest pivot is rounding error."""
    try:
        factor, lower = cho_factor(hessian)
    except np.linalg.LinAlgError:
        factor, lower = np.zeros((1, 1)), False
    if factor.diagonal().min() ** 2 <= MIN_PIVOT_SHARE * hessian.diagonal().max():
        raise ValueError("fit must have l2 > 0 here: its Hessian is singular, as no sample tells some couplings apart")
    return factor, lower


def _site_errors(covariance: Array, place: NDArray[np.intp], n_colors: int) -> tuple[Array, Array]:
    """Return the errors of a site's fields (C,) and couplings (L - 1, C, C), from the covariance of contrasts."""
    Q = helmert(n_colors)
    field = place[:, 0]
    fields = np.einsum("xa,xc,ac->x", Q, Q, covariance[np.ix_(field, field)])
    blocks = place[:, 1:].reshape(n_colors - 1, -1, n_colors - 1).transpose(1, 0, 2)
    couplings = np.empty((len(blocks), n_colors, n_colors))
    for j, block in enumerate(blocks):
        part = covariance[np.ix_(block.ravel(), block.ravel())].reshape(block.shape * 2)
        couplings[j] = np.einsum("xa,yb,xc,yd,abcd->xy", Q, Q, Q, Q, part, optimize=True)
    # Where scores do not vary, as those of a site that is the same in all samples, rounding may give negative ones.
    return np.sqrt(np.maximum(fields, 0)), np.sqrt(np.maximum(couplings, 0))


def site_places(n_sites: int, n_colors: int, site: int) -> Places:
    """Return the places of the parameters of one site, fitted by itself."""
    d = 1 + (n_sites - 1) * (n_colors - 1)
    return {site: np.arange((n_colors - 1) * d).reshape(n_colors - 1, d)}


def joint_places(n_sites: int, n_colors: int) -> Places:
    """Return the places for all sites together: fields (L, C - 1), then a block (C - 1, C - 1) for each pair i < j."""
    L, K = n_sites, n_colors - 1
    fields = np.arange(L * K).reshape(L, K, 1)
    blocks = np.zeros((L, L, K, K), dtype=np.intp)
    i, j = np.triu_indices(L, 1)
    blocks[i, j] = L * K + np.arange(len(i) * K * K).reshape(-1, K, K)
    blocks[j, i] = blocks[i, j].transpose(0, 2, 1)
    others = [np.delete(blocks[site], site, axis=0).transpose(1, 0, 2).reshape(K, -1) for site in range(L)]
    return {site: np.concatenate([fields[site], others[site]], axis=1) for site in range(L)}


def n_parameters(places: Places) -> int:
    """Return how many different parameters `places` has."""
    return 1 + max(int(each.max()) for each in places.values())


def statistics(model: DensePottsModel, data: Sequences, places: Places) -> tuple[Array, Array]:
    """Return the Hessian H and the scatter K of the gradients of the loss, summed over the sites in `places`.

    H = sum_m w_m (Hessian of sample m), and K = sum_m w_m^2 (g_m - mean g)(g_m - mean g)' with the gradients g_m.
    """
    size = n_parameters(places)
    hessian, scatter = np.zeros((size, size)), np.zeros((size, size))
    mean, heavy = np.zeros(size), np.zeros(size)  # means of the gradients, weighted by w and by w^2
    for rows in blocks(data.n_samples, 1, most=BLOCK_SAMPLES):
        states, w = data.columns[:, rows].T, data.weights[rows]
        g = np.zeros((len(states), size))
        for site, place in places.items():
            y, residual, curvature = _site(model, states, site)
            g[:, place.ravel()] += (residual[:, :, None] * y[:, None, :]).reshape(len(y), -1)
            hessian[np.ix_(place.ravel(), place.ravel())] += _weighted_products(y, w[:, None, None] * curvature)
        scatter += (g * w[:, None] ** 2).T @ g
        mean += w @ g
        heavy += w**2 @ g
    scatter -= np.outer(mean, heavy) + np.outer(heavy, mean) - np.sum(data.weights**2) * np.outer(mean, mean)
    return hessian, scatter


def _site(model: DensePottsModel, states: NDArray[Any], site: int) -> tuple[Array, Array, Array]:
    """Return y (B, d), Q'(P - one-hot) (B, C - 1) and Q'(diag P - P P')Q (B, C - 1, C - 1) of one site."""
    Q, others = helmert(model.n_colors), np.delete(np.arange(model.n_sites), site)
    z = model.fields[site] + sum(model.couplings[site, j][:, states[:, j]].T for j in others)
    z *= model.beta
    P = softmax(z, axis=1)
    y = np.concatenate([np.ones((len(states), 1)), Q[states[:, others]].reshape(len(states), -1)], axis=1)
    mean = P @ Q
    curvature = np.einsum("ax,ma,ay->mxy", Q, P, Q, optimize=True) - mean[:, :, None] * mean[:, None, :]
    return y, mean - Q[states[:, site]], curvature


def _weighted_products(y: Array, curvature: Array) -> Array:
    """Return sum_m curvature_m x (y_m y_m'), x the Kronecker product, as a matrix over (color, feature)."""
    K, d = curvature.shape[1], y.shape[1]
    products = np.empty((K, d, K, d))
    for a in range(K):
        for b in range(a + 1):
            products[a, :, b, :] = products[b, :, a, :] = y.T @ (curvature[:, a, b, None] * y)
    return products.reshape(K * d, K * d)
