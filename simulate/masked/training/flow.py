"""Gradient flow of all masked regressions of a data set from one eigendecomposition, by an integral over resolvents.

The flow of coordinate k has the coefficients a = phi(C_-k) C_-k,k with phi(s) = (1 - e^(-t(s + lam)))/(s + lam), and
phi is an integral of e^(zt)/(z (s + lam + z)) along a contour around the negative axis. The integrand is a ridge
regression with the complex ridge lam + z, and the resolvent of C without coordinate k follows from that of C. So no
matrix is decomposed for each coordinate.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from theory.core.arrays import Array, ComplexArray

# A parabola with this many nodes, of which half lie in the upper half plane, has an error of 2e-13: more nodes have a
# smaller error of the trapezoidal rule, and more rounding (Weideman and Trefethen, Math. Comp. 76, 1341 (2007)).
NODES = 28
SHORTEST, LONGEST = 1e-30, 1e12  # times in units of one over the largest eigenvalue, whose rounding is 1e-16


def contour() -> tuple[ComplexArray, ComplexArray]:
    """Return nodes z and weights w in the upper half plane with (1 - e^-x)/x = 2 Re sum w/(z + x) for x >= 0."""
    size, width = np.pi * NODES / 24, 6 / NODES
    u = (np.arange(NODES // 2) + 0.5) * width
    z = np.asarray(size * (1 + 1j * u) ** 2, dtype=complex)
    return z, np.exp(z) * size * (1 + 1j * u) / z * width / np.pi


@dataclass(frozen=True, eq=False)
class FlowPoint:
    """All regressions at one time: `rows` (d, d) holds e_k - a_k of coordinate k in the basis of the eigenvectors."""

    rows: Array
    train_error: Array  # (d,)
    test_estimate: Array  # (d,)
    gcv_error: Array  # (d,)


@dataclass(frozen=True, eq=False)
class SecondMoments:
    """The eigenvalues (d,) and eigenvectors (d, d), in columns, of C = X'X/n of n rows."""

    n: int
    eigenvalues: Array
    vectors: Array

    @classmethod
    def of(cls, X: Array) -> "SecondMoments":
        """Decompose the second moments of a data matrix X (n, d)."""
        eigenvalues, vectors = np.linalg.eigh(X.T @ X / len(X))
        return cls(len(X), np.maximum(eigenvalues, 0.0), vectors)

    @cached_property
    def _loadings(self) -> Array:
        return np.asarray(self.vectors**2)

    def _diagonals(self, values: ComplexArray) -> ComplexArray:
        """Return the diagonals (..., d) of functions of C from their values (..., d) at the eigenvalues.

        Real and imaginary parts are multiplied by the real matrix, which numpy would make a complex one.
        """
        parts = np.stack([values.real, values.imag]).reshape(-1, len(self.eigenvalues)) @ self._loadings.T
        real, imaginary = parts.reshape(2, *values.shape)
        return np.asarray(real + 1j * imaginary)

    def predictor(self, point: FlowPoint) -> Array:
        """Return the joint predictor (d, d) at a time, with a zero diagonal."""
        found = -point.rows @ self.vectors.T
        np.fill_diagonal(found, 0.0)
        return np.asarray(found)

    def at(self, time: float, lam: float) -> FlowPoint:
        """Return the flow at a time with the ridge lam, and the estimates of its test error.

        `test_estimate` needs no covariance: E_k = sum_ij w_i w_j K_i K_j (L_i h_j - L_j h_i)/(L_i - L_j) over the
        ridges L of the integral, with h = 1/Q_kk of Q = (C + L)^-1 and K = 1/(L tr (XX'/n + L)^-1/n). For one ridge
        this is generalized cross-validation. Raises ValueError for a time so long that rounding shows.
        """
        unit = float(self.eigenvalues[-1]) or 1.0
        if not SHORTEST <= time * unit <= LONGEST:
            raise ValueError(
                f"times, and that of training, must be from {SHORTEST / unit:.3g} to {LONGEST / unit:.3g} for these "
                f"data, beyond which rounding shows, got {time:g}"
            )
        z, w = contour()
        ridges = lam + z / time
        c, n = self.eigenvalues, self.n
        inverse = 1 / (c + ridges[:, None])  # (nodes, d)
        squared = inverse * inverse
        # Four diagonals for each node: of Q, C Q, Q^2 and C Q^2, from one real product.
        own, inside, square, covered = self._diagonals(np.stack([inverse, c * inverse, squared, c * squared]))
        carried = 2 * w[:, None] / own
        rows = self.vectors * (carried.real.T @ inverse.real - carried.imag.T @ inverse.imag)
        train = (rows**2) @ c
        trace = inverse.sum(1)
        inside = inside / own  # h - L, which keeps the digits of large ridges
        covered = covered / own**2  # of a pair of one ridge with itself
        share = n / (ridges * trace + (n - len(c)))
        freedom = 2 * (w[:, None] * (len(c) - 1 - ridges[:, None] * (trace[:, None] - square / own))).sum(0).real
        with np.errstate(divide="ignore", invalid="ignore"):
            gcv = train / (1 - freedom / n) ** 2
        return FlowPoint(rows, train, _polarized(w * share, ridges, inside, covered), gcv)


def _polarized(w: ComplexArray, ridges: ComplexArray, inside: ComplexArray, covered: ComplexArray) -> Array:
    w, ridges, inside, covered = (np.concatenate([values, values.conj()]) for values in (w, ridges, inside, covered))
    gaps = ridges[:, None] - ridges
    np.fill_diagonal(gaps, 1.0)
    pairs = w[:, None] * w / gaps
    np.fill_diagonal(pairs, 0.0)
    return np.asarray((2 * (ridges @ pairs) @ inside + (w * w) @ covered).real)
