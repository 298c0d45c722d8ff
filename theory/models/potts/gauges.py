"""Transformations of couplings and fields that do not change the distribution, and the zero-sum gauge."""

from typing import Annotated, Any, overload

import numpy as np

from theory.core import Array, Real, Vector, Within, checked, checks
from theory.models.potts.base import MAX_SCORE
from theory.models.potts.dense import DensePottsModel
from theory.models.potts.factored import PottsModel

MAX_SHIFT = 1e150


@checked
def rescaled(model: PottsModel, factor: Real) -> PottsModel:
    """Return the same distribution with site couplings factor J and color couplings U/factor, for factor != 0."""
    c = factor
    if c == 0:
        raise ValueError("factor must not be zero, got 0")
    with np.errstate(over="ignore"):
        site, color = model.site_couplings * c, model.color_couplings / c
    if not max(abs(site).max(), abs(color).max()) < MAX_SCORE:
        raise ValueError(f"factor must keep all couplings below {MAX_SCORE:g}, got {c!r}")
    return PottsModel(site, color, model.fields, model.beta)


@checked
def shifted(
    model: PottsModel, constant: Annotated[float, Within(-MAX_SHIFT, MAX_SHIFT, closed=(True, True))]
) -> PottsModel:
    """Return the same distribution with color couplings U + constant, which shifts all scores alike."""
    # The scores that a larger constant gives could overflow, and would hold no digit of the couplings.
    return PottsModel(model.site_couplings, model.color_couplings + constant, model.fields, model.beta)


@checked
def color_gauge(model: PottsModel, shift: Vector) -> PottsModel:
    """Return the same distribution with color couplings U_ab + v_a + v_b, where v = `shift` (C,).

    The fields make up for it: they become h_i[a] - (sum_j J_ij) v_a.
    """
    v = shift
    if abs(v).max() > MAX_SHIFT:
        raise ValueError(f"shift must not exceed {MAX_SHIFT:g}, got {abs(v).max():g}")
    if v.shape != (model.n_colors,):
        raise ValueError(f"shift must have shape ({model.n_colors},) (colors), got {v.shape}")
    fields = model.fields - np.outer(model.site_couplings.sum(axis=1), v)
    return PottsModel(model.site_couplings, model.color_couplings + v + v[:, None], fields, model.beta)


@overload
def zero_sum(model: PottsModel) -> PottsModel: ...
@overload
def zero_sum(model: DensePottsModel) -> DensePottsModel: ...
@checked
def zero_sum(model: PottsModel | DensePottsModel) -> PottsModel | DensePottsModel:
    """Return the same distribution with couplings whose rows and columns sum to zero, and fields that sum to zero."""
    if isinstance(model, PottsModel):
        U = model.color_couplings
        fields = model.fields + np.outer(model.site_couplings.sum(axis=1), U.mean(axis=1))
        return PottsModel(model.site_couplings, zero_sum_blocks(U), centered(fields), model.beta)
    fields = model.fields + (model.couplings.mean(axis=3) - model.couplings.mean(axis=(2, 3))[:, :, None]).sum(axis=1)
    return DensePottsModel(zero_sum_blocks(model.couplings), centered(fields), model.beta)


def zero_sum_blocks(blocks: Any) -> Array:
    """Return blocks (..., C, C) less the means of their rows and columns; ValueError for other shapes."""
    blocks = checks.real_array("blocks", blocks)
    if blocks.ndim < 2 or blocks.shape[-1] != blocks.shape[-2] or blocks.shape[-1] == 0:
        raise ValueError(f"blocks must have shape (..., colors, colors), got {blocks.shape}")
    if blocks.size and not abs(blocks).max() <= MAX_SCORE:
        raise ValueError(f"blocks must be finite and at most {MAX_SCORE:g} in size, got {abs(blocks).max():g}")
    rows, columns = blocks.mean(axis=-1, keepdims=True), blocks.mean(axis=-2, keepdims=True)
    return np.asarray(blocks - rows - columns + blocks.mean(axis=(-1, -2), keepdims=True))


def identifiable_colors(V: Any, fields: bool) -> Array:
    """Return the part of color couplings V (..., C, C), with rows for predicted colors, that predictions depend on.

    A softmax does not see a term r_b of V_ab, so the means of the columns go; with `fields` a term c_a is not seen
    either, since fields make up for it, so the means of the rows go too.
    """
    return zero_sum_blocks(V) if fields else np.asarray(V - np.mean(V, axis=-2, keepdims=True))


def centered(fields: Array) -> Array:
    """Return fields (L, C) less their mean over the colors of each site, on which no distribution depends."""
    return np.asarray(fields - fields.mean(axis=1, keepdims=True))
