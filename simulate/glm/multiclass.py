"""Fits of K classes at once: square loss on one-hot targets, or softmax cross-entropy."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from simulate.glm.weighted_ridge import weighted_ridge
from theory.models import checks
from theory.models.arrays import Array

TOLERANCE = 1e-5  # of the gradient, relative to its terms


@dataclass(frozen=True, eq=False)
class MulticlassFit:
    """Fields h = W x/sqrt(p) + bias; `weights` W (K, p), `bias` (K,). The prediction is the largest field.

    `train_loss` is the mean loss over the samples, without the ridge.
    """

    weights: Array = field(repr=False)
    bias: Array
    train_loss: float

    def fields(self, X: Any) -> Array:
        """h of the rows of X (n, p), (n, K)."""
        X = np.asarray(X, float)
        return np.asarray(X @ self.weights.T / np.sqrt(X.shape[1]) + self.bias)


def fit_multiclass(X: Any, classes: Any, n_classes: int, loss: str, lam: float, *, bias: bool = True) -> MulticlassFit:
    """Minimizes sum_i loss(y_i, h_i) + (lam/2) |W|^2; X: (n, p), `classes`: (n,) from 0 to K - 1.

    `loss`: "square" |e_y - h|^2/2 or "softmax" -log softmax(h)_y. Biases are free (of softmax they sum to zero).
    """
    X, y, lam = checks.finite_array("X", X, 2), np.asarray(classes), checks.positive("lam", lam)
    if y.shape != (len(X),) or y.dtype.kind not in "iu" or y.min() < 0 or y.max() >= n_classes:
        raise ValueError(f"classes must be {len(X)} integers from 0 to {n_classes - 1}")
    if loss not in ("square", "softmax"):
        raise ValueError(f"loss must be 'square' or 'softmax' for classes, got {loss!r}")
    if loss == "softmax" and bias and len(np.unique(y)) < n_classes:
        raise ValueError("the bias of a class without samples has no minimum")
    Z, targets = X / np.sqrt(X.shape[1] * lam), np.eye(n_classes)[y]
    offsets = np.ones((len(X), int(bias)))
    U, b = _square(Z, targets, offsets) if loss == "square" else _softmax(Z, targets, offsets)
    h = Z @ U + offsets @ b
    losses = np.sum((targets - h) ** 2, axis=1) / 2 if loss == "square" else _cross_entropy(h, targets)
    return MulticlassFit(U.T / np.sqrt(lam), b[0] if bias else np.zeros(n_classes), float(np.mean(losses)))


def _square(Z: Array, targets: Array, offsets: Array) -> tuple[Array, Array]:
    return weighted_ridge(Z, targets, offsets, np.ones(len(Z)))


def _cross_entropy(h: Array, targets: Array) -> Array:
    return np.asarray(logsumexp(h, axis=1) - np.sum(h * targets, axis=1))


def _softmax(Z: Array, targets: Array, offsets: Array) -> tuple[Array, Array]:
    """By L-BFGS with the analytic gradient, and a check of what is left of it."""
    columns = np.hstack((Z, offsets))
    p, K = Z.shape[1], targets.shape[1]

    def risk(flat: Array) -> tuple[float, Array]:
        x = flat.reshape(-1, K)
        h = columns @ x
        surplus = np.exp(h - logsumexp(h, axis=1, keepdims=True)) - targets
        gradient = columns.T @ surplus
        gradient[:p] += x[:p]
        return float(0.5 * np.sum(x[:p] ** 2) + np.sum(_cross_entropy(h, targets))), gradient.ravel()

    options = {"maxiter": 20_000, "maxfun": 40_000, "ftol": 0.0, "gtol": 1e-9, "maxcor": 30}
    found = minimize(risk, np.zeros(columns.shape[1] * K), jac=True, method="L-BFGS-B", options=options)
    left = float(np.linalg.norm(found.jac) / np.linalg.norm(risk(np.zeros_like(found.x))[1]))
    if left > TOLERANCE:
        raise RuntimeError(f"the softmax fit did not converge: relative gradient {left:.2g}")
    x = found.x.reshape(-1, K)
    return x[:p], x[p:]
