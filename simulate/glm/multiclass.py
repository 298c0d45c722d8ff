"""Fits K classes at once: square loss on one-hot targets, or softmax cross-entropy."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax

from simulate.glm.fit import checked_inputs
from simulate.glm.smooth import Minimum
from simulate.glm.weighted_ridge import weighted_ridge
from theory.core import Array, Count, FitError, Positive, SolverResult, checked, checks

ClassLoss = Literal["square", "softmax"]
TOLERANCE = 1e-5  # largest size of the gradient, relative to its terms


@dataclass(frozen=True, eq=False, repr=False)
class MulticlassFit(SolverResult):
    """Holds a fit of K classes with the fields h = W x/sqrt(p) + bias; the prediction is the largest field.

    `weights` W (K, p), `bias` (K,); `train_loss` is the mean loss over the samples, without the ridge. `residual` is
    the gradient of softmax that is left, relative to that of zero weights, and `iterations` the number of steps of
    L-BFGS; the square loss is solved directly.
    """

    weights: Array = field(repr=False)
    bias: Array
    train_loss: float

    @property
    def squared_norm(self) -> Array:
        """The mean square of the weights |w_k|^2/p of each output, (K,)."""
        return np.asarray(np.mean(self.weights**2, axis=1))

    def fields(self, X: ArrayLike) -> Array:
        """Return h of the rows of X (n, p), (n, K)."""
        rows = checked_inputs(X, self.weights.shape[1])
        return np.asarray(rows @ self.weights.T / np.sqrt(rows.shape[1]) + self.bias)


@checked
def fit_multiclass(
    X: ArrayLike, classes: NDArray[np.int64], n_classes: Count, loss: ClassLoss, lam: Positive, *, bias: bool = True
) -> MulticlassFit:
    """Fit K = `n_classes` classes: minimizes sum_i loss(y_i, h_i) + (lam/2) |W|^2 over W and, if asked for, a bias.

    X is (n, p), and `classes` y (n,) are numbers from 0 to K - 1. `loss` is "square", |e_y - h|^2/2 with the one-hot
    vector e_y, or "softmax", -log softmax(h)_y. Biases are not penalized; those of softmax sum to zero. Raises
    ValueError for bad shapes and classes, and for a softmax bias of a class without samples; FitError where no minimum
    is found.

    >>> X, classes = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]), np.array([0, 1, 2])
    >>> fit = fit_multiclass(X, classes, 3, "softmax", lam=0.1)
    >>> fit.fields(X).argmax(axis=1).tolist(), fit.converged
    ([0, 1, 2], True)
    """
    inputs, y, K = checks.finite_array("X", X, 2), classes, n_classes
    if y.shape != (len(inputs),) or y.min() < 0 or y.max() >= K:
        raise ValueError(
            f"classes must be integers from 0 to n_classes - 1 = {K - 1}, one for each of {len(inputs)} rows of X, got "
            f"shape {y.shape}"
        )
    checks.fits_in_memory("the fit of all classes", 4.0 * K * (len(inputs) + inputs.shape[1]))
    if loss == "softmax" and bias and len(np.unique(y)) < K:
        raise ValueError(f"classes must hold each of n_classes = {K} where softmax has a bias: else it has no minimum")
    targets = (y[:, None] == np.arange(K)).astype(float)
    offsets = np.ones((len(inputs), int(bias)))
    with np.errstate(all="ignore"):  # numbers that overflow here are refused below
        Z = inputs / np.sqrt(inputs.shape[1]) / np.sqrt(lam)
        try:
            found = _square(Z, targets, offsets) if loss == "square" else _softmax(Z, targets, offsets)
        except np.linalg.LinAlgError:
            raise FitError(f"the fit did not converge: lam={lam:g} is too small or too large for these data") from None
        h, W = Z @ found.u + offsets @ found.b, found.u.T / np.sqrt(lam)
        losses = np.sum((targets - h) ** 2, axis=1) / 2 if loss == "square" else _cross_entropy(h, targets)
        train_loss = float(np.mean(losses))
    if not (np.isfinite(train_loss) and np.isfinite(W).all() and np.isfinite(found.b).all()):
        raise FitError("the fit has left the range of floating point numbers: change the units of X, or lam")
    b = found.b[0] if bias else np.zeros(K)
    return MulticlassFit(W, b, train_loss, residual=found.residual, iterations=found.iterations, converged=True)


def _square(Z: Array, targets: Array, offsets: Array) -> Minimum:
    return Minimum(*weighted_ridge(Z, targets, offsets, np.ones(len(Z))), 0.0, None)


def _cross_entropy(h: Array, targets: Array) -> Array:
    return -np.asarray(np.sum(log_softmax(h, axis=1) * targets, axis=1))


def _softmax(Z: Array, targets: Array, offsets: Array) -> Minimum:
    """Minimize by L-BFGS with the analytic gradient, and checks how much of it is left."""
    columns = np.hstack((Z, offsets))
    p, K = Z.shape[1], targets.shape[1]

    def risk(flat: Array) -> tuple[float, Array]:
        x = flat.reshape(-1, K)
        log_p = log_softmax(columns @ x, axis=1)
        gradient = columns.T @ (np.exp(log_p) - targets)
        gradient[:p] += x[:p]
        return float(0.5 * np.sum(x[:p] ** 2) - np.sum(log_p * targets)), gradient.ravel()

    options = {"maxiter": 20_000, "maxfun": 40_000, "ftol": 0.0, "gtol": 1e-9, "maxcor": 30}
    start = np.zeros(columns.shape[1] * K)
    found = minimize(risk, start, jac=True, method="L-BFGS-B", options=options)
    reference = float(np.linalg.norm(risk(start)[1]))
    # A gradient that vanishes at zero weights, as for inputs that are all zero, is a minimum by itself.
    left = float(np.linalg.norm(found.jac)) / reference if reference else 0.0
    if not left <= TOLERANCE:
        raise FitError(f"the softmax fit did not converge: relative gradient {left:.2g}; take a larger lam")
    x = found.x.reshape(-1, K)
    return Minimum(x[:p], x[p:], left, int(found.nit))
