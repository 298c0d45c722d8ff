"""Compiled sums of Boltzmann learning: shares of pairs of colors, steps of couplings and fields, covariances.

Pairs i < j of sites come one after the other, 12, 13, ..., 23, ..., each with a table (C, C) of shares. Couplings are
in the layout J[i, j, b, a] (L, L4, C, C8) of the sampler, `a` the color of site i, so that a step needs no copy. Every
kernel works on the sites i from `start` to `stop` - 1 and on all j > i: threads share them without touching the same
numbers, and no number depends on how many threads there are.
"""

from typing import Any

import numpy as np

from simulate.potts.kernels.compiled import compiled


@compiled
def first_pair(i: int, n_sites: int) -> int:
    """Return the number of the pair (i, i + 1)."""
    return i * (2 * n_sites - i - 1) // 2


@compiled
def weighted_shares(columns: Any, weights: Any, start: int, stop: int, shares: Any) -> None:
    """Set shares (P, C, C) to those of samples `columns` (L, M) that count by `weights` (M,), which sum to one."""
    n_sites, n_samples = columns.shape
    table = np.empty(shares.shape[1:])
    for i in range(start, stop):
        pair = first_pair(i, n_sites)
        for j in range(i + 1, n_sites):
            table[:] = 0.0
            for m in range(n_samples):
                table[columns[i, m], columns[j, m]] += weights[m]
            # A loop, since a table that is assigned to a slice has the message of another shape compiled with it.
            for a in range(len(table)):
                for b in range(len(table)):
                    shares[pair, a, b] = table[a, b]
            pair += 1


@compiled
def blend_shares(columns: Any, rate: float, start: int, stop: int, shares: Any) -> None:
    """Move shares (P, C, C) by `rate` towards those of the chains `columns` (L, n), which count equally."""
    n_sites, n_samples = columns.shape
    C = shares.shape[1]
    table = np.empty((C, C), np.int32)
    old, new = np.float32(1 - rate), np.float32(rate / n_samples)
    for i in range(start, stop):
        pair = first_pair(i, n_sites)
        for j in range(i + 1, n_sites):
            table[:] = 0
            for m in range(n_samples):
                table[columns[i, m], columns[j, m]] += 1
            for a in range(C):
                for b in range(C):
                    shares[pair, a, b] = old * shares[pair, a, b] + new * table[a, b]
            pair += 1


@compiled
def climb(
    J: Any, target: Any, shares: Any, f: Any, by_field: Any, rate: float, l2: float, floor: float, start: int, stop: int
) -> None:
    """Change couplings by `rate` times the gradient over f_i(a) f_j(b) + `floor`, the fields at the mean held.

    The gradient is f_ij - p_ij - 2 l2 J_ij less f_j(b) times `by_field` (L, C) of site i and f_i(a) times that of j.
    """
    n_sites, C = f.shape
    small, pull, scale = np.float32(floor), np.float32(2 * l2), np.float32(rate)
    for i in range(start, stop):
        pair = first_pair(i, n_sites)
        for j in range(i + 1, n_sites):
            for a in range(C):
                for b in range(C):
                    gradient = target[pair, a, b] - shares[pair, a, b] - pull * J[i, j, b, a]
                    gradient -= f[j, b] * by_field[i, a] + f[i, a] * by_field[j, b]
                    J[i, j, b, a] += scale * gradient / (f[i, a] * f[j, b] + small)
                    J[j, i, a, b] = J[i, j, b, a]
            pair += 1


@compiled
def set_fields(J: Any, at_mean: Any, f: Any, start: int, stop: int, h: Any) -> None:
    """Set fields h (L, C) to those at the mean of the data less sum_j J_ij f_j."""
    n_sites, C = f.shape
    total = np.empty(C)
    for i in range(start, stop):
        total[:] = 0.0
        for j in range(n_sites):
            for b in range(C):
                for a in range(C):
                    total[a] += J[i, j, b, a] * f[j, b]
        for a in range(C):
            h[i, a] = at_mean[i, a] - total[a]


@compiled
def covariance_sums(shares: Any, others: Any, start: int, stop: int, sums: Any) -> None:
    """Set sums (L, 6) of covariances x and y of all pairs (i, j > i): of x, y, x x, y y and x y, and of |p - q|.

    The shares of single sites are the sums of the tables, so that each covariance is that of one set of samples. The
    last sum is that of the absolute differences of the shares p and q themselves.
    """
    n_sites, C = len(sums), shares.shape[1]
    rows, columns, other_rows, other_columns = np.empty(C), np.empty(C), np.empty(C), np.empty(C)
    for i in range(start, stop):
        pair = first_pair(i, n_sites)
        sums[i] = 0.0
        for _ in range(i + 1, n_sites):
            rows[:], columns[:], other_rows[:], other_columns[:] = 0.0, 0.0, 0.0, 0.0
            for a in range(C):
                for b in range(C):
                    rows[a] += shares[pair, a, b]
                    columns[b] += shares[pair, a, b]
                    other_rows[a] += others[pair, a, b]
                    other_columns[b] += others[pair, a, b]
            for a in range(C):
                for b in range(C):
                    x = shares[pair, a, b] - rows[a] * columns[b]
                    y = others[pair, a, b] - other_rows[a] * other_columns[b]
                    sums[i, 0] += x
                    sums[i, 1] += y
                    sums[i, 2] += x * x
                    sums[i, 3] += y * y
                    sums[i, 4] += x * y
                    sums[i, 5] += abs(shares[pair, a, b] - others[pair, a, b])
            pair += 1


@compiled
def noise_sums(shares: Any, others: Any, inverse: float, start: int, stop: int, sums: Any) -> None:
    """Set sums (L,) over pairs (i, j > i) of the mean |difference| of two samples of the mean law p of both.

    That of a normal difference of the variance p (1 - p) `inverse`, at most 2 p.
    """
    n_sites, C = len(sums), shares.shape[1]
    for i in range(start, stop):
        pair = first_pair(i, n_sites)
        sums[i] = 0.0
        for _ in range(i + 1, n_sites):
            for a in range(C):
                for b in range(C):
                    p = 0.5 * (shares[pair, a, b] + others[pair, a, b])
                    sums[i] += min(np.sqrt(2 / np.pi * p * max(1 - p, 0.0) * inverse), 2 * p)
            pair += 1
