"""The saddle point of K classes with matrix overlaps: the search of softmax regression, and the choice of a solver."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from theory.core import Array, Count, Positive, checked
from theory.glm.continuation import ridges
from theory.glm.multiclass.channel import contrasts
from theory.glm.multiclass.coordinates import Logarithmic, is_exhausted, polished
from theory.glm.multiclass.equations import Classes
from theory.glm.multiclass.nodes import PER_AXIS, gaussian_nodes, pilot_nodes
from theory.glm.multiclass.rules import best_rule
from theory.glm.multiclass.saddle_point import MulticlassSaddlePoint, observables
from theory.glm.multiclass.square import solve_square
from theory.glm.multiclass.two import solve_two
from theory.models.glm import MulticlassMixture
from theory.numerics import Solution, first_solved, follow, require_stable, search, verified
from theory.numerics.search import Found
from theory.numerics.steps import relative_gap

PILOT_TOL = 1e-6  # of the search on few points: their quadrature is less accurate
SHARP_TOLERANCE_SHARE = 0.01  # of the tolerance, where that is not enough for V and q themselves
SEARCH_TOLERANCE_SHARE = 0.1  # of the tolerance, in the logarithmic coordinates of the search
ADVICE = "raise max_iter, or take a less extreme alpha or lam"
ADVICE_EXTREME = (
    "softmax took too long: the means are too far apart, or alpha or lam too extreme; take less extreme ones"
)


@checked
def solve_multiclass(
    model: MulticlassMixture, *, tol: Positive = 1e-10, max_iter: Count = 500, check: bool = True
) -> MulticlassSaddlePoint:
    """Solve the saddle-point equations of a `MulticlassMixture` (arXiv:2106.03791) and return all observables.

    Square loss is solved in closed form but for one scalar V for each covariance; softmax of two classes is the
    logistic loss, and solved as such. Softmax of more is searched for in the matrix logarithms of V and q, from a cold
    start and, failing that, by continuation in lam from lam = 10 down. From five classes on this search runs on few
    nodes; it is finished with those of the rule that is the most accurate at its end, and classes that are all alike
    need the averages of one. Then `residual` is that of the full equations,
    max |update(x) - x|/(1 + |x|) over the entries of V, q, r and the bias at the point returned. `max_iter` bounds the
    evaluations of the cold start, and `MOST_WORK` all work, since the proximal operators of softmax converge slowly
    where means are about a hundred standard deviations apart. ConvergenceError where no point with a residual within
    `tol` is found; with check=False the best point is returned as not converged.
    """
    if model.loss == "softmax" and model.n_classes == 2:
        return solve_two(model, tol, max_iter, check)
    if model.loss == "square":
        classes = Classes(model, np.eye(model.n_classes))
        x, evaluations = solve_square(classes, tol, max_iter)
    else:
        classes, x, evaluations = _solved_softmax(model, tol, max_iter)
    with np.errstate(all="ignore"):
        residual = relative_gap(classes.image(x), x)
    admissible = not residual <= tol or classes.admissible(x)
    solution = Solution.judged(x, residual, tol, evaluations, admissible=admissible)
    name = f"saddle point of {model.n_classes} classes, {model.loss} loss, alpha={model.alpha:g}, lam={model.lam:g}"
    advice = ADVICE_EXTREME if is_exhausted(classes) else ADVICE
    point = observables(classes, verified(solution, name, check, advice))
    return require_stable(point, point.replicon, name, tol, check)


def _solved_softmax(model: MulticlassMixture, tol: float, max_iter: int) -> tuple[Classes, Array, int]:
    """Return the equations of softmax with the nodes of their averages, the point found, and the evaluations.

    In more than three dimensions the neighborhood of the solution is found on few Sobol points, and the rule is chosen
    there; from then on the search goes on with that rule.
    """
    basis, D = contrasts(model.n_classes), model.n_classes - 1
    if D in PER_AXIS:
        classes = Classes(model, basis, gaussian_nodes(D), "product")
        return classes, *_searched(classes, tol, max_iter)
    pilot = Classes(model, basis, pilot_nodes(D))
    x, evaluations = _searched(pilot, max(tol, PILOT_TOL), max_iter)
    rule = best_rule(pilot, x)
    classes = Classes(model, basis, gaussian_nodes(D, rule), rule)
    update = Logarithmic(classes)
    found, residual = polished(update, update.pack(x), SEARCH_TOLERANCE_SHARE * tol)
    if residual > tol:
        found, _ = search(update, found, tol, max_iter, SEARCH_TOLERANCE_SHARE * tol)
    return classes, _sharpened(update, update.unpack(found), tol), evaluations + update.evaluations


def _searched(classes: Classes, tol: float, max_iter: int) -> tuple[Array, int]:
    update = Logarithmic(classes)
    point, _ = first_solved(_attempts(update, tol, max_iter), tol)
    return _sharpened(update, update.unpack(point), tol), update.evaluations


def _sharpened(update: Logarithmic, x: Array, tol: float) -> Array:
    """Return a point whose residual in logarithmic coordinates is within `tol` as one for which its own is, if found.

    The residual of V and q themselves may be several times that of their logarithms.
    """
    with np.errstate(all="ignore"):
        y = update.pack(x)
        near = relative_gap(update(y), y) <= tol < relative_gap(update.classes.image(x), x)
    return update.unpack(polished(update, y, SHARP_TOLERANCE_SHARE * tol)[0]) if near else x


def _attempts(update: Logarithmic, tol: float, max_iter: int) -> Iterator[Callable[[], Found]]:
    yield lambda: search(update, update.pack(update.classes.start()), tol, max_iter, SEARCH_TOLERANCE_SHARE * tol)
    if update.evaluations < max_iter and ridges(update.classes.model):
        yield partial(_along_ridges, update, tol)


def _along_ridges(update: Logarithmic, tol: float) -> Found:
    classes = update.classes

    def at(model: MulticlassMixture, guess: Array | None) -> Found:
        step = Logarithmic(Classes(model, classes.basis, classes.nodes, classes.rule, classes.progress))
        found = search(
            step, step.pack(step.classes.start()) if guess is None else guess, tol, 200, SEARCH_TOLERANCE_SHARE * tol
        )
        update.evaluations += step.evaluations
        return found

    return follow(ridges(classes.model), at)
