"""Compiled steps of training: weights in double precision move along gradients of passes in single or in double."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.kernels import cached_njit
from simulate.core.optimizers import EPSILON, FIRST, SECOND
from simulate.nets.stack_kernel import masked_pass
from simulate.nets.wide_stack_kernel import wide_masked_pass
from theory.core.arrays import Array

WIDE = 16  # sites from which on sums along sites are faster than along contexts
Contexts = tuple[NDArray[np.int64], NDArray[np.int64], Array, Array]  # states, hidden sites, weights, targets
Layers = tuple[Array, Array, Array]  # attentions (N, L, L), values (N, C, C), fields (L, C), or (0, C) for none

_compiled = cached_njit()


@_compiled
def stack_pass(
    contexts: Contexts, layers: Layers, number: Any, skip: bool, with_gradient: bool, with_loss: bool, found: Layers
) -> float:
    """Return the masked loss of a stack in the precision of `number`, and write its derivatives to `found`.

    Without `with_loss` what comes back is a bound of the loss that is finite where the loss is.
    """
    states, sites, weights, targets = contexts
    A, V, h = layers
    arranged = A.astype(number.dtype), V.astype(number.dtype), h.astype(number.dtype)
    transposed = np.empty(A.shape, number.dtype), np.empty(V.shape, number.dtype)
    for k in range(len(A)):
        transposed[0][k] = A[k].T
        transposed[1][k] = V[k].T
    found[0][:] = 0.0
    found[1][:] = 0.0
    found[2][:] = 0.0
    # One layer sees one color of each site, which the pass along sites adds up without products.
    if A.shape[1] >= WIDE or len(A) == 1:
        return wide_masked_pass(
            states, sites, weights, targets, arranged, transposed, found, with_gradient, with_loss, skip
        )
    return masked_pass(states, sites, weights, targets, arranged, transposed, found, with_gradient, with_loss, skip)


@_compiled
def descend(
    count: int,
    size: int,
    contexts: Contexts,
    layers: Layers,
    number: Any,
    skip: bool,
    rate: float,
    moments: tuple[Array, ...],
    step: int,
    squares: Array,
) -> int:
    """Make `count` steps in place, and return how many there are before the first one whose loss is not finite.

    Each step has the next `size` of the `contexts`; after the last ones come the first ones again.
    `moments` are Adam's of the three arrays, in twos, or six empty ones for gradient descent, and `step` is the number
    of steps made before. The squared norms of the steps of attentions and values are added to `squares` (2, N).
    """
    A, V, h = layers
    found, others = (np.empty_like(A), np.empty_like(V), np.empty_like(h)), np.zeros(1)
    states, sites, weights, targets = contexts
    for k in range(count):
        first = k * size % len(sites)
        here = slice(first, first + size)
        batch = states[here], sites[here], weights[here], targets[here]
        if not np.isfinite(stack_pass(batch, layers, number, skip, True, False, found)):
            return k
        _move(_rows(A), _rows(found[0]), rate, _rows(moments[0]), _rows(moments[1]), step + k + 1, squares[0])
        _move(_rows(V), _rows(found[1]), rate, _rows(moments[2]), _rows(moments[3]), step + k + 1, squares[1])
        if len(h):
            row = h.reshape(1, h.size), found[2].reshape(1, h.size)
            own = moments[4].reshape(1, moments[4].size), moments[5].reshape(1, moments[5].size)
            _move(row[0], row[1], rate, own[0], own[1], step + k + 1, others)
    return count


@_compiled
def _rows(arrays: Array) -> Array:
    """Return one row for each layer."""
    return arrays.reshape(arrays.shape[0], arrays.shape[1] * arrays.shape[2])


@_compiled
def _move(x: Array, gradient: Array, rate: float, mean: Array, power: Array, step: int, squares: Array) -> None:
    """Step along a gradient (rows, numbers), or as Adam does where there are moments; add up the squares of rows."""
    first, second = 1 - FIRST**step, 1 - SECOND**step
    for k in range(len(x)):
        total = 0.0
        for i in range(x.shape[1]):
            g = gradient[k, i]
            if mean.size:
                mean[k, i] += (1 - FIRST) * (g - mean[k, i])
                power[k, i] += (1 - SECOND) * (g * g - power[k, i])
                g = mean[k, i] / first / (np.sqrt(power[k, i] / second) + EPSILON)
            change = rate * g
            x[k, i] -= change
            total += change * change
        squares[k] += total
