"""The file in which a long fit to a corpus is kept: that of these counts, these settings and this generator."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from simulate.core.checkpoint import Checkpoint, digest_of, generator_state
from simulate.topics.counts import AnyCounts


def corpus_file(
    path: str | os.PathLike[str],
    counts: AnyCounts,
    settings: Mapping[str, Any],
    rng: np.random.Generator,
    *,
    of: str,
) -> Checkpoint:
    """Return the file of a fit by the function `of`; it is refused where counts, settings or generator differ."""
    held = sparse.csr_array(counts)
    held.sum_duplicates()
    digests = {
        "counts": digest_of([np.array(held.shape), *(np.asarray(part, float) for part in _parts(held))]),
        "generator": digest_of([], generator_state(rng)),
    }
    header = {"format": f"simulate.topics.{of}, 1", **settings, **digests}
    return Checkpoint(path, header, of=of, digests=tuple(digests))


def _parts(held: Any) -> tuple[Any, ...]:
    return held.indptr, held.indices, held.data
