"""The law of a label y given the student's field h = mean + sqrt(q) z, with z standard normal."""

from typing import Protocol

import numpy as np
from scipy.special import log_ndtr, ndtr

from theory.core.arrays import Array
from theory.glm.label_tables import LabelTable, label_table, moments_given
from theory.models.glm import Cluster, Flips, Probit
from theory.models.glm.cluster import kind_of
from theory.models.glm.label_channels import AnyChannel

DENSITY = 1 / np.sqrt(2 * np.pi)
MIN_VARIANCE_SHARE = 1e-15  # of the teacher's variance: what rounding leaves of the conditional one
LEAST_VARIANCE = 1e-300  # signs of a known field, without a division by zero
ALL = None  # in the place of a label: all values of a channel, one row for each


class LabelLaw(Protocol):
    """The probability P(y | z) of a label of one cluster, and its derivative by the mean t of the teacher's field.

    Teacher and student fields are jointly Gaussian: given z the teacher's field has the mean t + `tilt` z, where
    tilt = (covariance of the two fields)/sqrt(q), and with label noise the standard deviation `width`.
    """

    def occurs(self, y: int, /) -> bool:
        """Tell whether the label y can arise."""

    def bends(self) -> list[tuple[float, float]]:
        """Return (z, width) where the label turns."""

    def __call__(self, y: int | None, z: Array, /) -> tuple[Array, Array | None]:
        """Return P(y | z) at z (points,), and its derivative by the teacher's mean (None for a constant).

        For the label None all values of the channel are meant, and both are (values, points).
        """

    def curvature(self, y: int | None, z: Array, /) -> Array:
        """Return the second derivative of P(y | z) by the teacher's mean, of the shape of P."""

    def log_probability(self, y: float, z: Array, /) -> Array:
        """Return log P(y | z) at z (points,), also where the probability has no floating-point number."""

    def share(self, y: float, /) -> float:
        """Return the share of the cluster's samples that have this label."""


def label_law(cluster: Cluster, q: float, teacher: float, left: float | None = None) -> LabelLaw:
    """Return the law of the labels of a cluster where the covariance of h with the teacher's field is `teacher`.

    `left` is the variance of the teacher's field given h, if it is known to more digits than a difference has.
    """
    labels = cluster.labels
    if labels in ("random", "cluster"):
        return _Constant(cluster)
    if labels == "sign" or isinstance(labels, Probit | Flips):
        return _Signs(cluster, teacher / float(np.sqrt(q)), left)
    assert not isinstance(labels, str)  # linear labels have a residual and no law of this kind
    return _Channel(cluster, labels, teacher / float(np.sqrt(q)), left)


class _Constant:
    """Labels that do not depend on a teacher."""

    def __init__(self, cluster: Cluster) -> None:
        self.random, self.label = cluster.labels == "random", cluster.label

    def occurs(self, y: int) -> bool:
        return self.random or y == self.label

    def bends(self) -> list[tuple[float, float]]:
        return []

    def __call__(self, _y: int | None, z: Array) -> tuple[Array, Array | None]:
        return np.full_like(z, 0.5 if self.random else 1.0), None

    def curvature(self, _y: int | None, z: Array) -> Array:
        return np.zeros_like(z)

    def log_probability(self, _y: float, z: Array) -> Array:
        return np.full_like(z, -np.log(2) if self.random else 0.0)

    def share(self, _y: float) -> float:
        return 0.5 if self.random else 1.0


class _Signs:
    """Signs of the teacher's field with Gaussian noise, of which shares are flipped: P = flipped + kept Phi(y ...)."""

    def __init__(self, cluster: Cluster, tilt: float, left: float | None) -> None:
        self.mean, self.tilt = cluster.teacher_mean, tilt
        self.total = cluster.teacher_variance + noise_of(cluster)
        rest = max(self.total - tilt**2, MIN_VARIANCE_SHARE * self.total)
        rest = rest if left is None else max(left + noise_of(cluster), LEAST_VARIANCE)
        self.width = float(np.sqrt(rest))
        flips = cluster.labels if isinstance(cluster.labels, Flips) else Flips()
        self.flipped = {1: flips.negative, -1: flips.positive}  # a label that belongs to the other sign
        self.kept = 1 - flips.positive - flips.negative

    def occurs(self, _y: int) -> bool:
        return True

    def bends(self) -> list[tuple[float, float]]:
        if abs(self.tilt) < 0.01 * self.width:  # flat over the whole range
            return []
        return [(-self.mean / self.tilt, self.width / abs(self.tilt))]

    def __call__(self, y: int | None, z: Array) -> tuple[Array, Array | None]:
        assert y is not None
        argument = (self.mean + self.tilt * z) / self.width
        slope = self.kept * y * DENSITY / self.width * np.exp(-0.5 * argument**2)
        return self.flipped[y] + self.kept * ndtr(y * argument), slope

    def curvature(self, y: int | None, z: Array) -> Array:
        slope = self(y, z)[1]
        assert slope is not None
        return -slope * (self.mean + self.tilt * z) / self.width**2

    def log_probability(self, y: float, z: Array) -> Array:
        argument = y * (self.mean + self.tilt * z) / self.width
        if self.kept == 1:
            return np.asarray(log_ndtr(argument))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.flipped[int(y)] + self.kept * ndtr(argument)))

    def share(self, y: float) -> float:
        return self.flipped[int(y)] + self.kept * float(ndtr(y * self.mean / np.sqrt(self.total)))


class _Channel:
    """Labels of any channel, whose probabilities are averaged over the teacher's field by a table of them."""

    def __init__(self, cluster: Cluster, channel: AnyChannel, tilt: float, left: float | None) -> None:
        self.channel, self.mean, self.tilt, total = channel, cluster.teacher_mean, tilt, cluster.teacher_variance
        self.table: LabelTable = label_table(channel, self.mean, total)
        self.variance = max(total - tilt**2 if left is None else left, self.table.least_variance)

    def occurs(self, _y: int) -> bool:
        return True

    def bends(self) -> list[tuple[float, float]]:
        """Return the edges of the panels that resolve the channel, and smoothed jumps, as places of z."""
        width, tilt = float(np.sqrt(self.variance)), self.tilt
        if abs(tilt) < width:  # smooth on the scale of the panels that the normal law needs
            return []
        found = [((float(nu) - self.mean) / tilt, width / abs(tilt)) for nu in self.table.sharp]
        last = -np.inf
        for nu in self.table.edges[1:-1].tolist():
            if nu - last >= 2 * width:
                last = nu
                found.append(((nu - self.mean) / tilt, 0.0))
        return found

    def __call__(self, y: int | None, z: Array) -> tuple[Array, Array | None]:
        chance, slope = self.table.smoothed(self._rows(y), self.mean + self.tilt * z, self.variance)
        return chance, slope

    def curvature(self, y: int | None, z: Array) -> Array:
        return self.table.smoothed(self._rows(y), self.mean + self.tilt * z, self.variance, orders=(2,))[0]

    def _rows(self, y: int | None) -> int | slice:
        return slice(None) if y is ALL else self.table.values.index(float(y))

    def log_probability(self, y: float, z: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(moments_given(self.channel, y, self.mean + self.tilt * z, self.variance)))

    def share(self, y: float) -> float:
        return self.table.share(self.table.values.index(float(y)))


def noise_of(cluster: Cluster) -> float:
    """Return the variance of the Gaussian noise that is added to the teacher's field before its sign is taken."""
    return cluster.labels.noise if isinstance(cluster.labels, Probit) else cluster.noise


def values_of(cluster: Cluster) -> Array:
    """Return the values that labels of the kind "values" take, (values, 1)."""
    assert kind_of(cluster.labels) == "values"
    assert not isinstance(cluster.labels, str)
    table = label_table(cluster.labels, cluster.teacher_mean, cluster.teacher_variance)
    return np.array(table.values)[:, None]
