"""Names the colors at a few neighboring sites by one number, so that sums over sites have fewer terms.

With 21 colors there are 441 pairs of colors at two sites: where there are thousands of samples it takes less time to
write out what each pair adds to the logits, and then to add once for two sites.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from theory.models.potts.batches import blocks

MAX_CODES = 512  # rows of eight numbers, four tables of which fit about into the innermost cache
SAMPLES_PER_CODE = 2  # with fewer, writing the tables out would take as long as it saves
BLOCKS_TOGETHER = 4  # tables that `add_tables` reads in one pass over the samples
SINGLE_PRECISION_SAMPLES = 2**13  # samples after which sums in single precision are added to those in double precision


class Chunk(NamedTuple):
    """Some of the samples, with the codes of `n_each` neighboring sites in each row of `codes` (blocks, samples).

    The first site of a block counts most: the code of colors (a, b) is a C + b. The last block may have fewer sites,
    and rows of zeros fill up to a multiple of `BLOCKS_TOGETHER`.
    """

    samples: slice
    codes: NDArray[Any]
    n_each: int


def chunks(columns: NDArray[Any], n_colors: int) -> Iterator[Chunk]:
    """Yield chunks of about equally many samples, of the colors `columns` (L, M)."""
    L, M = columns.shape
    size = -(-M // -(-M // SINGLE_PRECISION_SAMPLES))
    n_each = 1
    while n_each < L and n_colors ** (n_each + 1) <= min(MAX_CODES, size / SAMPLES_PER_CODE):
        n_each += 1
    n_blocks = -(-L // n_each)
    dtype = np.uint16 if n_colors**n_each <= 2**16 else np.uint32
    for samples in blocks(M, 1, most=size):
        codes = np.zeros((n_blocks + -n_blocks % BLOCKS_TOGETHER, samples.stop - samples.start), dtype)
        for j in range(L):
            row = codes[j // n_each]
            row *= dtype(n_colors if j % n_each else 0)
            row += columns[j, samples].astype(dtype)
        yield Chunk(samples, codes, n_each)
