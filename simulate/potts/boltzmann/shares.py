"""Shares of pairs of colors at all pairs of sites, which Boltzmann learning brings a model to reproduce."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.threads import in_threads
from simulate.potts.boltzmann.kernels import first_pair, weighted_shares
from simulate.potts.inference.sequences import Sequences
from theory.core.arrays import Array

Shares = NDArray[np.float32]
ROUNDING = 2.0**-22  # of a covariance of shares in single precision


def pair_shares(data: Sequences, n_threads: int = 1) -> Shares:
    """Return the weighted shares (P, C, C) of pairs of colors at all P = L (L - 1)/2 pairs of sites i < j."""
    L, C = data.n_sites, data.n_colors
    shares = np.zeros((L * (L - 1) // 2, C, C), np.float32)
    share_rows(lambda i, k: weighted_shares(data.columns, data.weights, i, k, shares), L, n_threads)
    return shares


def site_shares(shares: Shares, n_sites: int) -> Array:
    """Return the shares (L, C) of the colors at single sites, which tables of pairs sum to."""
    own = [shares[first_pair(i, n_sites)].sum(axis=1, dtype=float) for i in range(n_sites - 1)]
    return np.array([*own, shares[-1].sum(axis=0, dtype=float)])


def require_covariances(shares: Shares, n_sites: int) -> None:
    """Raise ValueError for sequences with these shares unless two sites vary together.

    Else the maximum of the likelihood is the model of independent sites, whatever the penalty of couplings, and no
    correlation of covariances tells when chains have come there; without a penalty of fields those of sites that do
    not vary are infinite.
    """
    for i in range(n_sites - 1):
        pairs = shares[first_pair(i, n_sites) : first_pair(i + 1, n_sites)].astype(float)
        apart = pairs - pairs.sum(axis=2, keepdims=True) * pairs.sum(axis=1, keepdims=True)
        if abs(apart).max() > ROUNDING:
            return
    varying = int(np.sum(np.max(site_shares(shares, n_sites), axis=1) < 1 - ROUNDING))
    raise ValueError(
        f"sequences must have two sites at least that vary together, got {varying} of {n_sites} that vary"
        f"{' independently' if varying > 1 else ''}: there are no couplings to be learned, take independent sites with "
        "fields log(f_i(a) + a pseudocount)"
    )


def share_rows(work: Callable[[int, int], Any], n_sites: int, n_threads: int, *, even: bool = False) -> None:
    """Call work(first, last) for parts of the sites, with equally many pairs i < j in each unless `even`."""
    ends = np.linspace(0, 1, n_threads + 1)
    ends = np.unique(np.rint(n_sites * (ends if even else 1 - np.sqrt(1 - ends))).astype(int))
    list(in_threads(lambda part: work(*part), list(pairwise(ends.tolist())), n_threads))
