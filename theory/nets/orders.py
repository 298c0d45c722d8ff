"""How many other sites the logits of a masked site depend on at a time: their ANOVA decomposition by order."""

from dataclasses import dataclass, field

import numpy as np

from theory.core import Array, Result, checked, checks
from theory.models import FactoredStack, Potts
from theory.models.potts.base import one_hot
from theory.models.potts.batches import States
from theory.models.potts.one_hot_contrasts import helmert

MAX_NUMBERS = 2**24  # L times C^L: the logits of every site in every context


@dataclass(frozen=True, eq=False, repr=False)
class OrderFractions(Result):
    """How the variance of the logits of masked sites is shared among interactions with r = 0, 1, 2, ... other sites.

    `energies` (L, orders) holds, for every masked site, sigma_ir^2: the mean over contexts of the squared norm, over
    colors, of the part of the logits that depends on exactly r visible sites at a time. Logits are centered over the
    colors, and the contexts are uniform and independent, whatever the data.
    """

    energies: Array = field(repr=False)

    @property
    def fractions(self) -> Array:
        """The share of every order in the sum over all sites, (orders,).

        ValueError where all energies vanish, as those of equal logits do: nothing is then shared.
        """
        by_order = self.energies.sum(axis=0)
        if not by_order.sum() > 0:
            raise ValueError("energies must not all be zero, as those of logits that are equal for all colors are")
        return np.asarray(by_order / by_order.sum())


@checked
def order_fractions(network: FactoredStack | Potts | Array) -> OrderFractions:
    """Compute the ANOVA fractions, by order, of the logits of a stack, of a Potts model, or of any network, exactly.

    A stack of one or two layers has a closed form for any number of sites: its logits are polynomials of degree 1 or 2
    in the colors of the visible sites. Deeper stacks and the true logits beta z of a Potts model are evaluated in all
    C^(L-1) contexts. Any other network is given by an array (L, C^(L-1), C) of the logits of each masked site in all
    contexts, the other sites in their order and the first of them changing slowest. Source: the decomposition is that
    of W. Hoeffding, Ann. Math. Stat. 19, 293 (1948); the closed form of two layers is derived here by squaring
    polynomials of the first degree.

    ValueError where L times C^L exceeds 2^24. An estimate from samples is not offered there: noise stability,
    E f(x).f(x') = sum_r rho^r sigma_r^2 for contexts x' that keep each site with probability rho, gives the orders by
    a Vandermonde system that is too ill-conditioned from order 3 on.

    >>> stack = FactoredStack.deterministic(n_layers=2, n_sites=5, n_colors=3, scale=0.8)
    >>> order_fractions(stack).fractions.round(6)
    array([0.388774, 0.339382, 0.271844])
    """
    if isinstance(network, FactoredStack):
        if network.n_layers <= 2:
            with np.errstate(over="ignore", invalid="ignore"):
                energies = _energies_of_two(network)
            if not np.isfinite(energies).all():
                raise ValueError(f"network must have weights whose fourth powers are finite, got {network}")
            return OrderFractions(energies)
        return order_fractions(stack_logits(network))
    if isinstance(network, Potts):
        return order_fractions(network.beta * true_logits(network))
    logits = checks.finite_array("network", network, 3)
    L, n, C = logits.shape
    if n != C ** (L - 1):
        raise ValueError(
            f"network must be logits of shape (L, C^(L-1), C), got {logits.shape} where C^(L-1) is {C}^{L - 1}"
        )
    largest = float(abs(logits).max())
    if largest > 1e100:
        raise ValueError(f"network must have logits below 1e100 in absolute value, got {largest:g}")
    return OrderFractions(np.array([_energies(coefficients_of(site)) for site in logits]))


def coefficients_of(logits: Array) -> Array:
    """Return centered logits (C^(L-1), C) of one site in an orthonormal basis of contexts, (C,) * (L-1) + (C,).

    Along every axis of a visible site, coefficient 0 belongs to the constant and the others to Helmert contrasts.
    """
    n, C = logits.shape
    basis = _basis(C)
    tensor = (logits - logits.mean(axis=1, keepdims=True)).reshape((C,) * _visible(n, C) + (C,))
    for axis in range(tensor.ndim - 1):
        tensor = np.moveaxis(np.tensordot(basis.T, tensor, axes=(1, axis)), 0, axis)
    return np.asarray(tensor / np.sqrt(n))


def truncated(logits: Array, order: int) -> Array:
    """Return the part of the centered logits (C^(L-1), C) of a site, up to interactions with `order` others."""
    n, C = logits.shape
    tensor = coefficients_of(logits) * (orders_of(_visible(n, C), C) <= order)[..., None]
    for axis in range(tensor.ndim - 1):
        tensor = np.moveaxis(np.tensordot(_basis(C), tensor, axes=(1, axis)), 0, axis)
    return np.asarray(tensor.reshape(n, C) * np.sqrt(n))


def orders_of(n_visible: int, n_colors: int) -> Array:
    """Return the number of sites on which each basis function of contexts depends, (C,) * n_visible."""
    places = np.indices((n_colors,) * n_visible) if n_visible else np.zeros((1,))
    return np.asarray((places > 0).sum(axis=0), dtype=float)


def true_logits(model: Potts) -> Array:
    """Return the local scores z of each masked site in all contexts, (L, C^(L-1), C); logits are beta times them."""
    contexts = all_contexts(model.n_sites, model.n_colors)
    return np.array([model.local_scores(states)[:, i] for i, states in enumerate(contexts)])


def stack_logits(stack: FactoredStack) -> Array:
    """Return the logits of each masked site in all contexts, (L, C^(L-1), C)."""
    L, C, found = stack.n_sites, stack.n_colors, []
    for i, states in enumerate(all_contexts(L, C)):
        inputs = one_hot(states, C)
        inputs[:, i] = 0.0
        found.append(stack.logits(inputs)[:, i])
    return np.array(found)


def all_contexts(n_sites: int, n_colors: int) -> list[States]:
    """Return, for every masked site, states (C^(L-1), L) with all colors of the others, and color 0 at the site."""
    L, C = n_sites, n_colors
    if L * C**L > MAX_NUMBERS:
        raise ValueError(
            f"network must be smaller, or a stack of at most two layers: {L} sites with {C} colors have "
            f"{C}^{L - 1} contexts each, and L C^L must be at most {MAX_NUMBERS}"
        )
    visible = np.indices((C,) * (L - 1)).reshape(L - 1, -1).T if L > 1 and C > 1 else np.zeros((1, L - 1), dtype=int)
    return [np.insert(visible, i, 0, axis=1) for i in range(L)]


def _visible(n: int, n_colors: int) -> int:
    """Return the number of visible sites that have n contexts; a single color cannot tell it and needs no other."""
    return round(np.log(n) / np.log(n_colors)) if n_colors > 1 else 0


def _basis(n_colors: int) -> Array:
    """Return the orthonormal basis (C, C) of functions of a color: the constant, then Helmert contrasts, in columns."""
    constant = np.full((n_colors, 1), 1 / np.sqrt(n_colors))
    return np.hstack([constant, helmert(n_colors)]) if n_colors > 1 else constant


def _energies(coefficients: Array) -> Array:
    """Return the energies by order, (L,), of coefficients whose last axis runs over the predicted color."""
    n_visible, C = coefficients.ndim - 1, coefficients.shape[-1]
    squares = np.sum(coefficients**2, axis=-1).ravel()
    orders = orders_of(n_visible, C).ravel().astype(int)
    return np.asarray(np.bincount(orders, squares, n_visible + 1))


def _energies_of_two(stack: FactoredStack) -> Array:
    """Return the energies (L, 2 or 3) of one or two layers, from their polynomials.

    With v_b(c) the entries of the first value matrix, centered over the color c that is read, and m_b their means, a
    hidden unit is P_jb = m_b R_j + sum_k A_jk v_b(s_k), where R_j is the sum of A_jk over the visible sites k. Each
    term of its square has a mean over contexts, terms of one site, and terms of two.
    """
    last = stack.values[-1] - stack.values[-1].mean(axis=0)  # logits are centered over the predicted color
    fields = np.zeros((stack.n_sites, stack.n_colors)) if stack.fields is None else stack.fields
    fields = fields - fields.mean(axis=1, keepdims=True)
    visible = 1 - np.eye(stack.n_sites)
    C, first = stack.n_colors, stack.values[0]
    if stack.n_layers == 1:
        A = stack.attentions[0] * visible
        constant = np.outer(A.sum(axis=1), last.mean(axis=1)) + fields
        varying = last - last.mean(axis=1, keepdims=True)
        return np.stack([np.sum(constant**2, axis=1), np.sum(A**2, axis=1) * np.sum(varying**2) / C], axis=1)
    means, centered = first.mean(axis=1), first - first.mean(axis=1, keepdims=True)
    variances = np.mean(centered**2, axis=1)
    passed = last - last.mean(axis=1, keepdims=True)  # what a skip connection lets the last layer read
    constant_colors = (last @ means**2, last @ variances)  # (a,)
    single_colors = (last @ (means[:, None] * centered), last @ (centered**2 - variances[:, None]))  # (a, c)
    pair_colors = np.einsum("ab,bc,bd->acd", last, centered, centered)
    energies = np.empty((stack.n_sites, 3))
    for i, B in enumerate(stack.attentions[1]):
        A = stack.attentions[0] * visible[i]
        R, squares = A.sum(axis=1), A**2
        constant = B @ R**2 * constant_colors[0] + B @ squares.sum(axis=1) * constant_colors[1] + fields[i]
        single = np.multiply.outer(2 * (B * R) @ A, single_colors[0]) + np.multiply.outer(B @ squares, single_colors[1])
        if stack.skip:
            constant = constant + np.sum(B * visible[i]) * last.mean(axis=1)
            single = single + np.multiply.outer(B * visible[i], passed)
        pairs = (A.T * B) @ A
        pair_energy = 2 * np.sum((pairs - np.diag(np.diag(pairs))) ** 2) * np.sum(pair_colors**2) / C**2
        energies[i] = np.sum(constant**2), np.sum(single**2) / C, pair_energy
    return energies
