"""Which pairs of sites depend on each other beyond what all other sites explain: a test for short sequences."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from theory.core.arrays import Array

# A site of a fold, a stem or a chain touches some six others: from 25 sites on fewer than a quarter of all pairs do.
SHORT = 24  # sites
FEW = 2.0  # sequences that are added to the number of those with a letter, so that two rare ones that meet are no proof


def residual_dependence(
    couplings: Array, fields: Array, states: NDArray[np.uint8], weights: Array, gap: int | None = None
) -> Array:
    """Return how much sites i and j depend on each other given all other sites, (L, L), in standard deviations.

    A pair model with `couplings` (L, L, C, C) and `fields` (L, C), fitted to states (M, L) with weights (M,), predicts
    the letter of i from all sites but j, and that of j from all but i, both by leaving J_ij out but for its mean. What
    remains, r_i and r_j (indicators of the letters less their probabilities), is uncorrelated where J_ij = 0, and an
    error of the other couplings changes that in second order only, since it multiplies a remainder of mean 0 (Shah and
    Peters, Annals of Statistics 48, 1514 (2020)). Of sum w r_i r_j', whitened on both sides, this is the squared norm,
    less its mean and over its standard deviation where J_ij = 0. Without other sites it is Pearson's chi-square of the
    table of letters.

    Sequences with the color `gap` at i or j say nothing about this pair, and r_i is then of the other colors alone.
    """
    states, place = np.unique(states, axis=0, return_inverse=True)
    times = np.bincount(place.reshape(-1), weights).astype(float)
    L = len(fields)
    logits = [_logits(couplings[i], fields[i], states, i) for i in range(L)]
    found = np.zeros((L, L))
    for i, j in zip(*np.triu_indices(L, 1), strict=True):
        kept = np.ones(len(states), bool) if gap is None else (states[:, i] != gap) & (states[:, j] != gap)
        a, b = states[kept, i], states[kept, j]
        first = _remainder(logits[i][kept] - _interaction(couplings[i, j], b, times[kept]), a, gap)
        second = _remainder(logits[j][kept] - _interaction(couplings[j, i], a, times[kept]), b, gap)
        found[i, j] = found[j, i] = _standardized(first, second, times[kept])
    return found


def _logits(couplings: Array, field: Array, states: NDArray[np.uint8], i: int) -> NDArray[np.float32]:
    others = (couplings[j].T[states[:, j]] for j in range(states.shape[1]) if j != i)
    return np.asarray(field + sum(others), np.float32)  # those of all sites are in memory together


def _interaction(block: Array, colors: NDArray[np.uint8], weights: Array) -> Array:
    """Return J_ij(., s_j), (M, C), without its mean over the sequences, which is a part of the field of i."""
    shares = np.bincount(colors, weights, minlength=len(block)) / max(weights.sum(), 1e-300)
    return np.asarray((block - (block @ shares)[:, None]).T[colors])


def _remainder(logits: Array, colors: NDArray[np.uint8], gap: int | None) -> Array:
    """Return indicators of the colors less their probabilities, (M, C); those of a gap are 0."""
    if gap is not None:
        logits[:, gap] = -np.inf
    remainder = -softmax(logits, axis=1)
    remainder[np.arange(len(colors)), colors] += 1.0
    return np.asarray(remainder)


def _standardized(first: Array, second: Array, weights: Array) -> float:
    """Return the squared norm of the whitened sum of products, less its mean and over its standard deviation.

    The norm is divided by how much larger its mean is than where the sizes of the two remainders are independent: both
    are large in the same few sequences where sites are nearly determined by others, and such products have long tails.
    """
    first, shares = _whitened(first, weights)
    second, of_other = _whitened(second, weights)
    mean, variance = shares.sum() * of_other.sum(), 2 * (shares**2).sum() * (of_other**2).sum()
    if not variance > 0:
        return 0.0
    norm = ((first.T @ (weights[:, None] * second)) ** 2).sum()
    expected = (weights * (first**2).sum(axis=1) * (second**2).sum(axis=1)).sum()
    total = weights.sum() / max(1.0, weights.sum() * expected / mean)
    return float((total * norm - mean) / np.sqrt(variance))


def _whitened(remainder: Array, weights: Array) -> tuple[Array, Array]:
    """Return r (S + FEW)^(-1/2) with S = sum w r r' in its own axes, (M, C), and the eigenvalues of S/(S + FEW)."""
    values, vectors = np.linalg.eigh(remainder.T @ (weights[:, None] * remainder))
    values = np.maximum(values, 0.0)
    return remainder @ vectors / np.sqrt(values + FEW), values / (values + FEW)
