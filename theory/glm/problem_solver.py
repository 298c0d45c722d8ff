"""The replica-symmetric saddle point of a problem with labels +-1 or real ones."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from theory.core import checks
from theory.core.arrays import Array
from theory.glm.channel import channel, losses_and_errors, squared_slopes
from theory.glm.continuation import ridges, samples
from theory.glm.coordinates import Coordinates
from theory.glm.losses import HardMargin, loss_of
from theory.glm.overlaps import Conjugates, Overlaps
from theory.glm.prior import prior, weight_responses
from theory.glm.ridge import has_closed_form, ridge_regression
from theory.glm.saddle_point import SaddlePoint
from theory.glm.separability import problem_threshold
from theory.models.glm import GeneralizedLinearModel
from theory.numerics import Counted, Solution, first_solved, follow, newton, require_stable, search, verified
from theory.numerics.search import Found

if TYPE_CHECKING:
    from theory.numerics.solution import Status

RANGE = 100.0  # of the logarithms of V and q
LONGEST = 4  # times max_iter: evaluations after which a continuation is given up
AIM = 0.1  # of the tolerance in the coordinates of the search, which are not those in which a point is judged
SEPARABLE = "a hard margin exists only where a hyperplane separates the labels: take a smaller alpha"
ADVICE = "near lam -> 0 on separable data use hard_margin; otherwise take a less extreme alpha or lam"


def solve_problem(
    problem: GeneralizedLinearModel,
    *,
    start: SaddlePoint | None = None,
    tol: float = 1e-11,
    max_iter: int = 2000,
    check: bool = True,
) -> SaddlePoint:
    """Solve the saddle-point equations of one problem and verify the point that is returned.

    The residual in (log V, log q, r) is within `tol`, and all inequalities hold. The search begins at `start` (a
    neighboring problem's point), else at the closed form of ridge regression or a cold start: damped steps, Anderson
    acceleration and Newton from the best point. Failing these, continuation in lam and in alpha is tried, which begins
    only before `max_iter` evaluations of the equations. ConvergenceError where all fail, and ReplicaSymmetryError where
    the point is unstable; with check=False the best point is returned. ValueError for a hard margin above the
    separability threshold.
    """
    checks.positive("tol", tol)
    checks.dimension(max_iter, name="max_iter")
    threshold = _threshold(problem)
    update = _Equations(problem)
    if start is not None and len(start.bias) == problem.n_learners:
        update.bias = start.bias
    x, residual = first_solved(_attempts(update, start, tol, max_iter, threshold), tol)
    solution = _judged(update, x, tol)
    if not solution.converged and residual < 1e3 * tol:
        # The residual is small in the coordinates of the search, but not yet in the overlaps.
        solution = _judged(update, newton(update, x, 1e-4 * tol)[0], tol)
    advice = SEPARABLE if isinstance(update.loss, HardMargin) else ADVICE
    name = f"saddle point of {_described(problem)}"
    point = _observables(update, verified(solution, name, check, advice))
    return require_stable(point, point.replicon, name, tol, check)


def _threshold(problem: GeneralizedLinearModel) -> float:
    """Return the sample ratio up to which there is a solution; infinite where there always is one, or it is not known.

    A hard margin exists only where a hyperplane separates the samples: ValueError above that threshold.
    """
    if not isinstance(loss_of(problem.loss), HardMargin):
        return np.inf
    threshold = problem_threshold(problem)
    if threshold is not None and problem.alpha >= threshold:
        raise ValueError(
            f"alpha must lie below {threshold:.6g} for loss='hard_margin', got {problem.alpha:.6g}: beyond this "
            "threshold no hyperplane separates the labels"
        )
    return np.inf if threshold is None else threshold


def _attempts(
    update: "_Equations", start: SaddlePoint | None, tol: float, max_iter: int, threshold: float
) -> Iterator[Callable[[], Found]]:
    """Yield what is tried in turn: the given start, a cold one, and two continuations while evaluations are left."""
    problem = update.problem
    yield lambda: search(update, _start(problem, start), tol, max(1, max_iter // 2), AIM * tol)
    if start is not None:
        yield lambda: search(update, _start(problem, None), tol, max_iter, AIM * tol)
    budget = LONGEST * max_iter
    # The ridge of a hard margin only scales V: no other ridge is easier.
    if update.evaluations < max_iter and not isinstance(update.loss, HardMargin) and (path := ridges(problem)):
        yield partial(_along, path, update, tol, budget)
    if update.evaluations < max_iter and (path := samples(problem, threshold)):
        yield partial(_along, path, update, tol, budget)


class _Equations(Counted):
    """The map from x, in `Coordinates`, to its image. It remembers the bias, where the next search for it starts."""

    def __init__(self, problem: GeneralizedLinearModel) -> None:
        super().__init__(self._packed, self._in_range)
        self.problem, self.loss, self.coordinates = problem, loss_of(problem.loss), Coordinates(problem)
        self.bias = np.zeros(problem.n_learners)

    def conjugates(self, at: Overlaps) -> Conjugates:
        found = channel(self.problem, self.loss, at, self.bias)
        if np.isfinite(found.bias).all():
            self.bias = found.bias
        return found

    def image(self, at: Overlaps) -> Overlaps:
        with np.errstate(all="ignore"):
            found = self.conjugates(at)
            return prior(self.problem, found.Vhat, found.qhat, found.rhat)[0]

    def _packed(self, x: Array) -> Array:
        with np.errstate(all="ignore"):
            return self.coordinates.pack(self.image(self.coordinates.unpack(x)))

    def _in_range(self, x: Array) -> bool:
        """Tell whether x lies in a finite range; positivity and the bounds on r hold by construction."""
        return bool(np.isfinite(x).all() and np.max(abs(x)) < RANGE)


def _judged(update: _Equations, x: Array, tol: float) -> Solution[Overlaps]:
    """Judge a point by its residual in log V, log q and r, whatever the coordinates of the search."""
    at = update.coordinates.unpack(x)
    image = update.image(at)
    update.evaluations += 1
    with np.errstate(all="ignore"):
        gaps = (np.log(image.V / at.V), np.log(image.q / at.q), image.r - at.r)
        sizes = (1 + abs(np.log(at.V)), 1 + abs(np.log(at.q)), 1 + abs(at.r))
    residual = float(np.max(abs(np.concatenate(gaps)) / np.concatenate(sizes)))
    status: Status = "converged" if residual <= tol else "max_iter" if np.isfinite(residual) else "diverged"
    return Solution(at, status, residual, tol, update.evaluations)


def _described(problem: GeneralizedLinearModel) -> str:
    name, clusters = loss_of(problem.loss).name, len(problem.clusters)
    return f"{name} loss, alpha={problem.alpha:g}, lam={problem.lam:g}, {clusters} cluster(s)"


def _start(problem: GeneralizedLinearModel, near: SaddlePoint | None) -> Array:
    C, A = problem.modes.n_covariances, problem.modes.n_signals
    if near is not None and (len(near.V), len(near.r)) == (C, A):
        return Coordinates(problem).pack(near.overlaps)
    if has_closed_form(problem):
        ridge = ridge_regression(problem)
        if ridge.V > 0 and ridge.q > 0:
            at = Overlaps(np.array([ridge.V]), np.array([ridge.q]), np.array([ridge.r]))
            return Coordinates(problem).pack(at)
    return Coordinates(problem).pack(Overlaps(np.ones(C), np.full(C, 0.5), np.full(A, 0.01)))


def _along(path: Sequence[tuple[float, GeneralizedLinearModel]], update: _Equations, tol: float, budget: int) -> Found:
    """Continue along a path of problems to that of `update`; it ends when the budget of evaluations is spent."""

    def at(problem: GeneralizedLinearModel, guess: Array | None) -> Found:
        step = _Equations(problem)
        step.bias = update.bias if guess is not None else step.bias
        start = _start(problem, None) if guess is None else guess
        if update.evaluations > budget:
            return start, np.inf
        found = search(step, start, tol, 400, AIM * tol)
        update.evaluations += step.evaluations
        update.bias = step.bias
        return found

    return follow(path, at)


def _observables(update: _Equations, solution: Solution[Overlaps]) -> SaddlePoint:
    problem, at = update.problem, solution.value
    found = update.conjugates(at)
    _, norms = prior(problem, found.Vhat, found.qhat, found.rhat)
    losses, errors = losses_and_errors(problem, update.loss, at, found.bias)
    shares = np.array([cluster.probability for cluster in problem.clusters])
    train = float(shares @ losses)
    growth = weight_responses(problem, found.Vhat) * squared_slopes(problem, update.loss, at, found.bias)
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
        replicon=1 - float(np.linalg.eigvals(growth).real.max()) if np.isfinite(growth).all() else np.nan,
        residual=solution.residual,
        iterations=solution.iterations,
        converged=solution.converged,
    )
