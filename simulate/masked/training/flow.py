"""Gradient flow of all masked regressions of a data set from one eigendecomposition, by an integral over resolvents.

The flow of coordinate k has the coefficients a = phi(C_-k) C_-k,k with phi(s) = (1 - e^(-t(s + lam)))/(s + lam), and
phi is an integral of e^(zt)/(z (s + lam + z)) along a contour around the negative axis. The integrand is a ridge
regression with the complex ridge lam + z, and the resolvent of C without coordinate k follows from that of C. So no
matrix is decomposed for each coordinate.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulate.masked import spectral
from simulate.masked.row_blocks import RowBlocks
from theory.core.arrays import Array, ComplexArray

# A parabola with this many nodes, of which half lie in the upper half plane, has an error of 2e-13: more nodes have a
# smaller error of the trapezoidal rule, and more rounding (Weideman and Trefethen, Math. Comp. 76, 1341 (2007)).
NODES = 28
RESOLVED = 0.02  # of the largest eigenvalue, of a ridge L beside which 1 - C Q loses less than two digits
TEMPORARY = 30_000  # numbers of an array over nodes, rows and columns, which fits into a cache
SHORTEST, LONGEST = 1e-30, 1e12  # times in units of one over the largest eigenvalue, whose rounding is 1e-16


def contour() -> tuple[ComplexArray, ComplexArray]:
    """Return nodes z and weights w in the upper half plane with (1 - e^-x)/x = 2 Re sum w/(z + x) for x >= 0."""
    size, width = np.pi * NODES / 24, 6 / NODES
    u = (np.arange(NODES // 2) + 0.5) * width
    z = np.asarray(size * (1 + 1j * u) ** 2, dtype=complex)
    return z, np.exp(z) * size * (1 + 1j * u) / z * width / np.pi


@dataclass(frozen=True, eq=False)
class FlowPoint:
    """The errors of all regressions at one time, each (d,)."""

    train_error: Array
    test_estimate: Array
    gcv_error: Array


@dataclass(frozen=True, eq=False)
class SecondMoments:
    """The modes of C = X'X/n: nonzero eigenvalues (r,), vectors (d, r) in columns, diagonal (d,) of what is left."""

    modes: spectral.Modes

    @classmethod
    def of(cls, X: RowBlocks, longest: float, lam: float) -> "SecondMoments":
        """Decompose the smaller Gram matrix of X (n, d) for times up to `longest`, which resolve lam + 1/longest."""
        return cls(spectral.decompose(X, lam + 1 / longest))

    @cached_property
    def _loadings(self) -> Array:
        return np.ascontiguousarray(self.modes.vectors.T**2)  # (r, d)

    def _diagonals(self, values: ComplexArray) -> ComplexArray:
        """Return the diagonals (..., d) of functions of C from their values (..., r) at the nonzero eigenvalues.

        Real and imaginary parts are multiplied by the real matrix, which numpy would make a complex one.
        """
        parts = np.stack([values.real, values.imag]).reshape(-1, values.shape[-1]) @ self._loadings
        real, imaginary = parts.reshape(2, *values.shape[:-1], -1)
        return np.asarray(real + 1j * imaginary)

    def _of_resolvents(
        self, ridges: ComplexArray, inverse: ComplexArray
    ) -> tuple[ComplexArray, ComplexArray, ComplexArray]:
        """Return the diagonals (nodes, d) of Q, C Q and C Q^2 from one real product; that of Q^2 follows from them."""
        c = self.modes.eigenvalues
        covered = c * inverse
        if abs(ridges).min() >= RESOLVED * c.max(initial=0.0):  # Q = (1 - C Q)/L keeps the digits, for a third less
            inside, covered = self._diagonals(np.stack([covered, covered * inverse]))
            return (1 - inside) / ridges[:, None], inside, covered
        own, inside, covered = self._diagonals(np.stack([inverse, covered, covered * inverse]))
        return own + self.modes.null / ridges[:, None], inside, covered

    def _ridges(self, time: float, lam: float) -> tuple[ComplexArray, ComplexArray]:
        """Return the ridges and weights of the integral; ValueError for a time so long that rounding shows."""
        unit = float(self.modes.eigenvalues.max(initial=0.0)) or 1.0
        if not SHORTEST <= time * unit <= LONGEST:
            raise ValueError(
                f"times, and that of training, must be from {SHORTEST / unit:.3g} to {LONGEST / unit:.3g} for these "
                f"data, beyond which rounding shows, got {time:g}"
            )
        z, w = contour()
        return lam + z / time, w

    def predictor(self, time: float, lam: float) -> Array:
        """Return the joint predictor (d, d) at a time, with a zero diagonal."""
        ridges, w = self._ridges(time, lam)
        inverse = 1 / (self.modes.eigenvalues + ridges[:, None])
        own = self._diagonals(inverse) + self.modes.null / ridges[:, None]
        carried = w[:, None] / own
        rows = _real_product(carried, inverse)
        # What is outside the row space has the eigenvalue 0, and its projector is one minus that of the modes.
        rows -= 2 * (carried / ridges[:, None]).sum(0).real[:, None] if self.modes.free.any() else 0.0
        rows *= self.modes.vectors
        found = -rows @ self.modes.vectors.T
        np.fill_diagonal(found, 0.0)
        return np.asarray(found)

    def left_out_residuals(self, rows: Array, time: float, lam: float, centered: bool) -> Array:
        """Return the residuals (k, d) that rows (k, d) of X would have if each were left out of the training.

        A ridge regression without the row x has the residual (Qx)_k/(Q_kk (1 - h) + (Qx)_k^2/n), h = x'Qx/n, and
        training is the sum of ridges, without the row too. Where X is `centered` the mean takes a direction 1/n of h.
        """
        ridges, w = self._ridges(time, lam)
        fits, n = spectral.LeaveOneOut.of_modes(rows, self.modes), self.modes.n
        inverse = 1 / (self.modes.eigenvalues + ridges[:, None])
        own = self._diagonals(inverse) + self.modes.null / ridges[:, None]
        scaled, vectors = fits.left * (np.sqrt(n) * fits.singular), np.ascontiguousarray(self.modes.vectors.T)
        left = (fits.outside - (1 / n if centered else 0.0)) + ridges[:, None] * (inverse @ fits.rows.T)  # 1 - h
        parts = np.stack([inverse.real, inverse.imag])[:, :, None]  # (2, nodes, 1, r)
        found, step = np.empty(rows.shape), max(1, TEMPORARY // (2 * inverse.size))
        for start in range(0, len(rows), step):
            chunk = slice(start, start + step)
            real, imaginary = (parts * scaled[chunk]) @ vectors
            solved = real + 1j * imaginary  # (nodes, rows, d)
            kept = left[:, chunk, None] * own[:, None]
            found[chunk] = 2 * np.tensordot(w, solved / (kept + solved * solved / n), 1).real
        return found

    def at(self, time: float, lam: float) -> FlowPoint:
        """Return the errors of the flow at a time with the ridge lam, and the estimates of its test error.

        `test_estimate` needs no covariance: E_k = sum_ij w_i w_j K_i K_j (L_i h_j - L_j h_i)/(L_i - L_j) over the
        ridges L of the integral, with h = 1/Q_kk of Q = (C + L)^-1 and K = 1/(L tr (XX'/n + L)^-1/n). For one ridge
        this is generalized cross-validation. Raises ValueError for a time so long that rounding shows.
        """
        ridges, w = self._ridges(time, lam)
        c, n = self.modes.eigenvalues, self.modes.n
        inverse = 1 / (c + ridges[:, None])  # (nodes, r)
        own, inside, covered = self._of_resolvents(ridges, inverse)
        factors = _real_product(inverse, w[:, None] / own)  # (r, d), of coordinate k's part in each mode, in e_k - a_k
        factors *= factors
        factors *= self._loadings
        train = c @ factors
        freedom = 2 * (w[:, None] * ((c * inverse).sum(1)[:, None] - covered / own)).sum(0).real
        inside /= own  # h - L, which keeps the digits of large ridges
        covered /= own**2  # of a pair of one ridge with itself
        share = n / (ridges * inverse.sum(1) + (n - len(c)))
        with np.errstate(divide="ignore", invalid="ignore"):
            gcv = train / (1 - freedom / n) ** 2
        return FlowPoint(train, _polarized(w * share, ridges, inside, covered), gcv)


def _real_product(left: ComplexArray, right: ComplexArray) -> Array:
    """Return 2 Re left' right of two arrays with a row for each node, by one real product."""
    return np.asarray(np.concatenate([2 * left.real, -2 * left.imag]).T @ np.concatenate([right.real, right.imag]))


def _polarized(w: ComplexArray, ridges: ComplexArray, inside: ComplexArray, covered: ComplexArray) -> Array:
    w, ridges, inside, covered = (np.concatenate([values, values.conj()]) for values in (w, ridges, inside, covered))
    gaps = ridges[:, None] - ridges
    np.fill_diagonal(gaps, 1.0)
    pairs = w[:, None] * w / gaps
    np.fill_diagonal(pairs, 0.0)
    return np.asarray((2 * (ridges @ pairs) @ inside + (w * w) @ covered).real)
