"""Moments of the data that decide how a network leaves its first plateau."""

import numpy as np

from theory.core import Array, checked
from theory.models.potts.base import one_hot
from theory.models.potts.batches import blocks
from theory.nets.law import MAX_NUMBERS, Data, Law, law_of


@checked
def second_moments(model: Data, *, fields: bool = False) -> Array:
    """Compute K_ia,jb = E[(x_ia - q_ia) x_jb] of the one-hot colors, as (L, C, L, C), zero for i = j.

    q is the prediction on the first plateau: 1/C, or, if the network has `fields`, the marginals; K is then the
    covariance. A masked site sees itself as zero, so its own block vanishes. `model` is a model that can be
    enumerated, an enumeration, or `Sequences`. Derived here: they are the coefficients of A_ij V_ab/L in the gain of
    one layer (see `leading_gain`).

    >>> from theory.models import PottsModel
    >>> pair = PottsModel(site_couplings=[[0, 1], [1, 0]], color_couplings=[[1, 0], [0, 1]], beta=1.0)
    >>> second_moments(pair)[0, :, 1].round(6)  # e/(2 e + 2) - 1/4 on the diagonal
    array([[ 0.115529, -0.115529],
           [-0.115529,  0.115529]])
    """
    law = law_of(model)
    return second_moments_of(law, law.baseline(fields))


@checked
def third_moments(model: Data, *, fields: bool = False) -> Array:
    """Compute T_ia,jb,kc = E[(x_ia - q_ia) x_jb x_kc] as (L, C, L, C, L, C), zero for j = i and for k = i.

    The sites j and k may coincide; q is as in `second_moments`. Derived here: they are the coefficients of the gain of
    two layers (see `leading_gain`), whose hidden units enter as squares. ValueError where the (L C)^3 numbers are too
    many.

    >>> from theory.models import PottsModel
    >>> pair = PottsModel(site_couplings=[[0, 1], [1, 0]], color_couplings=[[1, 0], [0, 1]], beta=1.0)
    >>> bool(abs(third_moments(pair)[0, :, 1, :, 1].sum(axis=2) - second_moments(pair)[0, :, 1]).max() < 1e-15)
    True
    """
    law = law_of(model)
    return third_moments_of(law, law.baseline(fields))


def second_moments_of(law: Law, baseline: Array) -> Array:
    """Compute the second moments of a law; `baseline` (L, C) is q."""
    L, C = law.n_sites, law.n_colors
    _require_room(law, 2)
    moments = np.zeros((L * C, L * C))
    for rows in blocks(len(law.states), L * C):
        x = one_hot(law.states[rows], C).reshape(-1, L * C)
        moments += ((x - baseline.ravel()) * law.probabilities[rows, None]).T @ x
    shaped = moments.reshape(L, C, L, C)
    shaped[np.arange(L), :, np.arange(L)] = 0.0
    return _without_rounding(shaped, len(law.states))


def third_moments_of(law: Law, baseline: Array) -> Array:
    """Compute the third moments of a law; `baseline` (L, C) is q."""
    L, C = law.n_sites, law.n_colors
    _require_room(law, 3)
    moments = np.zeros((L * C, (L * C) ** 2))
    for rows in blocks(len(law.states), (L * C) ** 2):
        x = one_hot(law.states[rows], C).reshape(-1, L * C)
        pairs = (x[:, :, None] * x[:, None, :]).reshape(len(x), -1)
        moments += ((x - baseline.ravel()) * law.probabilities[rows, None]).T @ pairs
    shaped = moments.reshape(L, C, L, C, L, C)
    for i in range(L):
        shaped[i, :, i] = 0.0
        shaped[i, :, :, :, i] = 0.0
    return _without_rounding(shaped, len(law.states))


def _without_rounding(moments: Array, n_states: int) -> Array:
    """Set to zero what is not above the rounding of a sum over the states: moments of independent sites vanish."""
    return np.where(abs(moments) > np.finfo(float).eps * np.sqrt(n_states), moments, 0.0)


def _require_room(law: Law, order: int) -> None:
    size = (law.n_sites * law.n_colors) ** order
    if size > MAX_NUMBERS:
        raise ValueError(
            f"model must have fewer sites or colors: moments of order {order} of {law.n_sites} sites and "
            f"{law.n_colors} colors are {size} numbers, more than {MAX_NUMBERS}"
        )
