"""Counts similar sequences, compiled: 64 sites a machine word, one bit plane for each bit of a color."""

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from simulate.core.kernels import cached_njit

TILE_SEQUENCES = 512  # sequences compared with one at a time: their words stay in the first-level cache


@intrinsic
def _ones(_typing_context: Any, word: Any) -> Any:
    """Count the ones in a 64-bit word, by the processor's own instruction where it has one."""
    if word != types.uint64:
        return None

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@cached_njit()
def count_similar(planes: Any, start: Any, stop: Any, limit: Any, counts: Any, parents: Any) -> None:
    """Add to counts (M,) the pairs i < j, start <= i < stop, with at most `limit` differing sites; links them.

    planes: (words, bits, M) uint64, an odd number >= 3 of bits. parents: (M,) a forest whose trees are the clusters of
    linked sequences; every parent is smaller than its child.
    """
    words, _, M = planes.shape
    different = np.empty(TILE_SEQUENCES, np.uint64)
    distance = np.empty(TILE_SEQUENCES, np.uint64)
    for i in range(start, stop):
        for first in range(i + 1, M, TILE_SEQUENCES):
            size = min(TILE_SEQUENCES, M - first)
            tile = distance[:size]
            tile[:] = 0
            for w in range(words):
                _add_distance(planes[w, :, first : first + size], planes[w, :, i], different[:size], tile)
            for k in range(size):
                if tile[k] <= limit:
                    counts[i] += 1
                    counts[first + k] += 1
                    _link(parents, i, first + k)


@cached_njit()
def _add_distance(planes: Any, word: Any, different: Any, distance: Any) -> None:
    """Add the differing sites of one word; several planes in one pass, since passes are bound by loads and stores."""
    a, b, c = planes[0], planes[1], planes[2]
    for k in range(len(distance)):
        different[k] = (a[k] ^ word[0]) | (b[k] ^ word[1]) | (c[k] ^ word[2])
    for bit in range(3, len(word), 2):
        a, b = planes[bit], planes[bit + 1]
        for k in range(len(distance)):
            different[k] |= (a[k] ^ word[bit]) | (b[k] ^ word[bit + 1])
    for k in range(len(distance)):
        distance[k] += _ones(different[k])  # type: ignore[call-arg]


@cached_njit()
def _link(parents: Any, i: Any, j: Any) -> None:
    """Join two trees under the smaller root, so that the forest does not depend on the order of the pairs' roots."""
    while parents[i] != i:
        parents[i] = parents[parents[i]]
        i = parents[i]
    while parents[j] != j:
        parents[j] = parents[parents[j]]
        j = parents[j]
    if i != j:
        parents[max(i, j)] = min(i, j)


@cached_njit()
def join_forests(parents: Any, other: Any) -> None:
    """Add to the forest parents (M,) the links of another one, and let every parent be its tree's root."""
    for j in range(len(other)):
        if other[j] != j:
            _link(parents, j, other[j])
    for j in range(len(parents)):  # a parent is smaller than its child, so that its own is the root already
        parents[j] = parents[parents[j]]
