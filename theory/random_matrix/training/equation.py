"""The matrix Dyson equation of the joint predictor of masked regression along its training.

Training is a sum of ridges, 1 - A = sum_j B_j (C + L_j)^-1 with C = X'X/n and diagonal matrices B_j, so that the
resolvent (1 - A - h)^-1 is a block of the inverse of C x 1 + T, which is linear in C on N copies of the coordinates.
"""

from dataclasses import dataclass, field

import numpy as np

from theory.core import Array
from theory.core.arrays import ComplexArray


@dataclass(frozen=True, eq=False)
class DysonEquation:
    """The equation P^-1 = 1 + (1/alpha) sum_c p_c s_c G_c of N x N matrices, G_c = (s_c P + L - e b_c'/h)^-1.

    P is what C = X'X/n has in place of Sigma in the mean inverse: (C x 1 + T)^-1 ~ (Sigma x P + T)^-1, which is the
    known equivalent of sample covariances with N x N matrices for numbers (derived here by leaving one row out). Class
    c holds the share p_c of the modes, of variance s_c; its coordinates have weights b_cj = w_j/D_cj with D_j the
    diagonal of the mean of (C + L_j)^-1. An eigenvalue a of A is 1 - h, and the place on the real axis is tau = 1/a:
    G_c = F + phi F e b'F with F = (s P + L)^-1 and phi = tau/(tau - 1 - tau b'F e), which is smooth from tau = 0, where
    P is known, through a = 1 to the right edge. Each pair of conjugate ridges is written as two real copies, so that
    all is real: L is block diagonal, and e and b are its two vectors.
    """

    variances: Array = field(repr=False)  # s (m,)
    shares: Array = field(repr=False)  # p (m,)
    weights: Array = field(repr=False)  # b (m, N)
    ridges: Array = field(repr=False)  # L (N, N)
    ones: Array = field(repr=False)  # e (N,)
    start: Array = field(repr=False)  # P at tau = 0, (N, N)
    alpha: float

    def bare(self, P: Array) -> Array:
        """Compute F (m, N, N)."""
        return np.asarray(np.linalg.inv(self.variances[:, None, None] * P + self.ridges), dtype=np.float64)

    def resolvents(self, P: Array, tau: float) -> tuple[Array, Array]:
        """Compute G and its derivative in tau at fixed P, (m, N, N) each."""
        F = self.bare(P)
        column, row = F @ self.ones, np.einsum("mi,mij->mj", self.weights, F)
        below = tau - 1 - tau * (row @ self.ones)
        outer = column[:, :, None] * row[:, None, :]
        return F + (tau / below)[:, None, None] * outer, -outer / (below * below)[:, None, None]

    def defect(self, P: Array, tau: float) -> tuple[Array, Array]:
        """Compute P (1 + sum p s G/alpha) - 1, (N^2,), and its derivatives in (P, tau), (N^2, N^2 + 1)."""
        n = len(P)
        G, slope = self.resolvents(P, tau)
        first = self.shares * self.variances / self.alpha
        inner = np.eye(n) + np.tensordot(first, G, 1)
        weighted = ((first * self.variances)[:, None, None] * (P @ G)).reshape(len(G), -1)
        jacobian = -(weighted.T @ G.reshape(len(G), -1)).reshape(n, n, n, n)  # [i, k, l, j]
        jacobian[np.arange(n), np.arange(n)] += inner
        found = np.empty((n * n, n * n + 1))
        found[:, :-1] = jacobian.transpose(0, 3, 1, 2).reshape(n * n, n * n)
        found[:, -1] = (P @ np.tensordot(first, slope, 1)).ravel()
        return (P @ inner - np.eye(n)).ravel(), found

    def visible(self, P: Array, tau: float) -> float:
        """Compute 1/theta for the strength theta of a delocalized spike whose outlier lies at the place tau.

        It lies where det(1 + theta g P) = 0 with g = sum_c p_c G_c. Negative where no spike has its outlier.
        """
        return self.spike_mode(P, tau)[0]

    def spike_mode(self, P: Array, tau: float) -> tuple[float, Array]:
        """Compute 1/theta and the vector r (N,) with (1 + theta g P) r = 0."""
        G, _ = self.resolvents(P, tau)
        values, vectors = np.linalg.eig(np.tensordot(self.shares, G, 1) @ P)
        real = np.where(values.imag == 0, -values.real, -np.inf)
        best = int(np.argmax(real))
        return float(real[best]), vectors[:, best].real


def real_copies(ridges: ComplexArray, kappa: ComplexArray, weights: ComplexArray) -> tuple[Array, Array, Array, Array]:
    """Write pairs of conjugate ridges L (N/2,) as real copies: the matrices of L and of L/kappa, e, and b (m, N)."""
    n = 2 * len(ridges)
    b = np.empty((len(weights), n))
    b[:, ::2], b[:, 1::2] = np.sqrt(2) * weights.real, -np.sqrt(2) * weights.imag
    ones = np.tile([np.sqrt(2), 0.0], n // 2)
    return _rotations(ridges), _rotations(ridges / kappa), ones, b


def _rotations(numbers: ComplexArray) -> Array:
    found = np.zeros((2 * len(numbers), 2 * len(numbers)))
    even = np.arange(0, len(found), 2)
    found[even, even] = found[even + 1, even + 1] = numbers.real
    found[even + 1, even], found[even, even + 1] = numbers.imag, -numbers.imag
    return found
