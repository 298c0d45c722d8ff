"""Averages over the samples of a cluster: of the forces that they exert on the weights, and of their errors.

Within the cluster the student's field is h = mean + sqrt(q) z with z standard normal. The teacher's field, of mean t
and variance rho, has the covariance r_t with it: given h it is normal with mean t + r_t z/sqrt(q) and variance
rho - r_t^2/q, to which label noise adds.
"""

from dataclasses import dataclass

import numpy as np

from theory.core.arrays import Array
from theory.glm.field import Field
from theory.glm.fresh_samples import fresh_error
from theory.glm.label_parts import Part, parts
from theory.glm.labels import LabelLaw, label_law
from theory.glm.losses import Loss, residual_form
from theory.glm.own_losses import Shape, shape_between
from theory.glm.residuals import reach, residuals
from theory.models.glm import Cluster, Logit, Probit
from theory.models.glm.cluster import kind_of

STEP = 1e-6  # of central differences of a prox, relative to 1 + |t|


@dataclass(frozen=True)
class Averages:
    """Averages over the samples of a cluster of functions of f, the force that a sample exerts on its field h.

    `response` is the mean of -df/dh, `square` of f^2, `force` of f, and `teacher` that of f weighted with the
    derivative of the label's probability by the mean of the teacher field.
    """

    response: float
    square: float
    force: float
    teacher: float


def cluster_averages(cluster: Cluster, loss: Loss, field: Field) -> Averages:
    """Average the forces that the samples of a cluster exert on the weights, of which the conjugates are made."""
    if kind_of(cluster.labels) == "real":
        return _residual_averages(cluster, loss, field)
    law, own = label_law(cluster, field.q, field.teacher), parts(cluster, loss)
    if _labels_mirror(cluster, field):  # both labels give the same averages but for the sign of the force
        response, square, _, teacher = 2 * _part_averages(own[0], law, field)
        return Averages(response, square, 0.0, teacher)
    total = np.sum([_part_averages(part, law, field) for part in own], axis=0)
    return Averages(*total.tolist())


def shapes(cluster: Cluster, loss: Loss, field: Field) -> list[Shape]:
    """Return the shapes of the prox among the samples of a cluster, one for each label that has a weight."""
    if kind_of(cluster.labels) == "real":
        response = cluster.loss_weights[0] * field.V
        return [shape_between(residual_form(loss), response, *reach(cluster, field))]
    law = label_law(cluster, field.q, field.teacher)
    return [part.shape(field) for part in parts(cluster, loss) if part.counts(law)]


def _jumps(cluster: Cluster, loss: Loss, field: Field) -> bool:
    return any(shape.jumps for shape in shapes(cluster, loss, field))


def squared_slope(cluster: Cluster, loss: Loss, field: Field) -> float:
    """Return E (df/dh)^2 over the samples of a cluster: the square of the response of a force to its field.

    It is infinite where the force jumps.
    """
    if _jumps(cluster, loss, field):
        return np.inf
    if kind_of(cluster.labels) == "real":
        kappa, (e, weights, _) = cluster.loss_weights[0], residuals(cluster, loss, field)
        return kappa**2 * float(weights @ _slope(residual_form(loss), e, kappa * field.V) ** 2)
    law = label_law(cluster, field.q, field.teacher)

    def of_part(part: Part) -> float:
        if not part.counts(law):
            return 0.0
        loss, t, _, mass, _ = part.samples(law, field)
        return part.weight**2 * float(mass @ _slope(loss, t, part.weight * field.V) ** 2)

    own = parts(cluster, loss)
    return 2 * of_part(own[0]) if _labels_mirror(cluster, field) else sum(of_part(part) for part in own)


def loss_and_error(cluster: Cluster, loss: Loss, field: Field) -> tuple[float, float]:
    """Return the mean weighted loss of a training sample, and the test error of `fresh_error`."""
    return training_loss(cluster, loss, field), fresh_error(cluster, loss, field)


def training_loss(cluster: Cluster, loss: Loss, field: Field) -> float:
    """Return the mean weighted loss of a training sample of a cluster."""
    if kind_of(cluster.labels) == "real":
        kappa, (e, weights, _) = cluster.loss_weights[0], residuals(cluster, loss, field)
        residual_loss = residual_form(loss)
        return kappa * float(weights @ residual_loss.value(residual_loss.prox(e, kappa * field.V)))
    law, total = label_law(cluster, field.q, field.teacher), 0.0
    for part in parts(cluster, loss):
        if part.counts(law):
            own, t, _, mass, _ = part.samples(law, field)
            total += part.weight * float(mass @ own.value(own.prox(t, part.weight * field.V)))
    return total


def _slope(loss: Loss, t: Array, V: float) -> Array:
    """Return the derivative of the force by t; by central differences where the loss does not know it.

    A difference across a kink is wrong, but the nodes that lie so near to one have a weight of the order of the step.
    """
    known = loss.slope(t, loss.prox(t, V), V)
    if known is not None:
        return known
    step = STEP * (1 + abs(t))
    above, below = (loss.prox(t + sign * step, V) for sign in (1, -1))
    return np.asarray(((above - below) / (2 * step) - 1) / V)


def _labels_mirror(cluster: Cluster, field: Field) -> bool:
    """Tell whether both labels exert opposite forces of the same law: then averages over one of them are enough."""
    odd = cluster.labels == "sign" or isinstance(cluster.labels, Logit | Probit)
    mirrored = cluster.labels == "random" or (odd and cluster.teacher_mean == 0)
    return mirrored and field.mean == 0 and cluster.loss_weights[0] == cluster.loss_weights[1]


def _part_averages(part: Part, law: LabelLaw, field: Field) -> Array:
    """Return response, square, force and teacher, (4,), of the samples of one part, as in `Averages`."""
    if not part.counts(law):
        return np.zeros(4)
    loss, t, z, mass, tilt = part.samples(law, field)
    response = part.weight * field.V
    prox = loss.prox(t, response)
    f = part.sign * part.weight * loss.force(t, prox, response)
    slope = loss.slope(t, prox, response)
    teacher = float(tilt @ f) if tilt is not None else 0.0
    if slope is None or part.shape(field).jumps:  # integrated by parts: a slope lacks what a jump adds
        falls = -float(mass @ (z * f)) / np.sqrt(field.q) + field.teacher / field.q * teacher
    else:
        falls = -part.weight * float(mass @ slope)
    return np.array([falls, mass @ f**2, mass @ f, teacher])


def _residual_averages(cluster: Cluster, loss: Loss, field: Field) -> Averages:
    """Average over the residual y - h, to whose mean the teacher and the field contribute with opposite signs."""
    kappa, (e, weights, falls) = cluster.loss_weights[0], residuals(cluster, loss, field)
    residual_loss, response = residual_form(loss), kappa * field.V
    prox = residual_loss.prox(e, response)
    pull = -kappa * residual_loss.force(e, prox, response)  # of the sample on h: grows with the residual
    slope = residual_loss.slope(e, prox, response)
    by_parts = slope is None or _jumps(cluster, loss, field)
    rise = float(falls @ pull) if by_parts or slope is None else -kappa * float(weights @ slope)
    return Averages(response=rise, square=float(weights @ pull**2), force=float(weights @ pull), teacher=rise)
