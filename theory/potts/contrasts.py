"""Contrasts of Potts models: exact covariance of a ring, and how far a linear model of Potts data is from Gaussian."""

from typing import Any

import numpy as np

from theory.models import Empirical, checks
from theory.models.arrays import Array
from theory.models.potts.batches import blocks, checked_samples, normalized_weights
from theory.models.potts.factored import symmetric
from theory.models.potts.one_hot_contrasts import ContrastPopulation, contrasts, helmert


def ring_contrasts(n_sites: int, color_couplings: Any, beta: float) -> ContrastPopulation:
    """Contrasts of the ring S = sum_i U[s_i, s_i+1] of L = `n_sites` >= 3, exactly, for any symmetric U (C, C).

    With T = exp(beta U) two sites at distance r have the joint law T^r_ab T^(L-r)_ba / tr T^L. Where U is the identity
    the C - 1 contrasts are independent copies of one covariance, (1/C) mu^r but for terms of order mu^(L-r), with
    mu = `ring_correlation`.
    """
    L = int(checks.dimension(n_sites, least=3, name="n_sites"))
    U = symmetric("color_couplings", color_couplings)
    powers = _transfer_powers(L, checks.non_negative("beta", beta) * U)
    H, total = helmert(len(U)), np.logaddexp.reduce(np.diagonal(powers[L]))
    mean = H.T @ np.exp(np.diagonal(powers[L]) - total)
    lagged = [H.T @ np.exp(powers[r] + powers[L - r].T - total) @ H - np.outer(mean, mean) for r in range(L)]
    distance = (np.arange(L) - np.arange(L)[:, None]) % L
    blocks = np.array(lagged)[distance].transpose(0, 2, 1, 3).reshape(L * len(mean), -1)
    return ContrastPopulation(Empirical((blocks + blocks.T) / 2), len(U), np.tile(mean, L))


def ring_correlation(n_colors: int, beta: float) -> float:
    """mu = (e^beta - 1)/(e^beta + C - 1): the correlation of neighbors on the infinite ring with U = identity."""
    C = int(checks.dimension(n_colors, least=2, name="n_colors"))
    decay = np.expm1(-checks.non_negative("beta", beta))
    return float(-decay / (C + (C - 1) * decay))


def heteroskedasticity(population: ContrastPopulation, states: Any, weights: Any = None) -> Array:
    """E[|r|^2 x^T Sxx^-1 x]/(u E|r|^2) of every site, (L,): r is what the best linear prediction of the site from the
    u = (L-1)(C-1) contrasts x of the others leaves. 1 for Gaussian data.

    The mean over `states` (M, L), each counted by its weight: all states of a model, or a sample. By block inversion,
    with Q = Sigma^-1 and z the centered contrasts, r = Q_ii^-1 (Q z)_i and
    x^T Sxx^-1 x = z^T Q z - (Q z)_i^T Q_ii^-1 (Q z)_i. ValueError for a singular covariance.
    """
    checks.record("population", population, ContrastPopulation)
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
    values, vectors = population.covariance.eigenvalues, population.covariance.eigenvectors
    if values[0] <= 0:
        raise ValueError(
            "population must have a non-singular covariance for this measure, got "
            f"{int((values <= 0).sum())} directions without variance: leave out colors that never occur"
        )
    return np.asarray((vectors / values) @ vectors.T)


def _transfer_powers(n_sites: int, logs: Array) -> Array:
    """log T^r of T = exp(logs - max), r = 0..L, (L+1, C, C): in logs, since frustrated rings need what underflows."""
    step = logs - logs.max()
    with np.errstate(divide="ignore"):
        powers = [np.log(np.eye(len(logs)))]
    for _ in range(n_sites):
        powers.append(np.logaddexp.reduce(powers[-1][:, :, None] + step, axis=1))
    return np.array(powers)
