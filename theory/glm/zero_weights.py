"""Losses of one's own that no weights lower: the training then ends at w = 0, where overlaps have no logarithms.

If 0 is a minimum of a convex loss l of the margin y h, every sample has its least loss at h = 0, and so has the ridge:
no training lowers the sum, and the ridge makes w = 0 the only minimum. A convex l has a minimum at 0 exactly if its
proximal operator leaves 0 where it is, whatever V is; both are verified. (The perceptron's loss max(0, -t) is such a
loss, and so is any even one.)
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from theory.core import Array, Grid, NonNegativeCount, checked
from theory.glm.custom_loss import COMPARED_MARGINS, ConvexMargin
from theory.glm.losses import loss_of
from theory.glm.overlaps import Conjugates
from theory.glm.prior import prior, weight_responses
from theory.glm.saddle_point import SaddlePoint
from theory.models.glm import GeneralizedLinearModel
from theory.models.glm.cluster import kind_of
from theory.numerics import Solution

ROUNDING = 1e-12  # of a proximal operator and of the loss of a margin
STEP = 1e-6  # of the differences that give the slopes of a proximal operator on both sides of 0, relative to V
SMALL_V, SMALL_STEP, SLOPE_ROUNDING = 1e-3, 1e-2, 1e-8  # below this V that step, since operators round absolutely
NO_RESPONSE = 1e-9  # times that without samples: a response below it falls to zero
TRIED_RESPONSES = (1e-3, 1.0, 1e3)  # at which the proximal operator has to leave 0 where it is
STEPS = 5000
Image = Callable[[Array], tuple[Array, Array]]  # from V to Vhat and to the V that this one leads to
ADVICE = "take a less extreme alpha or lam, or a larger tol"
TIES = 0.5  # the share of labels that a field of 0 does not predict


@dataclass(frozen=True, eq=False, repr=False)
class ZeroWeights(SaddlePoint):
    """A saddle point whose weights are all zero: q = r = bias = 0, and every field is a tie, of which half is wrong.

    V and Vhat are those of the limit of small fields of both signs. They are 0 and infinite where a kink of the loss
    at 0 holds the weights so fast that these do not respond.
    """

    @property
    def train_error(self) -> float:
        """The share of the training samples whose label is not predicted: half of all ties."""
        return TIES

    @property
    def test_loss(self) -> float:
        """The mean loss of a sample that was not trained on, which is the loss of the margin 0."""
        return self.train_loss

    @checked
    def calibration(self, fields: Grid, learner: NonNegativeCount = 0) -> Array:  # noqa: ARG002  # there are no fields
        """Raise ValueError: without weights all fields are 0."""
        raise ValueError(f"fields must be those of weights that are not zero, got w = 0 and {len(fields)} fields")


def zero_weights(problem: GeneralizedLinearModel, tol: float, name: str, check: bool) -> ZeroWeights | None:
    """Return the point w = 0 where it is proved to be the minimum, and None elsewhere."""
    loss = loss_of(problem.loss)
    if not isinstance(loss, ConvexMargin) or not _applies(problem) or not _is_least_at_zero(loss):
        return None
    nothing, signals = np.zeros(problem.modes.n_covariances), np.zeros(problem.modes.n_signals)
    shares = np.zeros_like(nothing)
    for cluster in problem.clusters:
        shares[cluster.covariance] += problem.alpha * cluster.probability

    def image(V: Array) -> tuple[Array, Array]:
        stiffness = shares * np.array([_slopes(loss, float(one)).mean() for one in V])
        return stiffness, prior(problem, stiffness, nothing, signals)[0].V

    free = prior(problem, nothing, nothing, signals)[0].V
    V, count = _response(image, free, tol / 10)
    if V.max() <= NO_RESPONSE * free.max():
        V, stiffness, change = nothing, np.full_like(nothing, np.inf), 0.0
    else:
        stiffness, new = image(V)
        change = float(np.max(abs(new / V - 1)))
    hats, replicon = Conjugates(stiffness, nothing, signals, np.zeros(problem.n_learners)), 1.0
    if V.all():
        squares = shares * np.array([(_slopes(loss, float(one)) ** 2).mean() for one in V])
        replicon -= float(np.linalg.eigvals(weight_responses(problem, hats) * squares).real.max())
    least, clusters = float(loss.value(np.zeros(1))[0]), np.ones(len(problem.clusters))
    found = Solution.verified(V, change, tol, count, what=name, advice=ADVICE, check=check)
    return ZeroWeights(
        problem=problem,
        V=V,
        q=nothing,
        r=signals,
        bias=hats.bias,
        Vhat=stiffness,
        qhat=nothing,
        rhat=signals,
        train_loss=least,
        test_error=TIES,
        cluster_losses=least * clusters,
        cluster_errors=TIES * clusters,
        squared_norm=np.zeros(problem.n_learners),
        energy=problem.alpha * least,
        replicon=replicon,
        jumps=(),
        bias_share=np.full(problem.n_learners, np.nan if not problem.bias else 0.0),
        residual=change,
        iterations=count,
        converged=found.converged,
    )


def _response(image: Image, free: Array, tol: float) -> tuple[Array, int]:
    """Return the V that equals its image, and the number of images; the least that is tried where it falls to zero.

    V has the image V/(lam V + k) in simple cases, with k(V) that grows with V: its ratio to V falls with V, so that
    there is one solution, below `free`, and none but zero if that ratio is at most 1 for the smallest V.
    """
    least = NO_RESPONSE * free
    if (image(least)[1] / least).max() <= 1 + SLOPE_ROUNDING:
        return least, 1
    if len(free) == 1:
        ends = np.log([float(least[0]), float(free[0])])
        log_V, report = brentq(
            lambda x: float(np.log(image(np.exp([x]))[1][0])) - x, *ends, xtol=1e-15, rtol=1e-14, full_output=True
        )
        return np.exp([log_V]), report.function_calls + 1
    V, change, count = free, np.inf, 0
    while change > tol and count < STEPS:
        new, count = image(V)[1], count + 1
        change, V = float(np.max(abs(new / V - 1))), new
    return V, count


def _applies(problem: GeneralizedLinearModel) -> bool:
    """Tell whether the problem is one learner under a ridge whose samples all have the loss of a margin, unweighted."""
    plain = all(kind_of(one.labels) == "signs" and tuple(one.loss_weights) == (1.0, 1.0) for one in problem.clusters)
    return plain and problem.penalty is None and problem.n_learners == 1 and float(problem.lam) > 0


def _is_least_at_zero(loss: ConvexMargin) -> bool:
    at = [float(loss.prox(np.zeros(1), V)[0]) for V in TRIED_RESPONSES]
    if max(map(abs, at)) > ROUNDING:
        return False
    for V in TRIED_RESPONSES:
        loss.prox(COMPARED_MARGINS, V)  # which refuses a loss that is not convex
    values, least = loss.value(COMPARED_MARGINS), float(loss.value(np.zeros(1))[0])
    return bool((values >= least - ROUNDING * (1 + abs(least))).all())


def _slopes(loss: ConvexMargin, V: float) -> Array:
    """Return -df/dh of a sample on both sides of h = 0, (2,)."""
    step = (STEP * min(V, 1.0) if V > SMALL_V else SMALL_STEP * V) * np.array([-1.0, 1.0])
    return np.asarray((1 - loss.prox(step, V) / step) / V)
