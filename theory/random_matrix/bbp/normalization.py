"""How each method normalizes the coordinates before it looks for a spike.

The deterministic equivalent of a method's matrix has its eigenvalues at the zeros x of h Sigma + diag(shift) -
x diag(scale), where h = 1/K is the factor by which a sample of n rows changes the population Sigma. Methods differ in
shift and scale alone:

| method               | matrix                        | shift       | scale                     | eigenvalue        |
|----------------------|-------------------------------|-------------|---------------------------|-------------------|
| ssr                  | A = 1 - diag(Q)^-1 Q          | lam         | 1/diag (Sigma + kappa)^-1 | 1 - lam/(kappa x) |
| pca                  | C = X'X/n                     | 0           | 1                         | x                 |
| correlation_pca      | diag(C)^-1/2 C diag(C)^-1/2   | 0           | diag Sigma                | x                 |
| diagonal_deleted_pca | C - diag C, ssr at lam -> inf | -diag Sigma | 1                         | x                 |

Sigma is the full covariance in shift and scale, spikes included: on the O(1) coordinates of a localized spike they
change at leading order. kappa is that of the noise, which a spike moves by O(1/d). For ssr x = nu lam/kappa stays
finite as lam -> 0, where lam/kappa = 1 - df1/alpha.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from theory.core.arrays import Array
from theory.random_matrix.bbp.spiked_noise import SpikedNoise
from theory.random_matrix.effective_ridge import solve_effective_ridge
from theory.random_matrix.moments import ridge_moments
from theory.random_matrix.row_response import row_weight


@dataclass(frozen=True, eq=False)
class Normalization:
    """Holds the numbers shift and scale of every coordinate, (d,) each, or (1,) where all are alike."""

    shift: Array = field(repr=False)
    scale: Array = field(repr=False)

    def at(self, x: float) -> Array:
        """Compute x scale - shift, which with -h Sigma added is positive definite right of the bulk."""
        return x * self.scale - self.shift


class MethodNormalization:
    """The normalization that a method makes of a noise with spikes, at any strengths of these."""

    def __init__(self, spiked: SpikedNoise) -> None:
        self.spiked = spiked
        spectrum = spiked.spectrum
        self.contraction = 1.0  # lam/kappa
        if spiked.method == "ssr":
            self.kappa, self.contraction = _effective(spiked)
            self.diagonal = spectrum.diagonal(1 / (spectrum.eigenvalues + self.kappa))
            if spiked.directions is not None:
                self.solved = _resolvent_times(spiked, self.kappa)  # (Sigma_0 + kappa)^-1 u, (d, k)
                self.form = spiked.directions @ self.solved
        elif spiked.method != "pca":
            self.variances = spiked.noise.variances if spiked.directions is not None else _variances(spiked)

    def at(self, strengths: Array | None = None) -> Normalization:
        """Return the normalization of the noise with spikes of these strengths, or of the noise alone (None)."""
        method, ones = self.spiked.method, np.ones(1)
        if method == "pca":
            return Normalization(0 * ones, ones)
        if method == "ssr":
            return Normalization(float(self.spiked.lam or 0.0) * ones, 1 / (self.diagonal - self._removed(strengths)))
        variances = self.variances
        if strengths is not None and self.spiked.directions is not None:
            variances = variances + strengths @ self.spiked.directions**2
        return Normalization(0 * ones, variances) if method == "correlation_pca" else Normalization(-variances, ones)

    def eigenvalue(self, x: float) -> float:
        """Convert x to the eigenvalue of the method's matrix."""
        return 1 - self.contraction / x if self.spiked.method == "ssr" else x

    def slope(self, x: float, strength: float) -> Array:
        """Compute the derivative of x scale - shift in the strength of one spike, (d,) or (1,)."""
        method, directions = self.spiked.method, self.spiked.directions
        if directions is None or method == "pca":
            return np.zeros(1)
        if method == "ssr":
            taken = self.at(np.array([strength])).scale * self.solved[:, 0] / (1 + strength * self.form[0, 0])
            return np.asarray(x * taken * taken)
        return np.asarray(directions[0] ** 2 * (x if method == "correlation_pca" else 1.0))

    def growth(self, x: float) -> Array:
        """Compute the limit of `slope` as the strength goes to infinity, (d,) or (1,)."""
        method, directions = self.spiked.method, self.spiked.directions
        if directions is None or method == "pca":
            return np.zeros(1)
        if method == "ssr":
            s = self.form[0, 0]
            lone = self.diagonal * s - self.solved[:, 0] ** 2 <= 1e-13 * self.diagonal * s
            return np.where(lone, x * s / self.diagonal, 0.0)
        return self.slope(x, math.inf)

    def _removed(self, strengths: Array | None) -> Array:
        """Compute what the spikes take from diag (Sigma + kappa)^-1, by Woodbury's identity."""
        if strengths is None or self.spiked.directions is None:
            return np.zeros(1)
        inner = np.linalg.solve(np.diag(1 / strengths) + self.form, self.solved.T)
        return np.asarray(np.einsum("ik,ki->i", self.solved, inner))


def _effective(spiked: SpikedNoise) -> tuple[float, float]:
    """Compute the effective ridge kappa of the noise, and lam/kappa, which has a limit as lam -> 0."""
    alpha, lam = np.array([spiked.alpha]), np.array([float(spiked.lam or 0.0)])
    rows = spiked.rows
    kappa = solve_effective_ridge(spiked.spectrum, alpha, lam, row_scales=rows).value
    if lam[0] > 0:
        return float(kappa[0]), float(lam[0] / kappa[0])
    if kappa[0] > 0:
        return float(kappa[0]), 0.0
    at = ridge_moments(spiked.spectrum, kappa)
    gap = np.maximum(at.above_df1(alpha * rows.present) / alpha, 0.0)
    if rows.alike or gap[0] == 0:
        return 0.0, float(gap[0])
    return 0.0, float(row_weight(rows, at.df1 / alpha, gap)[0])


def _resolvent_times(spiked: SpikedNoise, kappa: float) -> Array:
    noise, U = spiked.noise, np.asarray(spiked.directions).T
    if spiked.is_diagonal:
        return np.asarray(U / (noise.variances + kappa)[:, None])
    rotated = noise.eigenvectors.T @ U
    return np.asarray(noise.eigenvectors @ (rotated / (noise.eigenvalues + kappa)[:, None]))


def _variances(spiked: SpikedNoise) -> Array:
    spectrum = spiked.spectrum
    return spectrum.diagonal(spectrum.eigenvalues)
