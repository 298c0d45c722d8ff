"""The order parameters of the replica-symmetric saddle point and their conjugates."""

from dataclasses import dataclass

from theory.core.arrays import Array


@dataclass(frozen=True)
class Overlaps:
    """Hold the order parameters: for C covariances the responses V and self-overlaps q = w.Omega_c.w/p, (C,) each.

    r (A,) are the overlaps w.s_a/p of the weights w in R^p with A signals.
    """

    V: Array
    q: Array
    r: Array


@dataclass(frozen=True)
class Conjugates:
    """Hold the conjugates Vhat, qhat (C,) and rhat (A,) of V, q and r, and the biases (learners,) they belong to."""

    Vhat: Array
    qhat: Array
    rhat: Array
    bias: Array
