"""The loss of a trained classifier on samples that it has not seen, and the least loss of any classifier."""

import math

import numpy as np

from theory.core import Array, checked
from theory.glm.averages import Field
from theory.glm.losses import Loss, loss_of
from theory.glm.own_losses import BUILT_IN
from theory.glm.quadrature import normal_nodes
from theory.glm.saddle_point import SaddlePoint
from theory.models.glm import GaussianMixture, Modes
from theory.numerics import ConvergenceError

MIN_RESPONSE = 1e-9
MEAN_RESOLUTION = 1e-7  # largest difference of a mean on panels of half the width


@checked
def fresh_loss(point: SaddlePoint) -> float:
    """Compute the mean loss of a fresh sample, E loss(y (r + b + sqrt(q) z)), where the label is that of the cluster.

    For the logistic loss this is the cross entropy in nats. ValueError for points whose labels are not those of
    clusters, ConvergenceError where kinks of an own loss leave its mean unresolved.
    """
    problem, loss = point.problem, loss_of(point.problem.loss)
    total = 0.0
    for cluster in problem.clusters:
        if cluster.labels != "cluster":
            raise ValueError(f"point must have labels that are those of the cluster, got {cluster.labels!r}")
        field = Field.of(cluster, point.overlaps, float(point.bias[cluster.learner]))
        size = math.sqrt(field.q)
        # At a response of almost zero the prox is t itself: it bends where an own loss does.
        places = [*loss.breakpoints(1.0), *(loss.breakpoints(MIN_RESPONSE) if type(loss) not in BUILT_IN else [])]
        bends = [((y_t - cluster.label * field.mean) / size, width / size) for y_t, width in places]
        bends.append((-cluster.label * field.mean / size, 1 / size))  # the logistic loss bends on the scale 1
        means = [_mean(loss, bends, cluster.label * field.mean, size, halvings) for halvings in (0, 1)]
        if not abs(means[1] - means[0]) <= MEAN_RESOLUTION * (1 + abs(means[1])):
            what = f"mean of the loss {loss.name!r} of a fresh sample"
            advice = "its kinks are not all declared (`kinks` of a ConvexMargin, `breakpoints` of another loss)"
            raise ConvergenceError.of(what, means[1], abs(means[1] - means[0]), MEAN_RESOLUTION, advice=advice)
        total += cluster.probability * means[0]
    return total


def _mean(loss: Loss, bends: list[tuple[float, float]], center: float, size: float, halvings: int) -> float:
    z, weights = normal_nodes(bends, halvings=halvings)
    return float(weights @ loss.value(center + size * z))


@checked
def mixture_floor(model: GaussianMixture) -> float:
    """Compute H(y | x) in nats of two clusters with a common covariance: no classifier has a smaller cross entropy.

    The log-likelihood ratio is normal with mean +-D^2/2 and variance D^2, D the Mahalanobis distance of the means.
    """
    if len(model.probabilities) != 2 or set(model.labels) != {-1, 1}:
        raise ValueError(f"model must have two clusters with labels 1 and -1, got {tuple(model.labels)}")
    K = whitened_gram(model)
    distance = float(K[0, 0] - 2 * K[0, 1] + K[1, 1])
    if distance <= 0:
        return -float(sum(share * math.log(share) for share in model.probabilities))
    if math.isinf(distance):
        return 0.0
    size, total = math.sqrt(distance), 0.0
    for own, other in (model.probabilities, model.probabilities[::-1]):
        center = math.log(own / other) + distance / 2
        z, weights = normal_nodes([(-center / size, 1 / size)])
        total += own * float(weights @ np.logaddexp(0, -(center + size * z)))
    return total


def whitened_gram(model: GaussianMixture) -> Array:
    """Return mu_a.Omega^-1.mu_b, (clusters, clusters), of a mixture with one common covariance in commuting modes.

    Entries are infinite where a mean has a component in a direction in which the covariance vanishes.
    """
    modes = model.modes
    if not isinstance(modes, Modes) or modes.n_covariances != 1:
        raise ValueError("model must have one covariance for all clusters, given as Modes")
    om, gram = modes.covariances[0], modes.gram
    seen = om > 0
    if np.any(abs(gram[..., ~seen]) > 1e-14 * max(float(abs(gram).max()), 1e-300)):
        return np.full(gram.shape[:2], np.inf)
    return np.asarray(np.sum(gram[..., seen] / om[seen], axis=-1))
