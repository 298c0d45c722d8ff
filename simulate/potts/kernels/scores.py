"""Scores of many chains in double precision, added up anew."""

from typing import Any

import numpy as np

from simulate.potts.kernels.compiled import compiled


@compiled
def dense_scores(J: Any, h: Any, states: Any, scores: Any) -> None:
    """Compute S(s) of chains in blocks, (n_blocks, B), for couplings J (L, L, C, C).

    J[i] is read for all blocks before J[i + 1], so that it stays in the cache.
    """
    scores[:] = 0.0
    for i in range(len(h)):
        for k in range(len(states)):
            own, total = states[k, i], scores[k]
            for c in range(len(own)):
                total[c] += h[i, own[c]]
            # Pairs are counted once, and blocks J[i, j] with j < i lie behind each other in memory.
            for j in range(i):
                block, other = J[i, j], states[k, j]
                for c in range(len(own)):
                    total[c] += block[own[c], other[c]]


@compiled
def product_scores(J: Any, U: Any, h: Any, states: Any, scores: Any) -> None:
    """Compute S(s), (n,), of states (n, L), from the counts N[b, i] = sum_{j < i} J_ij [s_j = b] around every site i.

    A site adds its couplings to later sites to the counts of its color: neighbors in memory, which fill vector units.
    """
    n_colors, n_sites = U.shape[0], len(h)
    counts = np.empty((n_colors, n_sites))
    for c in range(len(states)):
        counts[:] = 0.0
        for j in range(n_sites):
            row, source = counts[states[c, j]], J[j]
            for i in range(j + 1, n_sites):
                row[i] += source[i]
        total = 0.0
        for i in range(n_sites):
            color = states[c, i]
            total += h[i, color]
            for b in range(n_colors):
                total += counts[b, i] * U[color, b]
        scores[c] = total


@compiled
def group_scores(groups: Any, h: Any, states: Any, scores: Any) -> None:
    """Compute S(s), (n,), of states (n, L); a group of k sites adds 1/k of its score at each of them."""
    n_colors = h.shape[1]
    for c in range(len(states)):
        scores[c] = 0.0
        for i in range(len(h)):
            scores[c] += h[i, states[c, i]]
            for e in range(groups.first[i], groups.first[i + 1]):
                row, bodies = 0, 1 + groups.others_first[e + 1] - groups.others_first[e]
                for o in range(groups.others_first[e], groups.others_first[e + 1]):
                    row = row * n_colors + states[c, groups.others[o]]
                scores[c] += groups.strengths[e] * groups.rows[groups.tables[e] + row, states[c, i]] / bodies
