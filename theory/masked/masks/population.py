"""The population regression behind random masks: its resolvent, traces and errors, dense or mode by mode."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
from scipy.linalg import lapack

from theory.core.arrays import Array
from theory.models import Covariance, Equicorrelated, Spectrum
from theory.numerics import ConvergenceError


@dataclass(frozen=True, eq=False)
class Resolvent:
    """G = (x Sigma + y Delta + lam)^-1, Delta = diag Sigma: its traces over d, and when asked the errors it makes.

    `errors` gives for every coordinate, or class of them, [G Sigma G]_kk / G_kk^2, the error on inputs that are all
    shown, and sum over j != k of G_kj^2 Delta_j / G_kk^2, the noise that masks add to it. `cross` gives sum over
    j != k of Sigma_kj G_jk / G_kk.
    """

    sigma: float  # tr Sigma G
    delta: float  # tr Delta G
    products: Array = field(repr=False)  # (2, 2), tr B_i G B_j G with B = (Sigma, Delta)
    errors: Callable[[], tuple[Array, Array]] = field(repr=False)
    cross: Callable[[], Array] = field(repr=False)


@dataclass(frozen=True, eq=False)
class CommutingPopulation:
    """A population where Delta commutes with Sigma (equal variances, or independence): all are sums over modes."""

    spectrum: Spectrum = field(repr=False)
    delta: Array = field(repr=False)  # (r,) at the modes

    @property
    def variances(self) -> Array:
        """The variance of each coordinate, or of each class of them, (c,)."""
        return self.delta if self.spectrum.axes else np.full(self.spectrum.n_coordinates, self.delta[0])

    def whitened(self, x: float, y: float, lam: float) -> Spectrum:
        """Return the spectrum of (y Delta + lam)^-1/2 x Sigma (y Delta + lam)^-1/2."""
        return Spectrum(x * self.spectrum.eigenvalues / (y * self.delta + lam), self.spectrum.weights)

    def resolvent(self, x: float, y: float, lam: float) -> Resolvent:
        """Compute the resolvent at coefficients x, y >= 0 and lam > 0."""
        spectrum, s = self.spectrum, self.spectrum.eigenvalues
        g = 1 / (x * s + y * self.delta + lam)
        both = np.stack([s * g, self.delta * g])
        products = (both * spectrum.weights) @ both.T
        sigma, delta = map(float, both @ spectrum.weights)
        return Resolvent(sigma, delta, products, partial(self._errors, g / g.max()), partial(self._cross, g / g.max()))

    def _cross(self, g: Array) -> Array:
        spectrum = self.spectrum
        centered = g - spectrum.mean(g)  # its mean over the modes of a coordinate is what the diagonal of Sigma takes
        of_sigma = spectrum.diagonal(self.spectrum.eigenvalues * centered)
        return np.asarray((of_sigma - self.variances * spectrum.diagonal(centered)) / spectrum.diagonal(g))

    def _errors(self, g: Array) -> tuple[Array, Array]:
        spectrum, s = self.spectrum, self.spectrum.eigenvalues
        if spectrum.axes:  # independent coordinates cannot be predicted from each other
            return s, np.zeros_like(s)
        own = spectrum.diagonal(g)
        centered = g - spectrum.mean(g)  # a variance, by numbers that stay small where all of g is alike
        variance = spectrum.diagonal(centered**2) - spectrum.diagonal(centered) ** 2
        return spectrum.diagonal(s * g * g) / own**2, self.delta[0] * np.maximum(variance, 0.0) / own**2


@dataclass(frozen=True, eq=False)
class DensePopulation:
    """A population where nothing commutes: every point costs one Cholesky factorization and one matrix product."""

    matrix: Array = field(repr=False)

    @cached_property
    def variances(self) -> Array:
        """The variance of each coordinate, (d,)."""
        return np.diagonal(self.matrix).copy()

    def whitened(self, x: float, y: float, lam: float) -> Spectrum:
        """Return the spectrum of (y Delta + lam)^-1/2 x Sigma (y Delta + lam)^-1/2."""
        root = np.sqrt(x / (y * self.variances + lam))
        eigenvalues = np.linalg.eigvalsh(root[:, None] * self.matrix * root)
        d = len(eigenvalues)
        noise = d * np.finfo(float).eps * eigenvalues[-1]
        return Spectrum(np.where(eigenvalues > noise, eigenvalues, 0.0), np.full(d, 1 / d))

    def resolvent(self, x: float, y: float, lam: float) -> Resolvent:
        """Compute the resolvent at coefficients x, y >= 0 and lam > 0."""
        G, d = inverse(self.matrix, x, y, lam), len(self.matrix)
        product, delta = self.matrix @ G, self.variances
        quadratic = np.einsum("ij,ji->i", G, product)  # diag G Sigma G
        cross = delta @ quadratic
        products = np.array([[np.vdot(product, product.T), cross], [cross, delta @ (G * G) @ delta]]) / d
        traces = np.trace(product) / d, float(delta @ np.diagonal(G)) / d
        return Resolvent(*traces, products, partial(self._errors, G, quadratic), partial(self._cross, G))

    def _cross(self, G: Array) -> Array:
        products = self.matrix * G  # symmetric both
        np.fill_diagonal(products, 0.0)
        return np.asarray(products.sum(axis=1) / np.diagonal(G))

    def _errors(self, G: Array, quadratic: Array) -> tuple[Array, Array]:
        own, squares = np.diagonal(G), G * G
        np.fill_diagonal(squares, 0.0)
        return quadratic / own**2, squares @ self.variances / own**2


Population = CommutingPopulation | DensePopulation


def population(covariance: Covariance) -> Population:
    """Choose the cheapest form of a population: modes where Delta commutes with Sigma, else dense matrices."""
    spectrum = covariance.spectrum
    if spectrum.axes:
        return CommutingPopulation(spectrum, spectrum.eigenvalues)
    if spectrum.homogeneous and spectrum.heavy:
        raise ValueError(f"{covariance!r} has no finite variance, which random masks need: take a finite d")
    variances = covariance.variances
    if spectrum.homogeneous or np.ptp(variances) <= 1e-12 * variances.max():
        variance = float(variances[0])
        if isinstance(covariance, Equicorrelated) and not covariance.is_finite:
            variance = 1.0  # its limit leaves out the common factor, which is a part of every variance
        return CommutingPopulation(spectrum, np.full_like(spectrum.eigenvalues, variance))
    return DensePopulation(covariance.matrix)


def inverse(matrix: Array, x: float, y: float, lam: float) -> Array:
    """Compute the inverse (d, d) of x Sigma + y Delta + lam; ConvergenceError where it is not positive definite."""
    system = x * matrix
    diagonal = np.einsum("ii->i", system)
    diagonal += y * np.diagonal(matrix) + lam
    factor, failed = lapack.dpotrf(system, lower=1, clean=0, overwrite_a=1)
    lower, failed_too = lapack.dpotri(factor, lower=1, overwrite_c=1) if not failed else (factor, 1)
    if failed or failed_too:
        raise ConvergenceError.of(f"resolvent at lam = {lam:.6g}", matrix, np.nan, 0.0, status="diverged")
    full = np.tril(lower)
    full += np.tril(lower, -1).T
    return np.asarray(full)
