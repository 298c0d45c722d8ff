"""Fits K classes at once: square loss on one-hot targets, or softmax cross-entropy."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax

from simulate.glm.fit import checked_inputs
from simulate.glm.samples import Numbers, Pulls
from simulate.glm.smooth import Minimum
from simulate.glm.truncated_newton import truncated_newton
from simulate.glm.weighted_ridge import weighted_ridge
from theory.core import Array, Count, FitError, Positive, SolverResult, checked, checks

ClassLoss = Literal["square", "softmax"]
EXACT = 1e-9  # gradient relative to its two parts, whose double bounds the relative error of the weights
TOLERANCE = 1e-5  # largest size of the gradient that a search may leave, relative to that of zero weights


@dataclass(frozen=True, eq=False, repr=False)
class MulticlassFit(SolverResult):
    """Holds a fit of K classes with the fields h = W x/sqrt(p) + bias; the prediction is the largest field.

    `weights` W (K, p), `bias` (K,); `train_loss` is the mean loss over the samples, without the ridge. `residual` is
    the gradient of softmax that is left, relative to its two parts, from losses and ridge, and `iterations` the number
    of Newton steps; where these find no minimum, L-BFGS searches one, and the gradient is relative to that of zero
    weights. The square loss is solved directly.
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
        ridge = lam * inputs.shape[1]  # of v = w/sqrt(p), with the fields X v
        try:
            found = (_square if loss == "square" else _softmax)(inputs, targets, offsets, ridge)
        except np.linalg.LinAlgError:
            raise FitError(f"the fit did not converge: lam={lam:g} is too small or too large for these data") from None
        h, W = inputs @ found.u + offsets @ found.b, found.u.T * np.sqrt(inputs.shape[1])
        losses = np.sum((targets - h) ** 2, axis=1) / 2 if loss == "square" else _cross_entropy(h, targets)
        train_loss = float(np.mean(losses))
    if not (np.isfinite(train_loss) and np.isfinite(W).all() and np.isfinite(found.b).all()):
        raise FitError("the fit has left the range of floating point numbers: change the units of X, or lam")
    b = found.b[0] if bias else np.zeros(K)
    return MulticlassFit(W, b, train_loss, residual=found.residual, iterations=found.iterations, converged=True)


def _square(X: Array, targets: Array, offsets: Array, ridge: float) -> Minimum:
    u, b = weighted_ridge(X / np.sqrt(ridge), targets, offsets, np.ones(len(X)))
    return Minimum(u / np.sqrt(ridge), b, 0.0, None)


def _cross_entropy(h: Array, targets: Array) -> Array:
    return -np.asarray(np.sum(log_softmax(h, axis=1) * targets, axis=1))


def _softmax(X: Array, targets: Array, offsets: Array, ridge: float) -> Minimum:
    """Minimize by truncated Newton steps, and by L-BFGS where these end before the gradient vanishes."""
    p, K = X.shape[1], targets.shape[1]
    own = {kind: targets.astype(kind, copy=False) for kind in (np.float32, np.float64)}

    def pulls(h: Numbers, rows: slice) -> Pulls:
        P = np.exp(h - h.max(axis=1, keepdims=True))
        P /= P.sum(axis=1, keepdims=True)

        def bent(moved: Numbers) -> Numbers:
            moved = P * moved
            return np.asarray(moved - P * moved.sum(axis=1, keepdims=True))

        return Pulls(own[h.dtype.type][rows] - P, P * (1 - P), bent)

    found = truncated_newton(X, offsets, ridge, pulls, K, tolerance=EXACT)
    if found.residual <= EXACT:
        return Minimum(found.v, found.b - found.b.mean(axis=1, keepdims=True), found.residual, found.steps)
    x, left, steps = _searched(np.hstack((X / np.sqrt(ridge), offsets)), targets, p)
    return Minimum(x[:p] / np.sqrt(ridge), x[p:], left, steps)


def _searched(columns: Array, targets: Array, p: int) -> tuple[Array, float, int]:
    """Minimize with a unit ridge by L-BFGS with the analytic gradient, and check how much of it is left."""
    K = targets.shape[1]

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
    return found.x.reshape(-1, K), left, int(found.nit)
