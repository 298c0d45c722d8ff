"""Two layers of attention with a skip connection on real tokens: where attention meets masked regression.

The sequence has d real tokens of one feature each. The network predicts token i, which is masked, from the others by

    y = sum_j b_j (x_j + l_j^2),    l = A x,    x_i = 0 at the input,

and flows along the gradient of the mean of (x_i - y)^2/2 over the data (arXiv:2410.19637, section 3.1, with the
attention of the first layer as A and that of the last layer as b).
"""

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from theory.core import Array, FiniteArray, Matrix, NonNegativeCount, Result, Vector, checked, checks
from theory.models import Covariance


@dataclass(frozen=True, eq=False, repr=False)
class TokenFlow(Result):
    """The derivatives by time of the weights of a network on Gaussian tokens; those of the masked token are zero.

    `first` (d, d) is that of the attention A, `last` (d,) that of b. `loss` is the mean of (x_i - y)^2/2.
    """

    loss: float
    first: Array = field(repr=False)
    last: Array = field(repr=False)


@checked
def token_flow(covariance: Covariance, masked: NonNegativeCount, first: Matrix, last: Vector) -> TokenFlow:
    """Compute the gradient flow of two layers on tokens x ~ N(0, C), exactly.

    With P = A C A^T and R = A C, the covariances of l with itself and with the visible tokens, and h_j = C_ij,

        db_j/dt = h_j - sum_k (C_jk + P_jj P_kk + 2 P_jk^2) b_k,
        dA_kl/dt = -2 b_k sum_j b_j (P_jj R_kl + 2 P_jk R_jl),

    since third moments of Gaussian tokens vanish. Therefore d|A|^2/dt = -4 E (sum_k b_k l_k^2)^2 <= 0: whatever the
    start, the squares never grow, and the network ends at masked regression, `token_path`.

    `covariance` has d >= 2 coordinates, `masked` is the number i of the masked token, `first` is A (d, d) and `last` is
    b (d,); what stands at the masked token is not used. Source: arXiv:2410.19637, section 3.1, with fourth moments by
    Isserlis' theorem (L. Isserlis, Biometrika 12, 134 (1918)); the fall of |A| is derived here by summing A_kl
    dA_kl/dt. ValueError for other shapes.

    >>> from theory.models import AR1
    >>> found = token_flow(AR1(3, 0.5), 0, np.zeros((3, 3)), [0.0, 0.5, 0.0])
    >>> found.last, round(found.loss, 6)  # b = (., 0.5, 0) is masked regression of a chain, where nothing moves
    (array([0., 0., 0.]), 0.375)
    """
    C, A, b, visible = _parts(covariance, masked, first, last)
    h = np.where(visible, C[masked], 0.0)
    C = C * np.outer(visible, visible)
    R = A @ C
    P = R @ A.T
    squares = np.outer(np.diag(P), np.diag(P)) + 2 * P**2  # E l_j^2 l_k^2
    by_first = -2 * b[:, None] * ((b @ np.diag(P)) * R + 2 * (P * b) @ R)
    by_last = h - (C + squares) @ b
    variance = float(covariance.matrix[masked, masked])
    loss = (variance - 2 * h @ b + b @ (C + squares) @ b) / 2
    return TokenFlow(float(loss), by_first * np.outer(visible, visible), by_last * visible)


@checked
def token_path(covariance: Covariance, masked: NonNegativeCount, last: Vector, times: Vector) -> Array:
    """Compute the last layer along the flow of Gaussian tokens where the first layer is zero, (times, d).

    b(t) = w + exp(-C t) (b(0) - w), with C the covariance of the visible tokens and w = C^-1 h. The limit w is masked
    regression without a ridge from infinitely many samples: the row i of the predictor whose errors are those of
    `theory.masked`. A direction of variance c is learned at the rate c. Source: arXiv:2410.19637, section 3.1.

    >>> from theory.models import AR1
    >>> token_path(AR1(3, 0.5), 1, [0.0, 0.0, 0.0], [0.0, 1e3]).round(6)
    array([[0. , 0. , 0. ],
           [0.4, 0. , 0.4]])
    """
    C, _, b, visible = _parts(covariance, masked, np.zeros(covariance.matrix.shape), last)
    if times.min() < 0:
        raise ValueError(f"times must be >= 0, got {times.min()}")
    seen = np.flatnonzero(visible)
    values, vectors = np.linalg.eigh(C[np.ix_(seen, seen)])
    h, start = vectors.T @ C[masked, seen], vectors.T @ b[seen]
    decay = np.exp(-np.outer(times, np.maximum(values, 0.0)))
    # (1 - exp(-c t))/c, which is t where a direction has no variance.
    with np.errstate(divide="ignore", invalid="ignore"):
        grown = np.where(values > 0, -np.expm1(-np.outer(times, values)) / values, times[:, None])
    path = np.zeros((len(times), len(b)))
    path[:, seen] = (decay * start + grown * h) @ vectors.T
    return path


@checked
def token_growth(third_moments: Annotated[Array, FiniteArray(3)], masked: NonNegativeCount, last: Vector) -> Array:
    """Compute the matrices G_k (d, d, d) by which small rows of the first layer grow: dA_k/dt = G_k A_k.

    For any data with the third moments Gamma_jlm = E x_j x_l x_m, small A, and a last layer b,

        G_k = 2 b_k (Gamma_ilm - sum_j b_j Gamma_jlm)_lm,

    which is symmetric: A_k grows where what the last layer leaves of the masked token is correlated with products of
    two others, at the rate of the largest eigenvalue. The entry G_k,lk is the growth of A_kl by A_kk, twice the rate of
    arXiv:2410.19637, section 3.1. Third moments of Gaussian tokens are zero, so that nothing grows to first order.

    >>> moments = np.zeros((3, 3, 3))
    >>> moments[0, 1, 1] = 1.0  # the masked token 0 follows the square of token 1
    >>> token_growth(moments, 0, [0.0, 0.5, 0.0])[1]
    array([[0., 0., 0.],
           [0., 1., 0.],
           [0., 0., 0.]])
    """
    d = len(last)
    checks.shaped("third_moments", third_moments, (d, d, d), f", as last has {d}")
    _require_token(masked, d)
    visible = np.arange(d) != masked
    b = last * visible
    left = third_moments[masked] - np.tensordot(b, third_moments, axes=1)
    left = left * np.outer(visible, visible)
    return np.asarray(2 * b[:, None, None] * (left + left.T) / 2)


def _parts(covariance: Covariance, masked: int, first: Array, last: Array) -> tuple[Array, Array, Array, Array]:
    """Return C, and A and b without what stands at the masked token, and which tokens are visible."""
    C = covariance.matrix
    d = len(C)
    if d < 2:
        raise ValueError("covariance must have at least two tokens, got 1")
    _require_token(masked, d)
    checks.shaped("first", first, (d, d), ", as covariance")
    checks.shaped("last", last, (d,), ", as covariance")
    visible = np.arange(d) != masked
    return C, first * np.outer(visible, visible), last * visible, visible


def _require_token(masked: int, d: int) -> None:
    if masked >= d:
        raise ValueError(f"masked must be a token from 0 to {d - 1}, got {masked}")
