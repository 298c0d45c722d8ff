"""Orders of the interactions in the logits of a network, measured by a transform of its logits at all contexts."""

import numpy as np
from numpy.typing import NDArray

from theory.core import Array, Count, checked
from theory.models import FactoredStack
from theory.models.potts.one_hot_contrasts import helmert

MAX_CONTEXTS = 2**18


@checked
def measured_orders(stack: FactoredStack, max_contexts: Count = MAX_CONTEXTS) -> Array:
    """Measure which share of the variance of the logits comes from interactions with 0, 1, ..., L - 1 other sites.

    The logits of every hidden site, centered over colors, are tabulated at all C^(L-1) contexts and transformed at each
    visible site to the orthonormal basis of a constant and C - 1 contrasts. A squared coefficient belongs to the order
    that counts its contrasts. The shares (L,) are summed over hidden sites and add up to one: that of order 0 is what
    the logits say in every context. All contexts weigh alike, and fields count as order 0. ValueError where there are
    more than `max_contexts` contexts, for a single color, and where all logits are equal, so that there are no shares.

    >>> measured_orders(FactoredStack.deterministic(1, 5, 3, 0.8)).round(6).tolist()
    [0.593432, 0.406568, 0.0, 0.0, 0.0]
    """
    L, C = stack.n_sites, stack.n_colors
    require_orders("stack", L, C, max_contexts)
    visible = visible_colors(L, C)
    inputs = (np.insert(np.eye(C)[visible], site, 0.0, axis=1) for site in range(L))
    return orders_of_logits("stack", np.stack([stack.logits(each)[:, site] for site, each in enumerate(inputs)]))


def require_orders(name: str, n_sites: int, n_colors: int, max_contexts: int = MAX_CONTEXTS) -> None:
    """Raise ValueError, which names the argument, where the orders of a network of this size cannot be measured."""
    L, C = n_sites, n_colors
    if C < 2 or L < 2:
        raise ValueError(f"{name} must have at least 2 sites and 2 colors, got {L} and {C}")
    if max_contexts < L * C ** (L - 1):
        raise ValueError(
            f"{name} must have at most max_contexts = {max_contexts} masked contexts, got {L} * {C}^{L - 1}"
        )


def visible_colors(n_sites: int, n_colors: int) -> NDArray[np.int64]:
    """Return the colors of the visible sites in all contexts of one hidden site, (C^(L-1), L - 1)."""
    return np.indices((n_colors,) * (n_sites - 1)).reshape(n_sites - 1, -1).T


def orders_of_logits(name: str, logits: Array) -> Array:
    """Return the shares (L,) of the orders in logits (L, C^(L-1), C) of every hidden site at its `visible_colors`.

    ValueError, which names the argument that the logits come from, where all logits are equal.
    """
    L, _, C = logits.shape
    tables = logits - logits.mean(axis=2, keepdims=True)
    if not abs(tables).max() > 0:
        raise ValueError(f"{name} must have logits that differ between colors, got equal ones everywhere")
    z = (tables / abs(tables).max()).reshape((L,) + (C,) * L)
    basis = np.column_stack([np.full(C, C**-0.5), helmert(C)])
    for _ in range(L - 1):  # takes the first of the visible sites, and puts the transformed one behind the others
        z = np.moveaxis(np.tensordot(basis, z, axes=(0, 1)), 0, L - 1)
    order = np.indices((C,) * (L - 1)).astype(bool).sum(axis=0)
    energies = np.bincount(order.reshape(-1), (z**2).sum(axis=(0, -1)).reshape(-1), minlength=L)
    return np.asarray(energies / energies.sum())
