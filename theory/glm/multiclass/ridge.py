"""The ridge of K classes: slopes of test error and loss along it, and its limit at infinity."""

import math
from dataclasses import replace

import numpy as np
from scipy.sparse.linalg import LinearOperator, gmres

from theory.core import Array
from theory.glm.multiclass.channel import contrasts
from theory.glm.multiclass.coordinates import Logarithmic
from theory.glm.multiclass.decisions import decision_probabilities
from theory.glm.multiclass.equations import Classes
from theory.glm.multiclass.nodes import gaussian_nodes
from theory.glm.multiclass.saddle_point import MulticlassSaddlePoint, class_test_loss
from theory.glm.multiclass.solve import solve_multiclass
from theory.glm.ridge_path import predicted
from theory.glm.ridge_scan import Criterion, RidgeScan, Rung
from theory.models.glm import MulticlassMixture
from theory.numerics import ConvergenceError

STEP = 1e-4  # of central differences along a direction, relative to 1 + |y|
ERROR_STEP = 1e-2  # of those of decisions by quasi-Monte Carlo, whose noise is 1e-5
LOG_STEP, SHARP = 3e-3, 1e-12  # of log lam, for solutions of this tolerance: differences of fourth order leave 1e-9
LINEAR_TOLERANCE, LINEAR_STEPS = 1e-8, 60  # of the derivative of the coordinates by log lam
ROUNDING, QUASI_ROUNDING = 3e-8, 1e-4  # of a slope, relative to the value
TIED = 1e-9  # relative difference of shares that are equal


class ClassesScan(RidgeScan[MulticlassSaddlePoint]):
    """Solve K classes at chosen ridges.

    Square loss is nearly a closed form, and two classes of softmax are one logistic loss: their slopes are differences
    of four solutions. For softmax of more they follow from the implicit function theorem in the coordinates y of the
    search: (1 - dF/dy) dy/dlog lam = dF/dlog lam is solved by GMRES with differences of F along directions. More than
    four classes have test errors by quasi-Monte Carlo, whose slopes are known to 1e-4 of the value.
    """

    def __init__(self, model: MulticlassMixture, by: Criterion) -> None:
        quasi = by == "error" and model.n_classes > 4
        super().__init__(by, rounding=QUASI_ROUNDING if quasi else ROUNDING)
        self.model, self.step = model, ERROR_STEP if quasi else STEP

    def _solved(self, log_lam: float, near: list[Rung[MulticlassSaddlePoint]]) -> Rung[MulticlassSaddlePoint]:
        model = replace(self.model, lam=math.exp(log_lam))
        nothing = np.empty(0)
        if model.loss == "square" or model.n_classes == 2:
            point = solve_multiclass(model, tol=SHARP)
            models = [replace(model, lam=math.exp(log_lam + k * LOG_STEP)) for k in (-2, -1, 1, 2)]
            values = [self._value(solve_multiclass(one, tol=SHARP)) for one in models]
            slope = (values[0] - values[3] + 8 * (values[2] - values[1])) / (12 * LOG_STEP)
            return Rung(log_lam, self._value(point), slope, point, nothing, nothing, nothing)
        start = None
        if near:
            start = Logarithmic(_equations(near[0].point)).unpack(predicted(log_lam, near))
        point = solve_multiclass(model, start=start)
        y, moved, slope = self._tangent(point)
        return Rung(log_lam, self._value(point), slope, point, y, moved, nothing)

    def _value(self, point: MulticlassSaddlePoint) -> float:
        return point.test_error if self.by == "error" else point.test_loss

    def _tangent(self, point: MulticlassSaddlePoint) -> tuple[Array, Array, float]:
        """Return the coordinates of a point of softmax, their derivative by log lam, and that of the value."""
        classes = _equations(point)
        update, basis = Logarithmic(classes), classes.basis
        outputs = (basis @ point.V @ basis.T, basis @ point.q @ basis.T, basis @ point.r, basis @ point.bias)
        y = update.pack(np.concatenate([part.ravel() for part in outputs]))

        def pushed(direction: Array) -> Array:
            step = _length(y, direction, STEP)
            return np.asarray(direction - (update(y + step * direction) - update(y - step * direction)) / (2 * step))

        ends = [
            Logarithmic(replace(classes, model=replace(classes.model, lam=classes.model.lam * math.exp(sign * STEP))))(
                y
            )
            for sign in (1, -1)
        ]
        forced = (ends[0] - ends[1]) / (2 * STEP)
        size = float(np.linalg.norm(forced))
        operator = LinearOperator((len(y), len(y)), matvec=pushed, dtype=float)
        moved, _ = gmres(operator, forced, rtol=LINEAR_TOLERANCE, restart=LINEAR_STEPS, maxiter=1)
        gap = float(np.linalg.norm(pushed(moved) - forced)) / max(size, 1e-300)
        if not gap <= 1e2 * LINEAR_TOLERANCE:
            what = f"derivative by lam at lam={classes.model.lam:g}"
            raise ConvergenceError.of(what, point, gap, 1e2 * LINEAR_TOLERANCE, advice="the point is not isolated")
        step = _length(y, moved, self.step)
        above, below = (self._seen(classes, update.unpack(y + sign * step * moved)) for sign in (1, -1))
        return y, np.asarray(moved), (above - below) / (2 * step)

    def _seen(self, classes: Classes, x: Array) -> float:
        """Return the test error or the test loss at a point in contrasts."""
        _, q, r, b = classes.split(x)
        T, shares = classes.basis.T, classes.model.probabilities
        if self.by == "loss":
            own = enumerate(classes.own)
            return float(np.dot(shares, [class_test_loss(classes, r[:, k] + b, q[c], k) for k, c in own]))
        chances = [decision_probabilities(T @ (r[:, k] + b), T @ q[c] @ T.T)[0][k] for k, c in enumerate(classes.own)]
        return 1 - float(np.dot(shares, chances))


def _equations(point: MulticlassSaddlePoint) -> Classes:
    """Return the equations of softmax with the nodes with which a point was solved."""
    K = point.model.n_classes
    rule = point.quadrature
    return Classes(point.model, contrasts(K), gaussian_nodes(K - 1, rule), rule)  # type: ignore[arg-type]


def _length(y: Array, direction: Array, step: float) -> float:
    return step / max(float(np.max(abs(direction) / (1 + abs(y)))), 1e-300)


def infinite_ridge_of_classes(model: MulticlassMixture) -> tuple[float, float]:
    """Return test error and test loss of K classes as lam -> infinity.

    The weights vanish as 1/lam, and each sample pulls with the force e_y - s that it exerts at zero fields: s are the
    shares of the classes where biases are trained, which balance these forces, else 0 for square loss and 1/K for
    softmax. Then all samples get the class of the greatest share. Where several classes share it, or biases are not
    trained, outputs of the next order decide, h = (r_c + b + sqrt(q_c) z)/lam with rhat_c = alpha p_c (e_c - s) and b
    that balances the forces in this order, b = -sum_c p_c (r_c + tr Omega_c/p (e_c - s)). Derived here.
    """
    K, shares, modes = model.n_classes, np.array(model.probabilities), model.modes
    s = shares if model.bias else np.full(K, 0.0 if model.loss == "square" else 1 / K)
    loss = 0.5 * float(shares @ np.sum((np.eye(K) - s) ** 2, axis=1))
    if model.loss == "softmax":
        loss = -float(shares @ np.log(s))
    top = [k for k in range(K) if not model.bias or shares[k] > shares.max() * (1 - TIED)]
    if len(top) == 1:
        return 1 - float(shares.max()), loss
    classes = Classes(replace(model, lam=1.0), np.eye(K))
    force = np.eye(K) - s[:, None]  # of class c in column c
    qhat = np.zeros((classes.C, K, K))
    for k, c in enumerate(classes.own):
        qhat[c] += model.alpha * shares[k] * np.outer(force[:, k], force[:, k])
    _, q, r = classes.prior(np.zeros((classes.C, K, K)), qhat, model.alpha * shares * force)
    wide = (modes.covariances @ modes.weights)[classes.own]
    b = -(r + wide * force) @ shares if model.bias else np.zeros(K)
    error = 1.0
    for k in top:
        own = q[classes.own[k]][np.ix_(top, top)]
        error -= shares[k] * decision_probabilities((r[:, k] + b)[top], own)[0][top.index(k)]
    return float(error), loss
