"""Contrasts of Potts models: the exact covariance of a ring, and a measure of how far Potts data are from Gaussian."""

from typing import Annotated, Any

import numpy as np

from theory.core import Array, AtLeast, NonNegative, Several, checked, checks
from theory.models import Empirical
from theory.models.potts.base import require_finite_scores
from theory.models.potts.batches import blocks, checked_samples, normalized_weights
from theory.models.potts.factored import symmetric
from theory.models.potts.one_hot_contrasts import ContrastPopulation, contrasts, helmert


@checked
def ring_contrasts(n_sites: Annotated[int, AtLeast(3)], color_couplings: Any, beta: NonNegative) -> ContrastPopulation:
    """Compute exactly the mean and covariance of the contrasts of a ring of Potts spins.

    The model is S = sum_i U[s_i, s_i+1] on a ring of L = `n_sites` >= 3 sites, with any symmetric `color_couplings` U
    (C, C) and P(s) = exp(beta S)/Z. With the transfer matrix T = exp(beta U) two sites at distance r have the joint law
    T^r_ab T^(L-r)_ba / tr T^L. Where U is the identity, the C - 1 contrasts of a site are independent copies of each
    other with the covariance (1/C) mu^r, but for terms of order mu^(L-r); mu is `ring_correlation`. Derived here: the
    joint law of two sites is projected on the Helmert contrasts, which for U = identity are eigenvectors of T.
    """
    L = n_sites
    U = symmetric("color_couplings", color_couplings)
    require_finite_scores("color_couplings", float(abs(U).max()), L, np.zeros(1), beta)
    checks.fits_in_memory(f"the covariance of {L} sites with {len(U)} colors", 4 * (float(L) * len(U)) ** 2)
    powers = _transfer_powers(L, beta * U)
    H, total = helmert(len(U)), np.logaddexp.reduce(np.diagonal(powers[L]))
    mean = H.T @ np.exp(np.diagonal(powers[L]) - total)
    lagged = [H.T @ np.exp(powers[r] + powers[L - r].T - total) @ H - np.outer(mean, mean) for r in range(L)]
    distance = (np.arange(L) - np.arange(L)[:, None]) % L
    blocks = np.array(lagged)[distance].transpose(0, 2, 1, 3).reshape(L * len(mean), -1)
    return ContrastPopulation(Empirical((blocks + blocks.T) / 2), len(U), np.tile(mean, L))


@checked
def ring_correlation(n_colors: Several, beta: NonNegative) -> float:
    """Compute the correlation mu of neighbors on the infinite ferromagnetic ring of C = `n_colors` colors.

    It is the ratio of the two eigenvalues of the transfer matrix exp(beta delta_ab),
    mu = (e^beta - 1)/(e^beta + C - 1): sites at distance r agree with probability 1/C + (1 - 1/C) mu^r. Source: the
    method of transfer matrices (H. A. Kramers and G. H. Wannier, Phys. Rev. 60, 252 (1941)), rederived here: the
    eigenvalues are e^beta + C - 1 and, C - 1 times, e^beta - 1.

    >>> round(ring_correlation(2, 2.0), 6)  # tanh(beta/2), as in the Ising chain with coupling beta/2
    0.761594
    """
    C = n_colors
    decay = np.expm1(-beta)
    return float(-decay / (C + (C - 1) * decay))


@checked
def heteroskedasticity(population: ContrastPopulation, states: Any, weights: Any = None) -> Array:
    """Measure, for every site, whether the residual of linear prediction depends on the predictors: 1 if it does not.

    Site i is predicted linearly from the u = (L-1)(C-1) contrasts x of the other sites, which have the covariance Sxx;
    r is what the best linear prediction leaves. The measure is E[|r|^2 x^T Sxx^-1 x]/(u E|r|^2), (L,): Gaussian data
    have independent r and x and give 1. The expectation is the mean over `states` (M, L), counted by `weights` (M,):
    all states of a model with their probabilities, or a sample with equal weights (None).

    By inversion in blocks, with the precision matrix Q = Sigma^-1 of all contrasts and the centered contrasts z,
    r = Q_ii^-1 (Q z)_i and x^T Sxx^-1 x = z^T Q z - (Q z)_i^T Q_ii^-1 (Q z)_i. Derived here: the errors of ridge
    regression on Gaussian data follow from the independence of r and x, by which the mean of the product is u E|r|^2;
    the measure is the ratio of the two. ValueError for a singular covariance.
    """
    colors = checked_samples("states", states, population.n_colors, population.n_sites)
    shares, Q = normalized_weights(weights, len(colors)), _precision(population)
    L, c = population.n_sites, population.n_colors - 1
    own = np.linalg.inv(np.einsum("iaib->iab", Q.reshape(L, c, L, c)))
    moments = np.zeros((2, L))
    for rows in blocks(len(colors), L * c):
        z = contrasts(colors[rows], population.n_colors) - population.mean
        conjugate = z @ Q
        by_site = conjugate.reshape(-1, L, c).transpose(1, 0, 2)
        residual = by_site @ own
        leverage = np.einsum("md,md->m", z, conjugate) - np.einsum("ima,ima->im", residual, by_site)
        square = np.einsum("ima,ima->im", residual, residual)
        moments += (square * leverage) @ shares[rows], square @ shares[rows]
    return np.asarray(moments[0] / (moments[1] * (L - 1) * c))


def _precision(population: ContrastPopulation) -> Array:
    """Return the inverse covariance of the contrasts; ValueError where it is singular."""
    values, vectors = population.covariance.eigenvalues, population.covariance.eigenvectors
    if values[0] <= 0:
        raise ValueError(
            "population must have a non-singular covariance for this measure, got "
            f"{int((values <= 0).sum())} directions without variance: leave out colors that never occur"
        )
    return np.asarray((vectors / values) @ vectors.T)


def _transfer_powers(n_sites: int, logs: Array) -> Array:
    """Return log T^r for r = 0 to L of T = exp(logs - max logs), (L+1, C, C).

    Logarithms are needed because a frustrated ring is dominated by entries of T that underflow at a large beta.
    """
    step = logs - logs.max()
    with np.errstate(divide="ignore"):
        powers = [np.log(np.eye(len(logs)))]
    for _ in range(n_sites):
        powers.append(np.logaddexp.reduce(powers[-1][:, :, None] + step, axis=1))
    return np.array(powers)
