"""How far learnt couplings are from the true ones, whatever the gauge."""

from typing import Any

import numpy as np

from theory.models import PottsModel, checks
from theory.models.arrays import Array
from theory.models.potts import identifiable_colors, zero_sum_blocks


def recovery_error(A: Any, V: Any, model: PottsModel, *, fields: bool = True) -> float:
    """err = |A x V' - beta J x U'| / |beta J x U'| in Frobenius norms, x the Kronecker product.

    V' is V less its column means (rows: predicted colors), which a softmax does not see, and with `fields` less its row
    means too, which fields can make up for; U' likewise. Parts along and across J and U' are orthogonal: no
    cancellation spoils a small error.
    """
    learnt_A, learnt_V = _learnt(A, V, model)
    J = model.beta * model.dense_site_couplings
    U, W = (identifiable_colors(each, fields) for each in (model.color_couplings, learnt_V))
    size_J, size_U = _sizes(J, U)
    along_J, along_U = np.sum(learnt_A * J) / size_J, np.sum(W * U) / size_U
    across_J, across_U = np.sum((learnt_A - along_J * J) ** 2), np.sum((W - along_U * U) ** 2)
    square = (along_J * along_U - 1) ** 2 + along_J**2 * across_U / size_U
    return float(np.sqrt(square + across_J * np.sum(W**2) / (size_J * size_U)))


def full_recovery_error(couplings: Any, model: PottsModel) -> float:
    """The same for blocks J_ij(a, b) (L, L, C, C) of a full fit, both in the zero-sum gauge."""
    L, C = model.n_sites, model.n_colors
    blocks = zero_sum_blocks(checks.finite_array("couplings", couplings, 4))
    if blocks.shape != (L, L, C, C):
        raise ValueError(f"couplings must have shape ({L}, {L}, {C}, {C}), got {blocks.shape}")
    J, U = model.beta * model.dense_site_couplings, zero_sum_blocks(model.color_couplings)
    size_J, size_U = _sizes(J, U)
    gap = np.where(np.eye(L, dtype=bool)[:, :, None, None], 0.0, blocks - J[:, :, None, None] * U)
    return float(np.sqrt(np.sum(gap**2) / (size_J * size_U)))


def matched_scale(A: Any, V: Any, model: PottsModel, *, fields: bool = True) -> tuple[Array, Array]:
    """c A and V'/c with c = <V', U'>/<U', U'>: what to plot against beta J and U'."""
    learnt_A, learnt_V = _learnt(A, V, model)
    U, W = identifiable_colors(model.color_couplings, fields), identifiable_colors(learnt_V, fields)
    c = float(np.sum(W * U) / _sizes(model.dense_site_couplings, U)[1])
    if c == 0:
        raise ValueError("V must not be orthogonal to the true color couplings: no scale matches them")
    return c * learnt_A, W / c


def _learnt(A: Any, V: Any, model: PottsModel) -> tuple[Array, Array]:
    site, color = checks.finite_array("A", A, 2), checks.finite_array("V", V, 2)
    checks.record("model", model, PottsModel)
    for name, each, size in (("A", site, model.n_sites), ("V", color, model.n_colors)):
        if each.shape != (size, size):
            raise ValueError(f"{name} must have shape ({size}, {size}) as in the model, got {each.shape}")
    return site - np.diag(np.diag(site)), color


def _sizes(J: Array, U: Array) -> tuple[float, float]:
    sizes = float(np.sum(J**2)), float(np.sum(U**2))
    if min(sizes) == 0:
        raise ValueError("model must have couplings and beta > 0: an error relative to zero couplings is undefined")
    return sizes
