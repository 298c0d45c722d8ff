"""Measures how far learned couplings are from the true ones, whatever the gauge."""

from typing import Any

import numpy as np

from theory.core import Array, checked, checks
from theory.models import PottsModel
from theory.models.potts import identifiable_colors, zero_sum_blocks

MAX_COUPLING = 1e30  # size of couplings; products of squares of two, divided by those of two others, stay finite


@checked
def recovery_error(A: Any, V: Any, model: PottsModel, *, fields: bool = True) -> float:
    """Measure the relative error of learned couplings A_ij V_ab with respect to the true ones of a model.

    It is |A x V' - beta J x U'| / |beta J x U'| in Frobenius norms, with x the Kronecker product, A (L, L) without its
    diagonal, V (C, C) with rows for predicted colors, and the model's J and U. V' and U' are the parts that predictions
    can tell (`identifiable_colors`). The parts of A x V' along and across J and U' are orthogonal and are measured one
    by one, so that no cancellation spoils a small error. ValueError for a model without couplings.

    >>> import numpy as np
    >>> from theory.models import PottsModel
    >>> model = PottsModel(site_couplings=[[0, 1], [1, 0]], color_couplings=np.eye(3), beta=0.5)
    >>> recovery_error(np.array([[0, 0.5], [0.5, 0]]), np.eye(3), model)
    0.0
    """
    learned_A, learned_V = _learned(A, V, model)
    J = model.beta * model.dense_site_couplings
    U, W = (identifiable_colors(each, fields) for each in (model.color_couplings, learned_V))
    size_J, size_U = _sizes(J, U)
    along_J, along_U = np.sum(learned_A * J) / size_J, np.sum(W * U) / size_U
    across_J, across_U = np.sum((learned_A - along_J * J) ** 2), np.sum((W - along_U * U) ** 2)
    square = (along_J * along_U - 1) ** 2 + along_J**2 * across_U / size_U
    return float(np.sqrt(square + across_J * np.sum(W**2) / (size_J * size_U)))


@checked
def full_recovery_error(couplings: Any, model: PottsModel) -> float:
    """Measure the relative error of learned blocks of couplings (L, L, C, C) with respect to those of a model.

    Both are compared in the zero-sum gauge, in the Frobenius norm. ValueError for a model without couplings.
    """
    L, C = model.n_sites, model.n_colors
    given = _limited("couplings", checks.finite_array("couplings", couplings, 4))
    blocks = zero_sum_blocks(checks.shaped("couplings", given, (L, L, C, C)))
    J, U = model.beta * model.dense_site_couplings, zero_sum_blocks(model.color_couplings)
    size_J, size_U = _sizes(J, U)
    gap = np.where(np.eye(L, dtype=bool)[:, :, None, None], 0.0, blocks - J[:, :, None, None] * U)
    return float(np.sqrt(np.sum(gap**2) / (size_J * size_U)))


@checked
def matched_scale(A: Any, V: Any, model: PottsModel, *, fields: bool = True) -> tuple[Array, Array]:
    """Return learned couplings A_ij V_ab in the scale in which they compare with beta J and U' of a model.

    They are c A (L, L) and V'/c (C, C) with c = <V', U'>/<U', U'>, where V' and U' are the identifiable parts of the
    color couplings. ValueError where V' is orthogonal to U', so that no scale matches them.
    """
    learned_A, learned_V = _learned(A, V, model)
    U, W = identifiable_colors(model.color_couplings, fields), identifiable_colors(learned_V, fields)
    c = float(np.sum(W * U) / _sizes(model.dense_site_couplings, U)[1])
    if c == 0:
        raise ValueError("V must not be orthogonal to the true color couplings: no scale matches them")
    return c * learned_A, W / c


def _learned(A: Any, V: Any, model: PottsModel) -> tuple[Array, Array]:
    site, color = checks.finite_array("A", A, 2), checks.finite_array("V", V, 2)
    for name, each, size in (("A", site, model.n_sites), ("V", color, model.n_colors)):
        _limited(name, checks.shaped(name, each, (size, size), " as in the model"))
    return site - np.diag(np.diag(site)), color


def _limited(name: str, values: Array) -> Array:
    if abs(values).max() > MAX_COUPLING:
        raise ValueError(f"{name} must be at most {MAX_COUPLING:g} in size, got {abs(values).max():g}")
    return values


def _sizes(J: Array, U: Array) -> tuple[float, float]:
    for each in (abs(J).max(), abs(U).max()):
        if each == 0:
            raise ValueError("model must have couplings and beta > 0: an error relative to zero couplings is undefined")
        if not 1 / MAX_COUPLING <= each <= MAX_COUPLING:
            raise ValueError(
                f"model must have couplings from {1 / MAX_COUPLING:g} to {MAX_COUPLING:g} in size, got {each:g}"
            )
    return float(np.sum(J**2)), float(np.sum(U**2))
