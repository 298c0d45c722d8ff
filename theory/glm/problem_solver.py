"""The replica-symmetric saddle point of a problem with labels +-1 or real ones."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from theory.core import Array, Count, Positive, checked
from theory.glm.channel import all_shapes, channel
from theory.glm.continuation import EASY_RIDGE, like_ridge, ridges, samples
from theory.glm.coordinates import Coordinates
from theory.glm.equations import Equations, polished, require_weights
from theory.glm.lasso import calibrated_lasso
from theory.glm.losses import HardMargin, loss_of
from theory.glm.observables import observables
from theory.glm.overlaps import Overlaps
from theory.glm.own_losses import OwnLoss, examined
from theory.glm.ridge import has_closed_form, ridge_regression
from theory.glm.saddle_point import SaddlePoint
from theory.glm.separability import problem_threshold
from theory.glm.zero_weights import zero_weights
from theory.models.glm import GeneralizedLinearModel
from theory.numerics import (
    ConvergenceError,
    Solution,
    first_solved,
    follow,
    newton,
    refuse_unstable,
    require_stable,
    search,
    verified,
)
from theory.numerics.search import Found
from theory.numerics.steps import relative_gap

EVALUATIONS_RATIO = 4  # times max_iter: evaluations after which a continuation is given up
# A share of the tolerance, in the coordinates of the search, which are not those in which a point is judged.
SEARCH_TOLERANCE_SHARE = 0.1
SEPARABLE = "a hard margin exists only where a hyperplane separates the labels: take a smaller alpha"
NEAR_EVALUATIONS = 30  # of the equations, after which a search from a near start has run away from it
END_EVALUATIONS = 300  # of the equations, from each of the other ends
ROUGH, SAME_BASIN = 1e-4, 1e-2  # a residual, and how near to a known point a search with it has found the same one
DISTINCT = 1e-6  # relative difference of V between two saddle points
KINK_EVALUATIONS = 100  # of the equations, once kinks are sought too
AVERAGE_RESOLUTION = 1e-7  # largest relative difference of averages that a loss of one's own has on two routes
ROUNDING = 1e-13
ADVICE_UNRESOLVED = (
    "either the kinks of the loss are not all declared (`kinks` of a ConvexMargin, `breakpoints` of another loss) and "
    "lie too near to each other to be found, or its prox is not exact"
)
ADVICE_UNDETERMINED = "all samples exert the same force, whatever the bias is: take a smaller lam, or bias=False"
MARGINS = "near lam -> 0 on separable data use hard_margin; otherwise take a less extreme alpha or lam"
ADVICE = "take a less extreme alpha or lam, or a larger tol or max_iter"


@checked
def solve_problem(
    problem: GeneralizedLinearModel,
    *,
    start: SaddlePoint | None = None,
    tol: Positive = 1e-11,
    max_iter: Count = 2000,
    check: bool = True,
    threshold: float | None = None,
) -> SaddlePoint:
    """Solve the saddle-point equations of one problem and verify the point that is returned.

    The residual in (log V, log q, r) is within `tol`, and all inequalities hold. The search begins at `start` (a
    neighboring problem's point), else at the closed form of ridge regression or a cold start: damped steps, Anderson
    acceleration and Newton from the best point. A lasso that has a calibrated form is solved in it. Failing these,
    continuation in lam and in alpha is tried, which begins only before `max_iter` evaluations of the equations. With a
    loss that is not convex at the point that was found, the search is made from small and large weights and from those
    of a teacher too, and the point of least energy is returned. The averages of a loss of one's own are verified on
    finer panels and by parts: where these differ, kinks are sought and its slope is ignored. ConvergenceError where all
    fail, and ReplicaSymmetryError where the point is unstable; with check=False the best point is returned. ValueError
    for a hard margin above the separability `threshold`, which is computed where it is not given. A convex loss of
    one's own that is least at margin 0 leaves no weights: w = 0 is the answer then, and proved (`ZeroWeights`).
    """
    if (lasso := calibrated_lasso(problem, f"saddle point of {_described(problem)}", tol, check)) is not None:
        return lasso
    if (zero := zero_weights(problem, tol, f"saddle point of {_described(problem)}", check)) is not None:
        return zero
    threshold = _threshold(problem) if threshold is None else threshold
    update = Equations(problem)
    if start is not None and len(start.bias) == problem.n_learners:
        update.bias = start.bias
    require_weights(update)
    first = _start(problem, start)
    if not _gap_of_routes(update, update.coordinates.unpack(first)) <= AVERAGE_RESOLUTION:
        update.seek_kinks()
    x, residual = first_solved(_attempts(update, first, start, tol, max_iter, threshold), tol)
    solution = polished(update, x, residual, tol)
    if solution.converged and not _gap_of_routes(update, solution.value) <= AVERAGE_RESOLUTION and update.seek_kinks():
        x, residual = search(update, x, tol, update.evaluations + KINK_EVALUATIONS, SEARCH_TOLERANCE_SHARE * tol)
        solution = polished(update, x, residual, tol)
    solution = _least(update, solution, tol)
    advice = SEPARABLE if isinstance(update.loss, HardMargin) else _advice(problem)
    name = f"saddle point of {_described(problem)}"
    point = observables(update, verified(solution, name, check, advice))
    if point.converged:
        point = _verified_routes(update, point, name, check)
    if point.converged:
        point = _with_a_bias(point, name, tol, check)
    if check and point.jumps:
        _refuse_jumps(point, name, tol)
    return require_stable(point, point.replicon, name, tol, check)


def _least(update: Equations, solution: Solution[Overlaps], tol: float) -> Solution[Overlaps]:
    """Return the solution of least energy of all that are found from other ends, if the loss is not convex at this one.

    The saddle point of a convex loss is the only one.
    """
    at = solution.value
    if not (
        solution.converged and any(shape.steep for shape in all_shapes(update.problem, update.loss, at, update.bias))
    ):
        return solution
    found = [solution]
    for end in _ends(update.problem):
        x, residual = search(update, end, tol, update.evaluations + END_EVALUATIONS, SEARCH_TOLERANCE_SHARE * tol)
        other = polished(update, x, residual, tol)
        if other.converged and all(relative_gap(other.value.V, one.value.V) > DISTINCT for one in found):
            found.append(other)
    return found[0] if len(found) == 1 else min(found, key=lambda one: observables(update, one).energy)


def _ends(problem: GeneralizedLinearModel) -> list[Array]:
    """Return starts, in `Coordinates`: with small weights, with large ones, and with those near a teacher's."""
    C, A = problem.modes.n_covariances, problem.modes.n_signals
    ends = ((0.01, 0.01, 0.01), (100.0, 100.0, 0.01), (0.05, 1.0, 2.0))
    return [np.concatenate((np.full(C, np.log(V)), np.full(C, np.log(q)), np.full(A, u))) for V, q, u in ends]


def _gap_of_routes(update: Equations, at: Overlaps) -> float:
    """Return by how much the averages of an own loss differ on panels of half the width, and by parts.

    It is relative, and zero for a built-in loss. A slope that is not that of the prox would lead to the solution of
    other equations, and kinks that are not known to one of a wrong quadrature.
    """
    if not isinstance(update.loss, OwnLoss):
        return 0.0
    fixed = replace(update.problem, bias=False)
    with np.errstate(all="ignore"):
        first, second = (channel(fixed, loss, at, update.bias) for loss in (update.loss, update.loss.other_route()))
    # A response by parts has the rounding of forces, divided by the width of the field.
    rounding = ROUNDING * np.sqrt(update.problem.alpha * second.qhat / at.q)
    responses = np.maximum(abs(first.Vhat - second.Vhat) - rounding, 0.0)
    return max(
        float(np.max(responses)) / max(float(np.max(abs(second.Vhat))), 1e-300),
        float(np.max(abs(first.qhat - second.qhat))) / max(float(np.max(second.qhat)), 1e-300),
        float(np.max(abs(first.rhat - second.rhat), initial=0.0)) / max(float(np.sqrt(np.max(second.qhat))), 1e-300),
    )


def _verified_routes(update: Equations, point: SaddlePoint, name: str, check: bool) -> SaddlePoint:
    """Refuse averages that differ between two routes, or with check=False say that the point has not converged."""
    gap, what = _gap_of_routes(update, point.overlaps), f"averages of the loss {update.loss.name!r} at the {name}"
    Solution.verified(
        point, gap, AVERAGE_RESOLUTION, point.iterations or 0, what=what, advice=ADVICE_UNRESOLVED, check=check
    )
    return point if gap <= AVERAGE_RESOLUTION else replace(point, converged=False, residual=gap)


def _with_a_bias(point: SaddlePoint, name: str, tol: float, check: bool) -> SaddlePoint:
    """Refuse a point whose bias nothing decides, not even rare forces."""
    if not np.isneginf(point.bias_share).any():
        return point
    if check:
        raise ConvergenceError.of(
            f"bias of the {name}", point, np.inf, tol, point.iterations, advice=ADVICE_UNDETERMINED
        )
    return replace(point, converged=False)


def _refuse_jumps(point: SaddlePoint, name: str, tol: float) -> None:
    jump = max(point.jumps, key=lambda jump: jump.above - jump.below)
    refuse_unstable(
        point,
        point.replicon,
        f"{name}: the loss is not convex at V = {jump.response:.6g}, where its proximal operator jumps at "
        f"t = {jump.t:.6g} from {jump.below:.6g} to {jump.above:.6g}",
        tol,
        "the training has many far minima, and the losses and errors of this point are not theirs: take a larger lam "
        "or fewer samples, or with check=False the point itself, whose `energy_bound` is a lower bound of the energy",
    )


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
    update: Equations, first: Array, start: SaddlePoint | None, tol: float, max_iter: int, threshold: float
) -> Iterator[Callable[[], Found]]:
    """Yield what is tried in turn: the given start, a cold one, and two continuations while evaluations are left."""
    problem = update.problem
    if isinstance(update.loss, OwnLoss) and not update.loss.convex and problem.bias:
        # No path leads from a place at which no bias balances the forces.
        for x in (first, _start(problem, None), *_ends(problem)):
            if np.isfinite(update(x)).all():
                yield partial(
                    search, update, x, tol, update.evaluations + END_EVALUATIONS, SEARCH_TOLERANCE_SHARE * tol
                )
            else:
                yield partial(_unsolved, x)
        return
    if problem.penalty is not None:  # mixed steps of a thresholded map may run away where Newton's do not
        yield lambda: search(update, first, tol, update.evaluations + NEAR_EVALUATIONS, SEARCH_TOLERANCE_SHARE * tol)
        yield lambda: newton(update, first, SEARCH_TOLERANCE_SHARE * tol)
        yield partial(_along, ridges(problem), update, tol, EVALUATIONS_RATIO * max_iter)
    yield lambda: search(update, first, tol, max(1, max_iter // 2), SEARCH_TOLERANCE_SHARE * tol)
    if start is not None:
        yield lambda: search(update, _start(problem, None), tol, max_iter, SEARCH_TOLERANCE_SHARE * tol)
    if isinstance(update.loss, OwnLoss) and not update.loss.convex:
        for end in _ends(problem):
            yield partial(search, update, end, tol, update.evaluations + END_EVALUATIONS, SEARCH_TOLERANCE_SHARE * tol)
    budget = EVALUATIONS_RATIO * max_iter
    # The ridge of a hard margin only scales V: no other ridge is easier.
    if update.evaluations < max_iter and not isinstance(update.loss, HardMargin) and (path := ridges(problem)):
        yield partial(_along, path, update, tol, budget)
    if update.evaluations < max_iter and (path := samples(problem, threshold)):
        yield partial(_along, path, update, tol, budget)


def _unsolved(x: Array) -> Found:
    return x, np.inf


def _advice(problem: GeneralizedLinearModel) -> str:
    """Return the advice for a search that failed: a hard margin is the limit of logistic and hinge loss only."""
    loss = examined(loss_of(problem.loss))
    if isinstance(loss, OwnLoss) and not loss.convex and problem.bias:
        return f"{ADVICE}; with a loss that is not convex no bias may balance the forces: bias=False"
    return MARGINS if loss.name in ("logistic", "hinge") else ADVICE


def _described(problem: GeneralizedLinearModel) -> str:
    name, clusters = loss_of(problem.loss).name, len(problem.clusters)
    penalty = f"lam={problem.lam:g}" if problem.penalty is None else f"penalty={problem.penalty!r}"
    return f"{name} loss, alpha={problem.alpha:g}, {penalty}, {clusters} cluster(s)"


def _start(problem: GeneralizedLinearModel, near: SaddlePoint | None) -> Array:
    C, A = problem.modes.n_covariances, problem.modes.n_signals
    if near is not None and (len(near.V), len(near.r)) == (C, A):
        return Coordinates(problem).pack(near.overlaps)
    if problem.penalty is not None:  # a thresholded map runs away from far starts, where the ridge's does not
        easy = like_ridge(problem)
        if has_closed_form(easy):
            return _start(easy, None)
        return _start(easy, solve_problem(replace(easy, lam=EASY_RIDGE), check=False))
    if has_closed_form(problem):
        ridge = ridge_regression(problem)
        if ridge.V > 0 and ridge.q > 0:
            at = Overlaps(np.array([ridge.V]), np.array([ridge.q]), np.array([ridge.r]))
            return Coordinates(problem).pack(at)
    return Coordinates(problem).pack(Overlaps(np.ones(C), np.full(C, 0.5), np.full(A, 0.01)))


def _along(path: Sequence[tuple[float, GeneralizedLinearModel]], update: Equations, tol: float, budget: int) -> Found:
    """Continue along a path of problems to that of `update`; it ends when the budget of evaluations is spent."""

    def at(problem: GeneralizedLinearModel, guess: Array | None) -> Found:
        step = Equations(problem)
        step.bias = update.bias if guess is not None else step.bias
        start = _start(problem, None) if guess is None else guess
        if update.evaluations > budget:
            return start, np.inf
        found = start, np.inf
        if problem.penalty is not None:
            found = newton(step, start, SEARCH_TOLERANCE_SHARE * tol)
        if not found[1] <= tol:
            found = search(step, start, tol, 400, SEARCH_TOLERANCE_SHARE * tol)
        update.evaluations += step.evaluations
        update.bias = step.bias
        return found

    return follow(path, at)
