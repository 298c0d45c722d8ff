"""The law of a label y = +-1 given the student's field h = mean + sqrt(q) z, with z standard normal."""

import numpy as np
from scipy.special import log_ndtr, ndtr

from theory.core.arrays import Array
from theory.models.glm import Cluster

DENSITY = 1 / np.sqrt(2 * np.pi)
MIN_VARIANCE_SHARE = 1e-15  # of the teacher's variance: what rounding leaves of the conditional one


class LabelLaw:
    """The probability P(y | z) of a label of one cluster, and its derivative by the mean t of the teacher's field.

    Teacher and student fields are jointly Gaussian: given z the teacher's field has the mean t + `tilt` z, where
    tilt = (covariance of the two fields)/sqrt(q), and with label noise the standard deviation `width`.
    """

    def __init__(self, cluster: Cluster, q: float, teacher: float) -> None:
        self.cluster = cluster
        self.tilt = teacher / np.sqrt(q)
        total = cluster.teacher_variance + cluster.noise
        self.width = float(np.sqrt(max(total - self.tilt**2, MIN_VARIANCE_SHARE * total)))

    def occurs(self, y: int) -> bool:
        """Tell whether the label y can arise."""
        return self.cluster.labels != "cluster" or y == self.cluster.label

    def bends(self) -> list[tuple[float, float]]:
        """Return (z, width) where the label turns: there the teacher's conditional mean changes its sign."""
        if self.cluster.labels != "sign" or abs(self.tilt) < 0.01 * self.width:  # flat over the whole range
            return []
        return [(-self.cluster.teacher_mean / self.tilt, self.width / abs(self.tilt))]

    def __call__(self, y: int, z: Array) -> tuple[Array, Array | None]:
        """Return P(y | z) at z (points,), and its derivative by the teacher's mean (None for a constant)."""
        if self.cluster.labels != "sign":
            return np.full_like(z, 1.0 if self.cluster.labels == "cluster" else 0.5), None
        argument = (self.cluster.teacher_mean + self.tilt * z) / self.width
        return ndtr(y * argument), y * DENSITY / self.width * np.exp(-0.5 * argument**2)

    def log_probability(self, y: int, z: Array) -> Array:
        """Return log P(y | z) at z (points,), also where the probability has no floating-point number."""
        if self.cluster.labels != "sign":
            return np.full_like(z, 0.0 if self.cluster.labels == "cluster" else -np.log(2))
        return np.asarray(log_ndtr(y * (self.cluster.teacher_mean + self.tilt * z) / self.width))

    def share(self, y: int) -> float:
        """Return the share of the cluster's samples that have a label which can arise."""
        if self.cluster.labels != "sign":
            return 1.0 if self.cluster.labels == "cluster" else 0.5
        total = self.cluster.teacher_variance + self.cluster.noise
        return float(ndtr(y * self.cluster.teacher_mean / np.sqrt(total)))
