"""Sites alone: each predicted from its column, with the same pull on its fields as in the pair model."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import wrightomega

from theory.core.arrays import Array

MIN_SEQUENCES = 10  # sequences of an analysis
MIN_PENALTY = 1e-12  # stands for no penalty where every color occurs
STEPS = 100


def effective_field_penalties(frequencies: Array, varying: NDArray[np.bool_], l2: float, field_l2: float) -> Array:
    """Return the penalty of the field of each site, (L,), in a pair model of `varying` sites, from frequencies (L, C).

    Couplings act as fields too: of all h_i + sum_j J_ij f_j = F the least field_l2 h^2 + l2 |J|^2 is F^2 over
    1/field_l2 + sum_j |f_j|^2 / l2. Sites alone with `field_l2` itself would be shrunk more than the pair model is,
    which would then gain where no two sites depend on each other. A constant site is in no pair: `field_l2`.
    """
    own = np.where(varying, (frequencies**2).sum(axis=1), 0.0)
    others = np.where(varying, own.sum() - own, 0.0)
    return np.asarray(field_l2 * l2 / np.maximum(l2 + field_l2 * others, MIN_PENALTY))


def penalized_log_frequencies(frequencies: Array, penalties: Array) -> Array:
    """Return the log p_i that minimize -sum_a f_ia log p_ia + penalty_i |h_i|^2 with p_i = softmax(h_i), (L, C).

    At the minimum p = f - k h with k = 2 penalty and h = log p + mu, solved by p/k = omega(f/k - mu - log k), Wright's
    function; sum_a p = 1 fixes mu. The sum is convex and decreasing in mu and at least 1 at mu = 0: Newton's steps from
    there do not overshoot.
    """
    k = np.maximum(2 * penalties, MIN_PENALTY)[:, None]
    mu = np.zeros_like(k)
    for _ in range(STEPS):
        omega = wrightomega(frequencies / k - mu - np.log(k))
        excess = k * omega.sum(axis=1, keepdims=True) - 1
        mu += excess / (k * (omega / (1 + omega)).sum(axis=1, keepdims=True))
        if abs(excess).max() < 1e-13:
            break
    logs = np.log(wrightomega(frequencies / k - mu - np.log(k))) + np.log(k)
    return np.asarray(logs - np.log(np.exp(logs).sum(axis=1, keepdims=True)))


def color_frequencies(states: NDArray[np.integer], weights: Array, n_colors: int) -> Array:
    """Return the weighted shares (L, C) of the colors at each site of states (M, L)."""
    counts = [np.bincount(column, weights, minlength=n_colors) for column in states.T]
    return np.asarray(np.array(counts) / weights.sum())


def varying_sites(states: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return at which sites (L,) the states (M, L) are not all the same."""
    return np.asarray((states != states[0]).any(axis=0))


def checked_variation(colors: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which sites vary, (L,). ValueError for too few sequences, and where all are equal."""
    if colors.ndim != 2:
        raise ValueError(f"states must have shape (sequences, sites), got {colors.shape}")
    if len(colors) < MIN_SEQUENCES:
        raise ValueError(f"need at least {MIN_SEQUENCES} sequences for an analysis, got {len(colors)}")
    varying = varying_sites(colors)
    if not varying.any():
        raise ValueError(f"all {len(colors)} sequences are equal: there is nothing to predict")
    return varying
