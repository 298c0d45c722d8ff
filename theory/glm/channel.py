"""The step from overlaps to conjugates: these sum, over the clusters, the forces of their samples on the weights."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from theory.core.arrays import Array
from theory.glm.averages import Averages, cluster_averages, loss_and_error, shapes, squared_slope
from theory.glm.field import Field
from theory.glm.losses import Loss
from theory.glm.overlaps import Conjugates, Overlaps
from theory.glm.own_losses import OwnLoss, Shape
from theory.models.glm import Cluster, GeneralizedLinearModel

ROUNDING = 1e-14  # of a bias, and of the total force over the size of single ones
STEP, STEPS = 0.25, 12  # in which the bias of a loss that is not convex is sought, to both sides
NO_AVERAGES = Averages(np.nan, np.nan, np.nan, np.nan)
MAX_BIAS = 1e8  # a bias beyond it has run away: only one label occurs


def channel(problem: GeneralizedLinearModel, loss: Loss, x: Overlaps, bias: Array) -> Conjugates:
    """Return the conjugates at the overlaps x; trained biases are solved for, starting from `bias` (learners,)."""
    bias = np.array(bias, float)
    found: dict[int, Averages] = {}
    for learner in range(problem.n_learners):
        own = {k: cluster for k, cluster in enumerate(problem.clusters) if cluster.learner == learner}
        if own:
            bias[learner], averages = _balanced(own, loss, x, float(bias[learner]), problem.bias)
            found |= averages
    Vhat, qhat, rhat = np.zeros_like(x.V), np.zeros_like(x.q), np.zeros_like(x.r)
    for k, cluster in enumerate(problem.clusters):
        share = problem.alpha * cluster.probability
        Vhat[cluster.covariance] += share * found[k].response
        qhat[cluster.covariance] += share * found[k].square
        if cluster.mean_signal is not None:
            rhat[cluster.mean_signal] += share * cluster.mean_sign * found[k].force
        if cluster.teacher_signal is not None:
            rhat[cluster.teacher_signal] += share * found[k].teacher
    return Conjugates(Vhat, qhat, rhat, bias)


def losses_and_errors(problem: GeneralizedLinearModel, loss: Loss, x: Overlaps, bias: Array) -> tuple[Array, Array]:
    """Return the mean training loss and the test error of each cluster, (clusters,) each."""
    pairs = [loss_and_error(c, loss, Field.of(c, x, float(bias[c.learner]))) for c in problem.clusters]
    return np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])


def squared_slopes(problem: GeneralizedLinearModel, loss: Loss, x: Overlaps, bias: Array) -> Array:
    """Return alpha E (df/dh)^2 of the samples of each covariance, (C,), each cluster by its share."""
    total = np.zeros_like(x.q)
    for cluster in problem.clusters:
        square = squared_slope(cluster, loss, Field.of(cluster, x, float(bias[cluster.learner])))
        total[cluster.covariance] += problem.alpha * cluster.probability * square
    return total


def all_shapes(problem: GeneralizedLinearModel, loss: Loss, x: Overlaps, bias: Array) -> list[Shape]:
    """Return the shapes of the proximal operator among the samples of all clusters."""
    fields = [(cluster, Field.of(cluster, x, float(bias[cluster.learner]))) for cluster in problem.clusters]
    return [shape for cluster, field in fields for shape in shapes(cluster, loss, field)]


def _balanced(
    clusters: dict[int, Cluster], loss: Loss, x: Overlaps, b: float, trained: bool
) -> tuple[float, dict[int, Averages]]:
    """Return the bias of one learner and the averages there.

    The bias is the root of the total force, which falls with it; Newton's method finds it, or Brent's where that fails.
    With a loss that is not convex it is the nearest root at which the force falls.
    """

    def at(b: float) -> dict[int, Averages]:
        return {k: cluster_averages(cluster, loss, Field.of(cluster, x, b)) for k, cluster in clusters.items()}

    def total(averages: dict[int, Averages], name: str) -> float:
        return sum(clusters[k].probability * float(getattr(mean, name)) for k, mean in averages.items())

    convex = not isinstance(loss, OwnLoss) or loss.convex
    averages = at(b)
    if not trained:
        return b, averages
    for _ in range(30):
        force, response = total(averages, "force"), total(averages, "response")
        if abs(force) <= ROUNDING * np.sqrt(total(averages, "square")):
            return b, averages
        step = force / response if response > 0 else np.inf
        if abs(step) <= ROUNDING * (1 + abs(b)):
            return b, averages
        if not abs(step) < (MAX_BIAS if convex else STEP):
            break
        tried = at(b + step)
        if not abs(total(tried, "force")) < abs(force):
            break
        b, averages = b + step, tried
    b = (_bracketed if convex else _nearest)(lambda b: total(at(b), "force"), b)
    return b, at(b) if np.isfinite(b) else dict.fromkeys(clusters, NO_AVERAGES)


def _bracketed(force: Callable[[float], float], b: float) -> float:
    reach = 0.5
    while force(b - reach) < 0 or force(b + reach) > 0:
        reach *= 2
        if reach > MAX_BIAS:
            return float("nan")
    return float(brentq(force, b - reach, b + reach, xtol=1e-14, rtol=1e-14))


def _nearest(force: Callable[[float], float], b: float) -> float:
    """Return the nearest root at which the force falls, or NaN where there is none near.

    With a loss that is not convex the force vanishes far away on both sides, so that no bracket of all roots exists.
    """
    at = {0: force(b)}
    for k in range(1, STEPS + 1):
        for side in (1, -1):
            at[side * k] = force(b + side * k * STEP)
            low, high = sorted((side * k, side * (k - 1)))
            if at[low] > 0 > at[high]:
                return float(brentq(force, b + low * STEP, b + high * STEP, xtol=1e-14, rtol=1e-14))
    return float("nan")
