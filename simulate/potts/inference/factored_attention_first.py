"""The loss of factored attention and its gradient from what sites attend to, compiled: by products with V.

Sites of samples are the last axes everywhere, (C, samples, sites), and loops run along rows (C, samples x sites) of
them. The parts of a block are inlined: each by itself takes longer to compile than all of them together.
"""

from typing import Any

from simulate.core.kernels import cached_njit
from simulate.potts.inference.exponentials import NATURAL_LOG_2, all_moderate, log_sums, power_of_two
from simulate.potts.inference.small_products import add_inner_products, set_product


@cached_njit(error_model="numpy")
def loss_and_gradient(
    states: Any, weights: Any, factors: Any, attended: Any, rows: Any, sums: Any, gradients: Any
) -> float:
    """Return the loss, and add its derivatives by A[j, i], V and the fields of the sites of a block to `gradients`.

    The `factors` are A[j, i], V and fields of the sites of a block, both in units of ln(2), and V.T. V and fields are
    zero for the last color, which takes no part in products. What sites attend to is kept in `attended` (C, samples,
    sites), of which the first of the `rows` are another view; the others are for logits, and one of zeros. There may be
    more of them than colors, which are zero, since products take four at a time. The `sums` are for those of
    exponentials and of logits. Maxima are taken off from the first block on that has logits so large that it matters,
    since it takes time.
    """
    A, V, across, fields = factors
    N, z, nothing = rows
    total, own = sums
    dA, dV, by_fields = gradients
    n_samples, n_sites = attended.shape[1:]
    last = len(by_fields) - 1
    loss, take_off = 0.0, False
    for first in range(0, len(states), n_samples):
        s, w = states[first : first + n_samples], weights[first : first + n_samples]
        width = len(s) * n_sites
        _attend(s, A, N, attended, width)
        while True:
            _clear(z[last], width)
            set_product(V, N, fields, z, width)
            if take_off:
                _take_off_maxima(z, last + 1, width)
            _own(s, z, own)
            _exponentials(z, last + 1, total, width)
            if take_off or all_moderate(total, width):
                break
            take_off = True
        loss += log_sums(w, own, total, n_sites)
        _residuals(s, w, z, total, by_fields, width)
        add_inner_products(z, N, dV, width)
        _clear(N[last], width)
        set_product(across, z, nothing, N, width)  # from here on the derivative with respect to N
        _gather(s, attended, dA)
    return loss


@cached_njit(inline="always")
def _clear(row: Any, width: int) -> None:
    for k in range(width):
        row[k] = 0


@cached_njit(inline="always")
def _attend(states: Any, A: Any, N: Any, attended: Any, width: int) -> None:
    """Set attended[b] to the sum of the attention A[j, i] to the sites j of each sample that show the color b."""
    for b in range(len(N)):
        for k in range(width):
            N[b, k] = 0
    for mu in range(len(states)):
        for j in range(len(A)):
            b = states[mu, j]
            for i in range(len(A)):
                attended[b, mu, i] += A[j, i]


@cached_njit(inline="always")
def _gather(states: Any, by_attended: Any, dA: Any) -> None:
    """Add the derivatives by attended[s_j] of all samples to those by A[j, i]."""
    whole = len(states) - len(states) % 4
    for mu in range(0, whole, 4):  # four samples at a time, so that dA is read and written less often
        for j in range(len(dA)):
            row, p, q = dA[j], by_attended[states[mu, j], mu], by_attended[states[mu + 1, j], mu + 1]
            r, s = by_attended[states[mu + 2, j], mu + 2], by_attended[states[mu + 3, j], mu + 3]
            for i in range(len(dA)):
                row[i] += (p[i] + q[i]) + (r[i] + s[i])
    for mu in range(whole, len(states)):
        for j in range(len(dA)):
            b = states[mu, j]
            for i in range(len(dA)):
                dA[j, i] += by_attended[b, mu, i]


@cached_njit(inline="always")
def _take_off_maxima(z: Any, n_colors: int, width: int) -> None:
    """Take the maximum of each column off."""
    for k in range(width):
        top = z[0, k]
        for a in range(1, n_colors):
            top = z[a, k] if z[a, k] > top else top
        for a in range(n_colors):
            z[a, k] -= top


@cached_njit(inline="always")
def _own(states: Any, z: Any, own: Any) -> None:
    """Set `own` to the sum of the logits of the colors of each sample."""
    n_sites = states.shape[1]
    for mu in range(len(states)):
        own[mu] = 0
        for i in range(n_sites):
            own[mu] += z[states[mu, i], mu * n_sites + i]
        own[mu] *= NATURAL_LOG_2


@cached_njit(inline="always")
def _exponentials(z: Any, n_colors: int, total: Any, width: int) -> None:
    """Replace z by 2^z, and set `total` to the sum of each column."""
    for k in range(width):
        total[k] = 0
    for a in range(n_colors):
        for k in range(width):
            power = power_of_two(z[a, k])
            z[a, k] = power
            total[k] += power


@cached_njit(inline="always")
def _residuals(states: Any, weights: Any, z: Any, shares: Any, by_fields: Any, width: int) -> None:
    """Turn exponentials in z into w_mu (P - x), with w_mu P their products with `shares`; add them to `by_fields`."""
    n_sites = states.shape[1]
    for a in range(len(by_fields)):
        for k in range(width):
            z[a, k] *= shares[k]
            by_fields[a, k] += z[a, k]
    for mu in range(len(states)):
        for i in range(n_sites):
            z[states[mu, i], mu * n_sites + i] -= weights[mu]
            by_fields[states[mu, i], mu * n_sites + i] -= weights[mu]
