"""The equations of tempered students of a narrow network with a finite number K of hidden units.

Overlaps between units of two networks are those of the vectors v_k w_k, v_k = +-1 the signs of the readout. They have
one value for a unit with itself, one for two units of one sign, one for two of different signs, and as a (K, K) matrix
one eigenvalue for each of the modes: differences between units of one sign (K - 2 of them, or K - 1 where all signs are
equal), the sum of all, and the difference between the units of either sign.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from theory.core.arrays import Array
from theory.feedforward.narrow_kernels import Pair
from theory.feedforward.narrow_system import STARTS, Measured, System


def layout(K: int, readout: str) -> tuple[Array, Array, Array, Array]:
    """Return the overlaps of pairs from those of modes (pairs, modes), pairs over K, signs of pairs, and modes."""
    found: tuple[list[Any], ...] = (
        [[K - 2, 1, 1], [-2, 1, 1], [0, 1, -1]], [1, K / 2 - 1, K / 2], [1, 1, -1], [K - 2, 1, 1],
    )  # fmt: skip
    if readout == "equal":
        found = [[K - 1, 1], [-1, 1]], [1, K - 1], [1, 1], [K - 1, 1]
    mix, weights, signs, counts = (np.array(one, float) for one in found)
    return mix / K, weights, signs, counts


@dataclass(frozen=True, eq=False)
class FiniteSystem(System):
    """The equations for x = (Q, q, m) of every mode in turn, with outputs that are taken as Gaussian.

    `mix` (kinds of pairs, modes) gives overlaps of pairs of units from those of modes. A covariance of outputs is the
    sum over kinds of pairs of `weights` times sign times the kernel at sign times the overlap, with `signs` +1 or -1.
    """

    rounding: ClassVar[float] = 1e-12  # of the difference between two forces
    mix: Array
    weights: Array  # pairs of each kind, over K
    signs: Array  # the product of the two signs of the readout
    counts: Array  # modes of each kind

    @classmethod
    def of(cls, limit: System, K: int, readout: str) -> "FiniteSystem":
        """Build the equations of K units from those of the limit of infinitely many."""
        mix, weights, signs, counts = layout(K, readout)
        return cls(limit.kernel, limit.alpha, limit.noise, limit.beta, limit.lam, mix, weights, signs, counts)

    def begin(self, start: str) -> Array:
        """Return the orders of the teacher, or those of almost random weights of which only the sum is known."""
        modes = [STARTS[start]] * len(self.counts)
        modes[1] = STARTS["teacher"]
        return np.array(modes).ravel()

    def impatient(self, _x: Array) -> bool:
        """Return True: a step costs more here, and the implicit ones converge from anywhere near."""
        return True

    def resolved(self, x: Array) -> bool:
        """Return whether differences of the orders of a unit stay away from the edge Q = q."""
        return super().resolved(self.mix[0] @ x.reshape(-1, 3))

    def _image(self, x: Array) -> Array:
        at = _Covariances(self, x)
        forces = self.alpha * at.by_modes()
        X = 1 / (self.lam - 2 * (forces[:, 0] + forces[:, 1]))
        q = X * X * (forces[:, 2] ** 2 - 2 * forces[:, 1])
        return np.stack([X + q, q, X * forces[:, 2]], axis=1).ravel()

    def kernel_error(self, x: Array) -> float:
        """Return a bound for the relative error of the kernels at these orders."""
        at = _Covariances(self, x)
        return max(pair.error for pair in (*at.teacher, *at.two, *at.same[1:]))

    def measured(self, x: Array) -> Measured:
        """Return Q, q, m of a unit, the Gibbs risk, the risk of the mean, the training error, and the replicon."""
        at = _Covariances(self, x)
        Q, q, m = (float(one) for one in at.overlaps[0])
        mean_risk = at.E - self.noise
        return Q, q, m, mean_risk + at.spread, mean_risk, at.E / at.c**2 + at.spread / at.c, self._replicon(at, x)

    def _replicon(self, at: "_Covariances", x: Array) -> float:
        """Return 1 minus the largest eigenvalue of the variation of the energy in units of that of the entropy.

        The variations are those of the overlap of two replicas, one for each kind of mode.
        """
        Q, q, _ = x.reshape(-1, 3).T
        K = self.counts.sum()
        first = self.mix.T @ at.slopes(at.two)
        twice = self.signs * self.weights * np.array([pair.by_rho_twice for pair in at.two])
        second = self.mix.T @ (twice[:, None] * self.mix)
        energy = K * self.alpha * (self.beta / at.c) ** 2 * (np.outer(first, first) + at.E * second)
        unit = (Q - q) / np.sqrt(self.counts)
        return float(1 - np.linalg.eigvalsh(energy * np.outer(unit, unit))[-1])


class _Covariances:
    """Covariances of outputs at given orders: `teacher` M, `two` replicas Vq, a replica with itself V, and c and E."""

    def __init__(self, system: FiniteSystem, x: Array) -> None:
        self.system, self._shares = system, system.signs * system.weights
        self.overlaps = system.mix @ x.reshape(-1, 3)  # kinds of pairs by (Q, q, m)
        # Plain numbers: arithmetic with those of numpy takes several times as long.
        signs, (Q, q, m) = system.signs.tolist(), self.overlaps.T.tolist()
        A = Q[0]
        own, own_by_A = system.kernel.own(A)
        one, student = system.kernel.slope_at(1.0), system.kernel.slope_at(A)
        slope, growth = student
        self.teacher = [self._full(1.0, A, sign * rho, one, student) for sign, rho in zip(signs, m, strict=True)]
        self.two = [self._full(A, A, sign * rho, student, student) for sign, rho in zip(signs, q, strict=True)]
        # A unit with itself is not differentiated by its overlap and variance apart: that of a jump would be infinite.
        itself = Pair(own + slope**2 * A, (own_by_A + slope**2) / 2 + slope * growth * A, 0.0, 0.0)
        others = zip(signs[1:], Q[1:], strict=True)
        self.same = [itself, *(self._full(A, A, sign * rho, student, student) for sign, rho in others)]
        V, Vq, M = (self._sum("value", pairs) for pairs in (self.same, self.two, self.teacher))
        self.spread = V - Vq
        self.c = 1 + system.beta * self.spread
        self.E = system.kernel.power + system.noise - 2 * M + Vq

    def _full(self, A: float, B: float, rho: float, at_A: tuple[float, float], at_B: tuple[float, float]) -> Pair:
        """Return the kernel with its linear part, given the mean slopes at both variances."""
        tail, (a, _), (b, b_by_B) = self.system.kernel.pair(A, B, rho), at_A, at_B
        by_second = tail.by_second + a * b_by_B * rho
        return Pair(tail.value + a * b * rho, by_second, tail.by_rho + a * b, tail.by_rho_twice, tail.error)

    def _sum(self, name: str, pairs: list[Pair]) -> float:
        """Return the covariance of outputs, or its derivative by the second variance."""
        values = np.array([getattr(pair, name) for pair in pairs])
        return float(self._shares @ values)

    def slopes(self, pairs: list[Pair]) -> Array:
        """Return derivatives of the covariance of outputs by the overlap of each kind of pair."""
        return np.asarray(self.system.weights * np.array([pair.by_rho for pair in pairs]))

    def by_modes(self) -> Array:
        """Return derivatives of K G by Q, q and m of one mode of each kind, (kinds, 3)."""
        system, c, E = self.system, self.c, self.E
        beta = system.beta
        V_A, Vq_A = (2 * self._sum("by_second", pairs) for pairs in (self.same, self.two))
        E_A = Vq_A - 2 * self._sum("by_second", self.teacher)
        by_c = (beta * E / c - 1) / (2 * c)
        by_Q = by_c * beta * self.slopes(self.same)
        by_Q[0] = by_c * beta * (V_A - Vq_A) - beta * E_A / (2 * c)
        by_q = -(beta**2) * E / (2 * c**2) * self.slopes(self.two)
        by_m = beta / c * self.slopes(self.teacher)
        per_mode = system.counts.sum() / system.counts
        return np.asarray(per_mode[:, None] * (system.mix.T @ np.stack([by_Q, by_q, by_m], axis=1)))
