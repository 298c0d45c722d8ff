"""How strongly two sites interact: one number for each block of couplings."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.core.arrays import Array
from theory.models.potts import zero_sum_blocks


def interaction_scores(couplings: Any, *, gap: int | None = None) -> Array:
    """Return the Frobenius norms (L, L) of the blocks J_ij of couplings (L, L, C, C) in the zero-sum gauge.

    The couplings of the color `gap` are left out of the norm after the gauge, since neighboring gaps make long runs
    (arXiv:1211.1281).
    """
    return np.array([_norms(zero_sum_blocks(blocks), gap) for blocks in np.asarray(couplings, dtype=float)])


def _norms(blocks: Array, gap: int | None) -> Array:
    """Return the Frobenius norms (L,) of the blocks (L, C, C) of one site, whose color `gap` is set to zero in place.

    The blocks of one site at a time stay in the cache, so that this takes much less time than all together.
    """
    if gap is not None:
        blocks[:, gap, :] = blocks[:, :, gap] = 0.0
    return np.asarray(np.sqrt(np.einsum("jab,jab->j", blocks, blocks)))


def average_product_corrected(scores: Array) -> Array:
    """Return F_ij - F_i F_j / F with means over the other sites, which removes what a site gives to all its pairs.

    The correction of Dunn, Wahl and Gloor, Bioinformatics 24, 333 (2008). The diagonal is zero.
    """
    off = scores - np.diag(np.diag(scores))
    L = len(off)
    mean = off.sum(axis=1) / (L - 1)
    total = mean.mean()
    corrected = off - (np.outer(mean, mean) / total if total > 0 else 0.0)
    np.fill_diagonal(corrected, 0.0)
    return np.asarray(corrected)


def strongest_colors(couplings: Any, *, gap: int | None = None) -> NDArray[np.int64]:
    """Return the colors of i and of j, (L, L, 2), whose coupling in the zero-sum gauge is the most favorable."""
    J = np.asarray(couplings, dtype=float)
    L, _, C, _ = J.shape
    flat = np.empty((L, L), np.int64)
    for i in range(L):
        blocks = zero_sum_blocks(J[i])
        if gap is not None and C > 1:
            blocks[:, gap, :] = blocks[:, :, gap] = -np.inf
        flat[i] = blocks.reshape(L, C * C).argmax(axis=1)
    return np.stack([flat // C, flat % C], axis=2)


@dataclass(frozen=True)
class Pair:
    """Two sites (from 0, i < j), and how strongly they interact."""

    i: int
    j: int
    score: float  # average-product corrected
    norm: float
    colors: tuple[int, int]  # the most favorable ones
    dependence: float | None = None  # of short sequences: the residual dependence, by which their pairs are ranked

    @property
    def strength(self) -> float:
        """What pairs are ranked by, and what is compared with noise."""
        return self.score if self.dependence is None else self.dependence


def ranked_pairs(
    corrected: Array,
    norms: Array,
    colors: NDArray[np.int64],
    min_separation: int,
    varying: NDArray[np.bool_] | None = None,
    dependence: Array | None = None,
) -> list[Pair]:
    """Return all pairs with j - i >= `min_separation`, the strongest first, and equal ones by position.

    Only `varying` sites (L,) are in pairs. They are ranked by their `corrected` scores, or by `dependence` (L, L) where
    it is given.
    """
    i, j = np.triu_indices(len(corrected), min_separation)
    if varying is not None:
        i, j = i[varying[i] & varying[j]], j[varying[i] & varying[j]]
    order = np.argsort(-(corrected if dependence is None else dependence)[i, j], kind="stable")
    return [
        Pair(
            int(a),
            int(b),
            float(corrected[a, b]),
            float(norms[a, b]),
            (int(colors[a, b, 0]), int(colors[a, b, 1])),
            None if dependence is None else float(dependence[a, b]),
        )
        for a, b in zip(i[order], j[order], strict=True)
    ]
