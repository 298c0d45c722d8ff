"""The saddle point of K classes with matrix overlaps.

Square loss needs one scalar equation for each covariance and linear ones for all the rest. Softmax of two classes is
the logistic loss of the difference of the two outputs, and softmax of more classes is searched for.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from theory.core import Array, Count, Positive, checked
from theory.glm.continuation import ridges
from theory.glm.fresh_loss import fresh_loss
from theory.glm.multiclass.channel import contrasts
from theory.glm.multiclass.coordinates import Logarithmic, is_exhausted, polished
from theory.glm.multiclass.equations import Classes
from theory.glm.multiclass.nodes import PER_AXIS, PILOT_PER_AXIS, gaussian_nodes, pilot_nodes, product_nodes
from theory.glm.multiclass.rules import with_best_rule
from theory.glm.multiclass.saddle_point import MulticlassSaddlePoint, observables
from theory.glm.problem_solver import solve_problem
from theory.glm.systems import as_problem
from theory.models.glm import GaussianMixture, MulticlassMixture
from theory.numerics import Solution, first_solved, follow, require_stable, search, solve_fixed_point, verified
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
    model: MulticlassMixture,
    *,
    start: Array | None = None,
    tol: Positive = 1e-10,
    max_iter: Count = 500,
    check: bool = True,
) -> MulticlassSaddlePoint:
    """Solve the saddle-point equations of a `MulticlassMixture` (arXiv:2106.03791) and return all observables.

    Square loss is solved in closed form but for one scalar V for each covariance; softmax of two classes is the
    logistic loss, and solved as such. Softmax of more is searched for in the matrix logarithms of V and q, from `start`
    if it is given, a point of `Classes` in contrasts, from a cold start and, failing that, by continuation in lam from
    lam = 10 down. This search runs on few nodes, coarser products of three and four classes, whose point is verified,
    and moved where need be, with the full product. From five on it is finished with those of the rule that is the most
    accurate at its end, and classes that are all alike
    need the averages of one. Then `residual` is that of the full equations,
    max |update(x) - x|/(1 + |x|) over the entries of V, q, r and the bias at the point returned. `max_iter` bounds the
    evaluations of the cold start, and `MOST_WORK` all work, since the proximal operators of softmax converge slowly
    where means are about a hundred standard deviations apart. ConvergenceError where no point with a residual within
    `tol` is found; with check=False the best point is returned as not converged.
    """
    if model.loss == "softmax" and model.n_classes == 2:
        return _solved_two(model, tol, max_iter, check)
    if model.loss == "square":
        classes = Classes(model, np.eye(model.n_classes))
        x, evaluations = _solved_square(classes, tol, max_iter)
    else:
        classes, x, evaluations = _solved_softmax(model, tol, max_iter, start)
    with np.errstate(all="ignore"):
        residual = relative_gap(classes.image(x), x)
    admissible = not residual <= tol or classes.admissible(x)
    solution = Solution.judged(x, residual, tol, evaluations, admissible=admissible)
    name = f"saddle point of {model.n_classes} classes, {model.loss} loss, alpha={model.alpha:g}, lam={model.lam:g}"
    too_extreme = is_exhausted(classes) or classes.progress.coarser_exhausted
    advice = ADVICE_EXTREME if too_extreme else ADVICE
    point = observables(classes, verified(solution, name, check, advice))
    return require_stable(point, point.replicon, name, tol, check)


def _solved_square(classes: Classes, tol: float, max_iter: int) -> tuple[Array, int]:
    """Return the solved point of `Classes` with square loss, and the evaluations of its scalar equations.

    Outputs do not interact: V_c and Vhat_c = alpha p_c/(1 + V_c) are multiples of the identity, p_c the share of the
    clusters of covariance c, and V alone solves V_c = sum_m w om_c G with G = 1/(lam + sum_c Vhat_c om_c) in mode m.
    Given V, with D = diag(alpha p_k/(1 + V_k)) over clusters and T = sum_m G gram (K, K), the forces are
    rhat = (1 - b 1^T) S with S = (D^-1 + T)^-1, the bias b = S 1/(1^T S 1) balances them, and r = rhat T. The rest q
    solves linear equations over the covariances.
    """
    model, own = classes.model, classes.own
    modes, K, C = model.modes, model.n_classes, classes.C
    om, w = modes.covariances, modes.weights
    shares = model.alpha * np.array(model.probabilities)
    totals = np.bincount(own, weights=shares, minlength=C)

    def resolvent(log_V: Array) -> Array:
        return np.asarray(1 / (model.lam + (totals / (1 + np.exp(log_V))) @ om))

    def update(log_V: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(np.log(om @ (w * resolvent(log_V))))

    # The map of log V rises, with a slope below 1 everywhere: its fixed point is the only one.
    solution = solve_fixed_point(
        update, np.log(om @ w / model.lam), method="newton", tol=1e-3 * tol, max_iter=max_iter, check=False
    )
    V, G = np.exp(solution.value), resolvent(solution.value)
    T = modes.gram @ G
    S = np.linalg.inv(np.diag((1 + V[own]) / shares) + T)
    b = S.sum(axis=1) / S.sum() if model.bias else np.zeros(K)
    rhat = S - np.outer(b, S.sum(axis=0))
    r = rhat @ T
    pull = np.einsum("cm,ik,klm,jl->cij", om * G**2, rhat, modes.gram, rhat)
    transfer = (om * (w * G**2)) @ om.T  # of qhat to q
    rates = np.array([np.outer(rhat[:, k], rhat[:, k]) / shares[k] for k in range(K)])
    source = np.stack([rates[[k for k in range(K) if own[k] == c]].sum(axis=0) for c in range(C)])
    known = pull + np.einsum("cd,dij->cij", transfer, source)
    q = np.linalg.solve(np.eye(C) - transfer * (totals / (1 + V) ** 2), known.reshape(C, -1)).reshape(C, K, K)
    wide = V[:, None, None] * np.eye(K)
    return np.concatenate((wide.ravel(), q.ravel(), r.ravel(), b)), solution.iterations


def _solved_two(model: MulticlassMixture, tol: float, max_iter: int, check: bool) -> MulticlassSaddlePoint:
    """Solve softmax of two classes as the logistic loss of w = w_1 - w_2, at the ridge lam/2.

    At the minimum the rows of the weights are w_1 = -w_2 = w/2, so that |W|^2 = |w|^2/2, and the outputs are +-h/2. A
    matrix over the outputs is a quarter of the binary number times (1, -1; -1, 1). V is a response to the ridge lam
    instead of lam/2, which takes the factor into account: the prox of h has the response 4 V_11.
    """
    binary = GaussianMixture(
        modes=model.modes,
        probabilities=model.probabilities,
        alpha=model.alpha,
        lam=model.lam / 2,
        loss="logistic",
        bias=model.bias,
    )
    point = solve_problem(as_problem(binary), tol=tol, max_iter=max_iter, check=check)
    sign = np.array([1.0, -1.0])
    matrix = np.outer(sign, sign) / 4
    return MulticlassSaddlePoint(
        model=model,
        V=point.V[:, None, None] * matrix,
        q=point.q[:, None, None] * matrix,
        r=np.outer(sign, point.r) / 2,
        bias=sign * point.bias[0] / 2,
        train_loss=point.train_loss,
        test_loss=fresh_loss(point),
        replicon=point.replicon,
        quadrature="panels",
        residual=point.residual,
        iterations=point.iterations,
        converged=point.converged,
    )


def _solved_softmax(
    model: MulticlassMixture, tol: float, max_iter: int, start: Array | None
) -> tuple[Classes, Array, int]:
    """Return the equations of softmax with the nodes of their averages, the point found, and the evaluations.

    In more than three dimensions the neighborhood of the solution is found on few Sobol points, and the rule is chosen
    there; from then on the search goes on with that rule.
    """
    basis, D = contrasts(model.n_classes), model.n_classes - 1
    if D in PER_AXIS:
        classes = Classes(model, basis, gaussian_nodes(D), "product")
        return classes, *_solved_by_products(classes, tol, max_iter, start)
    pilot = Classes(model, basis, pilot_nodes(D))
    x, evaluations = _searched(pilot, max(tol, PILOT_TOL), max_iter, start)
    classes = with_best_rule(pilot, x)
    update = Logarithmic(classes)
    found, residual = polished(update, update.pack(x), SEARCH_TOLERANCE_SHARE * tol)
    if residual > tol:
        found, _ = search(update, found, tol, max_iter, SEARCH_TOLERANCE_SHARE * tol)
    return classes, _sharpened(update, update.unpack(found), tol), evaluations + update.evaluations


def _solved_by_products(classes: Classes, tol: float, max_iter: int, start: Array | None) -> tuple[Array, int]:
    """Return the point that solves the equations with the nodes of `classes`, found on coarser products first.

    A smooth problem is solved as well by fewer nodes: those at hand are then needed to verify it, once. If they do not,
    the search goes on with more nodes, and where the coarser ones fail it begins with those at hand.
    """
    first, second = (
        Classes(classes.model, classes.basis, product_nodes(classes.D, per_axis), "product")
        for per_axis in PILOT_PER_AXIS[classes.D]
    )
    enough = max(tol, PILOT_TOL)
    x, evaluations = _searched(first, enough, max_iter, start)
    with np.errstate(all="ignore"):
        if not relative_gap(first.image(x), x) <= enough:
            found = _searched(classes, tol, max_iter, start)
            classes.progress.coarser_exhausted = is_exhausted(first)
            return found
        for finer in (second, classes):
            if relative_gap(finer.image(x), x) <= tol:
                continue
            update = Logarithmic(finer)
            near, _ = polished(update, update.pack(x), SEARCH_TOLERANCE_SHARE * tol)
            x, evaluations = _sharpened(update, update.unpack(near), tol), evaluations + update.evaluations
        solved = relative_gap(classes.image(x), x) <= tol
    return (x, evaluations) if solved else _searched(classes, tol, max_iter, start)


def _searched(classes: Classes, tol: float, max_iter: int, start: Array | None) -> tuple[Array, int]:
    update = Logarithmic(classes)
    point, _ = first_solved(_attempts(update, tol, max_iter, start), tol)
    return _sharpened(update, update.unpack(point), tol), update.evaluations


def _sharpened(update: Logarithmic, x: Array, tol: float) -> Array:
    """Return a point whose residual in logarithmic coordinates is within `tol` as one for which its own is, if found.

    The residual of V and q themselves may be several times that of their logarithms.
    """
    with np.errstate(all="ignore"):
        if not relative_gap(update.classes.image(x), x) > tol:
            return x
        y = update.pack(x)
        near = relative_gap(update(y), y) <= tol
    return update.unpack(polished(update, y, SHARP_TOLERANCE_SHARE * tol)[0]) if near else x


def _attempts(update: Logarithmic, tol: float, max_iter: int, start: Array | None) -> Iterator[Callable[[], Found]]:
    if start is not None:
        yield lambda: polished(update, update.pack(start), SEARCH_TOLERANCE_SHARE * tol)
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
