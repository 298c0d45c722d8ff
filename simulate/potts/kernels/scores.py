"""Scores of many chains in double precision, added up anew."""

from typing import Any

import numpy as np

from simulate.potts.kernels.compiled import compiled


@compiled
def dense_scores(J: Any, h: Any, states: Any, scores: Any) -> None:
    """S(s) of chains in blocks, (n_blocks, B), for J (L, L, C, C): the same pair in all chains of a block."""
    for k in range(len(states)):
        scores[k] = 0.0
        for i in range(len(h)):
            for c in range(states.shape[2]):
                scores[k, c] += h[i, states[k, i, c]]
            for j in range(i):
                for c in range(states.shape[2]):
                    scores[k, c] += J[i, j, states[k, i, c], states[k, j, c]]


@compiled
def product_scores(J: Any, U: Any, h: Any, states: Any, scores: Any) -> None:
    """S(s), (n,), of states (n, L): by N[b] = sum_{j < i} J_ij [s_j = b], the neighbors' counts of every site i."""
    counts = np.empty(len(U))
    for c in range(len(states)):
        scores[c] = 0.0
        for i in range(len(h)):
            counts[:] = 0.0
            for j in range(i):
                counts[states[c, j]] += J[i, j]
            scores[c] += h[i, states[c, i]] + np.sum(counts * U[states[c, i]])


@compiled
def group_scores(groups: Any, h: Any, states: Any, scores: Any) -> None:
    """S(s), (n,), of states (n, L): a group of k sites is met k times."""
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
