"""The gradient of two layers of attention with a skip connection, measured on samples of real tokens."""

import numpy as np

from theory.core import Array, Matrix, NonNegativeCount, Vector, checked


@checked
def token_gradients(X: Matrix, masked: NonNegativeCount, first: Matrix, last: Vector) -> tuple[Array, Array, Array]:
    """Return the loss of every sample, (n,), and its negative gradients by A, (n, d, d), and by b, (n, d).

    Rows of `X` (n, d) are sequences of d real tokens. The network of `theory.nets.token_flow` predicts the token
    `masked` by y = sum_j b_j (x_j + l_j^2) with l = A x, from a row in which that token is zero, and its loss is
    (x_i - y)^2/2. Means over samples are the flow of their empirical law. ValueError for shapes that do not fit.

    >>> losses, by_first, by_last = token_gradients([[1.0, 2.0]], 0, np.zeros((2, 2)), [0.0, 0.25])
    >>> losses, by_last
    (array([0.125]), array([[0., 1.]]))
    """
    d = X.shape[1]
    if first.shape != (d, d) or last.shape != (d,):
        raise ValueError(
            f"first and last must have shapes ({d}, {d}) and ({d},), as X, got {first.shape} and {last.shape}"
        )
    if masked >= d:
        raise ValueError(f"masked must be a token from 0 to {d - 1}, got {masked}")
    x, visible = X.copy(), np.arange(d) != masked
    x[:, masked] = 0.0
    b = last * visible
    hidden = x @ first.T * visible
    left = X[:, masked] - (x + hidden**2) @ b
    by_first = (2 * left[:, None] * b * hidden)[:, :, None] * x[:, None, :]
    return left**2 / 2, by_first, left[:, None] * (x + hidden**2) * visible
