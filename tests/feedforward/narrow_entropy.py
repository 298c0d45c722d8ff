"""The free entropy of tempered students of K units as it stands: sums over all pairs of units, and determinants.

Nothing is assumed about which units are alike, so that any variation of the overlaps can be tried.
"""

from dataclasses import dataclass

import numpy as np


def covariance(activation, A, B, rho):
    """Return E f(u) f(v) - E f(u) E f(v) for normal u and v of variances A and B and covariance rho."""
    root = np.sqrt(A * B)
    c = np.clip(rho / root, -1, 1)
    if activation == "erf":
        return 2 / np.pi * np.arcsin(rho / np.sqrt((1 + A) * (1 + B)))
    if activation == "sign":
        return 2 / np.pi * np.arcsin(c)
    if activation == "relu":
        return root / (2 * np.pi) * (np.sqrt(1 - c * c) + c * (np.pi - np.arccos(c)) - 1)
    return rho * rho  # quadratic


@dataclass(frozen=True)
class Entropy:
    """The free entropy of students in units of N, with signs v of the readout (K,)."""

    activation: str
    alpha: float
    noise: float
    beta: float
    lam: float
    v: np.ndarray

    def outputs(self, A, B, rho):
        """Return the covariance of two outputs, for variances (K,) of fields and their covariances (K, K)."""
        pairs = covariance(self.activation, A[:, None], B[None, :], rho)
        return self.v @ pairs @ self.v / len(self.v)

    def parts(self, Q, q, m):
        """Return c - 1 over beta, and E, from overlaps (K, K) of a sample with itself, another, and the teacher."""
        one, A = np.ones(len(self.v)), np.diag(Q)
        V, Vq, M = self.outputs(A, A, Q), self.outputs(A, A, q), self.outputs(A, one, m)
        return V - Vq, self.outputs(one, one, np.eye(len(one))) + self.noise - 2 * M + Vq

    def __call__(self, Q, q, m):
        """Return the free entropy."""
        spread, E = self.parts(Q, q, m)
        c = 1 + self.beta * spread
        X = Q - q
        weights = (
            np.linalg.slogdet(X)[1] / 2 + np.trace(np.linalg.solve(X, q - m @ m.T)) / 2 - self.lam * np.trace(Q) / 2
        )
        return weights + self.alpha * len(self.v) * (-np.log(c) / 2 - self.beta * E / (2 * c))


def overlaps(modes, v):
    """Return Q, q and m as matrices (K, K) of the overlaps of w_k from those of modes, as `TemperedOrders` has them."""
    K = len(v)
    total, other = np.outer(v, v) / K, np.full((K, K), 1 / K)
    shares = [np.eye(K) - total, total]
    if len(modes) == 3:
        shares = [shares[0] - other, total, other]
    return [sum(mode[i] * share for mode, share in zip(modes, shares, strict=True)) for i in range(3)]
