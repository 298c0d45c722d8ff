"""Fits with a separable penalty: lasso, elastic net and non-negative weights, to the digits of a linear system.

A quasi-Newton search over the positive and negative parts of the weights finds nearly all that are not zero. From
there Newton's steps on these weights alone are exact; a weight that would change its sign stops at zero and leaves, and
one whose gradient exceeds the penalty joins, until the conditions of Karush, Kuhn and Tucker hold. For hinge loss with
a lasso the minimum is that of a linear program, which is solved as one.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog, minimize
from scipy.special import expit

from simulate.glm.fit import LinearFit, loss_of
from theory.core import Array, FitError, Matrix, Vector, checked, checks
from theory.models import Lasso, Penalty

PenalizedLoss = Literal["square", "logistic", "hinge"]
SMALL = 1e-7  # of the largest weight: what the search leaves of weights that are zero
STEPS = 2000  # of weights that join or leave; their number is at most a few times that of the weights
TOLERANCE = 1e-10  # of the conditions, relative to the largest gradient at zero weights
GAP = 1e-6  # of a linear program, relative: the solver's own tolerances are 1e-7, beside coefficients of order one
NEWTON_STEPS = 100
RANK, FLAT = 1e-12, 1e-6  # relative: eigenvalues that count as none, and what of a slope they leave
OUT_OF_RANGE = "the fit has left the range of floating point numbers: change the units of X and y, or the penalty"
FAR = 1e6  # in units of the largest weight: where a line ends at the latest


@checked
def fit_penalized(
    X: Matrix,
    y: Vector,
    loss: PenalizedLoss,
    penalty: Penalty,
    *,
    bias: bool = False,
    sample_weights: ArrayLike | None = None,
) -> LinearFit:
    """Fit one linear learner: minimizes sum_i weight_i loss(y_i, h_i) + penalty(w), h = X w/sqrt(p) + b.

    X is (n, p) and y is (n,); the losses are those of `fit`, hinge loss with a `Lasso` only. The bias is not penalized.
    The `residual` is the largest violation of the optimality conditions, relative to the largest gradient at zero
    weights and, for the bias, to the sum of the terms of its derivative there (for hinge loss, the gap between the
    primal and the dual problem over the sum of losses and penalty). ValueError for shapes, labels or weights that do
    not fit; FitError where no minimum is found.

    >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, 0.1])
    >>> fit_penalized(X, y, "square", Lasso(0.2)).weights.round(6).tolist()
    [[1.014214, 0.0]]
    """
    if len(X) != len(y):
        raise ValueError(f"y must have one entry for each of {len(X)} rows of X, got {len(y)}")
    if loss != "square" and not np.all(abs(y) == 1):
        raise ValueError(f"y must be -1 or 1 for loss={loss!r}, got {y[abs(y) != 1][0]}")
    kappa = np.ones(len(y)) if sample_weights is None else checks.finite_array("sample_weights", sample_weights, 1)
    if kappa.shape != y.shape or kappa.min() < 0 or kappa.max() == 0:
        raise ValueError(f"sample_weights must be {len(y)} non-negative numbers, not all zero")
    if loss != "square" and bias and len(np.unique(y[kappa > 0])) == 1:
        raise ValueError(f"y must have both labels for a bias, got {y[0]:g} only")
    n, p = X.shape
    checks.fits_in_memory("the fit of a penalty", 3.0 * n * p)
    # Inputs of order one, so that the fit does not depend on the units of X; a power of two keeps all of their digits.
    unit = _unit(X)
    Z, strengths = X / unit / np.sqrt(p), _strengths(penalty, unit)
    with np.errstate(all="ignore"):  # numbers that overflow here are refused below
        try:
            if loss == "hinge":
                w, b, residual, steps = _linear_program(Z, y, kappa, penalty, strengths, bias)
            else:
                w, b, residual, steps = _Smooth(Z, y, kappa, loss, penalty, strengths, bias).minimum()
        except np.linalg.LinAlgError:
            raise FitError(OUT_OF_RANGE) from None
        train_loss = float(np.mean(kappa * loss_of(loss, y, Z @ w + b)))
    if not (np.isfinite(train_loss) and np.isfinite(w).all() and np.isfinite(b)):
        raise FitError(OUT_OF_RANGE)
    return LinearFit(w[None] / unit, np.array([b]), train_loss, residual=residual, iterations=steps, converged=True)


def _unit(X: Array) -> float:
    """Return the power of two that is nearest to the root mean square of X, or 1 where all of X is zero."""
    largest = float(abs(X).max(initial=0.0))
    return float(2.0 ** np.round(np.log2(largest) + np.log2(np.mean((X / largest) ** 2)) / 2)) if largest else 1.0


def _strengths(penalty: Penalty, unit: float) -> tuple[float, float]:
    """Return the strengths of the parts |w| and |w|^2/2 of a penalty for inputs that were divided by `unit`."""
    l1, l2 = penalty.strengths
    with np.errstate(all="ignore"):
        return float(np.float64(l1) / unit), float(np.float64(l2) / unit / unit)


@dataclass(frozen=True)
class _Smooth:
    Z: Array
    y: Array
    kappa: Array
    loss: str
    penalty: Penalty
    strengths: tuple[float, float]
    bias: bool

    def minimum(self) -> tuple[Array, float, float, int]:
        """Return the weights, the bias, the violation of the conditions and the number of steps."""
        w, b = self._searched()
        at_zero = self._slopes(np.zeros(len(self.y)))[0]
        scale = float(np.max(abs(self.Z.T @ at_zero))) or 1.0
        bias_scale = float(np.sum(abs(at_zero))) or 1.0
        w[abs(w) < SMALL * max(float(np.max(abs(w))), 1e-300)] = 0.0
        l1, positive = self.strengths[0], self.penalty.non_negative
        signs = np.sign(w)
        for step in range(STEPS):
            w, b, signs = self._on(signs, w, b, scale)
            slope = self._gradient(w, b)[0]
            excess = np.where(signs == 0, np.maximum(-slope - l1, -np.inf if positive else slope - l1), 0.0)
            if (violation := self._violation(w, b, signs, scale, bias_scale)) <= TOLERANCE:
                return w, b, violation, step + 1
            joins = int(np.argmax(excess))
            if not excess[joins] > 0:
                break
            signs[joins] = -np.sign(slope[joins])
        if not np.isfinite(violation):
            raise FitError(OUT_OF_RANGE)
        raise FitError(
            f"the fit of the {self.loss} loss with {self.penalty!r} did not converge: its conditions are violated by "
            f"{violation:.2g}; take a larger penalty"
        )

    def _violation(self, w: Array, b: float, signs: Array, scale: float, bias_scale: float) -> float:
        """Return by how much the conditions of a minimum fail, relative to the two scales."""
        l1 = self.strengths[0]
        slope, of_bias = self._gradient(w, b)
        active = abs(slope + l1 * signs)
        silent = np.maximum(-slope if self.penalty.non_negative else abs(slope), l1) - l1
        wrong = np.where(signs != 0, active, np.maximum(silent, 0.0))
        # The derivative by the bias does not depend on the units of X, so it has a scale of its own.
        return max(float(wrong.max()) / scale, abs(of_bias) / bias_scale if self.bias else 0.0)

    def _gradient(self, w: Array, b: float) -> tuple[Array, float]:
        """Return the gradient of losses and ridge by the weights, and that by the bias."""
        pull = self._slopes(self.Z @ w + b)[0]
        return np.asarray(self.Z.T @ pull + self.strengths[1] * w), float(pull.sum())

    def _slopes(self, h: Array) -> tuple[Array, Array]:
        """Return the first and the second derivative of the losses by h."""
        if self.loss == "square":
            return self.kappa * (h - self.y), self.kappa
        against = expit(-self.y * h)
        return -self.kappa * self.y * against, self.kappa * against * (1 - against)

    def _value(self, w: Array, b: float) -> float:
        l1, l2 = self.strengths
        losses = self.kappa @ loss_of(self.loss, self.y, self.Z @ w + b)
        return float(losses + l1 * np.sum(abs(w)) + l2 / 2 * (w @ w))

    def _searched(self) -> tuple[Array, float]:
        """Return weights and bias near the minimum: a search over positive parts, negative ones and the bias."""
        p, l1 = self.Z.shape[1], self.strengths[0]
        parts = 1 if self.penalty.non_negative else 2

        def value(x: Array) -> tuple[float, Array]:
            w = x[:p] - x[p : 2 * p] if parts == 2 else x[:p]
            slope, of_bias = self._gradient(w, x[-1])
            l2 = self.strengths[1]
            total = self.kappa @ loss_of(self.loss, self.y, self.Z @ w + x[-1]) + l2 / 2 * (w @ w)
            sides = [slope + l1, l1 - slope][:parts]
            return float(total + l1 * np.sum(x[:-1])), np.concatenate([*sides, [of_bias if self.bias else 0.0]])

        bounds = [(0.0, None)] * (parts * p) + [(None, None) if self.bias else (0.0, 0.0)]
        options = {"maxiter": 3000, "maxfun": 6000, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 20}
        x = minimize(value, np.zeros(parts * p + 1), jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
        return np.array(x[:p] - x[p : 2 * p] if parts == 2 else x[:p]), float(x[-1])

    def _on(self, signs: Array, w: Array, b: float, scale: float) -> tuple[Array, float, Array]:
        """Minimize over the weights of these signs and the bias; those that reach zero on the way leave."""
        l1, l2 = self.strengths
        signs = signs.copy()
        for _ in range(NEWTON_STEPS + len(w)):
            own = np.flatnonzero(signs)
            columns = np.column_stack([self.Z[:, own], np.ones(len(self.y))]) if self.bias else self.Z[:, own]
            pull, curvature = self._slopes(self.Z @ w + b)
            slope = columns.T @ pull
            slope[: len(own)] += l2 * w[own] + l1 * signs[own]
            if not len(slope) or np.max(abs(slope)) <= 0.01 * TOLERANCE * scale:
                break
            hessian = (columns * curvature[:, None]).T @ columns
            hessian[np.arange(len(own)), np.arange(len(own))] += l2
            step = -np.linalg.lstsq(hessian, slope, rcond=RANK)[0]
            left = hessian @ step + slope
            if np.max(abs(left)) > FLAT * np.max(abs(slope)):  # more weights than samples: the sum falls along a line
                step = -left * (FAR * (1 + np.max(abs(w))) / np.max(abs(left)))
            move = step[: len(own)]
            turns = np.where(signs[own] * move < 0, -w[own] / np.where(move == 0, 1.0, move), np.inf)
            far = min(1.0, float(turns.min(initial=np.inf)))
            moved = self._shortened(w, b, own, step, far)
            if moved is None:
                break
            w, b, length = moved
            if length == far < 1:
                gone = own[turns <= far]
                w[gone], signs[gone] = 0.0, 0.0
        return w, b, signs

    def _shortened(
        self, w: Array, b: float, own: NDArray[np.intp], step: NDArray[Any], far: float
    ) -> tuple[Array, float, float] | None:
        """Take the step up to `far`, halved until the value falls; None where only rounding is left."""
        before, length = self._value(w, b), far
        for _ in range(40):
            new = w.copy()
            new[own] += length * step[: len(own)]
            shifted = b + (length * float(step[-1]) if self.bias else 0.0)
            if self.loss == "square" or self._value(new, shifted) <= before * (1 + 1e-14):
                return new, shifted, length
            length /= 2
        return None


def _linear_program(
    Z: Array, y: Array, kappa: Array, penalty: Penalty, strengths: tuple[float, float], bias: bool
) -> tuple[Array, float, float, int]:
    """Minimize sum kappa max(0, 1 - y h) + l1 |w| over the losses s >= 0 with s >= 1 - y h and the parts of w."""
    if not isinstance(penalty, Lasso):
        raise ValueError(
            f"penalty must be a Lasso for loss='hinge', whose minimum is a linear program, got {penalty!r}"
        )
    n, p = Z.shape
    signed = y[:, None] * Z
    cost = np.concatenate([np.full(2 * p, strengths[0]), kappa, [0.0]])
    rows = np.hstack([-signed, signed, -np.eye(n), -y[:, None]])
    limits = [(0.0, None)] * (2 * p + n) + [(None, None) if bias else (0.0, 0.0)]
    found = linprog(cost, A_ub=rows, b_ub=-np.ones(n), bounds=limits, method="highs")
    if not found.success:
        raise FitError(
            f"the linear program of hinge loss with {penalty!r} was not solved: {found.message}; change the units of X"
        )
    w = found.x[:p] - found.x[p : 2 * p]
    primal = float(kappa @ loss_of("hinge", y, Z @ w + found.x[-1]) + strengths[0] * np.sum(abs(w)))
    gap = abs(primal + float(np.sum(found.ineqlin.marginals))) / max(primal, 1e-300)
    if not gap <= GAP:
        raise FitError(
            f"the linear program of hinge loss with {penalty!r} was not solved: the relative gap to its dual is "
            f"{gap:.2g}; take a larger penalty, or change the units of X"
        )
    return w, float(found.x[-1]), gap, found.nit
