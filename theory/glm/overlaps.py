"""Order parameters and their conjugates."""

from dataclasses import dataclass

from theory.models.arrays import Array


@dataclass(frozen=True)
class Overlaps:
    """V, q (C,): response and self-overlap w.Omega_c.w/p; r (A,): overlaps w.s_a/p with the signals."""

    V: Array
    q: Array
    r: Array


@dataclass(frozen=True)
class Conjugates:
    """Vhat, qhat (C,) and rhat (A,), and the biases (learners,) they belong to."""

    Vhat: Array
    qhat: Array
    rhat: Array
    bias: Array
