"""The loss of factored attention and its gradient from the values of colors, compiled: by products with A.

Sites are the first axis everywhere, (L, samples x C), so that the colors of a site are neighbors.
"""

from typing import Any

import numpy as np

from simulate.core.kernels import cached_njit
from simulate.potts.inference.exponentials import exponential, log_sums
from simulate.potts.inference.small_products import add_inner_products, repeat_columns, set_product

# Up to this size of a logit neither its exponential nor the product of four sums of exponentials overflows, and the
# weight of a sample divided by such a sum is a normal number.
MAX_LOGIT, MAX_LOGIT_SINGLE = 140.0, 60.0


@cached_njit()
def loss_and_gradient(states: Any, weights: Any, A: Any, across: Any, by_color: Any, h: Any, n_samples: int) -> Any:
    """Return the loss and its derivatives by A, V.T and h, in blocks; `across` is A.T, `by_color` V.T.

    The maximum of each site is taken off only in blocks with logits so large that it matters, since it takes time.
    """
    n_sites, n_colors = h.shape
    shape = n_sites, n_samples * n_colors
    values, z, fields = np.empty(shape, A.dtype), np.empty(shape, A.dtype), np.empty(shape, A.dtype)
    nothing, largest = np.zeros((1, shape[1]), A.dtype), np.empty(shape[1], A.dtype)
    total, limit = np.empty(n_samples * n_sites, A.dtype), MAX_LOGIT if A.itemsize == 8 else MAX_LOGIT_SINGLE
    loss, dA, dV, dh = 0.0, np.zeros(A.shape), np.zeros(by_color.shape, A.dtype), np.zeros(h.shape)
    by_fields = np.empty(h.shape, A.dtype)
    repeat_columns(h, fields)
    for first in range(0, len(states), n_samples):
        s, w = states[first : first + n_samples], weights[first : first + n_samples]
        width = len(s) * n_colors
        _look_up(s, by_color, values)
        set_product(A, values, fields, z, width)
        if not _within(z, largest, width, limit):
            _take_off_maxima(z, len(s), n_colors)
        for mu in range(len(s)):
            own = 0.0  # sums of sums lose fewer digits
            for i in range(n_sites):
                own += z[i, mu * n_colors + s[mu, i]]
            loss -= w[mu] * own
        _exponentials(z, width)
        _sums(z, len(s), n_colors, total)
        loss += log_sums(w, total, n_sites)
        _residuals(s, w, z, total, by_fields)
        for i in range(n_sites):
            for c in range(n_colors):
                dh[i, c] += by_fields[i, c]
        add_inner_products(z, values, dA, width)
        set_product(across, z, nothing, values, width)  # from here on the derivative with respect to the values
        _add_colors(s, values, dV)
    return loss, dA, dV, dh


@cached_njit()
def _look_up(states: Any, by_color: Any, values: Any) -> None:
    """Set values[j] (samples x C) to the row of `by_color` of the color of site j in each sample."""
    n_colors = by_color.shape[1]
    for mu in range(len(states)):
        for j in range(states.shape[1]):
            row, source = values[j, mu * n_colors : (mu + 1) * n_colors], by_color[states[mu, j]]
            for c in range(n_colors):
                row[c] = source[c]


@cached_njit()
def _within(z: Any, largest: Any, width: int, limit: float) -> bool:
    """Say whether no number of z is larger in size than `limit`; `largest` is overwritten."""
    for k in range(width):
        largest[k] = 0
    for i in range(len(z)):
        row = z[i]
        for k in range(width):
            largest[k] = max(largest[k], abs(row[k]))
    top = largest[0]
    for k in range(width):
        top = max(top, largest[k])
    return bool(top <= limit)


@cached_njit()
def _take_off_maxima(z: Any, n_samples: int, n_colors: int) -> None:
    """Take the maximum over the colors of each site of each sample off."""
    for i in range(len(z)):
        for mu in range(n_samples):
            row = z[i, mu * n_colors : (mu + 1) * n_colors]
            top = row[0]
            for c in range(n_colors):
                top = max(top, row[c])
            for c in range(n_colors):
                row[c] -= top


@cached_njit()
def _exponentials(z: Any, width: int) -> None:
    for i in range(len(z)):
        row = z[i]
        for k in range(width):
            row[k] = exponential(row[k])


@cached_njit(fastmath={"reassoc", "contract"})  # sums over colors vectorize
def _sums(z: Any, n_samples: int, n_colors: int, total: Any) -> None:
    """Set total (samples x L) to the sums over the colors of each site of each sample."""
    for i in range(len(z)):
        for mu in range(n_samples):
            row, added = z[i, mu * n_colors : (mu + 1) * n_colors], z.dtype.type(0)
            for c in range(n_colors):
                added += row[c]
            total[mu * len(z) + i] = added


@cached_njit()
def _residuals(states: Any, weights: Any, z: Any, factors: Any, by_fields: Any) -> None:
    """Turn exponentials in z into w_mu (P - x), with w_mu P their products with `factors`; sum them over samples."""
    n_sites, n_colors = by_fields.shape
    for i in range(n_sites):
        target = by_fields[i]
        for c in range(n_colors):
            target[c] = 0
        for mu in range(len(states)):
            row, factor = z[i, mu * n_colors : (mu + 1) * n_colors], factors[mu * n_sites + i]
            for c in range(n_colors):
                share = row[c] * factor
                row[c] = share
                target[c] += share
            row[states[mu, i]] -= weights[mu]
            target[states[mu, i]] -= weights[mu]


@cached_njit()
def _add_colors(states: Any, added: Any, gradient: Any) -> None:
    """Add added[j] (samples x C) to the row of the gradient (C, C) of the color of site j in each sample."""
    n_colors = gradient.shape[1]
    for mu in range(len(states)):
        for j in range(states.shape[1]):
            row, target = added[j, mu * n_colors : (mu + 1) * n_colors], gradient[states[mu, j]]
            for c in range(n_colors):
                target[c] += row[c]
