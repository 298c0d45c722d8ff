"""The law of the student's field h within a cluster."""

from dataclasses import dataclass
from typing import Self

from theory.glm.overlaps import Overlaps
from theory.models.glm import Cluster


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
