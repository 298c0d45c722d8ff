"""Computes the pseudo-likelihood of factored attention and its gradient, without writing out J_ij(a, b)."""

from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.cache_lines import CACHE_LINE_BYTES, aligned_zeros
from simulate.core.threads import Mapping
from simulate.potts.inference import factored_attention_first, factored_values_first
from simulate.potts.inference.exponentials import PER_LOG_2
from simulate.potts.inference.small_products import in_blocks
from theory.core.arrays import Array
from theory.models.potts.batches import blocks

BLOCK_LOGITS = 12288  # number of entries of the logits of a block of samples, of which four arrays stay in the cache
COLORS_PER_SITE = 1.25  # where there are more, values are the first factor: then products of matrices are smaller
MAX_BLOCKS = 16  # blocks of samples, summed in order, so that the number of threads does not change the rounding
MIN_BLOCK_SAMPLES = 1024  # least samples of a block: fewer would take less time than the arrays of their gradients


@dataclass(frozen=True, eq=False)
class FactoredObjective:
    """The loss -sum_mu w_mu sum_i log softmax(z_i)[s_i] of factored attention on given sequences.

    The logits are z_i = V N_i + h_i, where N_i[b] = sum_{j != i} A_ij [s_j = b] is what site i attends to. The
    sequences are `states` (M, L) of type int32, with `weights` (M,). Where there are more colors than sites, the rows
    of V for the colors of a sequence are multiplied by A instead: one evaluation costs M L C min(L, C) operations.
    Logits are of type `dtype`, and so are sums over the sequences of a block; the loss and sums of blocks are double.
    Blocks are computed by `mapped`, a function like `map`.
    """

    states: NDArray[np.int32]
    weights: Array
    mapped: Mapping = map
    dtype: type[np.floating[Any]] = np.float64

    def __call__(self, A: Array, V: Array, h: Array) -> tuple[float, Array, Array, Array]:
        """Return the loss and its derivatives by A (L, L), V (C, C) and h (L, C); those by A_ii are zero."""
        # Copies are made because the kernels would be compiled once more for a read-only array.
        arguments = tuple(np.array(each, self.dtype, order="C") for each in (A, V, h))
        np.fill_diagonal(arguments[0], 0.0)
        weights = self.weights.astype(self.dtype)
        parts = blocks(len(self.states), 1, most=max(MIN_BLOCK_SAMPLES, -(-len(self.states) // MAX_BLOCKS)))
        loss = values_first if len(V) > COLORS_PER_SITE * len(A) else attention_first

        def part(rows: slice) -> tuple[float, Array, Array, Array]:
            return loss(self.states[rows], weights[rows], *arguments)

        value, dA, dV, dh = (sum(each) for each in zip(*self.mapped(part, parts), strict=True))
        np.fill_diagonal(dA, 0.0)
        return float(value), dA, dV, dh


def attention_first(states: Any, weights: Any, A: Array, V: Array, h: Array) -> tuple[float, Array, Array, Array]:
    """Compute the loss of some samples and its gradients from what sites attend to, by products with V.

    Sites of samples are the last axis everywhere, (C, samples x sites), so that all loops run along rows. There A[j, i]
    acts on site i. Logits are relative to that of the last color, and what a site attends to of that color is the rest
    of all it attends to. So this color takes no part in products, and 21 colors take about as long as 20.
    """
    (L, C), dtype = h.shape, A.dtype
    n_samples, n_rows = _block_samples(len(states), L * C, L, dtype), in_blocks(C - 1)
    attended, z = (aligned_zeros((max(C, n_rows), n_samples, L), dtype) for _ in range(2))
    by_fields = aligned_zeros((C, n_samples, L), dtype)
    rows = (*(each.reshape(len(each), -1) for each in (attended, z)), np.zeros((1, n_samples * L), dtype))
    sums = aligned_zeros((n_samples * L,), dtype), np.zeros(n_samples)
    all_attended, by_site = A.sum(axis=1, dtype=float), aligned_zeros((L, L), dtype)
    by_site[:] = A.T
    relative = (V - V[:, -1:]).astype(float)
    relative -= relative[-1]
    fields = h + np.outer(all_attended, V[:, -1])
    fields -= fields[:, -1:]
    factors = (
        by_site,
        _filled(relative * PER_LOG_2, n_rows, n_rows, dtype),
        _filled(relative.T, n_rows, n_rows, dtype),
        np.tile(_filled(fields.T * PER_LOG_2, n_rows, L, dtype), n_samples),
    )
    gradients = np.zeros_like(A), np.zeros((n_rows, n_rows)), by_fields.reshape(C, -1)
    kernel = factored_attention_first.loss_and_gradient
    loss = kernel(states, weights, factors, attended, rows, sums, gradients)
    dh, dV = by_fields.sum(axis=1, dtype=float), np.zeros((C, C))
    dV[:-1, :-1] = gradients[1][: C - 1, : C - 1]
    dV[:, -1] = dh @ all_attended - dV.sum(axis=1)
    dV[-1] = -dV[:-1].sum(axis=0)  # derivatives by the logits of a site sum to zero
    return loss, gradients[0].T + (V[:, -1] @ dh)[:, None], dV, dh.T


def values_first(states: Any, weights: Any, A: Array, V: Array, h: Array) -> tuple[float, Array, Array, Array]:
    """Compute the loss of some samples and its gradients from the values of their colors, by products with A.

    Sites are the first axis everywhere, (L, samples x C), so that the colors of a site are neighbors.
    """
    (L, C), dtype = h.shape, A.dtype
    n_samples, n_rows = _block_samples(len(states), L * C, C, dtype), in_blocks(L)
    values, z = (aligned_zeros((n_rows, n_samples, C), dtype) for _ in range(2))
    rows = (*(each.reshape(n_rows, -1) for each in (values, z)), np.zeros((1, n_samples * C), dtype))
    sums = aligned_zeros((n_samples * L,), dtype), np.zeros(n_samples)
    factors = (
        _filled(A * PER_LOG_2, n_rows, n_rows, dtype),
        _filled(A.T, n_rows, n_rows, dtype),
        np.array(V.T, order="C"),
        np.tile(_filled(h * PER_LOG_2, n_rows, C, dtype), n_samples),
    )
    dA, dV, dh = np.zeros((n_rows, n_rows)), np.zeros_like(V), np.zeros_like(h, dtype=float)
    kernel = factored_values_first.loss_and_gradient
    gradients = dA, dV, dh, np.zeros_like(h)
    loss = kernel(states, weights, factors, (values[:L], z[:L]), rows, sums, gradients)
    return loss, dA[:L, :L], dV.T.astype(float), dh


def _filled(matrix: Array, n_rows: int, n_columns: int, dtype: Any) -> Array:
    """Return the first rows and columns of a matrix, filled up with zeros, as a copy."""
    filled = np.zeros((n_rows, n_columns), dtype)
    part = matrix[:n_rows, :n_columns]
    filled[: part.shape[0], : part.shape[1]] = part
    return filled


def _block_samples(n_samples: int, size: int, width: int, dtype: Any) -> int:
    """Return the number of samples of a block, of `size` logits each and `width` in a row.

    Where that many are at hand, rows are a whole number of lines of the cache: an access across two lines counts twice.
    """
    number = max(1, min(n_samples, BLOCK_LOGITS // size))
    line = CACHE_LINE_BYTES // dtype.itemsize
    return number - number % (line // gcd(line, width)) or number
