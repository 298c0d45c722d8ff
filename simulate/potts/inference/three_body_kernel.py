"""Compiled sums over samples and triplets of sites: logits of three-body energies, and their derivatives.

Triplet t of sites (i, j, k) adds strengths[t] * tensors[which[t], s_i, s_j, s_k] to the score of a state.
"""

from typing import Any

from simulate.core.kernels import cached_njit


@cached_njit()
def add_triplets(states: Any, sites: Any, strengths: Any, which: Any, tensors: Any, z: Any) -> None:
    """Add to z (B, L, C) what the triplets give to every color at every site of states (B, L)."""
    n_colors = tensors.shape[1]
    for m in range(len(states)):
        for t in range(len(sites)):
            W, J = tensors[which[t]], strengths[t]
            i, j, k = sites[t, 0], sites[t, 1], sites[t, 2]
            a, b, c = states[m, i], states[m, j], states[m, k]
            for color in range(n_colors):
                z[m, i, color] += J * W[color, b, c]
                z[m, j, color] += J * W[a, color, c]
                z[m, k, color] += J * W[a, b, color]


@cached_njit()
def gather_triplets(
    states: Any, residuals: Any, sites: Any, strengths: Any, which: Any, tensors: Any, by_strength: Any, by_tensor: Any
) -> None:
    """Add the derivatives of a loss by strengths and tensors, given those by the logits, `residuals` (B, L, C)."""
    n_colors = tensors.shape[1]
    for t in range(len(sites)):
        W, J, gradient = tensors[which[t]], strengths[t], by_tensor[which[t]]
        i, j, k = sites[t, 0], sites[t, 1], sites[t, 2]
        total = 0.0
        for m in range(len(states)):
            a, b, c = states[m, i], states[m, j], states[m, k]
            for color in range(n_colors):
                first, second, third = residuals[m, i, color], residuals[m, j, color], residuals[m, k, color]
                gradient[color, b, c] += J * first
                gradient[a, color, c] += J * second
                gradient[a, b, color] += J * third
                total += first * W[color, b, c] + second * W[a, color, c] + third * W[a, b, color]
        by_strength[t] += total
