"""Solves the one linear system behind every fit: weighted least squares with a unit ridge and free offsets."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import lapack
from scipy.linalg.blas import dsyrk

from theory.core.arrays import Array

HEAVY = 1e6  # weight times squared length from which on a residual is no longer taken as a difference


def weighted_ridge(
    Z: Array, target: Array, offsets: Array, weights: Array, kernel: Array | None = None
) -> tuple[Array, Array]:
    """Minimize (1/2) |u|^2 + (1/2) sum_i weights_i (target_i - (Z u + offsets b)_i)^2; return u and b.

    Z: (n, p), offsets: (n, k) columns that are not penalized, target: (n,) or (n, outputs), weights: (n,), positive.
    Costs O(n p min(n, p)): the system is set up in the smaller of the two spaces. Where n < p, fits of the same Z with
    other weights or targets cost O(n^3) if `kernel` is what `kernel_of` returned. Raises LinAlgError where the system
    is singular, and where the system or its solution is not finite.
    """
    root = np.sqrt(weights)[:, None]
    columns = target.reshape(len(target), -1)
    A, t, E = root * Z, root * columns, root * offsets
    if Z.shape[1] <= len(Z):
        u, b = _primal(A, t, E)
    else:
        u, b = _dual(A, t, E, dsyrk(1.0, A.T, trans=1, lower=1) if kernel is None else (root * kernel * root.T).T)
    return u.reshape(Z.shape[1], *target.shape[1:]), b.reshape(offsets.shape[1], *target.shape[1:])


def ridge_multipliers(
    Z: Array, offsets: Array, stiffness: Array, kernel: Array | None = None
) -> Callable[[Array], tuple[Array, Array]]:
    """Return the function that gives, for a target (n,), weights 1/stiffness (n,) times residuals, (n,), and b (k,).

    The residuals are those of `weighted_ridge` at its minimum. They are the multipliers x of the samples, with
    (Z Z^T + diag(stiffness)) x = target - offsets b and u = Z^T x. One factorization serves any number of targets. A
    residual that a large weight has made small is lost to rounding as a difference of target and fit. The multipliers
    of small stiffness, which are few, are therefore unknowns of their own, and all of them are where n < p; the others
    are eliminated. Raises what `weighted_ridge` raises.
    """
    solved = _few_stiff(Z, stiffness) if kernel is None else _all_stiff(kernel, stiffness)
    of_offsets = solved(offsets) if offsets.shape[1] else offsets

    def multipliers(target: Array) -> tuple[Array, Array]:
        x = solved(target[:, None])
        b = _offsets(offsets, x, of_offsets)[:, 0]
        return x[:, 0] - of_offsets @ b, b

    return multipliers


def _all_stiff(kernel: Array, stiffness: Array) -> Callable[[Array], Array]:
    root = np.sqrt(1 / stiffness)[:, None]
    inverse = _factored((root * kernel * root.T).T)
    return lambda columns: np.asarray(root * inverse(root * columns))


def _few_stiff(Z: Array, stiffness: Array) -> Callable[[Array], Array]:
    """Solve (Z Z^T + diag(stiffness)) x = columns for n >= p, by the two parts that `ridge_multipliers` names."""
    p = Z.shape[1]
    heavy = np.einsum("ij,ij->i", Z, Z) > HEAVY * stiffness
    if heavy.sum() > 2 * p:  # many samples at one point: they cost more as unknowns than the digits they would keep
        heavy = np.zeros(len(Z), bool)
    light = ~heavy
    root = np.sqrt(1 / stiffness[light])[:, None]
    A, few = root * Z[light], Z[heavy]
    inverse = _factored(dsyrk(1.0, A.T, lower=1))
    if heavy.any():
        inner, scale = inverse(few.T), np.sqrt(1 / stiffness[heavy])[:, None]
        inverse_of_few = _factored(np.asfortranarray(scale * (few @ inner) * scale.T))

    def solved(columns: Array) -> Array:
        t = root * columns[light]
        fitted, x = inverse(A.T @ t), np.empty_like(columns)
        if heavy.any():
            x[heavy] = scale * inverse_of_few(scale * (columns[heavy] - few @ fitted))
            fitted = fitted + inner @ x[heavy]
        x[light] = root * (t - A @ fitted)
        return x

    return solved


def kernel_of(Z: Array) -> Array | None:
    """Return Z Z^T (n, n) where `weighted_ridge` solves in the space of the samples, None where it does not."""
    return Z @ Z.T if len(Z) < Z.shape[1] else None


def _primal(A: Array, t: Array, E: Array) -> tuple[Array, Array]:
    # These are the parts of target and offsets that the ridge does not fit, from which b is eliminated exactly.
    solved_t, solved_E = _solved(dsyrk(1.0, A.T, lower=1), A.T @ t, A.T @ E)
    b = _offsets(E, t - A @ solved_t, E - A @ solved_E)
    return solved_t - solved_E @ b, b


def _dual(A: Array, t: Array, E: Array, kernel: Array) -> tuple[Array, Array]:
    rest_t, rest_E = _solved(kernel, t, E)
    b = _offsets(E, rest_t, rest_E)
    return A.T @ (rest_t - rest_E @ b), b


def _solved(lower: Array, t: Array, E: Array) -> tuple[Array, Array]:
    """Solve (M + 1) x = t and (M + 1) x = E for a symmetric M, as `_factored` does."""
    solved = _factored(lower)(np.hstack([t, E]))
    return solved[:, : t.shape[1]], solved[:, t.shape[1] :]


def _factored(lower: Array) -> Callable[[Array], Array]:
    """Return the inverse of M + 1 as a function, for a symmetric M, by its lower triangle, which is overwritten.

    LAPACK itself is called, since the systems are so small that checks would take as long as solving. It finds a
    diagonal that is not a number, but not an infinite one; what else is not finite shows in the solution.
    """
    diagonal = np.einsum("ii->i", lower)
    diagonal += 1
    finite = bool(np.isfinite(diagonal.sum()))
    factor, failed = lapack.dpotrf(lower, lower=1, overwrite_a=1, clean=0)

    def inverse(columns: Array) -> Array:
        solved = lapack.dpotrs(factor, columns, lower=1)[0]
        if failed or not (finite and np.isfinite(solved.sum())):
            raise np.linalg.LinAlgError("the normal equations are singular, or hold numbers that are not finite")
        return np.asarray(solved)

    return inverse


def _offsets(E: Array, rest_t: Array, rest_E: Array) -> Array:
    if E.shape[1] == 0:
        return np.zeros((0, rest_t.shape[1]))
    return np.asarray(np.linalg.solve(E.T @ rest_E, E.T @ rest_t))
