"""The loss of factored attention and its gradient from what sites attend to, compiled: by products with V.

Sites of samples are the last axis everywhere, (C, samples x sites), so that all loops run along rows.
"""

from typing import Any

import numpy as np

from simulate.core.kernels import cached_njit
from simulate.potts.inference.exponentials import exponential, log_sums
from simulate.potts.inference.small_products import add_inner_products, repeat_columns, set_product


@cached_njit()
def loss_and_gradient(states: Any, weights: Any, A: Any, V: Any, across: Any, h: Any, n_samples: int) -> Any:
    """Return the loss and its derivatives by A[j, i], V and h (C, L), in blocks of `n_samples`; `across` is V.T."""
    n_colors, n_sites = h.shape
    shape = n_colors, n_samples * n_sites
    N, z, fields = np.empty(shape, V.dtype), np.empty(shape, V.dtype), np.empty(shape, V.dtype)
    by_fields, nothing = np.zeros(shape, V.dtype), np.zeros((1, shape[1]), V.dtype)
    top, total = np.empty(shape[1], V.dtype), np.empty(shape[1], V.dtype)
    loss, dA, dV, dh = 0.0, np.zeros(A.shape, V.dtype), np.zeros(V.shape), np.zeros(h.shape)
    repeat_columns(h, fields)
    for first in range(0, len(states), n_samples):
        s, w = states[first : first + n_samples], weights[first : first + n_samples]
        width = len(s) * n_sites
        _attend(s, A, N, width)
        set_product(V, N, fields, z, width)
        _maxima(z, top, width)
        loss += _above_own(s, w, z, top)
        _exponentials_less(z, top, total, width)
        loss += log_sums(w, total, n_sites)
        _residuals(z, total, by_fields, width)
        for mu in range(len(s)):
            for i in range(n_sites):
                z[s[mu, i], mu * n_sites + i] -= w[mu]
                dh[s[mu, i], i] -= w[mu]
        add_inner_products(z, N, dV, width)
        set_product(across, z, nothing, N, width)  # from here on the derivative with respect to N
        _gather(s, N, dA)
    for a in range(n_colors):
        for first in range(0, shape[1], n_sites):
            for i in range(n_sites):
                dh[a, i] += by_fields[a, first + i]
    return loss, dA, dV, dh


@cached_njit()
def _attend(states: Any, A: Any, N: Any, width: int) -> None:
    """Set N[b] to the sum of the attention A[j, i] to the sites j of each sample that show the color b."""
    n_sites = len(A)
    for b in range(len(N)):
        row = N[b]
        for k in range(width):
            row[k] = 0
    for mu in range(len(states)):
        for j in range(n_sites):
            row, source = N[states[mu, j], mu * n_sites : (mu + 1) * n_sites], A[j]
            for i in range(n_sites):
                row[i] += source[i]


@cached_njit()
def _gather(states: Any, dN: Any, dA: Any) -> None:
    """Add the derivatives by N[s_j] of all samples to those by A[j, i]."""
    n_sites = len(dA)
    for mu in range(len(states)):
        for j in range(n_sites):
            row, target = dN[states[mu, j], mu * n_sites : (mu + 1) * n_sites], dA[j]
            for i in range(n_sites):
                target[i] += row[i]


@cached_njit()
def _maxima(z: Any, top: Any, width: int) -> None:
    """Set `top` to the maximum of each column."""
    for k in range(width):
        top[k] = z[0, k]
    for a in range(1, len(z)):
        row = z[a]
        for k in range(width):
            top[k] = max(top[k], row[k])


@cached_njit()
def _above_own(states: Any, weights: Any, z: Any, top: Any) -> float:
    """Return sum_mu w_mu sum_i (top_i - z_i[s_i])."""
    n_sites, loss = states.shape[1], 0.0
    for mu in range(len(states)):
        above = 0.0  # sums of sums lose fewer digits
        for i in range(n_sites):
            above += top[mu * n_sites + i] - z[states[mu, i], mu * n_sites + i]
        loss += weights[mu] * above
    return loss


@cached_njit()
def _exponentials_less(z: Any, top: Any, total: Any, width: int) -> None:
    """Replace z by exp(z - top), and set `total` to the sum of each column."""
    for k in range(width):
        total[k] = 0
    for a in range(len(z)):
        row = z[a]
        for k in range(width):
            power = exponential(row[k] - top[k])
            row[k] = power
            total[k] += power


@cached_njit()
def _residuals(z: Any, factors: Any, by_fields: Any, width: int) -> None:
    """Multiply the columns of z, exponentials, by `factors`, which makes them w_mu P, and add them to `by_fields`."""
    for a in range(len(z)):
        row, target = z[a], by_fields[a]
        for k in range(width):
            share = row[k] * factors[k]
            row[k] = share
            target[k] += share
