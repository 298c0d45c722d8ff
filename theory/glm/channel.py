"""From overlaps to conjugates: averages over one sample of what it exerts on the weights.

Within cluster c the field is h = r_mean + b + sqrt(q) z, z standard normal, and the teacher field given h is normal
with mean t_c + r_t z/sqrt(q) and variance rho_c - r_t^2/q, to which label noise adds.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from theory.glm.losses import Loss, residual_form
from theory.glm.quadrature import normal_nodes
from theory.models.glm import Cluster, GeneralizedLinearModel
from theory.models.glm.modes import Array

DENSITY = 1 / np.sqrt(2 * np.pi)


@dataclass(frozen=True)
class Overlaps:
    """V, q (C,): response and self-overlap w.Omega_c.w/p; r (A,): overlaps w.s_a/p with the signals."""

    V: Array
    q: Array
    r: Array


@dataclass(frozen=True)
class Conjugates:
    """Vhat, qhat (C,) and rhat (A,), the biases (learners,) they belong to, and per cluster mean loss and error."""

    Vhat: Array
    qhat: Array
    rhat: Array
    bias: Array
    losses: Array
    errors: Array


@dataclass(frozen=True)
class _Averages:
    """Of one cluster: of -df/dh, f^2, f, the derivative of f by the teacher's mean, the loss and the error."""

    response: float
    square: float
    force: float
    teacher: float
    loss: float
    error: float


def channel(problem: GeneralizedLinearModel, loss: Loss, x: Overlaps, bias: Array) -> Conjugates:
    """Conjugates at the overlaps; trained biases are solved for, starting from `bias`."""
    if problem.bias:
        bias = np.array([_bias(problem, loss, x, learner, float(bias[learner])) for learner in range(len(bias))])
    Vhat, qhat, rhat = np.zeros_like(x.V), np.zeros_like(x.q), np.zeros_like(x.r)
    averages = [cluster_averages(cluster, loss, x, float(bias[cluster.learner])) for cluster in problem.clusters]
    for cluster, mean in zip(problem.clusters, averages, strict=True):
        share = problem.alpha * cluster.probability
        Vhat[cluster.covariance] += share * mean.response
        qhat[cluster.covariance] += share * mean.square
        if cluster.mean_signal is not None:
            rhat[cluster.mean_signal] += share * cluster.mean_sign * mean.force
        if cluster.teacher_signal is not None:
            rhat[cluster.teacher_signal] += share * mean.teacher
    return Conjugates(
        Vhat, qhat, rhat, bias, np.array([mean.loss for mean in averages]), np.array([mean.error for mean in averages])
    )


def cluster_averages(cluster: Cluster, loss: Loss, x: Overlaps, bias: float) -> _Averages:
    """All averages of one cluster at a given bias."""
    V, q = float(x.V[cluster.covariance]), float(x.q[cluster.covariance])
    mean = bias + (cluster.mean_sign * float(x.r[cluster.mean_signal]) if cluster.mean_signal is not None else 0.0)
    teacher = float(x.r[cluster.teacher_signal]) if cluster.teacher_signal is not None else 0.0
    if cluster.labels == "linear":
        return _residual_averages(cluster, loss, V, q, mean, teacher)
    return _margin_averages(cluster, loss, V, q, mean, teacher)


def _residual_averages(cluster: Cluster, loss: Loss, V: float, q: float, mean: float, teacher: float) -> _Averages:
    """Regression depends on the residual y - h alone, normal with mean t - mean and variance rho + noise + q - 2 r."""
    kappa = cluster.loss_weights[0]
    center = cluster.teacher_mean - mean
    spread = cluster.teacher_variance + cluster.noise + q - 2 * teacher
    size = np.sqrt(max(spread, 0.0))
    residual_loss, response = residual_form(loss), kappa * V
    z, weights = normal_nodes(_in_z(residual_loss.breakpoints(response), 1.0, center, size))
    e = center + size * z
    prox = residual_loss.prox(e, response)
    pull = kappa * (e - prox) / response  # of the sample on h: grows with the residual
    slope = residual_loss.slope(e, prox, response)
    rise = -kappa * float(weights @ slope) if slope is not None else float(weights @ (z * pull)) / size
    return _Averages(
        response=rise,
        square=float(weights @ pull**2),
        force=float(weights @ pull),
        teacher=rise,
        loss=kappa * float(weights @ residual_loss.value(prox)),
        error=center**2 + spread,
    )


def _margin_averages(cluster: Cluster, loss: Loss, V: float, q: float, mean: float, teacher: float) -> _Averages:
    s = np.sqrt(q)
    label_law = _LabelLaw(cluster, s, teacher)
    bends = [(-mean / s, 0.0), *label_law.bends()]
    for y, kappa in zip((1, -1), cluster.loss_weights, strict=True):
        if kappa and label_law.occurs(y):
            bends += _in_z(loss.breakpoints(kappa * V), y, mean, s)
    z, weights = normal_nodes(bends)
    h = mean + s * z
    total = np.zeros(6)
    for y, kappa in zip((1, -1), cluster.loss_weights, strict=True):
        chance, shift = label_law(y, z)
        if chance is None:
            continue
        weighted = weights * chance
        total[5] += weighted @ (y * h < 0)
        if kappa == 0:
            continue
        response = kappa * V
        prox = loss.prox(y * h, response)
        f = y * (prox - y * h) / V
        slope = loss.slope(y * h, prox, response)
        moved = float(weights @ (shift * f)) if shift is not None else 0.0
        total[1:5] += np.array([weighted @ f**2, weighted @ f, moved, kappa * (weighted @ loss.value(prox))])
        if slope is None:  # integrated by parts
            total[0] -= weighted @ (z * f) / s - teacher / q * moved
        else:
            total[0] -= kappa * (weighted @ slope)
    return _Averages(*(float(value) for value in total))


class _LabelLaw:
    """P(y | z), and its derivative by the mean of the teacher field."""

    def __init__(self, cluster: Cluster, s: float, teacher: float) -> None:
        self.cluster, self.s = cluster, s
        self.tilt = teacher / s  # of the teacher's conditional mean with z
        self.variance = cluster.teacher_variance - self.tilt**2 + cluster.noise

    def occurs(self, y: int) -> bool:
        return self.cluster.labels != "cluster" or y == self.cluster.label

    def bends(self) -> list[tuple[float, float]]:
        """The label turns where the teacher's conditional mean changes sign, on the scale of its conditional spread."""
        if self.cluster.labels != "sign" or self.tilt == 0:
            return []
        return [(-self.cluster.teacher_mean / self.tilt, float(np.sqrt(max(self.variance, 0.0)) / abs(self.tilt)))]

    def __call__(self, y: int, z: Array) -> tuple[Array | None, Array | None]:
        if not self.occurs(y):
            return None, None
        if self.cluster.labels != "sign":
            return np.full_like(z, 1.0 if self.cluster.labels == "cluster" else 0.5), None
        width = np.sqrt(max(self.variance, 1e-300))
        argument = (self.cluster.teacher_mean + self.tilt * z) / width
        return ndtr(y * argument), y * DENSITY * np.exp(-0.5 * argument**2) / width


def _in_z(breakpoints: list[tuple[float, float]], y: float, mean: float, s: float) -> Iterator[tuple[float, float]]:
    return (((y * t - mean) / s, width / s) for t, width in breakpoints)


def _bias(problem: GeneralizedLinearModel, loss: Loss, x: Overlaps, learner: int, start: float) -> float:
    """Root of the total force on the bias of one learner, which falls with it: Newton, kept in a bracket."""
    clusters = [cluster for cluster in problem.clusters if cluster.learner == learner]

    def total(b: float) -> tuple[float, float]:
        means = [(c.probability, cluster_averages(c, loss, x, b)) for c in clusters]
        return sum(p * m.force for p, m in means), sum(p * m.response for p, m in means)

    b, (force, response) = start, total(start)
    for _ in range(30):
        if not response > 0 or not abs(force / response) < 1e3:
            break
        step = force / response
        if abs(step) <= 1e-14 * (1 + abs(b)):
            return b
        new = total(b + step)
        if abs(new[0]) > abs(force):
            break
        b, (force, response) = b + step, new
    return _bracketed(lambda b: total(b)[0], b)


def _bracketed(force: object, b: float) -> float:
    assert callable(force)
    reach = 0.5
    while force(b - reach) < 0 or force(b + reach) > 0:
        reach *= 2
        if reach > 1e8:
            return float("nan")  # one label only: the bias runs away
    return float(brentq(force, b - reach, b + reach, xtol=1e-14, rtol=1e-14))
