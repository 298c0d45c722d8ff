"""Fits of linear learners to data: square, logistic and hinge loss and the hard margin, weighted, biased or coupled."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simulate.glm.hinge import hard_margin, hinge
from simulate.glm.logistic import logistic
from simulate.glm.weighted_ridge import weighted_ridge
from theory.models import checks
from theory.models.arrays import Array

LOSSES = ("square", "logistic", "hinge", "hard_margin")


@dataclass(frozen=True, eq=False)
class LinearFit:
    """Learner l predicts from h = weights_l.x/sqrt(p) + bias_l. `weights` (learners, p), `bias` (learners,).

    `train_loss` is the mean of the weighted loss over all samples, without the ridge; `squared_norm` |w_l|^2/p.
    """

    weights: Array = field(repr=False)
    bias: Array
    train_loss: float

    @property
    def squared_norm(self) -> Array:
        """|w_l|^2/p, (learners,)."""
        return np.asarray(np.mean(self.weights**2, axis=1))

    def fields(self, X: Any, learners: Any = 0) -> Array:
        """h of the rows of X (n, p), each by the learner named for it (one number or (n,) of them)."""
        X = np.asarray(X, float)
        own = np.broadcast_to(learners, len(X))
        h = X @ self.weights.T / np.sqrt(X.shape[1]) + self.bias
        return np.asarray(h[np.arange(len(X)), own])


def fit(X: Any, y: Any, loss: str, lam: float, *, bias: bool = False, sample_weights: Any = None) -> LinearFit:
    """Minimizes sum_i weight_i loss(y_i, h_i) + (lam/2) |w|^2, h = X w/sqrt(p) + b; X: (n, p), y: (n,).

    `loss`: "square" (y - h)^2/2 (any real y), or for y = +-1 "logistic", "hinge" or "hard_margin" (y h >= 1, least
    |w|). The bias is not penalized. ValueError for bad shapes, labels or weights; RuntimeError where no minimum is
    found, as for the hard margin of data that no plane separates.
    """
    return fit_coupled(
        X, y, np.zeros(len(np.atleast_1d(y)), int), loss, lam, bias=bias, sample_weights=sample_weights, n_learners=1
    )


def fit_coupled(
    X: Any,
    y: Any,
    learners: Any,
    loss: str,
    lam: float,
    *,
    coupling: float = 0.0,
    bias: bool = True,
    sample_weights: Any = None,
    n_learners: int = 2,
) -> LinearFit:
    """Learner `learners[i]` sees sample i; the penalty is (lam/2) sum |w_l|^2 + (coupling/2) sum_pairs |w_l - w_m|^2.

    With the Cholesky factor L of the penalty's matrix, L L^T, the weights are W = L^-T U and the penalty |U|^2/2: one
    fit with a unit ridge, on inputs that carry column l of L^-1 for learner l.
    """
    X, y, weights = _checked(X, y, loss, sample_weights)
    lam, own = checks.positive("lam", lam), np.asarray(learners)
    if own.shape != y.shape or own.min() < 0 or own.max() >= n_learners:
        raise ValueError(f"learners must be {len(y)} indices from 0 to {n_learners - 1}, got shape {own.shape}")
    S, p, strength = n_learners, X.shape[1], checks.non_negative("coupling", coupling)
    penalty = (lam + S * strength) * np.eye(S) - strength * np.ones((S, S))
    inverse = np.linalg.inv(np.linalg.cholesky(penalty))
    Z = (inverse.T[own][:, :, None] * X[:, None, :]).reshape(len(y), S * p) / np.sqrt(p)
    offsets = (own[:, None] == np.arange(S)).astype(float) if bias else np.zeros((len(y), 0))
    try:
        u, b = _solve(Z, y, offsets, weights, loss)
    except np.linalg.LinAlgError:
        raise RuntimeError(
            f"the fit did not converge: lam={lam:g} is too small for this size and {loss} loss"
        ) from None
    W = inverse.T @ u.reshape(S, p)
    h = Z @ u + offsets @ b
    return LinearFit(W, b if bias else np.zeros(S), float(np.mean(weights * loss_of(loss, y, h))))


def loss_of(loss: str, y: Array, h: Array) -> Array:
    """The loss of each sample; of the hard margin the violation max(0, 1 - y h), zero up to rounding."""
    if loss == "square":
        return np.asarray((y - h) ** 2 / 2)
    if loss == "logistic":
        return np.asarray(np.logaddexp(0, -y * h))
    return np.asarray(np.maximum(0, 1 - y * h))


def _solve(Z: Array, y: Array, offsets: Array, weights: Array, loss: str) -> tuple[Array, Array]:
    seen = weights > 0
    Z, y, offsets, weights = Z[seen], y[seen], offsets[seen], weights[seen]
    if loss == "square":
        return weighted_ridge(Z, y, offsets, weights)
    if loss == "hard_margin":
        return hard_margin(Z, y, offsets)
    return logistic(Z, y, offsets, weights) if loss == "logistic" else hinge(Z, y, offsets, weights)


def _checked(X: Any, y: Any, loss: str, sample_weights: Any) -> tuple[Array, Array, Array]:
    X, y = checks.finite_array("X", X, 2), checks.finite_array("y", y, 1)
    if len(X) != len(y):
        raise ValueError(f"y must have one entry for each of {len(X)} rows of X, got {len(y)}")
    if loss not in LOSSES:
        raise ValueError(f"loss must be one of {', '.join(LOSSES)} to be fitted, got {loss!r}")
    if loss != "square" and not np.all(abs(y) == 1):
        raise ValueError(f"y must be -1 or 1 for loss={loss!r}, got {y[abs(y) != 1][0]}")
    weights = np.ones(len(y)) if sample_weights is None else checks.finite_array("sample_weights", sample_weights, 1)
    if weights.shape != y.shape or weights.min() < 0 or weights.max() == 0:
        raise ValueError(f"sample_weights must be {len(y)} non-negative numbers, not all zero")
    return X, y, weights
