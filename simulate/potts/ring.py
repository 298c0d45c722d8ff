"""Exact samples of a ring, site by site."""

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from theory.models import checks
from theory.models.potts.factored import symmetric

Array = NDArray[np.float64]


def sample_ring(n_sites: int, color_couplings: Any, beta: float, n_samples: int, rng: Generator) -> NDArray[np.int16]:
    """Independent states (n_samples, L) of the ring S = sum_i U[s_i, s_i+1], of exactly its law.

    With T = exp(beta U): s_0 has the weights (T^L)_aa, and s_i given what was drawn before it the weights
    T[s_i-1, a] (T^(L-i))[a, s_0], the walk that comes back to where it started.
    """
    L = int(checks.dimension(n_sites, least=3, name="n_sites"))
    M = int(checks.dimension(n_samples, name="n_samples"))
    logs = checks.non_negative("beta", beta) * symmetric("color_couplings", color_couplings)
    step, back = np.exp(logs - logs.max()), _powers(np.exp(logs - logs.max()), L)
    states = np.empty((M, L), dtype=np.int16)
    first = np.diagonal(back[L])
    states[:, 0] = rng.choice(len(first), size=M, p=first / first.sum())
    for i in range(1, L):
        weights = step[:, None, :] * back[L - i].T[None]  # (previous color, first color, color)
        limits = np.cumsum(weights, axis=2)
        limits /= limits[:, :, -1:]
        chosen = limits[states[:, i - 1], states[:, 0]]
        states[:, i] = (rng.random(M)[:, None] >= chosen[:, :-1]).sum(axis=1)
    return states


def _powers(step: Array, count: int) -> list[Array]:
    """Powers 0 to `count` up to factors that are the same for all entries, so that none over- or underflows."""
    powers = [np.eye(len(step))]
    for _ in range(count):
        power = powers[-1] @ step
        powers.append(power / power.max())
    return powers
