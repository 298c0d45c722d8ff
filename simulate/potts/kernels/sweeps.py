"""Sweeps through the sites of many chains at once: dense couplings J_ij(a, b), products J_ij U_ab, groups of sites.

Chains come in blocks: states (n_blocks, L4, B), L4 is L rounded up to a multiple of 4. A site is updated in all chains
of a block together: the couplings are read once, and the loops over chains become vector instructions. Arguments of
all kernels: betas, accepted (n_blocks, B), keys (n_blocks, B, 2) uint64; sweeps number start, ..., stop - 1 are done in
place. A random number belongs to a chain, sweep and site: results do not depend on blocks.
"""

from typing import Any

import numpy as np

from simulate.potts.kernels.compiled import compiled
from simulate.potts.kernels.draws import redraw
from simulate.potts.kernels.rows_of_eight import add_eight

CACHED_NUMBERS = 2**17  # numbers in single precision that fit into the second cache


@compiled
def dense_sweeps(
    J: Any, h: Any, betas: Any, keys: Any, states: Any, accepted: Any, start: int, stop: int, metropolis: bool
) -> None:
    """Couplings J[i, j, b, a] float32 (L, L4, C, C8), `a` the color predicted, zero where filled up; h (L, C).

    For few chains, which need few of the rows of J; many chains have `many_chain_sweeps`.
    """
    n_sites, n_colors = h.shape
    size, width = states.shape[2], J.shape[3]
    z, logits = np.empty((size, width), np.float32), np.empty((n_colors, size), np.float32)
    weights, bits, total = np.empty_like(logits), np.empty(size, np.int32), np.empty(size)
    for sweep in range(start, stop):
        for i in range(n_sites):
            # Two numbers for each update: Metropolis needs one for the proposal and one for its acceptance.
            place = np.uint64(2) * np.uint64(sweep * n_sites + i)
            for k in range(len(states)):
                z[:] = 0
                _add_couplings(J[i], states[k], z)
                _transpose(z, h[i], logits)
                redraw(logits, betas[k], keys[k], place, states[k, i], accepted[k], metropolis, weights, bits, total)


@compiled
def product_sweeps(
    J: Any, U: Any, h: Any, betas: Any, keys: Any, states: Any, accepted: Any, start: int, stop: int, metropolis: bool
) -> None:
    """Couplings J_ij U_ab with J (L, L), U (C4, C8), zero where filled up, h (L, C), all float32.

    Keeps N[b, j] = sum_i J_ij [s_i = b] of every chain, so that z_ia = sum_b N[b, i] U[b, a] + h[i, a]: a change of
    color costs two rows of J. N is added up anew in every sweep: no error grows, and where a run was cut makes no
    difference.
    """
    n_sites, n_colors = h.shape
    size = states.shape[2]
    counts, z = np.zeros((size, len(U), n_sites), np.float32), np.empty((size, U.shape[1]), np.float32)
    logits, old = np.empty((n_colors, size), np.float32), np.empty(size, np.int16)
    weights, bits, total = np.empty_like(logits), np.empty(size, np.int32), np.empty(size)
    # A block makes all of its sweeps before the next one begins, so that its counts stay in the cache.
    for k in range(len(states)):
        for sweep in range(start, stop):
            _count(J, states[k], counts)
            for i in range(n_sites):
                # Kept since the counts around other sites change only where a color did.
                for c in range(size):
                    old[c] = states[k, i, c]
                z[:] = 0
                _add_products(U, counts, i, z)
                _transpose(z, h[i], logits)
                place = np.uint64(2) * np.uint64(sweep * n_sites + i)
                redraw(logits, betas[k], keys[k], place, states[k, i], accepted[k], metropolis, weights, bits, total)
                for c in range(size):
                    if states[k, i, c] != old[c]:
                        _move(J[i], counts[c, old[c]], counts[c, states[k, i, c]])


@compiled
def few_color_sweeps(
    J: Any, U: Any, h: Any, betas: Any, keys: Any, states: Any, accepted: Any, start: int, stop: int, metropolis: bool
) -> None:
    """Couplings J_ij U_ab as in `product_sweeps`, for few colors: about three times as fast for a block of 128 chains.

    Keeps Y[a, j] = U[s_j, a] of every chain and adds up z_ia = sum_j J_ij Y[a, j] + h[i, a] anew at every site: loops
    over chains alone, without branches.
    """
    n_sites, n_colors = h.shape
    size = states.shape[2]
    Y, logits = np.empty((n_colors, n_sites, size), np.float32), np.empty((n_colors, size), np.float32)
    weights, bits, total = np.empty_like(logits), np.empty(size, np.int32), np.empty(size)
    for k in range(len(states)):
        for i in range(n_sites):
            _set_scores(U, states[k, i], Y, i)
        for sweep in range(start, stop):
            for i in range(n_sites):
                for a in range(n_colors):
                    _add_fields(J[i], Y[a], h[i, a], logits[a])
                place = np.uint64(2) * np.uint64(sweep * n_sites + i)
                redraw(logits, betas[k], keys[k], place, states[k, i], accepted[k], metropolis, weights, bits, total)
                _set_scores(U, states[k, i], Y, i)


@compiled
def group_sweeps(
    sites: Any, groups: Any, h: Any, betas: Any, keys: Any, states: Any, accepted: Any, start: int, stop: int,
    metropolis: bool,
) -> None:  # fmt: skip
    """Interactions in lists `Groups`, through `sites` in their order; no other site changes. h (L, C)."""
    n_sites, n_colors = h.shape
    size = states.shape[2]
    z, logits = np.empty((size, n_colors)), np.empty((n_colors, size))
    weights, bits, total = np.empty((n_colors, size), np.float32), np.empty(size, np.int32), np.empty(size)
    for k in range(len(states)):
        for sweep in range(start, stop):
            for i in sites:
                z[:] = 0
                _add_groups(groups, i, states[k], z)
                _transpose(z, h[i], logits)
                # The numbers belong to the site and not to its turn: threads that share a class draw the same ones.
                place = np.uint64(2) * np.uint64(sweep * n_sites + i)
                redraw(logits, betas[k], keys[k], place, states[k, i], accepted[k], metropolis, weights, bits, total)


@compiled
def _add_couplings(J: Any, states: Any, z: Any) -> None:
    """Add sum_j J[j, s_j, a] to z[c, a] in every chain c; four rows at once save three loads and stores of z."""
    table, width = np.uint64(J.shape[1] * J.shape[2]), np.uint64(J.shape[2])
    for j in range(0, J.shape[0], 4):
        origin = np.uint64(j) * table
        for c in range(states.shape[1]):
            first = origin + np.uint64(states[j, c]) * width
            second = origin + table + np.uint64(states[j + 1, c]) * width
            third = origin + table + table + np.uint64(states[j + 2, c]) * width
            fourth = origin + table + table + table + np.uint64(states[j + 3, c]) * width
            for a in range(np.uint64(0), width, np.uint64(8)):
                add_eight(z, np.uint64(c) * width + a, J, first + a, second + a, third + a, fourth + a, None)


@compiled
def _count(J: Any, states: Any, counts: Any) -> None:
    """Compute counts[c, b, j] = sum_i J_ij [s_i = b], the N[b, j] of every chain c, anew."""
    counts[:] = 0.0
    for i in range(len(J)):
        for c in range(len(counts)):
            row = counts[c, states[i, c]]
            for j in range(len(J)):
                row[j] += J[i, j]


@compiled
def _move(J: Any, old: Any, new: Any) -> None:
    """Move a row of couplings from the counts of a site's old color to those of its new one."""
    for j in range(len(J)):
        old[j] -= J[j]
        new[j] += J[j]


@compiled
def _add_products(U: Any, counts: Any, i: int, z: Any) -> None:
    """Add sum_b N[c, b, i] U[b, a] to z[c, a], four colors b at once."""
    width = np.uint64(U.shape[1])
    for c in range(len(z)):
        for b in range(0, len(U), 4):
            factors = counts[c, b, i], counts[c, b + 1, i], counts[c, b + 2, i], counts[c, b + 3, i]
            first = np.uint64(b) * width
            second, third, fourth = first + width, first + width + width, first + width + width + width
            for a in range(np.uint64(0), width, np.uint64(8)):
                add_eight(z, np.uint64(c) * width + a, U, first + a, second + a, third + a, fourth + a, factors)


@compiled
def _set_scores(U: Any, colors: Any, Y: Any, i: int) -> None:
    """Set Y[a, i, c] to U[color of c, a]."""
    for a in range(len(Y)):
        row = Y[a, i]
        for c in range(len(row)):
            row[c] = U[colors[c], a]


@compiled
def _add_fields(J: Any, Y: Any, h: Any, z: Any) -> None:
    """Set z[c] = h + sum_j J[j] Y[j, c]; four rows at once save three loads and stores of z."""
    z[:] = h
    for j in range(0, len(J) - 3, 4):
        p, q, r, s = J[j], J[j + 1], J[j + 2], J[j + 3]
        first, second, third, fourth = Y[j], Y[j + 1], Y[j + 2], Y[j + 3]
        for c in range(len(z)):
            z[c] += (p * first[c] + q * second[c]) + (r * third[c] + s * fourth[c])
    # What the groups of four leave over.
    for j in range(len(J) - len(J) % 4, len(J)):
        p, first = J[j], Y[j]
        for c in range(len(z)):
            z[c] += p * first[c]


@compiled
def _add_groups(groups: Any, i: int, states: Any, z: Any) -> None:
    """Add to z[c, a] the score that all groups of site i would have together if its color were a."""
    n_colors = z.shape[1]
    for e in range(groups.first[i], groups.first[i + 1]):
        for c in range(len(z)):
            row = 0
            for o in range(groups.others_first[e], groups.others_first[e + 1]):
                row = row * n_colors + states[groups.others[o], c]
            source, target, strength = groups.rows[groups.tables[e] + row], z[c], groups.strengths[e]
            for a in range(n_colors):
                target[a] += strength * source[a]


@compiled
def _transpose(z: Any, h: Any, logits: Any) -> None:
    """Set logits[a, c] = z[c, a] + h[a], so that the next loops run over chains."""
    for a in range(len(logits)):
        for c in range(len(z)):
            logits[a, c] = z[c, a] + h[a]
