"""The replica-symmetric saddle point of a generalized linear model."""

from dataclasses import replace
from typing import Any, overload

import numpy as np

from theory.glm.channel import channel, losses_and_errors
from theory.glm.losses import loss_of
from theory.glm.multiclass import MulticlassSaddlePoint, solve_multiclass
from theory.glm.overlaps import Conjugates, Overlaps
from theory.glm.prior import prior
from theory.glm.ridge import has_closed_form, ridge_regression
from theory.glm.saddle_point import SaddlePoint
from theory.glm.search import search
from theory.glm.systems import as_problem
from theory.models.glm import GeneralizedLinearModel, MulticlassMixture
from theory.models.glm.modes import Array
from theory.numerics import Solution, solve_fixed_point, verified

RANGE = 100.0  # of the logarithms of V and q
ADVICE = "near lam -> 0 on separable data use hard_margin; otherwise take a less extreme alpha or lam"


@overload
def solve(model: MulticlassMixture, **options: Any) -> MulticlassSaddlePoint: ...
@overload
def solve(model: Any, **options: Any) -> SaddlePoint: ...
def solve(model: Any, **options: Any) -> SaddlePoint | MulticlassSaddlePoint:
    """Saddle point of any record of theory.models.glm: `options` are those of `solve_problem`, or for K classes of
    `solve_multiclass`. Raises ConvergenceError, and ValueError for anything that is no such record."""
    if isinstance(model, MulticlassMixture):
        return solve_multiclass(model, **options)
    return solve_problem(as_problem(model), **options)


def solve_problem(
    problem: GeneralizedLinearModel,
    *,
    start: SaddlePoint | None = None,
    tol: float = 1e-11,
    max_iter: int = 2000,
    check: bool = True,
) -> SaddlePoint:
    """The saddle point, verified at the point returned: residual within `tol` in (log V, log q, r) and admissible.

    From `start` (a neighboring problem's point), the closed form of ridge regression or a cold start: damped steps,
    Anderson acceleration, Newton from the best point and, failing these, continuation from a larger lam. `max_iter`
    limits evaluations of the equations. ConvergenceError otherwise; with check=False the best point and its residual.
    """
    update = _Equations(problem)
    x = _start(problem, start)
    if start is not None and len(start.bias) == problem.n_learners:
        update.bias = start.bias
    x, residual = search(update, x, tol, max_iter // 2)
    if residual > tol and start is not None:
        x, residual = min((x, residual), search(update, _start(problem, None), tol, max_iter), key=lambda pair: pair[1])
    if residual > tol:
        x = _continued(update, x, residual, tol, max_iter)
    final = solve_fixed_point(update, x, admissible=update.admissible, tol=tol, max_iter=1, method="plain", check=False)
    solution = verified(
        replace(final, iterations=update.evaluations), f"saddle point of {_described(problem)}", check, ADVICE
    )
    return _observables(update, solution)


class _Equations:
    """x = (log V, log q, r) to its image, remembering the bias and the number of evaluations."""

    def __init__(self, problem: GeneralizedLinearModel) -> None:
        self.problem, self.loss = problem, loss_of(problem.loss)
        self.bias = np.zeros(problem.n_learners)
        self.evaluations = 0

    def overlaps(self, x: Array) -> Overlaps:
        C = self.problem.modes.n_covariances
        return Overlaps(np.exp(x[:C]), np.exp(x[C : 2 * C]), x[2 * C :])

    def conjugates(self, x: Array) -> Conjugates:
        found = channel(self.problem, self.loss, self.overlaps(x), self.bias)
        if np.isfinite(found.bias).all():
            self.bias = found.bias
        return found

    def __call__(self, x: Array) -> Array:
        self.evaluations += 1
        with np.errstate(all="ignore"):
            found = self.conjugates(x)
            image, _ = prior(self.problem, found.Vhat, found.qhat, found.rhat)
            return np.concatenate((np.log(image.V), np.log(image.q), image.r))

    def admissible(self, x: Array) -> bool:
        """The teacher's variance given the field must be positive in every cluster."""
        if not np.isfinite(x).all() or np.max(abs(x[: 2 * self.problem.modes.n_covariances])) > RANGE:
            return False
        at = self.overlaps(x)
        return all(
            at.r[cluster.teacher_signal] ** 2 <= at.q[cluster.covariance] * cluster.teacher_variance * (1 + 1e-9)
            for cluster in self.problem.clusters
            if cluster.teacher_signal is not None
        )


def _described(problem: GeneralizedLinearModel) -> str:
    name, clusters = loss_of(problem.loss).name, len(problem.clusters)
    return f"{name} loss, alpha={problem.alpha:g}, lam={problem.lam:g}, {clusters} cluster(s)"


def _start(problem: GeneralizedLinearModel, near: SaddlePoint | None) -> Array:
    C, A = problem.modes.n_covariances, problem.modes.n_signals
    if near is not None and (len(near.V), len(near.r)) == (C, A):
        return np.concatenate((np.log(near.V), np.log(near.q), near.r))
    if has_closed_form(problem):
        ridge = ridge_regression(problem)
        if ridge.V > 0 and ridge.q > 0:
            return np.array([np.log(ridge.V), np.log(ridge.q), ridge.r])
    return np.concatenate((np.zeros(C), np.full(C, np.log(0.5)), np.full(A, 0.01)))


def _continued(update: _Equations, x: Array, residual: float, tol: float, max_iter: int) -> Array:
    """From a larger ridge, two points a decade, each started from the line through the last two in log lam."""
    problem = update.problem
    ladder = [lam for lam in 10.0 ** np.arange(2, -13, -0.5) if lam > problem.lam]
    trail: list[tuple[float, Array]] = []
    for lam in [*ladder, problem.lam]:
        step = _Equations(replace(problem, lam=lam))
        step.bias = update.bias if trail else step.bias
        guess = _extrapolated(trail, lam) if trail else _start(step.problem, None)
        found, gap = search(step, guess if step.admissible(guess) else trail[-1][1], tol, 400)
        update.evaluations += step.evaluations
        update.bias = step.bias
        if update.evaluations > max_iter * 3:
            break
        trail.append((lam, found))
        if lam == problem.lam and gap < residual:
            return found
    return x


def _extrapolated(trail: list[tuple[float, Array]], lam: float) -> Array:
    if len(trail) < 2:
        return trail[-1][1]
    (before, x0), (last, x1) = trail[-2:]
    return np.asarray(x1 + (x1 - x0) * np.log(lam / last) / np.log(last / before))


def _observables(update: _Equations, solution: Solution[Array]) -> SaddlePoint:
    problem, at = update.problem, update.overlaps(solution.value)
    found = update.conjugates(solution.value)
    _, norms = prior(problem, found.Vhat, found.qhat, found.rhat)
    losses, errors = losses_and_errors(problem, update.loss, at, found.bias)
    shares = np.array([cluster.probability for cluster in problem.clusters])
    train = float(shares @ losses)
    return SaddlePoint(
        problem=problem,
        V=at.V,
        q=at.q,
        r=at.r,
        bias=found.bias,
        Vhat=found.Vhat,
        qhat=found.qhat,
        rhat=found.rhat,
        train_loss=train,
        test_error=float(shares @ errors),
        cluster_losses=losses,
        cluster_errors=errors,
        squared_norm=np.diag(norms),
        energy=problem.alpha * train + 0.5 * float(np.sum(problem.ridge * norms)),
        residual=solution.residual,
        iterations=solution.iterations,
        converged=solution.converged,
    )
