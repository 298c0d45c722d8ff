"""Computes the Hessian of the pseudo-likelihood and the covariance of its gradients, in color contrasts.

Site i predicts its color from y = (1, contrasts of all other sites), of d = 1 + (L - 1)(C - 1) numbers; its parameters
are (C - 1, d): fields in the first column, then a block of couplings for every other site in order.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from simulate.potts.inference.sequences import Sequences
from theory.core.arrays import Array
from theory.models import DensePottsModel
from theory.models.potts import helmert
from theory.models.potts.batches import blocks

BLOCK_SAMPLES = 512  # samples whose scores are held at a time

Places = dict[int, NDArray[np.intp]]  # where the parameters (C - 1, d) of a site stand in a vector


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
