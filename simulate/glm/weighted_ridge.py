"""Solves the one linear system behind every fit: weighted least squares with a unit ridge and free offsets."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from theory.models.arrays import Array


def weighted_ridge(
    Z: Array, target: Array, offsets: Array, weights: Array, kernel: Array | None = None
) -> tuple[Array, Array]:
    """Minimizes (1/2) |u|^2 + (1/2) sum_i weights_i (target_i - (Z u + offsets b)_i)^2; returns u and b.

    Z: (n, p), offsets: (n, k) columns that are not penalized, target: (n,) or (n, outputs), weights: (n,), positive.
    Costs O(n p min(n, p)): the system is set up in the smaller of the two spaces. Where n < p, fits of the same Z with
    other weights or targets cost O(n^3) if `kernel` is what `kernel_of` returned. Raises LinAlgError where the system
    is singular, and ValueError where it is not finite.
    """
    root = np.sqrt(weights)[:, None]
    columns = target.reshape(len(target), -1)
    A, t, E = root * Z, root * columns, root * offsets
    if Z.shape[1] <= len(Z):
        u, b = _primal(A, t, E)
    else:
        u, b = _dual(A, t, E, A @ A.T if kernel is None else root * kernel * root.T)
    return u.reshape(Z.shape[1], *target.shape[1:]), b.reshape(offsets.shape[1], *target.shape[1:])


def kernel_of(Z: Array) -> Array | None:
    """Returns Z Z^T (n, n) where `weighted_ridge` solves in the space of the samples, None where it does not."""
    return Z @ Z.T if len(Z) < Z.shape[1] else None


def _primal(A: Array, t: Array, E: Array) -> tuple[Array, Array]:
    gram = A.T @ A
    gram.flat[:: len(gram) + 1] += 1
    factor = cho_factor(gram, overwrite_a=True)
    # These are the parts of target and offsets that the ridge does not fit, from which b is eliminated exactly.
    solved_t, solved_E = cho_solve(factor, A.T @ t), cho_solve(factor, A.T @ E)
    b = _offsets(E, t - A @ solved_t, E - A @ solved_E)
    return solved_t - solved_E @ b, b


def _dual(A: Array, t: Array, E: Array, kernel: Array) -> tuple[Array, Array]:
    kernel.flat[:: len(kernel) + 1] += 1
    factor = cho_factor(kernel, overwrite_a=True)
    rest_t, rest_E = cho_solve(factor, t), cho_solve(factor, E)
    b = _offsets(E, rest_t, rest_E)
    return A.T @ (rest_t - rest_E @ b), b


def _offsets(E: Array, rest_t: Array, rest_E: Array) -> Array:
    if E.shape[1] == 0:
        return np.zeros((0, rest_t.shape[1]))
    return np.asarray(np.linalg.solve(E.T @ rest_E, E.T @ rest_t))
