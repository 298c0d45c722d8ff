"""Coordinates of the overlaps in which the saddle-point equations are well behaved."""

import numpy as np

from theory.core.arrays import Array
from theory.glm.overlaps import Overlaps
from theory.models.glm import GeneralizedLinearModel

MAX_CORRELATION = 1 - 1e-15  # a teacher's correlation with the field stays below 1


class Coordinates:
    """Maps overlaps to x = (log V, log q, u) and back.

    u is the inverse hyperbolic tangent of the correlation of h with a teacher, or a mean's overlap over sqrt(q).
    Positivity and r^2 <= q rho hold by construction; with r itself Newton crawls along that bound where noiseless
    labels are learned well.
    """

    def __init__(self, problem: GeneralizedLinearModel) -> None:
        modes = problem.modes
        self.C, self.A = modes.n_covariances, modes.n_signals
        # By signal: covariance and teacher variance of its clusters.
        self.teachers: dict[int, list[tuple[int, float]]] = {}
        self.owner = np.zeros(self.A, int)  # the covariance whose q measures a signal
        for cluster in problem.clusters:
            for signal in (cluster.mean_signal, cluster.teacher_signal):
                if signal is not None:
                    self.owner[signal] = cluster.covariance
            if cluster.teacher_signal is not None and cluster.teacher_variance > 0:
                self.teachers.setdefault(cluster.teacher_signal, []).append(
                    (cluster.covariance, cluster.teacher_variance)
                )

    def _scales(self, q: Array) -> Array:
        """Return the units of r: for a teacher the largest |r| that is allowed, for a cluster mean sqrt(q)."""
        scales = np.sqrt(q[self.owner]) if self.A else np.zeros(0)
        for signal, bounds in self.teachers.items():
            scales[signal] = np.sqrt(min(q[covariance] * variance for covariance, variance in bounds))
        return np.asarray(scales)

    def pack(self, at: Overlaps) -> Array:
        """Return the coordinates x of overlaps: 2 C + A entries for C covariances and A signals."""
        u = at.r / self._scales(at.q)
        own = list(self.teachers)
        u[own] = np.arctanh(np.clip(u[own], -MAX_CORRELATION, MAX_CORRELATION))
        return np.concatenate((np.log(at.V), np.log(at.q), u))

    def unpack(self, x: Array) -> Overlaps:
        """Return the overlaps at coordinates x."""
        V, q, u = np.exp(x[: self.C]), np.exp(x[self.C : 2 * self.C]), np.array(x[2 * self.C :])
        own = list(self.teachers)
        u[own] = np.tanh(u[own])
        return Overlaps(V, q, u * self._scales(q))
