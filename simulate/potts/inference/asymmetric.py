"""Fits asymmetric pseudo-likelihood: a multinomial regression for every site, a group of sites at a time."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.threads import in_threads
from simulate.potts.inference.descent import Curvatures, Options, descend, independent_fields, inverse
from simulate.potts.inference.minimize import CHUNK_NUMBERS, Function, Minimum, Vector
from simulate.potts.inference.objective import group_loss, site_groups
from simulate.potts.inference.sequences import Sequences
from theory.core.arrays import Array
from theory.core.blocks import blocks
from theory.models import DensePottsModel
from theory.models.potts import centered, zero_sum_blocks


def fit(data: Sequences, options: Options) -> tuple[DensePottsModel, list[Minimum]]:
    """Return the model of averaged blocks, in the zero-sum gauge, and the evidence for every group of sites."""
    L, C, f = data.n_sites, data.n_colors, data.frequencies()
    couplings, fields, minima = np.empty((L, L, C, C)), np.empty((L, C)), []

    def of_group(sites: slice) -> Minimum:
        return _fit_group(data, options, sites)

    groups = site_groups(L, C)
    for sites, found in zip(groups, in_threads(of_group, groups, options.n_threads), strict=True):
        own, table = unpack(found.point.astype(float), L, C, sites)
        couplings[sites] = zero_sum_blocks(table.transpose(2, 0, 3, 1))
        own = own + np.tensordot(1 / C - f, table, axes=2)  # the blocks lose the means of their rows to the fields
        fields[sites] = centered(own)
        minima.append(replace(found, point=np.empty(0)))  # so that no second copy of all couplings is held
    _average(couplings)
    return DensePottsModel(couplings, fields), minima


def _fit_group(data: Sequences, options: Options, sites: slice) -> Minimum:
    penalties = (options.l2, options.field_l2)

    own = independent_fields(data.frequencies(), options.field_l2)[sites].ravel()
    start = np.zeros(len(own) * (1 + data.n_sites * data.n_colors), np.float32)
    start[: len(own)] = own
    scale = GroupCurvatures(data.frequencies(), *penalties, sites)

    def in_precision(dtype: Any) -> Function:
        return objective(data, *penalties, sites, dtype=dtype, scale=scale)

    return descend(in_precision, start, scale, options)


def _average(couplings: Array) -> None:
    """Replace both estimates of every block by their mean, in place."""
    for i in range(len(couplings)):
        couplings[i, i:] = (couplings[i, i:] + couplings[i:, i].transpose(0, 2, 1)) / 2
        couplings[i:, i] = couplings[i, i:].transpose(0, 2, 1)


def unpack(x: NDArray[Any], n_sites: int, n_colors: int, sites: slice) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return fields (G, C) and table (L, C, G, C) of a group of G sites, with zero blocks of each site with itself."""
    shape = (n_sites, n_colors, sites.stop - sites.start, n_colors)
    fields, table = np.split(x, [shape[2] * n_colors])
    table = table.reshape(shape).copy()
    _clear_own_blocks(table, sites)
    return fields.reshape(shape[2:]), table


class GroupCurvatures(Curvatures):
    """The curvatures of a group of sites, whose couplings with all sites are predicted from these."""

    def __call__(self) -> Iterator[tuple[slice, Callable[[], NDArray[np.float32]]]]:
        """Yield places in the vector, and what computes the inverse curvatures there."""
        v, p = (each.ravel().astype(np.float32) for each in (self._of_colors, self._of_predictions))

        def of_rows(rows: slice) -> NDArray[np.float32]:
            both = np.multiply.outer(v[rows], p)
            both += np.float32(2 * self._l2)
            found = inverse(both)
            return found if rows.start else np.concatenate([inverse(p + np.float32(2 * self._field_l2)), found])

        for rows in blocks(v.size, p.size, most=CHUNK_NUMBERS):
            # Fields come with the first rows. The vector is small: its numbers are computed once for all passes.
            place = slice((1 + rows.start) * p.size if rows.start else 0, (1 + rows.stop) * p.size)
            yield place, partial(_same, of_rows(rows))


def _same(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    return numbers


def objective(
    data: Sequences,
    l2: float,
    field_l2: float,
    sites: slice,
    *,
    dtype: Any = np.float64,
    scale: Curvatures | None = None,
) -> Function:
    """Return the function x -> (f, df/dx) that the fit of a group of sites minimizes; it tells `scale` the variances.

    It is f = -sum_m w_m sum_{i in sites} log P(s_i | rest) + l2 sum_{i, j} |W_ij|^2 + field_l2 |h|^2. The vector x
    holds the fields at the mean of the data, h_i + sum_j W_ij f_j, which hardly change with the couplings.
    """
    f = data.frequencies()

    def function(x: Vector) -> tuple[float, Vector]:
        fields, table = unpack(x, data.n_sites, data.n_colors, sites)
        fields = fields - np.tensordot(f, table, axes=2)
        value, by_table, by_field, variances = group_loss(data, sites, table, fields, f, dtype)
        by_field += 2 * field_l2 * fields
        by_table -= np.multiply.outer(f, by_field)
        by_table += 2 * l2 * table
        _clear_own_blocks(by_table, sites)
        if scale is not None:
            scale.update(variances)
        penalty = l2 * float(np.vdot(table, table)) + field_l2 * float(np.vdot(fields, fields))
        return value + penalty, np.concatenate([by_field.ravel(), by_table.ravel()]).astype(x.dtype)

    return function


def _clear_own_blocks(table: Vector, sites: slice) -> None:
    for place, site in enumerate(range(sites.start, sites.stop)):
        table[site, :, place, :] = 0
