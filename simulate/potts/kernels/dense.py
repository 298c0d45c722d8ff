"""Kernels for couplings J_ij(a, b): the same site of many chains at once, so that J[i] is read from the cache.

Chains come in blocks, states (n_blocks, L4, B): L4 is L rounded up to a multiple of 4, the sites added have zero
couplings. Couplings are J[i, j, b, a] float32 (L, L4, C, C8), `a` the color predicted, C8 is C rounded up to a multiple
of 8, one vector register.
"""

from typing import Any

import llvmlite.ir as ir  # type: ignore[import-untyped]  # comes with numba, without types
import numpy as np
from numba import types
from numba.extending import intrinsic

from simulate.potts.kernels.compiled import compiled

GOLDEN, FIRST, SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
LOWEST = np.float32(-87.0)  # exp of less underflows in single precision
EIGHT = ir.VectorType(ir.FloatType(), 8)


def single_precision(couplings: Any) -> Any:
    """J[i, j, a, b] (L, L, C, C) in the layout of the kernel, (L, L4, C, C8)."""
    n_sites, _, n_colors, _ = couplings.shape
    made = np.zeros((n_sites, n_sites + -n_sites % 4, n_colors, n_colors + -n_colors % 8), dtype=np.float32)
    for i in range(n_sites):
        made[i, :n_sites, :, :n_colors] = couplings[i].transpose(0, 2, 1)
    return made


@compiled
def dense_sweeps(
    J: Any, h: Any, betas: Any, keys: Any, states: Any, accepted: Any, start: int, stop: int, metropolis: bool
) -> None:
    """Sweeps number start, ..., stop - 1 in place, every sweep through the sites in their order.

    h: (L, C). betas, accepted: (n_blocks, B). keys: (n_blocks, B, 2) uint64. states: (n_blocks, L4, B).
    """
    n_sites, n_colors = h.shape
    size = states.shape[2]
    z, weights = np.empty((size, J.shape[3]), np.float32), np.empty((n_colors, size), np.float32)
    bits, top, total = np.empty(size, np.int32), np.empty(size, np.float32), np.empty(size)
    for sweep in range(start, stop):
        for i in range(n_sites):
            for k in range(len(states)):
                _add_couplings(J[i], states[k], z)
                _logits(z, h[i], betas[k], weights, top)
                place = np.uint64(2) * np.uint64(sweep * n_sites + i)
                if metropolis:
                    _propose(weights, keys[k], place, states[k, i], accepted[k])
                else:
                    _exponentials(weights, top, bits)
                    _draw(weights, total, keys[k], place, states[k, i])


@compiled
def dense_scores(J: Any, h: Any, states: Any, scores: Any) -> None:
    """S(s) in double precision. J: (L, L, C, C) as in the model, scores: (n_blocks, B)."""
    n_sites = len(h)
    scores[:] = 0.0
    for i in range(n_sites):
        for k in range(len(states)):
            for c in range(states.shape[2]):
                scores[k, c] += h[i, states[k, i, c]]
            for j in range(i):
                for c in range(states.shape[2]):
                    scores[k, c] += J[i, j, states[k, i, c], states[k, j, c]]


@compiled
def _add_couplings(J: Any, states: Any, z: Any) -> None:
    """z[c, a] = sum_j J[j, s_j, a] of every chain c; four rows at once save three loads and stores of z."""
    z[:] = 0
    table, width = np.uint64(J.shape[1] * J.shape[2]), np.uint64(J.shape[2])
    for j in range(0, len(states), 4):
        origin = np.uint64(j) * table
        for c in range(states.shape[1]):
            first = origin + np.uint64(states[j, c]) * width
            second = origin + table + np.uint64(states[j + 1, c]) * width
            third = origin + table + table + np.uint64(states[j + 2, c]) * width
            fourth = origin + table + table + table + np.uint64(states[j + 3, c]) * width
            for a in range(np.uint64(0), width, np.uint64(8)):
                _add_eight(z, np.uint64(c) * width + a, J, first + a, second + a, third + a, fourth + a)


def _add_eight_typed(_: Any, z: Any, place: Any, J: Any, first: Any, second: Any, third: Any, fourth: Any) -> Any:
    """z[place : place + 8] += the eight numbers from each of four places of J, counted through the whole arrays.

    In vector instructions by hand: those made of a loop check first that the rows do not overlap, at half the speed.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def eight(array: int, place: int) -> Any:
            data = context.make_array(signature.args[array])(context, builder, arguments[array]).data
            return builder.bitcast(builder.gep(data, [arguments[place]]), EIGHT.as_pointer())

        a, b, c, d = (builder.load(eight(2, k), align=4) for k in range(3, 7))
        rows = builder.fadd(builder.fadd(a, b), builder.fadd(c, d))
        target = eight(0, 1)
        builder.store(builder.fadd(builder.load(target, align=4), rows), target, align=4)
        return context.get_dummy_value()

    return types.void(z, place, J, first, second, third, fourth), generate


_add_eight: Any = intrinsic(_add_eight_typed)


@compiled
def _logits(z: Any, h: Any, betas: Any, logits: Any, top: Any) -> None:
    """logits[a, c] = beta_c (z[c, a] + h[a]) and their maxima over a."""
    top[:] = -np.inf
    for a in range(len(logits)):
        for c in range(len(betas)):
            logits[a, c] = betas[c] * (z[c, a] + h[a])
        for c in range(len(betas)):
            top[c] = max(top[c], logits[a, c])


@compiled
def _exponentials(x: Any, top: Any, bits: Any) -> None:
    """x[a, c] -> exp(x[a, c] - top[c]) to a relative 1e-7: 2^n times a polynomial on |r| <= ln(2)/2 (Cephes' expf)."""
    powers = bits.view(np.float32)
    for a in range(len(x)):
        row = x[a]
        for c in range(len(row)):
            y = max(row[c] - top[c], LOWEST)
            n = np.floor(y * np.float32(1.44269504088896341) + np.float32(0.5))
            r = (y - n * np.float32(0.693359375)) - n * np.float32(-2.12194440e-4)
            p = np.float32(1.9875691500e-4) * r + np.float32(1.3981999507e-3)
            p = ((p * r + np.float32(8.3334519073e-3)) * r + np.float32(4.1665795894e-2)) * r
            p = (p + np.float32(1.6666665459e-1)) * r + np.float32(5.0000001201e-1)
            row[c] = p * r * r + r + np.float32(1)
            bits[c] = (np.int32(n) + np.int32(127)) << np.int32(23)
        for c in range(len(row)):
            row[c] *= powers[c]


@compiled
def _draw(weights: Any, total: Any, keys: Any, place: Any, colors: Any) -> None:
    """Replaces the color of every chain by one drawn with these weights (C, B)."""
    n_colors = len(weights)
    total[:] = 0
    for a in range(n_colors):
        for c in range(len(colors)):
            total[c] += weights[a, c]
    for c in range(len(colors)):
        total[c] *= _uniform(keys[c, 0], keys[c, 1], place)
        colors[c] = 0
    for a in range(n_colors - 1):
        for c in range(len(colors)):
            total[c] -= weights[a, c]
            colors[c] += total[c] >= 0


@compiled
def _propose(logits: Any, keys: Any, place: Any, colors: Any, accepted: Any) -> None:
    """Metropolis: another color, all equally likely, accepted with probability min(1, ratio of weights)."""
    n_colors = len(logits)
    for c in range(len(colors)):
        old = colors[c]
        step = 1 + int(_uniform(keys[c, 0], keys[c, 1], place) * (n_colors - 1))
        new = (old + step) % n_colors
        change = np.float64(logits[new, c]) - np.float64(logits[old, c])
        if change >= 0 or _uniform(keys[c, 0], keys[c, 1], place + np.uint64(1)) < np.exp(change):
            colors[c] = new
            accepted[c] += new != old


@compiled
def _uniform(key: Any, other: Any, place: Any) -> Any:
    """Number `place` in [0, 1) of a chain's stream: splitmix64 at any place, mixed once more with a second key."""
    return np.float64(_mixed(_mixed(key + place * GOLDEN) ^ other) >> np.uint64(11)) * 2.0**-53


@compiled
def _mixed(x: Any) -> Any:
    x = (x ^ (x >> np.uint64(30))) * FIRST
    x = (x ^ (x >> np.uint64(27))) * SECOND
    return x ^ (x >> np.uint64(31))
