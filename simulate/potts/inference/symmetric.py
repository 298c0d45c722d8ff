"""Fits symmetric pseudo-likelihood: each pair of sites has one block, so that all sites are fitted together."""

from collections.abc import Callable, Iterator
from functools import partial
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from simulate.core.threads import Mapping, mapping
from simulate.potts.inference import pair_blocks
from simulate.potts.inference.descent import Curvatures, Options, descend, independent_fields, inverse
from simulate.potts.inference.minimize import CHUNK_NUMBERS, MAX_PARTS, Function, Minimum, Vector
from simulate.potts.inference.objective import group_loss, site_groups
from simulate.potts.inference.sequences import Sequences
from simulate.potts.inference.vector_passes import add_penalty
from theory.core.arrays import Array
from theory.models import DensePottsModel
from theory.models.potts import centered


def fit(data: Sequences, options: Options, *, zero_sum: bool = True) -> tuple[DensePottsModel, list[Minimum]]:
    """Return the model at the minimum and the evidence for the minimum.

    The model is in the zero-sum gauge, or in the one where the penalty puts it.
    """
    with mapping(options.n_threads) as mapped:
        return _fit(data, options, zero_sum, mapped)


def _fit(data: Sequences, options: Options, zero_sum: bool, mapped: Mapping) -> tuple[DensePottsModel, list[Minimum]]:
    f = data.frequencies()
    start = np.zeros(pair_blocks.size(*f.shape), np.float32)
    start[: f.size] = independent_fields(f, options.field_l2).ravel()
    scale = PairCurvatures(f, options.l2, options.field_l2)

    def in_precision(dtype: Any) -> Function:
        return objective(data, options.l2, options.field_l2, dtype=dtype, scale=scale, mapped=mapped)

    found = descend(in_precision, start, scale, options, mapped)
    couplings, fields = parameters(found.point, f, zero_sum=zero_sum, mapped=mapped)
    couplings.flags.writeable = False  # a model keeps what nobody can change, without a copy
    return DensePottsModel(couplings, fields), [found]


def parameters(x: Vector, frequencies: Array, *, zero_sum: bool, mapped: Mapping = map) -> tuple[Array, Array]:
    """Return the couplings (L, L, C, C) and the fields (L, C) that the vector x of `objective` stands for."""
    L, C = frequencies.shape
    couplings, fields = np.zeros((L, L, C, C)), x[: L * C].reshape(L, C).astype(float)
    # In the zero-sum gauge the blocks lose the means of their rows to the fields.
    weights = frequencies - 1 / C if zero_sum else frequencies

    def of_rows(rows: range) -> Array:
        moved = np.zeros((L, C))
        for i in rows:
            pair_blocks.put_blocks(x, i, zero_sum, weights, couplings, moved)
        return moved

    fields -= sum(mapped(of_rows, _dealt(L - 1)), np.zeros((L, C)))
    return couplings, centered(fields) if zero_sum else fields


class PairCurvatures(Curvatures):
    """The curvatures of all pairs of sites, of which each is predicted from the other by the same coupling."""

    def __call__(self) -> Iterator[tuple[slice, Callable[[], NDArray[np.float32]]]]:
        """Yield places in the vector, and what computes the inverse curvatures there."""
        v, p = self._of_colors.astype(np.float32), self._of_predictions.astype(np.float32)
        L, C = v.shape

        def of_rows(rows: range) -> NDArray[np.float32]:
            of_fields = 0 if rows.start else v.size
            length = sum((L - 1 - i) * C**2 for i in rows)
            found = np.empty(of_fields + length, np.float32)
            if of_fields:
                found[:of_fields] = inverse(p + np.float32(2 * self._field_l2))
            pair_blocks.inverse_curvatures(v, p, 2 * self._l2, rows.start, rows.stop, found[of_fields:])
            return found

        first, start = 0, 0
        for i, place, _ in pair_blocks.rows(*v.shape):
            # Fields and short rows come together, since each piece of a vector costs some calls of numpy.
            if place.stop - start >= CHUNK_NUMBERS or i == len(v) - 2:
                yield slice(start, place.stop), partial(of_rows, range(first, i + 1))
                first, start = i + 1, place.stop
        if len(v) == 1:
            yield slice(v.size), partial(of_rows, range(0))


def objective(
    data: Sequences,
    l2: float,
    field_l2: float,
    *,
    dtype: Any = np.float64,
    scale: Curvatures | None = None,
    mapped: Mapping = map,
) -> Function:
    """Return the function x -> (f, df/dx) that a symmetric fit minimizes; it tells `scale` the variances at x.

    It is f = -sum_m w_m sum_i log P(s_i | rest) + l2 sum_{i<j} |J_ij|^2 + field_l2 |h|^2. The vector x, laid out as in
    `pair_blocks`, holds the fields at the mean of the data, h_i + sum_j J_ij f_j, which hardly change with the
    couplings: a fit then takes four times fewer steps than with h itself. The gradient has the type of x.
    """
    f = data.frequencies()
    groups, by_row = site_groups(*f.shape), f.reshape(-1).astype(dtype)

    def function(x: Vector) -> tuple[float, Vector]:
        if not x[f.size :].any():
            value, gradient, variances = _without_couplings(data, f, field_l2, x, mapped)
            if scale is not None:
                scale.update(variances)
            return value, gradient
        gradient, variances, adding = np.zeros_like(x), np.empty(f.shape), Lock()

        def of_group(sites: slice) -> float:
            table = np.empty((*f.shape, sites.stop - sites.start, data.n_colors), dtype)
            pair_blocks.take(x, sites.start, table)
            fields = x[: f.size].reshape(f.shape)[sites].astype(float)
            fields -= (by_row @ table.reshape(f.size, -1)).reshape(fields.shape)
            group = group_loss(data, sites, table, fields, f, dtype)
            by_field, variances[sites] = group.by_field + 2 * field_l2 * fields, group.variances
            gradient[: f.size].reshape(f.shape)[sites] = by_field
            # Two groups add to the place of a pair, in either order: the sum of two numbers is the same.
            with adding:
                pair_blocks.add(group.by_table, f, by_field, sites.start, gradient)
            return group.value + field_l2 * float(np.vdot(fields, fields))

        value = sum(mapped(of_group, groups)) + l2 * add_penalty(x[f.size :], l2, gradient[f.size :])
        if scale is not None:
            scale.update(variances)
        return value, gradient

    return function


def _without_couplings(
    data: Sequences, f: Array, field_l2: float, x: Vector, mapped: Mapping
) -> tuple[float, Vector, Array]:
    """Return the objective, its gradient and the variances where all couplings are zero, as every fit begins.

    No prediction depends on the sample there, and counting pairs of colors takes a fifth of the time: the gradient by
    J_ij(a, b) is 2 (f_i f_j - f_ij) - 2 field_l2 (h_i f_j + f_i h_j).
    """
    fields, gradient = x[: f.size].reshape(f.shape).astype(float), np.zeros_like(x)
    logs = log_softmax(fields, axis=1)
    P, pull = np.exp(logs), field_l2 * fields
    value = field_l2 * float(np.vdot(fields, fields)) - float(np.vdot(f, logs))
    gradient[: f.size] = (P - f + 2 * pull).ravel()
    half = f - 2 * pull

    def of_rows(rows: range) -> None:
        for i in rows:
            pair_blocks.add_pairs(data.columns, data.weights, half, f, i, gradient)

    for _ in mapped(of_rows, _dealt(len(f) - 1)):
        pass
    return value, gradient, np.maximum(P - P**2, P**2 - 2 * f * P + f)


def _dealt(n_rows: int) -> list[range]:
    """Deal the rows of pairs, of which each is shorter than the one before, into parts for threads to share."""
    return [range(k, n_rows, MAX_PARTS) for k in range(min(MAX_PARTS, n_rows))]
