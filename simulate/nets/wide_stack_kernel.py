"""Compiled passes through a stack of many sites, forth and back, over blocks of contexts.

Within a block numbers lie as (colors, contexts, sites), so that attentions and values are each one product of matrices
for all contexts of a block. The first layer reads one color at each site: its attention adds up columns of A_1, and
costs L^2 instead of L^2 C operations a context. The last layer is computed at the hidden site alone. For networks of
few sites, whose columns are too short for this, there is `stack_kernel`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.kernels import cached_njit
from simulate.nets.softmax_kernel import softmax_residuals
from simulate.nets.stack_kernel import copy
from theory.core.arrays import Array

NUMBERS_OF_A_BLOCK = 2**14  # in one array, of which the few that are read together stay in the cache
Integers = NDArray[np.integer[Any]]

_compiled = cached_njit(fastmath={"contract", "reassoc"})


@_compiled
def wide_masked_pass(
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
    """Do the same as `masked_pass`."""
    A, V, fields = layers
    A_back, V_back = transposed
    dA, dV, dfields = by_layers
    N, L, C, R = A.shape[0], A.shape[1], V.shape[1], len(sites)
    n_blocks = -(-R // max(1, NUMBERS_OF_A_BLOCK // (C * L)))
    n = -(-R // n_blocks)  # contexts of a block
    last, total, one = N - 1, 0.0, A.dtype.type(1.0)
    X = np.zeros((N, C, n, L), A.dtype)  # the first one is never read, and stands for inputs that are not written out
    attended, Y = np.zeros((last, C, n, L), A.dtype), np.empty((last, C, n, L), A.dtype)
    dX, back, skipped = np.zeros((C, n, L), A.dtype), np.empty((C, n, L), A.dtype), np.empty((C, n, L), A.dtype)
    context, logits, residual = np.empty((C, n), A.dtype), np.empty((C, n), A.dtype), np.empty((C, n), A.dtype)
    columns, by_value = np.empty((L, L), A.dtype), np.empty((C, C), A.dtype)
    for first in range(0, R, n):
        read, hidden = states[first : first + n], sites[first : first + n]
        if last > 0:
            _add_columns(A_back[0], read, hidden, attended[0])
        for k in range(last):
            if k > 0:
                np.dot(_long(X[k]), A_back[k], _long(attended[k]))
            np.dot(V[k], _wide(attended[k]), _wide(Y[k]))
            _square(_wide(Y[k]), _wide(X[k + 1]))
            if skip and k == 0:
                for r in range(len(read)):
                    for j in range(L):
                        if j != hidden[r]:
                            X[1, read[r, j], r, j] += one
            elif skip:
                _add(_wide(X[k]), _wide(X[k + 1]))
        context[:] = 0.0
        if last == 0:
            _read_inputs(A[0], read, hidden, context)
        else:
            _read_rows(A[last], X[last], hidden, context)
        np.dot(V[last], context, logits)
        total += softmax_residuals(logits, fields, sites, weights, targets, first, residual, dfields, with_loss)
        if not with_gradient:
            continue
        np.dot(residual, context.T, by_value)
        _add(by_value, dV[last])
        np.dot(V_back[last], residual, logits)  # from here on the derivative by the context
        if last == 0:
            for r in range(len(read)):
                for j in range(L):
                    if j != hidden[r]:
                        dA[0, hidden[r], j] += logits[read[r, j], r]
            continue
        _send_rows(A[last], X[last], logits, hidden, dA[last], dX)
        for k in range(last - 1, -1, -1):
            if skip:
                copy(_wide(dX), _wide(skipped))
            _multiply(_wide(Y[k]), _wide(dX))
            np.dot(_wide(dX), _wide(attended[k]).T, by_value)
            _add(by_value, dV[k])
            np.dot(V_back[k], _wide(dX), _wide(back))
            if k == 0:
                columns[:] = 0.0
                _collect_columns(back, read, hidden, columns)
                for j in range(L):
                    for i in range(L):
                        dA[0, i, j] += columns[j, i]
                continue
            np.dot(_long(back).T, _long(X[k]), columns)
            _add(columns, dA[k])
            np.dot(_long(back), A[k], _long(dX))
            if skip:
                _add(_wide(skipped), _wide(dX))
    return total


@_compiled
def _wide(X: Array) -> Array:
    """Return X (C, n, L) as a matrix with a row for each color."""
    return X.reshape(X.shape[0], X.shape[1] * X.shape[2])


@_compiled
def _long(X: Array) -> Array:
    """Return X (C, n, L) as a matrix with a column for each site."""
    return X.reshape(X.shape[0] * X.shape[1], X.shape[2])


@_compiled
def _square(Y: Array, found: Array) -> None:
    for c in range(len(Y)):
        y, x = Y[c], found[c]
        for r in range(len(y)):
            x[r] = y[r] * y[r]


@_compiled
def _add(X: Array, found: Array) -> None:
    for c in range(len(X)):
        x, y = X[c], found[c]
        for r in range(len(x)):
            y[r] += x[r]


@_compiled
def _multiply(Y: Array, found: Array) -> None:
    """Multiply by 2 Y, the derivative of the squares."""
    for c in range(len(Y)):
        y, x = Y[c], found[c]
        for r in range(len(y)):
            x[r] *= y[r] + y[r]


@_compiled
def _add_columns(columns: Array, states: Integers, hidden: Integers, found: Array) -> None:
    """Write A X of one-hot inputs: `found` (C, n, L) at a color is the sum of the columns of A that have it."""
    found[:] = 0.0
    sums, added, size, n = found.reshape(-1), columns.reshape(-1), np.uint64(len(columns)), np.uint64(found.shape[1])
    for r in range(len(states)):
        for j in range(len(columns)):
            if j != hidden[r]:
                # Places without a sign need no check for what counts from the end, which takes half of the time.
                own, column = (np.uint64(states[r, j]) * n + np.uint64(r)) * size, np.uint64(j) * size
                for i in range(size):
                    sums[own + i] += added[column + i]


@_compiled
def _collect_columns(back: Array, states: Integers, hidden: Integers, columns: Array) -> None:
    """Add to the derivatives by the columns of A, which stand as rows here, what comes `back` (C, n, L) of A X."""
    sums, added, size, n = columns.reshape(-1), back.reshape(-1), np.uint64(len(columns)), np.uint64(back.shape[1])
    for r in range(len(states)):
        for j in range(len(columns)):
            if j != hidden[r]:
                own, column = (np.uint64(states[r, j]) * n + np.uint64(r)) * size, np.uint64(j) * size
                for i in range(size):
                    sums[column + i] += added[own + i]


@_compiled
def _read_inputs(A: Array, states: Integers, hidden: Integers, context: Array) -> None:
    """Add to `context` (C, n) the row of A X at each hidden site, for one-hot inputs X."""
    for r in range(len(states)):
        row = A[hidden[r]]
        for j in range(len(row)):
            if j != hidden[r]:
                context[states[r, j], r] += row[j]


@_compiled
def _read_rows(A: Array, X: Array, hidden: Integers, context: Array) -> None:
    """Write the row of A X at each hidden site, for X (C, n, L)."""
    for c in range(len(X)):
        for r in range(len(hidden)):
            row, x = A[hidden[r]], X[c, r]
            total = row[0] * x[0]
            for j in range(1, len(row)):
                total += row[j] * x[j]
            context[c, r] = total


@_compiled
def _send_rows(A: Array, X: Array, slopes: Array, hidden: Integers, by_rows: Array, found: Array) -> None:
    """Add the derivatives by the rows of A, and write those by X (C, n, L), from `slopes` (C, n) by the rows of A X."""
    for r in range(len(hidden)):
        row, by_row = A[hidden[r]], by_rows[hidden[r]]
        for c in range(len(X)):
            slope, x, own = slopes[c, r], X[c, r], found[c, r]
            for j in range(len(row)):
                by_row[j] += slope * x[j]
                own[j] = slope * row[j]
