"""Compiled steps of training: weights in double precision move along gradients of passes in single or in double."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.kernels import cached_njit
from simulate.core.optimizers import EPSILON, FIRST, SECOND
from simulate.nets.stack_kernel import masked_pass
from simulate.nets.wide_stack_kernel import wide_masked_pass
from theory.core.arrays import Array

WIDE = 16  # sites or colors from which on products of matrices along sites are faster than sums along contexts
Contexts = tuple[NDArray[np.int64], NDArray[np.int64], Array, Array]  # states, hidden sites, weights, targets
NO_MOMENTS = (np.zeros((0, 0, 0)),) * 4 + (np.zeros((0, 0)),) * 2
Layers = tuple[Array, Array, Array]  # attentions (N, L, L), values (N, C, C), fields (L, C), or (0, C) for none

_compiled = cached_njit()


def is_wide(attentions: Array, values: Array) -> bool | None:
    """Return True where products of matrices along sites are faster, or None."""
    # One layer sees one color of each site, which the pass along sites adds up without products.
    return len(attentions) == 1 or attentions.shape[1] >= WIDE or values.shape[1] >= WIDE or None


@_compiled
def descend(
    count: int,
    size: int,
    contexts: Contexts,
    layers: Layers,
    number: Any,
    skip: bool,
    with_gradient: bool,
    with_loss: bool,
    found: Layers,
    rate: float,
    moments: tuple[Array, ...],
    step: int,
    squares: Array,
    wide: bool | None,
) -> tuple[int, float]:
    """Make `count` steps in place; return how many there are before one whose loss is not finite, and the last loss.

    Each step has the next `size` of the `contexts`; after the last ones come the first ones again. The derivatives of
    the last step are left in `found`, in double precision, while passes are computed in that of `number`. `moments` are
    Adam's of the three arrays, in twos, or six empty ones for gradient descent, and `step` is the number of steps made
    before. The squared norms of the steps of attentions and values are added to `squares` (2, N). With the rate 0
    nothing moves: a gradient alone, or without `with_gradient` a loss, is asked for in this way, so that one kernel is
    compiled. Without `with_loss` losses are bounds that are finite where the losses are. `wide` is what `is_wide` says,
    and chooses the pass when this is compiled, so that only the one that is needed is compiled with it.
    """
    A, V, h = layers
    states, sites, weights, targets = contexts
    arranged = np.empty(A.shape, number.dtype), np.empty(V.shape, number.dtype), np.empty(h.shape, number.dtype)
    transposed = np.empty(A.shape, number.dtype), np.empty(V.shape, number.dtype)
    loss, others = 0.0, np.zeros(1)
    for done in range(count):
        _arrange(A, arranged[0], transposed[0])
        _arrange(V, arranged[1], transposed[1])
        for i in range(len(h)):
            for c in range(h.shape[1]):
                arranged[2][i, c] = h[i, c]
        found[0][:] = 0.0
        found[1][:] = 0.0
        found[2][:] = 0.0
        here = slice(done * size % len(sites), done * size % len(sites) + size)
        batch = states[here], sites[here], weights[here], targets[here]
        if wide is None:
            loss = masked_pass(*batch, arranged, transposed, found, with_gradient, with_loss, skip)
        else:
            loss = wide_masked_pass(*batch, arranged, transposed, found, with_gradient, with_loss, skip)
        if not np.isfinite(loss):
            return done, loss
        if rate == 0:
            continue
        at = step + done + 1
        _move(_rows(A), _rows(found[0]), rate, _rows(moments[0]), _rows(moments[1]), at, squares[0])
        _move(_rows(V), _rows(found[1]), rate, _rows(moments[2]), _rows(moments[3]), at, squares[1])
        if len(h):
            row = h.reshape(1, h.size), found[2].reshape(1, h.size)
            own = moments[4].reshape(1, moments[4].size), moments[5].reshape(1, moments[5].size)
            _move(row[0], row[1], rate, own[0], own[1], at, others)
    return count, loss


@_compiled
def _arrange(arrays: Array, found: Array, transposed: Array) -> None:
    """Write arrays (N, n, n) in the precision of the passes, and with both last axes swapped."""
    # Loops, since an array that is assigned to a slice has the message of another shape compiled with it, for seconds.
    for k in range(len(arrays)):
        for i in range(arrays.shape[1]):
            for j in range(arrays.shape[2]):
                found[k, i, j] = arrays[k, i, j]
                transposed[k, j, i] = arrays[k, i, j]


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
