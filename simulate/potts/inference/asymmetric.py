"""Asymmetric pseudo-likelihood: an independent multinomial regression for every site, a group of sites at a time."""

from collections.abc import Callable
from typing import Any

import numpy as np

from simulate.potts.inference.objective import group_loss
from simulate.potts.inference.sequences import Array, Sequences


def unpack(x: Array, n_sites: int, n_colors: int, sites: slice) -> tuple[Array, Array]:
    """Fields (G, C) and table (L, C, G, C) of a group of G sites, their own blocks zero."""
    shape = (n_sites, n_colors, sites.stop - sites.start, n_colors)
    fields, table = np.split(x, [shape[2] * n_colors])
    table = table.reshape(shape).copy()
    _clear_own_blocks(table, sites)
    return fields.reshape(shape[2:]), table


def objective(
    data: Sequences, l2: float, field_l2: float, sites: slice, *, dtype: Any = np.float64
) -> Callable[[Array], tuple[float, Array]]:
    """x -> f = -sum_m w_m sum_{i in sites} log P(s_i | rest) + l2 sum_{i, j} |W_ij|^2 + field_l2 |h|^2 and df/dx.

    x holds the fields at the mean of the data, h_i + sum_j W_ij f_j, which hardly change with the couplings.
    """
    f = data.frequencies()

    def function(x: Array) -> tuple[float, Array]:
        fields, table = unpack(x, data.n_sites, data.n_colors, sites)
        fields = fields - np.tensordot(f, table, axes=2)
        value, by_table, by_field = group_loss(data, sites, table, fields, dtype)
        by_field += 2 * field_l2 * fields
        by_table -= np.multiply.outer(f, by_field)
        by_table += 2 * l2 * table
        _clear_own_blocks(by_table, sites)
        penalty = l2 * float(np.vdot(table, table)) + field_l2 * float(np.vdot(fields, fields))
        return value + penalty, np.concatenate([by_field.ravel(), by_table.ravel()])

    return function


def curvatures(data: Sequences, l2: float, field_l2: float, sites: slice) -> Array:
    """Diagonal of the Hessian, were the sites independent: the product of two variances f (1 - f), plus 2 l2."""
    f = data.frequencies()
    variance = f * (1 - f)
    own = variance[sites]
    table = np.multiply.outer(variance, own) + 2 * l2
    _clear_own_blocks(table, sites, value=1.0)
    return np.concatenate([(own + 2 * field_l2).ravel(), table.ravel()])


def _clear_own_blocks(table: Array, sites: slice, value: float = 0.0) -> None:
    for place, site in enumerate(range(sites.start, sites.stop)):
        table[site, :, place, :] = value
