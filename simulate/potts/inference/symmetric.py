"""Fits symmetric pseudo-likelihood: each pair of sites has one block, so that all sites are fitted together."""

from typing import Any

import numpy as np

from simulate.core.threads import in_threads
from simulate.potts.inference.descent import Options, descend, independent_fields
from simulate.potts.inference.minimize import Function, Minimum
from simulate.potts.inference.objective import group_loss, site_groups
from simulate.potts.inference.sequences import Sequences
from theory.models import DensePottsModel
from theory.models.arrays import Array


def fit(data: Sequences, options: Options) -> tuple[DensePottsModel, list[Minimum]]:
    """Returns the model at the minimum, in the gauge where the penalty puts it, and the evidence for the minimum."""
    penalties, f = (options.l2, options.field_l2), data.frequencies()
    start = np.zeros(f.size + data.n_sites * (data.n_sites - 1) // 2 * data.n_colors**2)
    start[: f.size] = independent_fields(f).ravel()

    def in_precision(dtype: Any) -> Function:
        return objective(data, *penalties, dtype=dtype, n_threads=options.n_threads)

    found = descend(in_precision, start, 1 / curvatures(data, *penalties), options)
    fields, tables = unpack(found.point, *f.shape)
    fields = fields - np.tensordot(f, tables, axes=2)
    return DensePottsModel(tables.transpose(0, 2, 1, 3), fields), [found]


def pack(fields: Array, tables: Array) -> Array:
    """Returns one vector of the fields (L, C) and of the blocks J_ij, i < j, of symmetric `tables` (L, C, L, C)."""
    return np.concatenate([fields.ravel(), *(tables[i, :, i + 1 :, :].ravel() for i in range(len(tables)))])


def unpack(x: Array, n_sites: int, n_colors: int, dtype: Any = np.float64) -> tuple[Array, Array]:
    """Inverts `pack`: fields (L, C), and tables (L, C, L, C) with [j, b, i, a] = [i, a, j, b] = J_ij(a, b)."""
    L, C = n_sites, n_colors
    tables, start = np.zeros((L, C, L, C), dtype), L * C
    for i in range(L - 1):
        stop = start + C * (L - 1 - i) * C
        tables[i, :, i + 1 :, :] = x[start:stop].reshape(C, L - 1 - i, C)
        tables[i + 1 :, :, i, :] = tables[i, :, i + 1 :, :].transpose(1, 2, 0)
        start = stop
    return x[: L * C].reshape(L, C), tables


def objective(data: Sequences, l2: float, field_l2: float, *, dtype: Any = np.float64, n_threads: int = 1) -> Function:
    """Returns the function x -> (f, df/dx) that a symmetric fit minimizes.

    It is f = -sum_m w_m sum_i log P(s_i | rest) + l2 sum_{i<j} |J_ij|^2 + field_l2 |h|^2. The vector x holds the fields
    at the mean of the data, h_i + sum_j J_ij f_j, which hardly change with the couplings: a fit then takes four times
    fewer steps than with h itself.
    """
    groups, f = site_groups(data.n_sites, data.n_colors), data.frequencies()

    def function(x: Array) -> tuple[float, Array]:
        fields, tables = unpack(x, data.n_sites, data.n_colors, dtype)
        fields = fields - np.tensordot(f, tables, axes=2)

        def of_group(sites: slice) -> tuple[float, Array, Array]:
            return group_loss(data, sites, tables[:, :, sites], fields[sites], dtype)

        value, by_field, by_table = 0.0, np.empty(f.shape), np.empty((*f.shape, *f.shape))
        for sites, (loss, table_part, field_part) in zip(groups, in_threads(of_group, groups, n_threads), strict=True):
            value += loss
            by_table[:, :, sites], by_field[sites] = table_part, field_part
        by_field += 2 * field_l2 * fields
        gradient, J = _folded(f, by_field, by_table), x[f.size :]
        gradient[f.size :] += 2 * l2 * J
        return value + l2 * float(J @ J) + field_l2 * float(np.vdot(fields, fields)), gradient

    return function


def _folded(f: Array, by_field: Array, by_table: Array) -> Array:
    """Returns the gradient by x: both sites of a pair share its block, and J acts on one-hot colors minus f."""
    for i in range(len(f)):
        by_table[:, :, i] -= np.multiply.outer(f, by_field[i])
    for i in range(len(f)):
        by_table[i, :, i + 1 :, :] += by_table[i + 1 :, :, i, :].transpose(2, 0, 1)
    return pack(by_field, by_table)


def curvatures(data: Sequences, l2: float, field_l2: float) -> Array:
    """Returns the diagonal of the Hessian of independent sites: twice the product of variances f (1 - f), plus 2 l2."""
    f = data.frequencies()
    variance = f * (1 - f)
    return pack(variance + 2 * field_l2, 2 * np.multiply.outer(variance, variance) + 2 * l2)
