"""What a trained learner does on samples of a cluster that it has not seen: its error, its loss, its calibration."""

import math
from dataclasses import replace

import numpy as np

from theory.core.arrays import Array
from theory.glm.field import Field
from theory.glm.label_parts import Part, parts
from theory.glm.label_tables import label_table
from theory.glm.labels import LabelLaw, label_law, values_of
from theory.glm.losses import Loss, residual_form
from theory.glm.own_losses import BUILT_IN
from theory.glm.poisson_loss import PoissonLoss
from theory.glm.quadrature import normal_nodes
from theory.glm.residuals import residual_law, residuals
from theory.models.glm import Cluster, Poisson
from theory.models.glm.cluster import kind_of

MAX_FIELD = 1e100  # in standard deviations
MIN_RESPONSE = 1e-9  # at which the prox is its argument: it bends where the loss does


def fresh_error(cluster: Cluster, loss: Loss, field: Field) -> float:
    """Return P(y h < 0) for labels +-1, else E (y - h)^2; with the Poisson loss E (y - exp(h))^2, the rate's error."""
    if kind_of(cluster.labels) == "real":
        center, spread = residual_law(cluster, field)
        return center**2 + spread
    if kind_of(cluster.labels) == "values":
        first, second = moments(cluster)
        if isinstance(loss, PoissonLoss):
            square = math.exp(2 * field.mean + 2 * field.q)
            return second - 2 * _mean_with_rate(cluster, field) + square
        return second - 2 * _mean_with_field(cluster, field, first) + field.mean**2 + field.q
    law, size, error = label_law(cluster, field.q, field.teacher), math.sqrt(field.q), 0.0
    z, weights = normal_nodes([(-field.mean / size, 0.0), *law.bends()])
    for y in (1, -1):
        if law.occurs(y):
            error += float((weights * law(y, z)[0]) @ (y * (field.mean + size * z) < 0))
    return error


def mean_fresh_loss(cluster: Cluster, loss: Loss, field: Field, halvings: int = 0) -> float:
    """Return E loss(y, h) over samples of a cluster, without loss weights, on panels halved as often as said."""
    if kind_of(cluster.labels) == "real":
        alone = replace(cluster, loss_weights=(1.0, 1.0))
        e, weights, _ = residuals(alone, loss, replace(field, V=MIN_RESPONSE), halvings)
        return float(weights @ residual_form(loss).value(e))
    if isinstance(loss, PoissonLoss):  # the mean of exp(h) is known, also where its quadrature would fail
        return math.exp(field.mean + field.q / 2) - _mean_with_field(cluster, field, moments(cluster)[0])
    law = label_law(cluster, field.q, field.teacher)
    return sum(_part_loss(part, law, field, halvings) for part in parts(cluster, loss))


def _part_loss(part: Part, law: LabelLaw, field: Field, halvings: int) -> float:
    if part.label is not None and not law.occurs(part.label):
        return 0.0
    bends = [*part.loss.breakpoints(1.0)]
    if type(part.loss) not in BUILT_IN:
        bends += part.loss.breakpoints(MIN_RESPONSE)
    samples = part.samples_between(law, field, [*bends, (0.0, 1.0)], halvings)  # the logistic loss bends on the scale 1
    return float(samples.mass @ samples.loss.value(samples.t))


def chances(cluster: Cluster, field: Field, h: Array) -> tuple[Array, Array]:
    """Return the logarithm of the density of fields h (fields,), but for a constant, and P(y = 1 | h) of labels +-1."""
    size = math.sqrt(field.q)
    with np.errstate(over="ignore"):
        z = np.clip((h - field.mean) / size, -MAX_FIELD, MAX_FIELD)
    law, log_density = label_law(cluster, field.q, field.teacher), -0.5 * z**2 - math.log(size)
    if not law.occurs(1) or not law.occurs(-1):
        return log_density, np.full_like(z, float(law.occurs(1)))
    plus, minus = (law(y, z)[0] for y in (1, -1))
    # A table of probabilities ends where a teacher's field does not come.
    far = abs(plus + minus - 1) > 1e-9
    return log_density, np.where(far, np.exp(law.log_probability(1, z)), plus)


def moments(cluster: Cluster) -> tuple[float, float]:
    """Return E y and E y^2 of labels that are numbers of a list."""
    t, rho = cluster.teacher_mean, cluster.teacher_variance
    assert not isinstance(cluster.labels, str)
    if isinstance(cluster.labels, Poisson):
        first = math.exp(t + rho / 2)
        return first, first + math.exp(2 * t + 2 * rho)
    values, shares = values_of(cluster)[:, 0], label_table(cluster.labels, t, rho).means()
    return float(shares @ values), float(shares @ values**2)


def _mean_with_field(cluster: Cluster, field: Field, first: float) -> float:
    """Return E y h, where the first moment of y is given."""
    if isinstance(cluster.labels, Poisson):  # the rate exp(nu) tilts the field by its covariance with nu
        return first * (field.mean + field.teacher)
    law = label_law(cluster, field.q, field.teacher)
    z, weights = normal_nodes(law.bends())
    return float(values_of(cluster)[:, 0] @ law(None, z)[0] @ (weights * (field.mean + math.sqrt(field.q) * z)))


def _mean_with_rate(cluster: Cluster, field: Field) -> float:
    """Return E y exp(h): the factor exp(h) moves the normal law of z by sqrt(q)."""
    size, factor = math.sqrt(field.q), math.exp(field.mean + field.q / 2)
    if isinstance(cluster.labels, Poisson):
        return factor * math.exp(cluster.teacher_mean + cluster.teacher_variance / 2 + field.teacher)
    law = label_law(cluster, field.q, field.teacher)
    z, weights = normal_nodes([(place - size, width) for place, width in law.bends()])
    return factor * float(values_of(cluster)[:, 0] @ law(None, z + size)[0] @ weights)
