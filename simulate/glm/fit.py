"""Fits of linear learners to data: square, logistic and hinge loss, the hard margin, and any convex loss of a user."""

from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simulate.glm.convex_loss import ConvexLoss, surely_finite
from simulate.glm.hinge import hard_margin, hinge
from simulate.glm.logistic import logistic
from simulate.glm.own_loss import convex
from simulate.glm.poisson import poisson
from simulate.glm.smooth import Minimum
from simulate.glm.weighted_ridge import weighted_ridge
from theory.core import Array, Count, FitError, NonNegative, Positive, SolverResult, Vector, checked, checks

FitLoss = Literal["square", "logistic", "hinge", "hard_margin", "poisson"]
AnyLoss = FitLoss | ConvexLoss
Argument = Literal["margin", "residual"]  # of a loss: y h, or y - h


@dataclass(frozen=True, eq=False, repr=False)
class LinearFit(SolverResult):
    """Holds fitted learners: learner l predicts from h = weights_l.x/sqrt(p) + bias_l.

    The shapes are `weights` (learners, p) and `bias` (learners,). `train_loss` is the mean of the weighted loss over
    all samples, without the ridge. `residual` is the gradient that is left, relative to its parts from losses and ridge
    or, where rounding keeps it above 1e-10 of these, to the terms of its sum; for hinge loss, hard margin and a loss of
    one's own it is the relative gap between the primal and the dual problem. `iterations` is the number of Newton
    steps, or None for the square loss, which needs none.
    """

    weights: Array = field(repr=False)
    bias: Array
    train_loss: float

    @property
    def squared_norm(self) -> Array:
        """The mean square of the weights |w_l|^2/p, (learners,)."""
        return np.asarray(np.mean(self.weights**2, axis=1))

    def fields(self, X: ArrayLike, learners: Any = 0) -> Array:
        """Return h of the rows of X (n, p), each by the learner named for it (one number or (n,) of them)."""
        rows = checked_inputs(X, self.weights.shape[1])
        own = checks.integer_array("learners", learners)
        if own.shape not in ((), (len(rows),)) or own.min(initial=0) < 0 or own.max(initial=0) >= len(self.weights):
            raise ValueError(f"learners must be one index or {len(rows)} of them from 0 to {len(self.weights) - 1}")
        h = rows @ self.weights.T / np.sqrt(rows.shape[1]) + self.bias
        return np.asarray(h[np.arange(len(rows)), np.broadcast_to(own, len(rows))])


@checked
def fit(
    X: ArrayLike,
    y: Vector,
    loss: AnyLoss,
    lam: Positive,
    *,
    bias: bool = False,
    sample_weights: ArrayLike | None = None,
    argument: Argument = "margin",
) -> LinearFit:
    """Fit one linear learner: minimizes sum_i weight_i loss(y_i, h_i) + (lam/2) |w|^2, h = X w/sqrt(p) + b.

    X is (n, p) and y is (n,); the loss is a sum over samples and not a mean. `loss` is "square", (y - h)^2/2 for any
    real y, or for y = +-1 "logistic", log(1 + exp(-y h)), "hinge", max(0, 1 - y h), or "hard_margin", which finds the
    least |w| with y h >= 1; for counts y it is also "poisson", exp(h) - y h. It may be an object with a method `value`
    of arrays, such as a `ConvexMargin` of theory.glm: any convex function of the `argument`, the "margin" y h of labels
    +-1 or the "residual" y - h of real ones. Of it the values and, if there is one, the method `derivative` are used;
    the minimum is verified by a lower bound from the dual problem. The bias is not penalized. Raises ValueError for bad
    shapes, labels or weights and for a loss that is not convex; FitError (a RuntimeError) where no minimum is found, as
    for the hard margin of data that no plane separates.

    >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]), np.array([1.0, 2.0, -1.0])
    >>> fit(X, y, "square", lam=1.0).weights.round(6).tolist()
    [[0.707107, 0.942809]]
    """
    return _fitted(X, y, np.zeros(len(y), int), loss, lam, 0.0, bias, sample_weights, 1, argument)


@checked
def fit_coupled(
    X: ArrayLike,
    y: Vector,
    learners: NDArray[np.int64],
    loss: AnyLoss,
    lam: Positive,
    *,
    coupling: NonNegative = 0.0,
    bias: bool = True,
    sample_weights: ArrayLike | None = None,
    n_learners: Count = 2,
    argument: Argument = "margin",
) -> LinearFit:
    """Fit several linear learners at once: learner `learners[i]`, an index, sees sample i.

    The losses are those of `fit`; the penalty is (lam/2) sum |w_l|^2 + (coupling/2) sum_pairs |w_l - w_m|^2. With the
    Cholesky factor L of the penalty's matrix, L L^T, the weights are W = L^-T U and the penalty |U|^2/2: one fit with a
    unit ridge, on inputs that carry column l of L^-1 for learner l. Raises what `fit` raises.
    """
    return _fitted(X, y, learners, loss, lam, coupling, bias, sample_weights, n_learners, argument)


def _fitted(
    X: ArrayLike,
    y: Array,
    own: NDArray[np.int64],
    loss: AnyLoss,
    lam: float,
    coupling: float,
    bias: bool,
    sample_weights: Any,
    n_learners: int,
    argument: Argument,
) -> LinearFit:
    loss, Z = _known(loss, argument), _finite_rows(X)
    weights = _checked_samples(Z, y, loss, argument, sample_weights)
    S, p = n_learners, Z.shape[1]
    if own.shape != y.shape or own.min() < 0 or own.max() >= S:
        raise ValueError(f"learners must be {len(y)} indices from 0 to n_learners - 1 = {S - 1}, got shape {own.shape}")
    checks.fits_in_memory("the fit of all learners", float(S) * (S + len(y) * (p + 1)))
    if bias:
        _require_a_minimum(y, own, weights, loss, S)
    with np.errstate(all="ignore"):  # numbers that overflow here are refused below
        try:
            offsets = (own[:, None] == np.arange(S)).astype(float) if bias else np.zeros((len(y), 0))
            if S == 1:
                found = _solve(Z, y, offsets, weights, loss, argument, lam * p)
                W = found.u[None] * np.sqrt(p)
            else:
                joint = (lam + S * coupling) * np.eye(S) - coupling * np.ones((S, S))
                inverse = np.linalg.inv(np.linalg.cholesky(joint))
                Z = (inverse.T[own][:, :, None] * Z[:, None, :]).reshape(len(y), S * p) / np.sqrt(p)
                found = _solve(Z, y, offsets, weights, loss, argument, 1.0)
                W = inverse.T @ found.u.reshape(S, p)
        except np.linalg.LinAlgError:
            raise FitError(
                f"the fit did not converge: lam={lam:g} is too small or too large for data of this size and "
                f"{loss if isinstance(loss, str) else 'this'} loss"
            ) from None
        h = Z @ found.u + offsets @ found.b if found.fields is None else found.fields
        losses = loss_of(loss, y, h, argument) if found.losses is None else found.losses
        train_loss = float(np.mean(weights * losses))
    if not (np.isfinite(train_loss) and np.isfinite(W).all() and np.isfinite(found.b).all()):
        raise FitError("the fit has left the range of floating point numbers: change the units of X and y, or lam")
    b = found.b if bias else np.zeros(S)
    return LinearFit(W, b, train_loss, residual=found.residual, iterations=found.iterations, converged=True)


def loss_of(loss: str | ConvexLoss, y: Array, h: Array, argument: Argument = "margin") -> Array:
    """Return the loss of each sample; of the hard margin the violation max(0, 1 - y h), zero up to rounding."""
    if not isinstance(loss, str):
        return np.asarray(loss.value(y * h if argument == "margin" else y - h), float)
    if loss == "square":
        return np.asarray((y - h) ** 2 / 2)
    if loss == "logistic":
        return np.asarray(np.logaddexp(0, -y * h))
    if loss == "poisson":
        return np.asarray(np.exp(h) - y * h)
    return np.asarray(np.maximum(0, 1 - y * h))


def checked_inputs(X: Any, p: int) -> Array:
    """Return X as (n, p), or raise ValueError."""
    rows = checks.real_array("X", X)
    if rows.ndim != 2 or rows.shape[1] != p:
        raise ValueError(f"X must have shape (n, {p}), got {rows.shape}")
    if not np.isfinite(rows).all():
        raise ValueError(f"X must be finite, got {rows[~np.isfinite(rows)][0]}")
    return rows


def _known(loss: Any, argument: Argument) -> AnyLoss:
    """Return the name of a loss that is fitted here, or a user's own; ValueError otherwise."""
    if isinstance(loss, str):
        known = cast(FitLoss, checks.choice("loss", loss, get_args(FitLoss)))
        if argument == "residual" and known not in ("square", "poisson"):
            raise ValueError(f"argument must be 'margin' for loss={known!r}, which needs labels +-1, got 'residual'")
        return known
    if isinstance(loss, type) or not callable(getattr(loss, "value", None)):
        known_losses = ", ".join(map(repr, get_args(FitLoss)))
        raise ValueError(
            f"loss must be one of {known_losses}, or an object with a method value of arrays, as a ConvexMargin has, "
            f"got {checks.shown(loss)}"
        )
    return cast(ConvexLoss, loss)


def _finite_rows(X: ArrayLike) -> Array:
    """Return X as it is if it is a matrix of finite numbers, else a copy, or raise ValueError."""
    rows = checks.real_array("X", X)
    contiguous = rows.flags.c_contiguous or rows.flags.f_contiguous
    # One number that is not finite makes the sum of squares so, which BLAS reads in half of the time.
    finite = rows.ndim == 2 and rows.size and contiguous and surely_finite(rows.T if rows.flags.f_contiguous else rows)
    return rows if finite else checks.finite_array("X", X, 2)


def _solve(
    X: Array, y: Array, offsets: Array, weights: Array, loss: AnyLoss, argument: Argument, ridge: float
) -> Minimum:
    """Minimize (ridge/2) |u|^2 + the losses of h = X u + offsets b."""
    seen = weights > 0
    if not seen.all():
        found = _solve(X[seen], y[seen], offsets[seen], weights[seen], loss, argument, ridge)
        return found._replace(fields=None, losses=None)
    if loss in ("logistic", "poisson"):
        return (logistic if loss == "logistic" else poisson)(X, y, offsets, weights, ridge)
    if not isinstance(loss, str):
        origin, sign = (0 * y, y) if argument == "margin" else (y, -np.ones(len(y)))
        return convex(X, origin, sign, offsets, weights, loss, ridge)
    found = _with_unit_ridge(X / np.sqrt(ridge), y, offsets, weights, loss)
    return found._replace(u=found.u / np.sqrt(ridge))


def _with_unit_ridge(Z: Array, y: Array, offsets: Array, weights: Array, loss: str) -> Minimum:
    if loss == "square":
        return Minimum(*weighted_ridge(Z, y, offsets, weights), 0.0, None)
    if loss == "hard_margin":
        return Minimum(*hard_margin(Z, y, offsets))
    return Minimum(*hinge(Z, y, offsets, weights))


def _checked_samples(X: Array, y: Array, loss: AnyLoss, argument: Argument, sample_weights: Any) -> Array:
    """Return the weights of the samples, (n,); ValueError for labels or weights that do not fit."""
    if len(X) != len(y):
        raise ValueError(f"y must have one entry for each of {len(X)} rows of X, got {len(y)}")
    if loss == "poisson":
        if (wrong := (y < 0) | (np.floor(y) != y)).any():
            raise ValueError(f"y must be counts 0, 1, 2, ... for loss='poisson', got {y[wrong][0]}")
    elif loss != "square" and argument == "margin" and not np.all(abs(y) == 1):
        named = f"loss={loss!r}" if isinstance(loss, str) else "a loss of the margin; argument='residual' takes others"
        raise ValueError(f"y must be -1 or 1 for {named}, got {y[abs(y) != 1][0]}")
    weights = np.ones(len(y)) if sample_weights is None else checks.finite_array("sample_weights", sample_weights, 1)
    if weights.shape != y.shape or weights.min() < 0 or weights.max() == 0:
        raise ValueError(f"sample_weights must be {len(y)} non-negative numbers, not all zero")
    return weights


def _require_a_minimum(y: Array, own: NDArray[Any], weights: Array, loss: AnyLoss, n_learners: int) -> None:
    """Refuse a bias that has no finite minimum: it is not penalized, and needs samples of both labels.

    Of several learners with logistic loss some may see one label only: their bias grows until their loss is rounding,
    and what they predict is the limit. The dual problem of the hinge and of the hard margin has no such solution.
    """
    seen = [np.unique(y[(own == learner) & (weights > 0)]) for learner in range(n_learners)]
    for learner, labels in enumerate(seen):
        if len(labels) == 0:
            raise ValueError(f"learners must give a sample to every learner that has a bias, got none for {learner}")
    if loss == "poisson":
        if any(labels.max() == 0 for labels in seen):
            raise ValueError("y must have a count above 0 for every learner with a bias, got zeros only")
        return
    single = [labels[0] for labels in seen if len(labels) == 1]
    if (loss in ("hinge", "hard_margin") and single) or (loss == "logistic" and len(single) == n_learners):
        raise ValueError(f"y must have both labels for every learner with a bias, got {single[0]:g} only")
