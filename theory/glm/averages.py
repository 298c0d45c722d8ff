"""Averages over the samples of a cluster: of the forces that they exert on the weights, and of their errors.

Within the cluster the student's field is h = mean + sqrt(q) z with z standard normal. The teacher's field, of mean t
and variance rho, has the covariance r_t with it: given h it is normal with mean t + r_t z/sqrt(q) and variance
rho - r_t^2/q, to which label noise adds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from theory.core.arrays import Array
from theory.glm.labels import LabelLaw
from theory.glm.losses import Loss, residual_form
from theory.glm.overlaps import Overlaps
from theory.glm.own_losses import Shape, halvings_of, shape_between
from theory.glm.quadrature import RANGE, normal_nodes
from theory.models.glm import Cluster

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


@dataclass(frozen=True)
class Field:
    """The law of the student's field h in a cluster: a normal law of variance q and of this mean, bias included.

    V is the response to the ridge, `teacher` the covariance r_t of h with the teacher field nu.
    """

    V: float
    q: float
    mean: float
    teacher: float

    @classmethod
    def of(cls, cluster: Cluster, x: Overlaps, bias: float) -> Self:
        """Make the law of the field at given overlaps and bias."""
        shift = 0.0 if cluster.mean_signal is None else cluster.mean_sign * float(x.r[cluster.mean_signal])
        teacher = 0.0 if cluster.teacher_signal is None else float(x.r[cluster.teacher_signal])
        return cls(float(x.V[cluster.covariance]), float(x.q[cluster.covariance]), bias + shift, teacher)


def cluster_averages(cluster: Cluster, loss: Loss, field: Field) -> Averages:
    """Average the forces that the samples of a cluster exert on the weights, of which the conjugates are made."""
    if cluster.labels == "linear":
        return _residual_averages(cluster, loss, field)
    if _labels_mirror(cluster, field):  # both labels give the same averages but for the sign of the force
        response, square, _, teacher = 2 * _label_averages(cluster, loss, field, 1, cluster.loss_weights[0])
        return Averages(response, square, 0.0, teacher)
    labels = zip((1, -1), cluster.loss_weights, strict=True)
    plus, minus = (_label_averages(cluster, loss, field, y, kappa) for y, kappa in labels)
    return Averages(*(plus + minus).tolist())


def shapes(cluster: Cluster, loss: Loss, field: Field) -> list[Shape]:
    """Return the shapes of the prox among the samples of a cluster, one for each label that has a weight."""
    if cluster.labels == "linear":
        center, spread = residual_law(cluster, field)
        reach = _reach(center, float(np.sqrt(spread)))
        return [shape_between(residual_form(loss), cluster.loss_weights[0] * field.V, *reach)]
    law = LabelLaw(cluster, field.q, field.teacher)
    labels = zip((1, -1), cluster.loss_weights, strict=True)
    return [_shape(field, loss, y, kappa) for y, kappa in labels if kappa and law.occurs(y)]


def _jumps(cluster: Cluster, loss: Loss, field: Field) -> bool:
    return any(shape.jumps for shape in shapes(cluster, loss, field))


def squared_slope(cluster: Cluster, loss: Loss, field: Field) -> float:
    """Return E (df/dh)^2 over the samples of a cluster: the square of the response of a force to its field.

    It is infinite where the force jumps.
    """
    if _jumps(cluster, loss, field):
        return np.inf
    if cluster.labels == "linear":
        kappa, (e, weights) = cluster.loss_weights[0], _residual(cluster, loss, field)[0]
        return kappa**2 * float(weights @ _slope(residual_form(loss), e, kappa * field.V) ** 2)
    law = LabelLaw(cluster, field.q, field.teacher)

    def of_label(y: int, kappa: float) -> float:
        if kappa == 0 or not law.occurs(y):
            return 0.0
        z, h, weights = _nodes(field, law, loss, y, kappa)
        return kappa**2 * float((weights * law(y, z)[0]) @ _slope(loss, y * h, kappa * field.V) ** 2)

    plus, minus = cluster.loss_weights
    return 2 * of_label(1, plus) if _labels_mirror(cluster, field) else of_label(1, plus) + of_label(-1, minus)


def loss_and_error(cluster: Cluster, loss: Loss, field: Field) -> tuple[float, float]:
    """Return the mean weighted loss of a training sample, and P(y h < 0), or E (y - h)^2 for linear labels."""
    if cluster.labels == "linear":
        kappa, (e, weights), (center, spread) = cluster.loss_weights[0], *_residual(cluster, loss, field)
        residual_loss = residual_form(loss)
        value = residual_loss.value(residual_loss.prox(e, kappa * field.V))
        return kappa * float(weights @ value), center**2 + spread
    mean_loss = error = 0.0
    for y, kappa in zip((1, -1), cluster.loss_weights, strict=True):
        law = LabelLaw(cluster, field.q, field.teacher)
        if not law.occurs(y):
            continue
        z, h, weights = _nodes(field, law, loss, y, kappa, [0.0])
        weights = weights * law(y, z)[0]
        error += float(weights @ (y * h < 0))
        if kappa:
            mean_loss += kappa * float(weights @ loss.value(loss.prox(y * h, kappa * field.V)))
    return mean_loss, error


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
    centered = field.mean == 0 and (cluster.labels == "random" or cluster.teacher_mean == 0)
    return centered and cluster.labels != "cluster" and cluster.loss_weights[0] == cluster.loss_weights[1]


def _label_averages(cluster: Cluster, loss: Loss, field: Field, y: int, kappa: float) -> Array:
    """Return response, square, force and teacher, (4,), of the samples with the label y, as in `Averages`."""
    law = LabelLaw(cluster, field.q, field.teacher)
    if kappa == 0 or not law.occurs(y):
        return np.zeros(4)
    z, h, weights = _nodes(field, law, loss, y, kappa)
    chance, shift = law(y, z)
    response = kappa * field.V
    prox = loss.prox(y * h, response)
    f = y * kappa * loss.force(y * h, prox, response)
    slope = loss.slope(y * h, prox, response)
    teacher = float(weights @ (shift * f)) if shift is not None else 0.0
    weights = weights * chance
    if slope is None or _shape(field, loss, y, kappa).jumps:  # integrated by parts: a slope lacks what a jump adds
        falls = -(weights @ (z * f)) / np.sqrt(field.q) + field.teacher / field.q * teacher
    else:
        falls = -kappa * (weights @ slope)
    return np.array([falls, weights @ f**2, weights @ f, teacher])


def _nodes(
    field: Field, law: LabelLaw, loss: Loss, y: int, kappa: float, jumps: Sequence[float] = ()
) -> tuple[Array, Array, Array]:
    """Return nodes z, the fields h there, and weights that hold the normal density; `jumps` are kinks in h."""
    s = float(np.sqrt(field.q))
    bends = [((h - field.mean) / s, 0.0) for h in jumps] + law.bends()
    if kappa:
        bends += _in_z(loss.breakpoints(kappa * field.V), y, field.mean, s)
        shape = _shape(field, loss, y, kappa)
        bends += _in_z([*((jump.t, 0.0) for jump in shape.jumps), *shape.bends], y, field.mean, s)
    z, weights = normal_nodes(bends, halvings=halvings_of(loss))
    return z, field.mean + s * z, weights


def _shape(field: Field, loss: Loss, y: int, kappa: float) -> Shape:
    """Return the shape of the prox over all margins t = y h of the samples with the label y."""
    return shape_between(loss, kappa * field.V, *_reach(y * field.mean, float(np.sqrt(field.q))))


def _reach(center: float, size: float) -> tuple[float, float]:
    return center - RANGE * size, center + RANGE * size


def _residual_averages(cluster: Cluster, loss: Loss, field: Field) -> Averages:
    """Average over the residual y - h, normal with mean t - mean and variance rho + noise + q - 2 r_t."""
    kappa, (e, weights), (center, spread) = cluster.loss_weights[0], *_residual(cluster, loss, field)
    residual_loss, response = residual_form(loss), kappa * field.V
    prox = residual_loss.prox(e, response)
    pull = -kappa * residual_loss.force(e, prox, response)  # of the sample on h: grows with the residual
    slope = residual_loss.slope(e, prox, response)
    if slope is None or _jumps(cluster, loss, field):
        rise = float(weights @ ((e - center) * pull)) / spread
    else:
        rise = -kappa * float(weights @ slope)
    return Averages(response=rise, square=float(weights @ pull**2), force=float(weights @ pull), teacher=rise)


def _residual(cluster: Cluster, loss: Loss, field: Field) -> tuple[tuple[Array, Array], tuple[float, float]]:
    """Return the nodes and weights of the residual y - h, and its mean and variance."""
    center, spread = residual_law(cluster, field)
    size = float(np.sqrt(spread))
    residual_loss, response = residual_form(loss), cluster.loss_weights[0] * field.V
    shape = shape_between(residual_loss, response, *_reach(center, size))
    bends = [*residual_loss.breakpoints(response), *((jump.t, 0.0) for jump in shape.jumps), *shape.bends]
    z, weights = normal_nodes(_in_z(bends, 1.0, center, size), halvings=halvings_of(loss))
    return (center + size * z, weights), (center, spread)


def residual_law(cluster: Cluster, field: Field) -> tuple[float, float]:
    """Return the mean and the variance of the residual y - h of linear labels."""
    total = cluster.teacher_variance + cluster.noise + field.q
    return cluster.teacher_mean - field.mean, max(total - 2 * field.teacher, 1e-16 * total)


def _in_z(breakpoints: list[tuple[float, float]], y: float, mean: float, s: float) -> Iterator[tuple[float, float]]:
    return (((y * t - mean) / s, width / s) for t, width in breakpoints)
