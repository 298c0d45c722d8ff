"""Estimates mean-field couplings, minus the inverse covariance of the colors: a fast baseline."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from simulate.potts.inference.pair_fit import PairFit
from simulate.potts.inference.sequences import Sequences
from theory.core import Array, Result, Share, checked, checks
from theory.models import DensePottsModel
from theory.models.potts import zero_sum

PEAK_ARRAYS = 6  # arrays of (L C)^2 doubles that are held at the peak


@dataclass(frozen=True, eq=False, repr=False)
class MeanFieldFit(Result, PairFit):
    """A pair model whose couplings are minus the inverse covariance of the colors, in the zero-sum gauge."""

    model: DensePottsModel
    pseudocount: float
    n_samples: int


@checked
def mean_field(states: Any, n_colors: int, pseudocount: Share = 0.5, weights: Any = None) -> MeanFieldFit:
    """Estimate couplings and fields of a Potts model from sequences by naive mean-field theory (arXiv:1110.5223).

    The couplings are J = -(covariance of the first C - 1 colors)^-1 of the sequences `states` (M, L), counted by
    `weights` (M,), which are divided by their sum. Frequencies are mixed with those of independent uniform colors,
    (1 - pseudocount) f + pseudocount/C, which makes the covariance invertible. One matrix is inverted and nothing is
    iterated; strong couplings come out too large. ValueError for a covariance without inverse, which only happens at
    pseudocount = 0; MemoryError, with the size, where the matrix does not fit.
    """
    data = Sequences.of(states, n_colors, weights)
    L, C = data.n_sites, data.n_colors
    checks.fits_in_memory(f"mean field of {L} sites and {C} colors", PEAK_ARRAYS * float(L * C) ** 2)
    f = (1 - pseudocount) * data.frequencies() + pseudocount / C
    inverse = _inverse(_covariance(data, f, pseudocount))
    couplings = np.zeros((L, L, C, C))
    couplings[:, :, :-1, :-1] = -inverse.reshape(L, C - 1, L, C - 1).transpose(0, 2, 1, 3)
    couplings[range(L), range(L)] = 0
    fields = np.log(f) - np.tensordot(couplings, f, axes=((1, 3), (0, 1)))
    return MeanFieldFit(zero_sum(DensePottsModel(couplings, fields)), pseudocount, data.n_samples)


def _covariance(data: Sequences, f: Array, mixed: float) -> Array:
    """Return the covariance of the first C - 1 one-hot colors of all sites, (L (C - 1), L (C - 1))."""
    L, C = f.shape
    covariance = np.empty((L, C - 1, L, C - 1))
    for i in range(L):
        covariance[i, :, i, :] = (np.diag(f[i]) - np.multiply.outer(f[i], f[i]))[:-1, :-1]
    for i, j in combinations(range(L), 2):
        pairs = (1 - mixed) * data.pair_frequencies(i, j) + mixed / C**2 - np.multiply.outer(f[i], f[j])
        covariance[i, :, j, :] = pairs[:-1, :-1]
        covariance[j, :, i, :] = pairs[:-1, :-1].T
    return covariance.reshape(L * (C - 1), L * (C - 1))


def _inverse(covariance: Array) -> Array:
    """Invert a covariance; ValueError where the smallest pivot of its Cholesky factor is rounding error."""
    try:
        factor = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        factor = None
    if factor is None or factor.diagonal().min() ** 2 < 1e-12 * covariance.diagonal().max():
        raise ValueError(
            "pseudocount = 0 leaves a covariance without inverse (colors that never occur, duplicated sites, or few "
            "samples); use pseudocount > 0"
        )
    inverse = np.linalg.inv(covariance)
    return np.asarray((inverse + inverse.T) / 2)
