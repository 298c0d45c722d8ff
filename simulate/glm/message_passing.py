"""Approximate message passing on one drawn training set: an independent check of the saddle-point equations.

Its order parameters follow, step by step and up to 1/sqrt(p), the undamped map of these equations, and its weights end
at the minimum of the training. It uses no average over fields or labels, no quadrature and no law of the labels: only
the proximal operator of the loss, sample by sample, and the step of single weights.
"""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.random import Generator
from scipy.optimize import brentq

from simulate.glm.draw import Sample, draw
from simulate.glm.modes import embed
from simulate.glm.population import population, sample_size
from simulate.glm.sample_forces import sample_forces
from simulate.glm.signal_layout import lay_out
from theory.core import Array, AtLeast, Count, FitError, Positive, SolverResult, checked, checks
from theory.models.glm import GeneralizedLinearModel, Modes, Penalty

MAX_BIAS = 1e8
MAX_STEPS = 10_000  # where it settles at all it does so after some tens of them
NEWTON_STEPS, LARGEST_STEP, SETTLED = 12, 1.0, 1e-10  # of the bias, before brackets are tried
WEIGHTS_SETTLED = 1e-6  # change of the weights in a step, relative to their size
WINDOW, FEWEST = 10, 4  # steps whose changes are compared with those of as many before: at most, and at least
STILL_FALLING = 0.5  # ratio of the two below which the weights still come to rest
WeightStep = Callable[[Array, Array], tuple[Array, Array]]  # (A, B) -> weights, their derivatives by B, all (p,)


@dataclass(frozen=True, eq=False, repr=False)
class MessagePassing(SolverResult):
    """Hold the order parameters after each step of message passing, and the weights after the last.

    `V` and `q` are (steps, covariances), `r` (steps, signals), `bias` (steps,), `weights` (p,). `residual` is the
    change of the weights in the last step, relative to their size, as `changes` (steps,) has it for all; `converged`
    says whether it is below 1e-6.
    """

    V: Array
    q: Array
    r: Array
    bias: Array
    weights: Array = dataclasses.field(repr=False)
    changes: Array = dataclasses.field(repr=False)


@checked
def message_passing(
    problem: GeneralizedLinearModel,
    size: Count,
    rng: Generator,
    *,
    steps: Annotated[int, AtLeast(1, most=MAX_STEPS)] = 20,
    start: Positive = 1.0,
    weight_step: Callable[..., Any] | None = None,
    check: bool = False,
) -> MessagePassing:
    """Draw a training set of p = `size` inputs and n = alpha p samples, and pass messages on it for some steps.

    From weights w = 0, forces f = 0 and responses V = `start`, one step is omega = X w/sqrt(p) - V f and f = (prox -
    omega)/V for each sample; A = -(1/p) sum f' (times the variance of a coordinate) and B = X'f/sqrt(p) + A w; then w
    and dw/dB from (A, B), and V = mean (variance dw/dB). A trained bias balances the forces in each step. For a ridge
    w = B/(A + lam), for a separable penalty w = soft(B, l1)/(A + l2), and no less than 0 where weights may not be
    negative; `weight_step` takes the place of this: a function of A and B, (p,) each, that returns the weights and
    their derivatives by B. For one learner and commuting `Modes`, ValueError for others.

    Where the replicon of a problem is negative the order parameters settle as elsewhere and the weights do not: two
    runs from different `start` on one training set part, and their squared difference grows by 1 minus the replicon in
    each step as long as it is small. With `check` FitError says where the weights have not settled, and whether they
    still approach each other from step to step; `.fit` then holds the result.

    Source: A. Javanmard and A. Montanari (2013) for the steps with one covariance; derived here for several ones, whose
    samples have each their own V.

    >>> from theory.models import Cluster, Modes
    >>> teacher = Cluster(teacher_signal=0, noise=0.5)
    >>> modes = Modes([1.0], [[1.0]], [[[1.0]]])
    >>> model = GeneralizedLinearModel(modes=modes, clusters=[teacher], alpha=2.0, loss="square", lam=1.0)
    >>> found = message_passing(model, 200, np.random.default_rng(0))
    >>> found.converged, found.V[-1].round(1).tolist()
    (True, [0.4])
    """
    if problem.n_learners > 1 or not isinstance(problem.modes, Modes):
        raise ValueError("problem must have one learner and commuting modes, given as Modes")
    source = population(problem, size)
    sample = draw(source, sample_size(problem.alpha, size, size), rng)
    covariances, signals = embed(problem.modes, size) if problem.penalty is None else lay_out(problem, size)
    own_step = ridge_step(problem.lam) if problem.penalty is None else penalty_step(problem.penalty)
    step = own_step if weight_step is None else _checked_step(checks.function("weight_step", weight_step, 2))
    own = np.array([cluster.covariance for cluster in problem.clusters])[sample.groups]
    state = _State(sample, problem, covariances, own, step)
    w, f, V, b = np.zeros(size), np.zeros(len(own)), np.full(len(covariances), start), 0.0
    path: list[tuple[Array, Array, Array, float]] = []
    changes = []
    for _ in range(steps):
        old = w
        w, f, V, b = state.after(w, f, V, b)
        path.append((V, np.mean(covariances * w**2, axis=1), np.mean(signals * w, axis=1), b))
        changes.append(float(np.linalg.norm(w - old) / (np.linalg.norm(w) + 1e-300)))
    Vs, qs, rs, bs = (np.array(values) for values in zip(*path, strict=True))
    settled = changes[-1] < WEIGHTS_SETTLED
    found = MessagePassing(
        Vs, qs, rs, bs, w, np.array(changes), residual=changes[-1], iterations=steps, converged=settled
    )
    if check and not settled:
        raise FitError(_unsettled(found.changes), found)
    return found


def _unsettled(changes: Array) -> str:
    """Say in sentences what the weights do that have not settled."""
    said = f"message passing has not settled: in step {len(changes)} the weights still move by {changes[-1]:.2g} "
    said += f"of their size, which is more than {WEIGHTS_SETTLED:g}"
    window = min(WINDOW, len(changes) // 2)
    if window < FEWEST or not np.isfinite(changes).all():
        return f"{said}; take more steps"
    before, last = (
        float(np.exp(np.mean(np.log(part + 1e-300)))) for part in (changes[-2 * window : -window], changes[-window:])
    )
    if last < STILL_FALLING * before:
        rate = (last / before) ** (1 / window)
        more = math.ceil(math.log(WEIGHTS_SETTLED / changes[-1]) / math.log(rate))
        return f"{said}. These moves shrink by a factor of {rate:.2f} in each step: take some {more} more steps"
    return (
        f"{said}. In the last {window} steps they moved by {last:.2g} and in the {window} before by {before:.2g}, so "
        "that they do not come to rest. This is what happens where replica symmetry is unstable, that is where the "
        "replicon of the problem is negative: runs from different starts part, and no number of steps leads to one "
        "answer. Take a larger lam, fewer samples, or a loss that is nearer to a convex one"
    )


def ridge_step(lam: float) -> WeightStep:
    """Return the step of weights under a ridge: w = argmin lam w^2/2 + A w^2/2 - B w."""

    def step(A: Array, B: Array) -> tuple[Array, Array]:
        return B / (A + lam), 1 / (A + lam)

    return step


def penalty_step(penalty: Penalty) -> WeightStep:
    """Return the step of weights under a separable penalty r: w = argmin r(w) + A w^2/2 - B w."""
    l1, l2 = penalty.strengths

    def step(A: Array, B: Array) -> tuple[Array, Array]:
        above = np.maximum(B - l1, 0)
        left = above if penalty.non_negative else above - np.maximum(-B - l1, 0)
        return left / (A + l2), (left != 0) / (A + l2)

    return step


def _checked_step(step: Callable[..., Any]) -> WeightStep:
    """Return the step of a user; ValueError where it does not return as many weights and derivatives as it is given."""

    def checked_step(A: Array, B: Array) -> tuple[Array, Array]:
        found = step(A, B)
        if not isinstance(found, tuple | list | np.ndarray) or len(found) != 2:
            raise ValueError(f"weight_step must return weights and their derivatives, got {checks.shown(found)}")
        w, rise = (checks.real_array("weight_step", part) for part in found)
        return checks.shaped("weight_step", w, B.shape), checks.shaped("weight_step", rise, B.shape)

    return checked_step


@dataclass(frozen=True, eq=False)
class _State:
    sample: Sample
    problem: GeneralizedLinearModel
    covariances: Array
    own: Array  # the covariance of each sample
    step: WeightStep

    def after(self, w: Array, f: Array, V: Array, b: float) -> tuple[Array, Array, Array, float]:
        """Return the weights, forces, responses and bias after one step."""
        X, p = self.sample.X, len(w)
        omega, response = X @ w / np.sqrt(p) - V[self.own] * f, V[self.own]
        if self.problem.bias:
            b = self._balanced(omega, response, b)
        f, slope = self._forces(omega + b, response)
        A = np.array([-slope[self.own == c].sum() / p for c in range(len(V))]) @ self.covariances
        w, rise = self.step(A, X.T @ f / np.sqrt(p) + A * w)
        return w, f, np.mean(self.covariances * rise, axis=1), b

    def _forces(self, h: Array, V: Array) -> tuple[Array, Array]:
        labels = self.problem.clusters[0].labels
        return sample_forces(self.problem.loss, self.sample.y, h, V, self.sample.weights, labels)

    def _balanced(self, omega: Array, V: Array, b: float) -> float:
        """Return the bias at which the forces of all samples balance; they fall with it."""

        def total(b: float) -> float:
            return float(self._forces(omega + b, V)[0].sum())

        for _ in range(NEWTON_STEPS):
            f, slope = self._forces(omega + b, V)
            move = -float(f.sum()) / min(float(slope.sum()), -1e-300)
            if not abs(move) < LARGEST_STEP:
                break
            b += move
            if abs(move) < SETTLED * (1 + abs(b)):
                return b
        reach = 0.5
        while not total(b - reach) >= 0 >= total(b + reach):
            reach *= 2
            if reach > MAX_BIAS:
                raise ValueError("problem must have a loss whose forces balance at some bias: bias=False")
        return float(brentq(total, b - reach, b + reach, xtol=1e-12))
