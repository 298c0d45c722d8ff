"""The loss of factored attention and its gradient from the values of colors, compiled: by products with A.

Sites are the first axis everywhere, (L, samples, C), so that the colors of a site are neighbors, and products run along
rows (L, samples x C). The parts of a block are inlined: each by itself takes longer to compile than all together.
"""

from typing import Any

from simulate.core.kernels import cached_njit
from simulate.potts.inference.exponentials import NATURAL_LOG_2, all_moderate, log_sums, power_of_two
from simulate.potts.inference.small_products import add_inner_products, set_product


@cached_njit(error_model="numpy", fastmath={"reassoc", "contract"})  # sums over colors vectorize
def loss_and_gradient(
    states: Any, weights: Any, factors: Any, space: Any, rows: Any, sums: Any, gradients: Any
) -> float:
    """Return the loss, and add its derivatives by A, V.T and the fields to `gradients`.

    The `factors` are A, A.T, V.T and the fields of the samples of a block, A and fields in units of ln(2). Values and
    logits are kept in `space`, each (L, samples, C), of which the first two of the `rows` are other views, with rows
    of zeros where products, which take four at a time, need more; the last is one of zeros. The `sums` are for those of
    exponentials and of logits. Maxima are taken off from the first block on that has logits so large that it matters,
    since it takes time.
    """
    A, across, by_color, fields = factors
    values, logits = space
    x, z, nothing = rows
    total, own = sums
    dA, dV, dh, by_fields = gradients
    n_sites, n_samples, n_colors = logits.shape
    loss, take_off = 0.0, False
    for first in range(0, len(states), n_samples):
        s, w = states[first : first + n_samples], weights[first : first + n_samples]
        width = len(s) * n_colors
        _look_up(s, by_color, values)
        while True:
            set_product(A, x, fields, z, width)
            if take_off:
                _take_off_maxima(logits, len(s))
            _own(s, logits, own)
            _exponentials(logits, z, total, len(s))
            if take_off or all_moderate(total, len(s) * n_sites):
                break
            take_off = True
        loss += log_sums(w, own, total, n_sites)
        _residuals(s, w, logits, total, by_fields)
        for i in range(n_sites):
            for c in range(n_colors):
                dh[i, c] += by_fields[i, c]
        add_inner_products(z, x, dA, width)
        set_product(across, z, nothing, x, width)  # from here on the derivative with respect to the values
        _add_colors(s, values, dV)
    return loss


@cached_njit(inline="always")
def _look_up(states: Any, by_color: Any, values: Any) -> None:
    """Set values[j] (samples, C) to the row of `by_color` of the color of site j in each sample."""
    for mu in range(len(states)):
        for j in range(len(values)):
            b = states[mu, j]
            for c in range(len(by_color)):
                values[j, mu, c] = by_color[b, c]


@cached_njit(inline="always")
def _add_colors(states: Any, added: Any, gradient: Any) -> None:
    """Add added[j] (samples, C) to the row of the gradient (C, C) of the color of site j in each sample."""
    for mu in range(len(states)):
        for j in range(len(added)):
            b = states[mu, j]
            for c in range(len(gradient)):
                gradient[b, c] += added[j, mu, c]


@cached_njit(inline="always")
def _own(states: Any, logits: Any, own: Any) -> None:
    """Set `own` to the sum of the logits of the colors of each sample."""
    for mu in range(len(states)):
        own[mu] = 0
        for i in range(len(logits)):
            own[mu] += logits[i, mu, states[mu, i]]
        own[mu] *= NATURAL_LOG_2


@cached_njit(inline="always")
def _take_off_maxima(logits: Any, n_samples: int) -> None:
    """Take the maximum over the colors of each site of each sample off."""
    for i in range(len(logits)):
        for mu in range(n_samples):
            top = logits[i, mu, 0]
            for c in range(logits.shape[2]):
                top = logits[i, mu, c] if logits[i, mu, c] > top else top
            for c in range(logits.shape[2]):
                logits[i, mu, c] -= top


@cached_njit(inline="always")
def _exponentials(logits: Any, z: Any, total: Any, n_samples: int) -> None:
    """Replace z by 2^z, and set total (samples x L) to the sums over the colors of each site of each sample."""
    n_sites, n_colors = len(logits), logits.shape[2]
    for i in range(n_sites):
        for k in range(n_samples * n_colors):
            z[i, k] = power_of_two(z[i, k])
        for mu in range(n_samples):
            added = z.dtype.type(0)
            for c in range(n_colors):
                added += logits[i, mu, c]
            total[mu * n_sites + i] = added


@cached_njit(inline="always")
def _residuals(states: Any, weights: Any, logits: Any, shares: Any, by_fields: Any) -> None:
    """Turn exponentials into w_mu (P - x), with w_mu P their products with `shares`; sum them over samples."""
    n_sites, n_colors = by_fields.shape
    for i in range(n_sites):
        for c in range(n_colors):
            by_fields[i, c] = 0
        for mu in range(len(states)):
            share, own = shares[mu * n_sites + i], states[mu, i]
            for c in range(n_colors):
                logits[i, mu, c] *= share
                by_fields[i, c] += logits[i, mu, c]
            logits[i, mu, own] -= weights[mu]
            by_fields[i, own] -= weights[mu]
