"""Exact samples of a ring, site by site."""

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from theory.models import checks
from theory.models.arrays import Array
from theory.models.potts.factored import symmetric


def sample_ring(n_sites: int, color_couplings: Any, beta: float, n_samples: int, rng: Generator) -> NDArray[np.int16]:
    """Independent states (n_samples, L) of the ring S = sum_i U[s_i, s_i+1], of exactly its law.

    With T = exp(beta U): s_0 has the weights (T^L)_aa, and s_i given what was drawn before it the weights
    T[s_i-1, a] (T^(L-i))[a, s_0], of the walks that come back to where they started.
    """
    L = int(checks.dimension(n_sites, least=3, name="n_sites"))
    M = int(checks.dimension(n_samples, name="n_samples"))
    logs = checks.non_negative("beta", beta) * symmetric("color_couplings", color_couplings)
    back = _log_powers(logs - logs.max(), L)
    states = np.empty((M, L), dtype=np.int16)
    states[:, 0] = rng.choice(len(logs), size=M, p=_shares(np.diagonal(back[L])))
    for i in range(1, L):
        limits = np.cumsum(_shares(logs[:, None, :] + back[L - i]), axis=2)  # (previous color, first color, color)
        chosen = limits[states[:, i - 1], states[:, 0]]
        states[:, i] = (rng.random(M)[:, None] >= chosen[:, :-1]).sum(axis=1)
    return states


def _log_powers(step: Array, count: int) -> list[Array]:
    """log T^r of T = exp(step) for r = 1..`count`, at places 1 to `count`: frustrated rings need what underflows."""
    powers = [step, step]
    for _ in range(count - 1):
        powers.append(np.logaddexp.reduce(powers[-1][:, :, None] + step, axis=1))
    return powers


def _shares(logs: Array) -> Array:
    """exp(logs) over its sum along the last axis."""
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))
