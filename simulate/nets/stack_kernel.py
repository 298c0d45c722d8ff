"""Compiled passes through a stack of factored attention, forth and back, over blocks of contexts.

Within a block numbers lie as (sites, colors, contexts), so that the innermost loops run along contexts. A block is
long enough for these loops and small enough to stay in the cache, and all blocks are equally long, so that little is
computed beyond the last context. Sums may be reordered and take in products without rounding them, by flags of the
compiler; nothing else is relaxed, so that what is not finite makes a loss that is not.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.kernels import cached_njit
from simulate.nets.softmax_kernel import softmax_residuals
from theory.core.arrays import Array

CONTEXTS = 136  # of a block, at most
Integers = NDArray[np.integer[Any]]

_compiled = cached_njit(fastmath={"contract", "reassoc"})


@_compiled
def masked_pass(
    states: Integers,
    sites: Integers,
    weights: Array,
    targets: Array,
    layers: tuple[Array, Array, Array],
    transposed: tuple[Array, Array],
    by_layers: tuple[Array, Array, Array],
    with_gradient: bool,
    with_loss: bool,
    skip: bool,
) -> float:
    """Return the masked loss of a stack and, `with_gradient`, add its derivatives to those in `by_layers`.

    Site sites[r] of states[r] is hidden, in R contexts with `weights` (R,) and `targets` (R, C). `layers` are A (N, L,
    L), V (N, C, C) and the fields (L, C), and so are `by_layers`; `transposed` are A and V with both last axes swapped.
    With `skip` every layer but the last adds what it read to the squares that it passes on. Layers are in single or
    double precision, in which the passes are computed; `by_layers` and the loss are in double precision. Without
    `with_loss` what comes back is a bound of the loss, as finite as the loss is.
    """
    A, V, fields = layers
    A_back, V_back = transposed
    dA, dV, dfields = by_layers
    N, L, C, R = A.shape[0], A.shape[1], V.shape[1], len(sites)
    n_blocks = -(-R // CONTEXTS)
    n = -(-R // (8 * n_blocks)) * 8  # contexts of a block, in whole vectors
    last, total, number = N - 1, 0.0, A.dtype
    X, attended, Y = np.empty((N, L, C * n), number), np.empty((N, L, C * n), number), np.empty((N, L, C * n), number)
    dX, back, skipped = np.empty((L, C * n), number), np.empty((L, C * n), number), np.empty((L, C * n), number)
    context, logits, residual = np.empty((C, n), number), np.empty((C, n), number), np.empty((C, n), number)
    # Of the last attention, the row of the hidden site of each context.
    rows, by_row = np.empty((L, n), number), np.empty(n, number)
    for first in range(0, R, n):
        _one_hot(states, sites, first, n, X[0])
        for k in range(last):
            _product(A[k], X[k], attended[k])
            for i in range(L):
                y, x = Y[k, i], X[k + 1, i]
                _product(V[k], attended[k, i].reshape(C, n), y.reshape(C, n))
                for r in range(C * n):
                    x[r] = y[r] * y[r]
                if skip:
                    read = X[k, i]
                    for r in range(C * n):
                        x[r] += read[r]
        for r in range(n):
            own = sites[min(first + r, R - 1)]
            for j in range(L):
                rows[j, r] = A[last, own, j]
        context[:] = 0.0
        for j in range(L):
            for c in range(C):
                x, row, found = X[last, j, c * n : (c + 1) * n], rows[j], context[c]
                for r in range(n):
                    found[r] += row[r] * x[r]
        _product(V[last], context, logits)
        total += softmax_residuals(logits, fields, sites, weights, targets, first, residual, dfields, with_loss)
        if not with_gradient:
            continue
        _add_products(residual, context, dV[last])
        _product(V_back[last], residual, logits)  # from here on the derivative by the context
        for j in range(L):
            by_row[:] = 0.0
            for c in range(C):
                x, row, slope, found = X[last, j, c * n : (c + 1) * n], rows[j], logits[c], dX[j, c * n : (c + 1) * n]
                for r in range(n):
                    by_row[r] += x[r] * slope[r]
                    found[r] = row[r] * slope[r]
            for r in range(min(n, R - first)):
                dA[last, sites[first + r], j] += by_row[r]
        for k in range(last - 1, -1, -1):
            if skip:
                copy(dX, skipped)
            for i in range(L):
                y, x = Y[k, i], dX[i]
                for r in range(C * n):
                    x[r] *= y[r] + y[r]
                _add_products(x.reshape(C, n), attended[k, i].reshape(C, n), dV[k])
                _product(V_back[k], x.reshape(C, n), back[i].reshape(C, n))
            _add_products(back, X[k], dA[k])
            if k > 0:
                _product(A_back[k], back, dX)
                if skip:
                    for j in range(L):
                        x, y = dX[j], skipped[j]
                        for r in range(C * n):
                            x[r] += y[r]
    return total


@_compiled
def copy(X: Array, found: Array) -> None:
    """Copy X in a loop: an array that is assigned to a slice has the message of another shape compiled with it."""
    for j in range(len(X)):
        for r in range(X.shape[1]):
            found[j, r] = X[j, r]


@_compiled
def _one_hot(states: Integers, sites: Integers, first: int, n: int, found: Array) -> None:
    """Write the inputs of a block of n; where there are no more contexts the last one stands again."""
    found[:] = 0.0
    for r in range(n):
        s = min(first + r, len(states) - 1)
        for j in range(len(found)):
            if j != sites[s]:
                found[j, states[s, j] * n + r] = 1.0


@_compiled
def _product(matrix: Array, X: Array, found: Array) -> None:
    """Write matrix @ X."""
    size, paired = len(X), len(X) - len(X) % 2
    for i in range(len(found)):
        own, row = found[i], matrix[i]
        # Two or three terms in one pass, so that the sums are read and written less often.
        if size % 2:
            a, x = row[size - 1], X[size - 1]
            for r in range(len(own)):
                own[r] = a * x[r]
        else:
            own[:] = 0.0
        for j in range(0, paired - 2, 4):
            a, b, c, d = row[j], row[j + 1], row[j + 2], row[j + 3]
            x, y, z, w = X[j], X[j + 1], X[j + 2], X[j + 3]
            for r in range(len(own)):
                own[r] += (a * x[r] + b * y[r]) + (c * z[r] + d * w[r])
        if paired % 4:
            a, b, x, y = row[paired - 2], row[paired - 1], X[paired - 2], X[paired - 1]
            for r in range(len(own)):
                own[r] += a * x[r] + b * y[r]


@_compiled
def _add_products(Y: Array, X: Array, found: Array) -> None:
    """Add Y @ X^T."""
    paired, zero = len(X) - len(X) % 4, Y.dtype.type(0.0)
    for i in range(len(Y)):
        y = Y[i]
        for j in range(0, paired, 4):
            a, b, c, d = X[j], X[j + 1], X[j + 2], X[j + 3]
            by_a, by_b, by_c, by_d = zero, zero, zero, zero
            for r in range(len(y)):
                by_a += y[r] * a[r]
                by_b += y[r] * b[r]
                by_c += y[r] * c[r]
                by_d += y[r] * d[r]
            found[i, j] += by_a
            found[i, j + 1] += by_b
            found[i, j + 2] += by_c
            found[i, j + 3] += by_d
        for j in range(paired, len(X)):
            x, total = X[j], zero
            for r in range(len(y)):
                total += y[r] * x[r]
            found[i, j] += total
