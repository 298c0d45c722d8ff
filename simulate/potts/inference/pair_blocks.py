"""Lays out fields and one block of couplings for every pair of sites in one vector, and reads groups of sites from it.

After the L C fields come the rows of the sites i = 0 to L - 2: the couplings J_ij(a, b) for all j > i, in the order
(a, j, b). Large fits need no second copy of all couplings: a group of sites at a time has its table copied out by
`take`, and its gradient added by `add`.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.kernels import cached_njit
from theory.core.arrays import Array

Numbers = NDArray[Any]


def pack(fields: Array, tables: Array) -> Array:
    """Return the vector of the fields (L, C) and of symmetric tables (L, C, L, C) with J_ij(a, b) in [i, a, j, b]."""
    return np.concatenate([fields.ravel(), *(tables[i, :, i + 1 :, :].ravel() for i in range(len(tables)))])


def unpack(x: Array, n_sites: int, n_colors: int) -> tuple[Array, Array]:
    """Invert `pack`: a view of the fields (L, C), and whole tables (L, C, L, C)."""
    tables = np.zeros((n_sites, n_colors, n_sites, n_colors))
    for i, place, shape in rows(n_sites, n_colors):
        tables[i, :, i + 1 :, :] = x[place].reshape(shape)
        tables[i + 1 :, :, i, :] = tables[i, :, i + 1 :, :].transpose(1, 2, 0)
    return x[: n_sites * n_colors].reshape(n_sites, n_colors), tables


def size(n_sites: int, n_colors: int) -> int:
    """Return the length of the vector."""
    return n_sites * n_colors + n_sites * (n_sites - 1) // 2 * n_colors**2


def rows(n_sites: int, n_colors: int) -> Iterator[tuple[int, slice, tuple[int, int, int]]]:
    """Yield, for every site i but the last, its place in the vector and the shape (C, L - 1 - i, C) of its blocks."""
    start = n_sites * n_colors
    for i in range(n_sites - 1):
        shape = (n_colors, n_sites - 1 - i, n_colors)
        stop = start + shape[0] * shape[1] * shape[2]
        yield i, slice(start, stop), shape
        start = stop


@cached_njit()
def _row_start(i: int, n_sites: int, n_colors: int) -> int:
    return n_sites * n_colors + n_colors * n_colors * (i * (n_sites - 1) - i * (i - 1) // 2)


@cached_njit()
def _row(x: Numbers, i: int, n_sites: int, n_colors: int) -> Numbers:
    start, width = _row_start(i, n_sites, n_colors), (n_sites - 1 - i) * n_colors
    return x[start : start + n_colors * width].reshape(n_colors, width)


@cached_njit()
def take(x: Numbers, first: int, table: Numbers) -> None:
    """Fill table (L, C, G, C) of the G sites from `first` on: [j, b, i, a] is J_ij(a, b), zero for i = j."""
    L, C, G, _ = table.shape
    for j in range(first + G - 1):  # of these rows the group holds later sites, which are neighbors in x
        least, start = max(0, j + 1 - first), _row_start(j, L, C)
        for b in range(C):
            place = start + (b * (L - 1 - j) + first + least - j - 1) * C
            source, target = x[place : place + (G - least) * C], table[j, b].reshape(-1)[least * C :]
            for k in range(len(source)):
                target[k] = source[k]
    for i in range(G):
        table[first + i, :, i] = 0
        row, later = _row(x, first + i, L, C), table[first + i + 1 :]
        for j in range(len(later)):
            for b in range(C):
                source_colors, target_colors = row[:, j * C + b], later[j, b, i]
                for a in range(C):
                    target_colors[a] = source_colors[a]


@cached_njit()
def add(table: Numbers, frequencies: Numbers, by_field: Numbers, first: int, x: Numbers) -> None:
    """Add table[j, b, i, a] - frequencies[j, b] by_field[i, a] to the place of J_ij(a, b), for a group as in `take`.

    Both sites of a pair add to the same place, and the sum of two numbers does not depend on their order. They are
    rounded to the precision of x before they are added, since the second one would else add to a rounded first one.
    """
    (L, C, G, _), number = table.shape, x.dtype.type
    for j in range(first + G - 1):
        least, start = max(0, j + 1 - first), _row_start(j, L, C)
        fields = by_field.reshape(-1)[least * C :]
        for b in range(C):
            place, share = start + (b * (L - 1 - j) + first + least - j - 1) * C, frequencies[j, b]
            target, source = x[place : place + (G - least) * C], table[j, b].reshape(-1)[least * C :]
            for k in range(len(source)):
                target[k] += number(source[k] - share * fields[k])
    for i in range(G):
        row, later, shares = _row(x, first + i, L, C), table[first + i + 1 :], frequencies[first + i + 1 :]
        own_field = by_field[i]
        for j in range(len(later)):
            for b in range(C):
                target_colors, source_colors, share = row[:, j * C + b], later[j, b, i], shares[j, b]
                for a in range(C):
                    target_colors[a] += number(source_colors[a] - share * own_field[a])


@cached_njit(error_model="numpy")  # else each division asks for a zero, and none fills a vector unit
def inverse_curvatures(
    alone: Numbers, predictions: Numbers, twice_l2: float, first: int, stop: int, found: Numbers
) -> None:
    """Fill `found` with 1/(p_ia v_jb + v_ia p_jb + 2 l2) at the places of J_ij(a, b), for the rows i from `first` on.

    `predictions` p and `alone` v (L, C) have the precision of `found`.
    """
    place, C = 0, alone.shape[1]
    penalty = found.dtype.type(twice_l2)
    for i in range(first, stop):
        p, v = predictions[i + 1 :].reshape(-1), alone[i + 1 :].reshape(-1)
        for a in range(C):
            row, p_ia, v_ia = found[place : place + len(p)], predictions[i, a], alone[i, a]
            for k in range(len(p)):
                row[k] = found.dtype.type(1) / (p_ia * v[k] + v_ia * p[k] + penalty)
            place += len(p)


@cached_njit()
def add_pairs(columns: Numbers, weights: Numbers, half: Numbers, frequencies: Numbers, i: int, x: Numbers) -> None:
    """Add half_i f_j + f_i half_j - 2 f_ij to the places of J_ij(a, b), j > i.

    f_ij are the frequencies of pairs of colors in samples `columns` (L, M) with these weights, f those of colors.
    """
    (L, M), C = columns.shape, frequencies.shape[1]
    shares, row = np.empty((C, C)), _row(x, i, L, C)
    for j in range(i + 1, L):
        shares[:] = 0.0
        for m in range(M):
            shares[columns[i, m], columns[j, m]] += weights[m]
        for a in range(C):
            for b in range(C):
                both = half[i, a] * frequencies[j, b] + frequencies[i, a] * half[j, b]
                row[a, (j - i - 1) * C + b] += both - 2 * shares[a, b]


@cached_njit()
def put_blocks(x: Numbers, i: int, zero_sum: bool, weights: Numbers, couplings: Numbers, moved: Numbers) -> None:
    """Put J_ij of x into `couplings` (L, L, C, C), j > i, for both orders of the pair, and in the zero-sum gauge if so.

    Added to `moved` (L, C) are sum_b J_ij(a, b) w_j(b) for site i and sum_a J_ij(a, b) w_i(a) for sites j.
    """
    L, C = weights.shape
    row, means = _row(x, i, L, C), np.empty((2, C))
    for j in range(i + 1, L):
        block, other = couplings[i, j], couplings[j, i]
        means[:] = 0.0
        for a in range(C):
            for b in range(C):
                J = float(row[a, (j - i - 1) * C + b])
                means[0, a] += J / C
                means[1, b] += J / C
                moved[i, a] += J * weights[j, b]
                moved[j, b] += J * weights[i, a]
                block[a, b] = J
        if zero_sum:
            mean = 0.0
            for a in range(C):
                mean += means[0, a] / C
            for a in range(C):
                for b in range(C):
                    block[a, b] += mean - means[0, a] - means[1, b]
        for a in range(C):
            for b in range(C):
                other[b, a] = block[a, b]
