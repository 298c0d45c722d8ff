"""Kernels that never write couplings out: products J_ij U_ab and lists of groups of sites, one chain at a time.

Both keep one chain in the cache for whole sweeps. z_ia is double precision; only exp is single. Tables of colors are
(rows, C4), C4 is C rounded up to a multiple of 4: then the compiler makes vector instructions of the loops over colors.
"""

from typing import Any

import numpy as np

from simulate.potts.kernels.compiled import compiled

GOLDEN, FIRST, SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
LOWEST = -87.0  # exp of less underflows in single precision


@compiled
def product_sweeps(
    J: Any, U: Any, h: Any, betas: Any, keys: Any, states: Any, accepted: Any, start: int, stop: int, metropolis: bool
) -> None:
    """Sweeps number start, ..., stop - 1 in place, for couplings J_ij U_ab with a dense J.

    Keeps N[b, j] = sum_i J_ij [s_i = b], so that z_ia = sum_b N[b, i] U[b, a] + h[i, a]: a change of color costs two
    rows of J. N is added up anew in every sweep: no error grows, and where a run was cut makes no difference.

    J: (L, L). U: (C, C4). h: (L, C4). betas, accepted: (n,). keys: (n, 2) uint64. states: (n, L).
    """
    n_sites, n_colors = J.shape[1], len(U)
    counts, z, bits = np.empty((n_colors, n_sites)), np.empty(U.shape[1]), np.empty(U.shape[1], np.int32)
    weights = np.empty(U.shape[1], np.float32)
    for c in range(len(states)):
        for sweep in range(start, stop):
            _count(J, states[c], counts)
            for i in range(n_sites):
                z[:] = h[i]
                for b in range(n_colors):
                    _add_multiple(z, counts[b, i], U[b])
                place, old = np.uint64(2) * np.uint64(sweep * n_sites + i), states[c, i]
                new = _next_color(z, n_colors, betas[c], keys[c], place, old, metropolis, weights, bits)
                if new != old:
                    _add_multiple(counts[old], -1.0, J[i])
                    _add_multiple(counts[new], 1.0, J[i])
                    states[c, i] = new
                    accepted[c] += metropolis


@compiled
def product_scores(J: Any, U: Any, h: Any, states: Any, scores: Any) -> None:
    """S(s), (n,)."""
    counts = np.empty((len(U), J.shape[1]))
    for c in range(len(states)):
        _count(J, states[c], counts)
        scores[c] = 0.0
        for i in range(J.shape[1]):
            twice = 0.0
            for b in range(len(U)):
                twice += counts[b, i] * U[b, states[c, i]]
            scores[c] += h[i, states[c, i]] + twice / 2


@compiled
def group_sweeps(
    sites: Any, lists: Any, h: Any, betas: Any, keys: Any, states: Any, accepted: Any, start: int, stop: int,
    metropolis: bool, n_colors: int,
) -> None:  # fmt: skip
    """Sweeps number start, ..., stop - 1 through `sites`, in their order; only these sites change.

    lists: see `Groups`. h: (L, C4). betas, accepted: (n,). keys: (n, 2) uint64. states: (n, L).
    Random numbers belong to the chain, sweep and site: the order of the sites does not move them.
    """
    z, bits, weights = np.empty(h.shape[1]), np.empty(h.shape[1], np.int32), np.empty(h.shape[1], np.float32)
    for c in range(len(states)):
        for sweep in range(start, stop):
            for i in sites:
                z[:] = h[i]
                _add_groups(z, i, lists, states[c], n_colors)
                place, old = np.uint64(2) * np.uint64(sweep * len(h) + i), states[c, i]
                new = _next_color(z, n_colors, betas[c], keys[c], place, old, metropolis, weights, bits)
                if new != old:
                    states[c, i] = new
                    accepted[c] += metropolis


@compiled
def group_scores(lists: Any, h: Any, states: Any, scores: Any, n_colors: int) -> None:
    """S(s), (n,): a group of k sites is met k times."""
    first, strengths, tables, others_first, others, rows = lists
    for c in range(len(states)):
        scores[c] = 0.0
        for i in range(len(h)):
            color = states[c, i]
            scores[c] += h[i, color]
            for e in range(first[i], first[i + 1]):
                row = _row(e, tables, others_first, others, states[c], n_colors)
                scores[c] += strengths[e] * rows[row, color] / (1 + others_first[e + 1] - others_first[e])


@compiled
def _count(J: Any, state: Any, counts: Any) -> None:
    counts[:] = 0.0
    for j in range(len(state)):
        _add_multiple(counts[state[j]], 1.0, J[j])


@compiled
def _add_groups(z: Any, i: int, lists: Any, state: Any, n_colors: int) -> None:
    """z[a] += the scores of all groups of site i, were its color a."""
    first, strengths, tables, others_first, others, rows = lists
    for e in range(first[i], first[i + 1]):
        _add_multiple(z, strengths[e], rows[_row(e, tables, others_first, others, state, n_colors)])


@compiled
def _row(e: int, tables: Any, others_first: Any, others: Any, state: Any, n_colors: int) -> Any:
    """The row of W[s_j, s_k, ..., :] for the other sites j, k, ... of entry e."""
    row = 0
    for o in range(others_first[e], others_first[e + 1]):
        row = row * n_colors + state[others[o]]
    return tables[e] + row


@compiled
def _add_multiple(target: Any, factor: float, source: Any) -> None:
    for a in range(len(source)):
        target[a] += factor * source[a]


@compiled
def _next_color(
    z: Any, n_colors: int, beta: float, keys: Any, place: Any, old: int, metropolis: bool, weights: Any, bits: Any
) -> int:
    """Heat bath: a color drawn with weights exp(beta z). Metropolis: `old` or another, all equally likely proposals."""
    u = _uniform(keys[0], keys[1], place)
    if metropolis:
        new = (old + 1 + int(u * (n_colors - 1))) % n_colors
        change = beta * (z[new] - z[old])
        kept = change < 0 and _uniform(keys[0], keys[1], place + np.uint64(1)) >= np.exp(change)
        return old if kept else new
    target = u * _exponentials(z, n_colors, beta, weights, bits)
    color = 0
    while color < n_colors - 1 and target >= weights[color]:
        target -= weights[color]
        color += 1
    return color


@compiled
def _exponentials(z: Any, n_colors: int, beta: float, weights: Any, bits: Any) -> float:
    """weights[a] = exp(beta (z[a] - max z)) to 1e-7, and their sum: 2^n times a polynomial (Cephes' expf)."""
    top, powers, total = z[0], bits.view(np.float32), 0.0
    for a in range(n_colors):
        top = max(top, z[a])
    for a in range(len(z)):
        y = np.float32(min(max(beta * (z[a] - top), LOWEST), 0.0))  # 0: colors that only fill up
        n = np.floor(y * np.float32(1.44269504088896341) + np.float32(0.5))
        r = (y - n * np.float32(0.693359375)) - n * np.float32(-2.12194440e-4)
        p = np.float32(1.9875691500e-4) * r + np.float32(1.3981999507e-3)
        p = ((p * r + np.float32(8.3334519073e-3)) * r + np.float32(4.1665795894e-2)) * r
        p = (p + np.float32(1.6666665459e-1)) * r + np.float32(5.0000001201e-1)
        weights[a] = p * r * r + r + np.float32(1)
        bits[a] = (np.int32(n) + np.int32(127)) << np.int32(23)
    for a in range(n_colors):
        weights[a] *= powers[a]
        total += weights[a]
    return total


@compiled
def _uniform(key: Any, other: Any, place: Any) -> Any:
    """Number `place` in [0, 1) of a chain's stream: splitmix64 at any place, mixed once more with a second key."""
    return np.float64(_mixed(_mixed(key + place * GOLDEN) ^ other) >> np.uint64(11)) * 2.0**-53


@compiled
def _mixed(x: Any) -> Any:
    x = (x ^ (x >> np.uint64(30))) * FIRST
    x = (x ^ (x >> np.uint64(27))) * SECOND
    return x ^ (x >> np.uint64(31))
