"""Transformations of the couplings that leave the distribution as it is, and the zero-sum gauge."""

from typing import Any, overload

import numpy as np

from theory.models import checks
from theory.models.arrays import Array
from theory.models.potts.dense import DensePottsModel
from theory.models.potts.factored import PottsModel


def rescaled(model: PottsModel, factor: float) -> PottsModel:
    """J -> factor J, U -> U/factor; any factor but zero."""
    checks.record("model", model, PottsModel)
    c = checks.real("factor", factor)
    if c == 0:
        raise ValueError("factor must not be zero, got 0")
    return PottsModel(model.site_couplings * c, model.color_couplings / c, model.fields, model.beta)


def shifted(model: PottsModel, constant: float) -> PottsModel:
    """U -> U + constant."""
    checks.record("model", model, PottsModel)
    shift = checks.real("constant", constant)
    return PottsModel(model.site_couplings, model.color_couplings + shift, model.fields, model.beta)


def color_gauge(model: PottsModel, shift: Any) -> PottsModel:
    """U_ab -> U_ab + v_a + v_b, compensated by h_i[a] -> h_i[a] - (sum_j J_ij) v_a; v = `shift` (C,)."""
    checks.record("model", model, PottsModel)
    v = checks.finite_array("shift", shift, 1)
    if v.shape != (model.n_colors,):
        raise ValueError(f"shift must have shape ({model.n_colors},) (colors), got {v.shape}")
    fields = model.fields - np.outer(model.site_couplings.sum(axis=1), v)
    return PottsModel(model.site_couplings, model.color_couplings + v + v[:, None], fields, model.beta)


@overload
def zero_sum(model: PottsModel) -> PottsModel: ...
@overload
def zero_sum(model: DensePottsModel) -> DensePottsModel: ...
def zero_sum(model: PottsModel | DensePottsModel) -> PottsModel | DensePottsModel:
    """The same distribution with couplings whose rows and columns sum to zero, and fields that sum to zero."""
    if isinstance(model, PottsModel):
        U = model.color_couplings
        fields = model.fields + np.outer(model.site_couplings.sum(axis=1), U.mean(axis=1))
        return PottsModel(model.site_couplings, zero_sum_blocks(U), centered(fields), model.beta)
    checks.record("model", model, DensePottsModel)
    fields = model.fields + (model.couplings.mean(axis=3) - model.couplings.mean(axis=(2, 3))[:, :, None]).sum(axis=1)
    return DensePottsModel(zero_sum_blocks(model.couplings), centered(fields), model.beta)


def zero_sum_blocks(blocks: Any) -> Array:
    """Blocks (..., C, C) less the means of their rows and columns; ValueError for other shapes."""
    blocks = np.asarray(blocks)
    if blocks.ndim < 2 or blocks.shape[-1] != blocks.shape[-2] or blocks.shape[-1] == 0:
        raise ValueError(f"blocks must have shape (..., colors, colors), got {blocks.shape}")
    rows, columns = blocks.mean(axis=-1, keepdims=True), blocks.mean(axis=-2, keepdims=True)
    return np.asarray(blocks - rows - columns + blocks.mean(axis=(-1, -2), keepdims=True))


def identifiable_colors(V: Any, fields: bool) -> Array:
    """The part of color couplings V (..., C, C), rows for predicted colors, that the predictions can tell.

    A softmax does not see a term r_b of V_ab, so the means of the columns go; with `fields` a term c_a is not seen
    either, since fields make up for it, so the means of the rows go too.
    """
    return zero_sum_blocks(V) if fields else np.asarray(V - np.mean(V, axis=-2, keepdims=True))


def centered(fields: Array) -> Array:
    """Fields (L, C) less their mean over the colors of each site, which no distribution depends on."""
    return np.asarray(fields - fields.mean(axis=1, keepdims=True))
