"""The loss of a trained classifier on samples that it has not seen, and the least loss of any classifier."""

import math

import numpy as np

from theory.core import Array, checked
from theory.glm.quadrature import normal_nodes
from theory.glm.saddle_point import SaddlePoint
from theory.models.glm import GaussianMixture, Modes


@checked
def fresh_loss(point: SaddlePoint) -> float:
    """Compute the mean loss of a fresh sample, E loss(y (r + b + sqrt(q) z)), where the label is that of the cluster.

    For the logistic loss this is the cross entropy in nats. ValueError for points whose labels are not those of
    clusters, ConvergenceError where kinks of an own loss leave its mean unresolved.
    """
    for cluster in point.problem.clusters:
        if cluster.labels != "cluster":
            raise ValueError(f"point must have labels that are those of the cluster, got {cluster.labels!r}")
    return point.test_loss


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
