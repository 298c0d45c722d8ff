"""Weights that make up for related sequences: each counts as one over the number of sequences that resemble it."""

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.progress import progress_bar
from simulate.core.threads import in_threads
from simulate.potts.inference.similarity_kernels import count_similar, join_forests
from theory.core import Count, Result, Within, checked
from theory.models.potts.batches import States, checked_samples

Identity = Annotated[float, Within(0.0, 1.0, closed=(False, True))]
WORD_SITES = 64  # sites whose bits share a machine word
MAX_COLORS = 1 << 15  # so that a color fits into 15 bit planes
MAX_BLOCKS = 32  # blocks of equal work: enough to show progress, and more than there are threads
MIN_MEAN_BLOCK_ROWS = 100  # rows of a block on average, beside which the rest of a block's work is nothing
PACKED_SEQUENCES = 4096  # sequences whose bits are packed at a time: their arrays stay in the cache
TIMED_SEQUENCES = 4000  # sequences on which the time of a pair is measured
MEASURED_SECONDS = 0.05  # of work, at least: a few ticks of the coarsest clocks of processors


@dataclass(frozen=True, eq=False, repr=False)
class Similarity(Result):
    """Tells which of M sequences resemble each other: two do where at least a share `identity` of their sites agree.

    `counts` (M,) is the number of sequences that resemble each, itself included. `clusters` (M,) is the number of the
    cluster to which each belongs: two sequences are in one cluster if a chain of resemblances links them.
    """

    identity: float
    counts: NDArray[np.int64]
    clusters: NDArray[np.int64]

    @property
    def weights(self) -> NDArray[np.float64]:
        """The weights 1/counts, (M,)."""
        return 1.0 / self.counts

    @property
    def effective_number(self) -> float:
        """The effective number of sequences: the sum of the weights."""
        return float(self.weights.sum())


@checked
def sequence_weights(
    states: Any, identity: float = 0.8, *, n_threads: int = 1, progress: str | None = None
) -> NDArray[np.float64]:
    """Compute weights (M,) of sequences `states` (M, L): one over the number of those that resemble each.

    Every sequence resembles itself. This is the reweighting of direct-coupling analysis (arXiv:1110.5223); two
    sequences resemble each other where at least a share `identity` of their sites agree, see `similarity`.

    >>> sequence_weights([[0, 0, 0, 0, 0], [0, 0, 0, 0, 1], [2, 2, 2, 2, 2]], identity=0.8).tolist()
    [0.5, 0.5, 1.0]
    """
    return similarity(states, identity, n_threads=n_threads, progress=progress).weights


@checked
def similarity(
    states: Any, identity: Identity = 0.8, *, n_threads: Count = 1, progress: str | None = None
) -> Similarity:
    """Compare all pairs of sequences `states` (M, L) and says which resemble each other.

    Two sequences resemble each other where at most (1 - identity) L of their sites differ, in exact arithmetic with
    `identity` the decimal number as it is written: 0.8 of 5 sites allows one difference, though 1 - 0.8 < 0.2 in
    floating point. A gap is a color as any other: two gaps agree. The memory is O(M L) bits and O(M) numbers for each
    thread; the result does not depend on `n_threads`. `progress` labels a progress bar, which is not shown where it is
    None. ValueError for states that are not integers >= 0 of shape (M, L), and for an identity outside (0, 1].
    """
    checked = checked_samples("states", states, MAX_COLORS)
    limit = allowed_differences(checked.shape[1], identity)
    planes, M = _bit_planes(checked), len(checked)
    counts, parents, triangle = np.ones(M, np.int64), np.arange(M), list(_triangle(M))

    def compare(block: tuple[int, int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        own, forest = np.zeros(M, np.int64), np.arange(M)
        count_similar(planes, *block, limit, own, forest)
        return own, forest

    with progress_bar(progress, len(triangle), 0) as advance:
        for own, forest in in_threads(compare, triangle, n_threads):
            counts += own
            join_forests(parents, forest)
            advance()
    clusters = np.unique(parents, return_inverse=True)[1].astype(np.int64)
    return Similarity(float(identity), counts, clusters)


def allowed_differences(n_sites: int, identity: float) -> int:
    """Return how many sites of two sequences that resemble each other may differ: floor((1 - identity) n_sites)."""
    return int((1 - Fraction(str(identity))) * n_sites)


def comparison_seconds(states: Any, *, n_threads: int = 1) -> float:
    """Predict the seconds that `similarity` of these sequences (M, L) takes on idle cores, from a part of them."""
    checked = checked_samples("states", states, MAX_COLORS)
    probe = checked[np.linspace(0, len(checked) - 1, min(TIMED_SEQUENCES, len(checked))).astype(int)]
    similarity(probe[:2])  # compiles the kernel, whose time is not to be measured
    start, spent, runs = time.process_time(), 0.0, 0
    while spent < MEASURED_SECONDS:
        similarity(probe)
        runs += 1
        spent = time.process_time() - start
    share = len(checked) * (len(checked) - 1) / max(1, len(probe) * (len(probe) - 1))
    return spent / runs * max(1.0, share / n_threads)


def _bit_planes(states: States) -> NDArray[np.uint64]:
    """Return (words, bits, M): bit k of a word is one bit of the color of its site k; missing sites agree."""
    M, L = states.shape
    bits = max(3, int(states.max()).bit_length()) | 1  # the kernel takes 3, 5, 7, ...
    planes = np.zeros((-(-L // WORD_SITES), bits, M), np.uint64)
    for first in range(0, M, PACKED_SEQUENCES):
        rows = states[first : first + PACKED_SEQUENCES]
        for bit in range(bits):
            ones = np.zeros((len(rows), len(planes) * WORD_SITES), np.uint8)
            ones[:, :L] = (rows >> bit) & 1
            planes[:, bit, first : first + PACKED_SEQUENCES] = np.packbits(ones, axis=1).view(np.uint64).T
    return planes


def _triangle(M: int) -> Iterator[tuple[int, int]]:
    """Yield rows of the triangle of pairs i < j in blocks with about as many pairs each."""
    n = max(1, min(MAX_BLOCKS, M // MIN_MEAN_BLOCK_ROWS))
    ends = np.unique((M * (1 - np.sqrt(1 - np.arange(n + 1) / n))).round().astype(int))
    return ((int(start), int(stop)) for start, stop in itertools.pairwise(ends))
