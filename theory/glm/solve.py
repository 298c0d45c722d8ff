"""The replica-symmetric saddle point of a generalized linear model."""

from dataclasses import dataclass, field, replace

import numpy as np

from theory.glm.channel import Conjugates, Overlaps, channel
from theory.glm.losses import loss_of
from theory.glm.prior import prior
from theory.models.glm import GeneralizedLinearModel
from theory.models.glm.modes import Array
from theory.numerics import Solution, solve_fixed_point, verified

LARGEST_STEP = 3.0  # of a mixed proposal in the logarithms
MEMORY = 6


@dataclass(frozen=True, eq=False)
class SaddlePoint:
    """Overlaps, conjugates and observables. `V`, `q` one per covariance, `r` one per signal, `bias` one per learner.

    `train_loss` is the mean loss of a training sample without the ridge; `test_error` is E (y - h)^2 with label noise
    for linear labels, P(y h < 0) otherwise; `cluster_errors` and `cluster_losses` are within each cluster. `energy` =
    alpha train_loss + (1/2) tr ridge W, per parameter, with W the Gram matrix of the weights, `squared_norm` its
    diagonal |w_l|^2/p. `residual` is that of the saddle-point equations in log V, log q, r.
    """

    problem: GeneralizedLinearModel = field(repr=False)
    V: Array
    q: Array
    r: Array
    bias: Array
    Vhat: Array
    qhat: Array
    rhat: Array
    train_loss: float
    test_error: float
    cluster_losses: Array
    cluster_errors: Array
    squared_norm: Array
    energy: float
    residual: float
    iterations: int
    converged: bool

    @property
    def overlaps(self) -> Overlaps:
        """V, q and r together."""
        return Overlaps(self.V, self.q, self.r)


class _Map:
    """x = (log V, log q, r) to its image, remembering the bias, the number of evaluations and the best point."""

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
        at = self.overlaps(x)
        for cluster in self.problem.clusters:
            if cluster.teacher_signal is not None:
                r, q = at.r[cluster.teacher_signal], at.q[cluster.covariance]
                if not r * r <= q * cluster.teacher_variance * (1 + 1e-9):
                    return False
        return bool(np.isfinite(x).all() and np.max(abs(x[: 2 * len(at.V)])) < 100)


def solve_problem(
    problem: GeneralizedLinearModel,
    *,
    start: Array | None = None,
    tol: float = 1e-11,
    max_iter: int = 2000,
    check: bool = True,
) -> SaddlePoint:
    """The saddle point, verified at the point returned: residual within `tol` in (log V, log q, r) and admissible.

    Damped steps, Anderson acceleration, Newton from the best point and, failing these, continuation from a larger lam.
    `max_iter` counts evaluations of the map. ConvergenceError otherwise.
    """
    update = _Map(problem)
    x = _start(problem) if start is None else np.asarray(start, float)
    x, residual = _search(update, x, tol, max_iter // 2)
    if residual > tol:
        x, residual = _continued(problem, update, x, residual, tol, max_iter)
    final = solve_fixed_point(update, x, admissible=update.admissible, tol=tol, max_iter=1, method="plain", check=False)
    solution = verified(
        replace(final, iterations=update.evaluations),
        f"saddle point of {_described(problem)}",
        check,
        "near lam -> 0 on separable data use hard_margin; otherwise take a less extreme alpha or lam",
    )
    return _observables(update, solution)


def _described(problem: GeneralizedLinearModel) -> str:
    name, clusters = loss_of(problem.loss).name, len(problem.clusters)
    return f"{name} loss, alpha={problem.alpha:g}, lam={problem.lam:g}, {clusters} cluster(s)"


def _start(problem: GeneralizedLinearModel) -> Array:
    C, A = problem.modes.n_covariances, problem.modes.n_signals
    return np.concatenate((np.zeros(C), np.full(C, np.log(0.5)), np.full(A, 0.01)))


def _search(update: _Map, x: Array, tol: float, budget: int) -> tuple[Array, float]:
    """Anderson and Newton in turn until the tolerance, the budget or a standstill; the best point seen."""
    best, least = x, np.inf
    while update.evaluations < budget:
        x, residual = _anderson(update, best, tol)
        if residual < least:
            best, least = x, residual
        if least <= tol:
            break
        x, residual = _newton(update, best, tol)
        improved = residual < 0.5 * least
        if residual < least:
            best, least = x, residual
        if least <= tol or not improved:
            break
    return best, least


def _gap(update: _Map, x: Array) -> tuple[Array, float]:
    image = update(x)
    with np.errstate(invalid="ignore"):
        residual = float(np.max(abs(image - x) / (1 + abs(x))))
    return image, residual if np.isfinite(residual) else np.inf


def _anderson(update: _Map, x: Array, tol: float, patience: int = 12) -> tuple[Array, float]:
    """Damped, then mixed; a mixed step that leaps or leaves the admissible set clears the memory."""
    points: list[Array] = []
    gaps: list[Array] = []
    best, least, stale, damping = x, np.inf, 0, 0.3
    for iteration in range(80):
        image, residual = _gap(update, x)
        if residual < least:
            best, least, stale = x, residual, 0
        else:
            stale += 1
        if least <= tol or stale > patience:
            break
        if not np.isfinite(residual):
            x, points, gaps = best, [], []
            damping = min(0.5 + damping / 2, 0.95)
            image, _ = _gap(update, x)
        points.append(x)
        gaps.append(image - x)
        points, gaps = points[-MEMORY:], gaps[-MEMORY:]
        proposal = x + (1 - damping) * np.clip(image - x, -LARGEST_STEP, LARGEST_STEP)
        if iteration >= 6 and len(points) > 1:
            mixed = _mixed(points, gaps)
            if np.isfinite(mixed).all() and np.max(abs(mixed - x)) < LARGEST_STEP and update.admissible(mixed):
                proposal = mixed
            else:
                points, gaps = [], []
        x = _drawn_back(update, x, proposal)
    return best, least


def _mixed(points: list[Array], gaps: list[Array]) -> Array:
    steps = np.diff(np.array(gaps), axis=0).T
    moves = np.diff(np.array(points), axis=0).T
    mixing = np.linalg.lstsq(steps, gaps[-1], rcond=1e-12)[0]
    return np.asarray(points[-1] + gaps[-1] - (moves + steps) @ mixing)


def _drawn_back(update: _Map, x: Array, proposal: Array) -> Array:
    for _ in range(40):
        if update.admissible(proposal):
            break
        proposal = (x + proposal) / 2
    return proposal


def _newton(update: _Map, x: Array, tol: float) -> tuple[Array, float]:
    """Newton on x - map(x), central differences, halving steps that do not lower the residual."""
    image, residual = _gap(update, x)
    for _ in range(25):
        if residual <= tol or not np.isfinite(residual):
            break
        jacobian = _jacobian(update, x)
        if not np.isfinite(jacobian).all():
            break
        step = np.linalg.lstsq(np.eye(len(x)) - jacobian, image - x, rcond=None)[0]
        step *= min(1.0, LARGEST_STEP / max(np.max(abs(step)), 1e-300))
        for _ in range(12):
            new = x + step
            if update.admissible(new):
                new_image, new_residual = _gap(update, new)
                if new_residual < residual:
                    break
            step = step / 2
        else:
            break
        x, image, residual = new, new_image, new_residual
    return x, residual


def _jacobian(update: _Map, x: Array) -> Array:
    columns = []
    for k in range(len(x)):
        h = 1e-6 * (1 + abs(x[k]))
        e = np.zeros(len(x))
        e[k] = h
        columns.append((update(x + e) - update(x - e)) / (2 * h))
    return np.stack(columns, axis=1)


def _continued(
    problem: GeneralizedLinearModel, update: _Map, x: Array, residual: float, tol: float, max_iter: int
) -> tuple[Array, float]:
    """From a larger ridge, two points a decade, each started from the line through the last two in log lam."""
    ladder = [lam for lam in 10.0 ** np.arange(2, -13, -0.5) if lam > problem.lam]
    trail: list[tuple[float, Array]] = []
    for lam in [*ladder, problem.lam]:
        step = _Map(replace(problem, lam=lam))
        step.bias = update.bias if trail else step.bias
        guess = _extrapolated(trail, lam) if trail else _start(problem)
        found, gap = _search(step, guess if step.admissible(guess) else trail[-1][1], tol, 400)
        update.evaluations += step.evaluations
        update.bias = step.bias
        if (gap > tol * 1e3 and lam == problem.lam) or update.evaluations > max_iter * 3:
            break
        trail.append((lam, found))
        if lam == problem.lam and gap < residual:
            return found, gap
    return x, residual


def _extrapolated(trail: list[tuple[float, Array]], lam: float) -> Array:
    if len(trail) < 2:
        return trail[-1][1]
    (before, x0), (last, x1) = trail[-2:]
    return np.asarray(x1 + (x1 - x0) * np.log(lam / last) / np.log(last / before))


def _observables(update: _Map, solution: Solution[Array]) -> SaddlePoint:
    problem, at = update.problem, update.overlaps(solution.value)
    found = update.conjugates(solution.value)
    _, norms = prior(problem, found.Vhat, found.qhat, found.rhat)
    shares = np.array([cluster.probability for cluster in problem.clusters])
    train = float(shares @ found.losses)
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
        test_error=float(shares @ found.errors),
        cluster_losses=found.losses,
        cluster_errors=found.errors,
        squared_norm=np.diag(norms),
        energy=problem.alpha * train + 0.5 * float(np.sum(problem.ridge * norms)),
        residual=solution.residual,
        iterations=solution.iterations,
        converged=solution.converged,
    )
