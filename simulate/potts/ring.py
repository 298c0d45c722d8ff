"""Draws exact samples of the Potts model on a ring, site by site with transfer matrices."""

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from theory.core import Array, AtLeast, Count, NonNegative, checked, checks
from theory.models.potts.factored import symmetric

MAX_LOG_WEIGHT = 1e300  # largest size of a logarithm of weights


@checked
def sample_ring(
    n_sites: Annotated[int, AtLeast(3)], color_couplings: Array, beta: NonNegative, n_samples: Count,
    rng: np.random.Generator,
) -> NDArray[np.int16]:  # fmt: skip
    """Draw independent states (n_samples, L) of a closed ring of L sites, from exactly its law.

    The law is P(s) = exp(beta sum_i U[s_i, s_{i+1}])/Z, with U = `color_couplings` (C, C) symmetric and s_{L+1} = s_1.
    No Markov chain is needed. With T = exp(beta U), the first site has the color a with probability (T^L)_aa/Z, and
    every further site i = 1, ..., L - 1, given those before it, with weights T[s_{i-1}, a] (T^{L-i})[a, s_0], the
    number of weighted walks that come back to where they started. Raises ValueError for bad arguments, n_sites < 3
    among them.

    >>> sample_ring(6, np.eye(3), beta=1.0, n_samples=4, rng=np.random.default_rng(0)).shape
    (4, 6)
    """
    U = symmetric("color_couplings", color_couplings)
    L, M, C = n_sites, n_samples, len(U)
    checks.fits_in_memory(f"{M} samples of {L} sites of {C} colors", M * (L / 4 + 3.0 * C) + 2.0 * L * C * C + C**3)
    if beta > MAX_LOG_WEIGHT / L / max(1.0, float(abs(U).max())):
        raise ValueError(
            f"beta must be so small that beta * color_couplings is below {MAX_LOG_WEIGHT / L:g}, got {beta:g}"
        )
    logs = beta * U
    back = _log_powers(logs - logs.max(), L)
    states = np.empty((M, L), dtype=np.int16)
    states[:, 0] = rng.choice(len(logs), size=M, p=_shares(np.diagonal(back[L])))
    for i in range(1, L):
        # One table for all pairs of first and previous color serves every sample.
        limits = np.cumsum(_shares(logs[:, None, :] + back[L - i]), axis=2)  # (previous color, first color, color)
        chosen = limits[states[:, i - 1], states[:, 0]]
        # Without the last limit, which rounding may leave below one.
        states[:, i] = (rng.random(M)[:, None] >= chosen[:, :-1]).sum(axis=1)
    return states


def _log_powers(step: Array, count: int) -> list[Array]:
    """Return logarithms of the powers T^r of T = exp(step), r = 1, ..., `count`, at the places 1 to `count` of a list.

    Logarithms are needed because on frustrated rings the entries themselves would underflow.
    """
    powers = [step, step]
    for _ in range(count - 1):
        powers.append(np.logaddexp.reduce(powers[-1][:, :, None] + step, axis=1))
    return powers


def _shares(logs: Array) -> Array:
    """Return probabilities, exp(logs) divided by its sum along the last axis."""
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))
