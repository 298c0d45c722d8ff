"""Holds out sequences that resemble none of those that are fitted."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from figures.analyse.splits import checked_test_fraction
from figures.analyse.wording import counted
from theory.core.arrays import Array

Indices = NDArray[np.int64]

FEWEST_CLUSTERS = 2  # held out: one alone has no error bar


@dataclass(frozen=True, eq=False)
class Split:
    """Positions of sequences; those of `training` are in random order, so that smaller sets are its beginnings."""

    training: Indices
    held_out: Indices


def split_clusters(clusters: Indices, weights: Array, test_fraction: float, rng: np.random.Generator) -> Split:
    """Whole clusters (M,) of similar sequences, at random, up to `test_fraction` of the total of `weights` (M,).

    ValueError where that leaves fewer than two clusters on a side.
    """
    _, labels = np.unique(clusters, return_inverse=True)  # a part of the sequences does not have all clusters
    sizes = np.bincount(labels, weights)
    left = checked_test_fraction(test_fraction) * sizes.sum() * (1 + 1e-9)
    chosen = np.zeros(len(sizes), bool)
    for cluster in rng.permutation(len(sizes)):
        if sizes[cluster] <= left:
            chosen[cluster], left = True, left - sizes[cluster]
    if min(chosen.sum(), (~chosen).sum() + 1) < FEWEST_CLUSTERS:
        raise ValueError(
            f"the sequences form {counted(len(sizes), 'cluster')} of similar ones, too few to hold out "
            f"{100 * test_fraction:g} % of them in whole clusters; raise the share of equal sites from which sequences "
            "count as similar (--identity), or let every sequence count as one (--no-reweight)"
        )
    held_out = chosen[labels]
    return Split(rng.permutation(np.flatnonzero(~held_out)), np.flatnonzero(held_out))
