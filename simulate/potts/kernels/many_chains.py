"""Sweeps for dense couplings and many chains, which read the couplings of a few sites at a time for all chains.

Chains come in the blocks of `sweeps`, and get the same numbers, added in the same order, as from `dense_sweeps`.
"""

from typing import Any

import numpy as np

from simulate.potts.kernels.compiled import compiled
from simulate.potts.kernels.draws import redraw
from simulate.potts.kernels.rows_of_eight import NUMBERS_PER_LINE, add_eight, add_sixteen, read_ahead

SLAB = NUMBERS_PER_LINE  # colors whose logits are added up together
NUMBERS_AHEAD = 2**15  # numbers in single precision that are read ahead: a part of the second cache


@compiled
def many_chain_sweeps(
    J: Any, h: Any, betas: Any, keys: Any, states: Any, accepted: Any, start: int, stop: int, metropolis: bool
) -> None:
    """Couplings J[i, j, b, a] float32 (L, L4, C, C8), `a` the color predicted, zero where filled up; h (L, C).

    The couplings of some sites are brought into the second cache in the order of memory. Then the logits of all chains
    go by, one slab of colors after the other, so that the numbers read in a random order fit into the first cache.
    """
    n_sites, n_colors = h.shape
    size, width, n_rows = states.shape[2], J.shape[3], J.shape[1]
    table = n_colors * width
    tile = max(4, NUMBERS_AHEAD // table // 4 * 4)
    z = _lines(-(-width // SLAB) * len(states) * size).reshape(-1, len(states), size, SLAB)
    logits = np.empty((n_colors, size), np.float32)
    weights, bits, total = np.empty_like(logits), np.empty(size, np.int32), np.empty(size)
    for sweep in range(start, stop):
        for i in range(n_sites):
            # Two numbers for each update: Metropolis needs one for the proposal and one for its acceptance.
            place = np.uint64(2) * np.uint64(sweep * n_sites + i)
            z[:] = 0
            for j in range(0, n_rows, 4):
                if j % tile == 0:
                    # Kept until it is overwritten, since a sum that goes nowhere would not be computed.
                    total[0] = read_ahead(J[i].reshape(-1), j * table, min(j + tile, n_rows) * table)
                _add_couplings(J[i], states, j, z)
            for k in range(len(states)):
                _transpose(z, k, h[i], logits)
                redraw(logits, betas[k], keys[k], place, states[k, i], accepted[k], metropolis, weights, bits, total)


@compiled
def _lines(count: int) -> Any:
    """Return an array of `count` lines of the cache, which begins with a line: else each slab would lie in two."""
    numbers = np.empty((count + 1) * SLAB, np.float32)
    start = (SLAB - numbers.ctypes.data // np.uintp(4) % np.uintp(SLAB)) % np.uintp(SLAB)
    return numbers[start : start + np.uintp(count * SLAB)]


@compiled
def _add_couplings(J: Any, states: Any, j: int, z: Any) -> None:
    """Add the rows of J for the colors of four sites from j on to the logits z (slabs, n_blocks, B, SLAB)."""
    width = np.uint64(J.shape[2])
    table, n_blocks, size = np.uint64(J.shape[1]) * width, states.shape[0], states.shape[2]
    for slab in range(len(z)):
        first = np.uint64(j) * table + np.uint64(slab * SLAB)
        second, third, fourth = first + table, first + table + table, first + table + table + table
        for k in range(n_blocks):
            place = np.uint64((slab * n_blocks + k) * size * SLAB)
            p, q, r, s = states[k, j], states[k, j + 1], states[k, j + 2], states[k, j + 3]
            # A loop of its own for each width, without a third one within, which would take as long as what it does.
            if (slab + 1) * SLAB <= J.shape[2]:
                for c in range(size):
                    one, two = first + np.uint64(p[c]) * width, second + np.uint64(q[c]) * width
                    three, four = third + np.uint64(r[c]) * width, fourth + np.uint64(s[c]) * width
                    add_sixteen(z, place + np.uint64(c * SLAB), J, one, two, three, four, None)
            else:
                for c in range(size):
                    one, two = first + np.uint64(p[c]) * width, second + np.uint64(q[c]) * width
                    three, four = third + np.uint64(r[c]) * width, fourth + np.uint64(s[c]) * width
                    add_eight(z, place + np.uint64(c * SLAB), J, one, two, three, four, None)


@compiled
def _transpose(z: Any, k: int, h: Any, logits: Any) -> None:
    """Set logits[a, c] = z[slab of a, k, c, place of a] + h[a], so that the next loops run over chains."""
    for a in range(len(logits)):
        source, place = z[a // SLAB, k], a % SLAB
        for c in range(len(source)):
            logits[a, c] = source[c, place] + h[a]
