"""Whether similar sequences share their weight, decided by how long it would take."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from figures.analyse.wording import duration
from simulate.potts.inference.weights import comparison_seconds, similarity
from theory.core.arrays import Array

Clusters = NDArray[np.int64]

MAX_COMPARED_SEQUENCES = 50_000  # sequences: comparing all pairs takes minutes, and is left out unless asked for


@dataclass(frozen=True, eq=False)
class Reweighting:
    """How much each sequence counts, and which sequences belong together."""

    weights: Array = field(repr=False)  # (M,)
    clusters: Clusters = field(repr=False)  # (M,) numbers
    identity: float | None  # None: every sequence counts as one, and is a cluster of its own
    notes: tuple[str, ...] = ()

    @property
    def n_clusters(self) -> int:
        """The number of clusters of similar sequences."""
        return int(self.clusters.max()) + 1


def reweighted(
    states: NDArray[np.uint8],
    identity: float,
    wanted: bool | None,
    n_threads: int,
    progress: str | None,
    say: Callable[[str], None],
) -> Reweighting:
    """Weigh sequences by how many are similar to them at `identity`, unless it is not `wanted`.

    With `wanted` None very many sequences are not compared, since that would take long, and `say` reports it.
    """
    M = len(states)
    if wanted is False:
        return _equal(M, "every sequence counts as one, and those held out may resemble some that are fitted")
    if M > MAX_COMPARED_SEQUENCES:
        time = duration(comparison_seconds(states, n_threads=n_threads))
        if wanted is None:
            note = f"every sequence counts as one: comparing {M} with each other would take {time} (--reweight does it)"
            say(note)
            return _equal(M, note)
        say(f"comparing {M} sequences with each other: about {time}")
    found = similarity(states, identity, n_threads=n_threads, progress=progress if M > MAX_COMPARED_SEQUENCES else None)
    return Reweighting(found.weights, found.clusters, identity)


def _equal(M: int, note: str) -> Reweighting:
    return Reweighting(np.ones(M), np.arange(M), None, (note,))
