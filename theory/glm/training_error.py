"""The share of the training samples of a cluster whose label the trained classifier gets wrong."""

import numpy as np
from scipy.optimize import bisect

from theory.glm.field import Field
from theory.glm.labels import label_law
from theory.glm.losses import Loss
from theory.glm.quadrature import normal_nodes
from theory.models.glm import Cluster
from theory.models.glm.cluster import kind_of

FARTHEST = 1e100  # a margin beyond it does not occur
BISECTIONS = 1200  # from there to rounding


def training_error(cluster: Cluster, loss: Loss, field: Field) -> float:
    """Return P(y prox(h) < 0), the wrong labels among the training samples; NaN for labels that are not +-1.

    A sample that is trained on sees the field prox(h) in place of h. As a function of the margin y h the prox rises, so
    that the label is wrong where the margin is below the one at which the prox turns positive.
    """
    if kind_of(cluster.labels) != "signs":
        return float("nan")
    law, size, total = label_law(cluster, field.q, field.teacher), float(np.sqrt(field.q)), 0.0
    for y, kappa in zip((1, -1), cluster.loss_weights, strict=True):
        if not law.occurs(y):
            continue
        bound = turning_margin(loss, kappa * field.V) if kappa else 0.0
        bends = [((y * bound - field.mean) / size, 0.0)] if np.isfinite(bound) else []
        z, weights = normal_nodes([*bends, *law.bends()])
        total += float((weights * law(y, z)[0]) @ (y * (field.mean + size * z) < bound))
    return total


def turning_margin(loss: Loss, V: float) -> float:
    """Return the margin below which the prox at the response V is negative; -infinity where it never is."""

    def sign(t: float) -> float:
        return -1.0 if float(np.asarray(loss.prox(np.array([t]), V))[0]) < 0 else 1.0

    reach = 1 + V
    while sign(-reach) > 0:
        reach *= 8
        if reach > FARTHEST:
            return -np.inf
    low, reach = -reach, 1 + V
    while sign(reach) < 0:
        reach *= 8
        if reach > FARTHEST:
            return np.inf
    return float(bisect(sign, low, reach, xtol=1e-300, rtol=1e-14, maxiter=BISECTIONS))
