"""The modes of a covariance: its distinct eigenvalues, their shares, and how coordinates load on them."""

from dataclasses import dataclass

import numpy as np

from theory.core import Array, checks
from theory.core.read_only import KeepsReadOnly


@dataclass(frozen=True, eq=False)
class Spectrum(KeepsReadOnly):
    """The modes of a covariance Sigma: all that traces and diagonals of functions of Sigma need.

    For a finite matrix the modes are its distinct eigenvalues; for a limit d -> infinity they are the nodes of a
    quadrature, to which the same formulas apply. There are three layouts of the coordinates: they are all alike
    (`loadings` None, `axes` False); each mode is a coordinate (`axes` True, a diagonal Sigma); or `loadings` (d, r)
    holds the weight of coordinate k on eigenspace j, with rows summing to 1.
    """

    eigenvalues: Array  # (r,), non-negative
    weights: Array  # (r,), share of the d eigenvalues, summing to 1
    loadings: Array | None = None
    axes: bool = False
    heavy: bool = False  # a limit d -> infinity without a mean variance, which its quadrature cannot tell
    unbounded: bool = False  # a limit d -> infinity without a largest variance, likewise

    def __post_init__(self) -> None:
        eigenvalues = _finite("eigenvalues", self.eigenvalues)
        weights = _finite("weights", self.weights)
        if eigenvalues.ndim != 1 or weights.shape != eigenvalues.shape:
            shapes = f"{eigenvalues.shape} and {weights.shape}"
            raise ValueError(f"eigenvalues and weights must have one shape (r,), got {shapes}")
        object.__setattr__(self, "eigenvalues", eigenvalues)
        object.__setattr__(self, "weights", weights)
        if self.loadings is not None:
            loadings = checks.real_array("loadings", self.loadings)
            if loadings.ndim != 2 or loadings.shape[1] != len(eigenvalues):
                raise ValueError(f"loadings must have shape (d, {len(eigenvalues)}), got {loadings.shape}")
        for name in ("axes", "heavy", "unbounded"):
            checks.flag(name, getattr(self, name))

    @property
    def homogeneous(self) -> bool:
        """Whether all diagonal entries of every f(Sigma) are equal."""
        return self.loadings is None and not self.axes

    @property
    def n_coordinates(self) -> int:
        """The number c of rows of `diagonal`: one where all coordinates are alike."""
        if self.loadings is not None:
            return len(self.loadings)
        return len(self.weights) if self.axes else 1

    @property
    def coordinate_weights(self) -> Array:
        """The share of the coordinates that each row of `diagonal` stands for, (c,)."""
        if self.loadings is not None:
            return np.full(len(self.loadings), 1 / len(self.loadings))
        return self.weights if self.axes else np.ones(1)

    @property
    def geometric_mean(self) -> float:
        """The scale of the eigenvalues that are not zero: unlike their mean it is finite in every limit; 0 if none."""
        present = self.eigenvalues > 0
        if not present.any():
            return 0.0
        logarithms = self.weights[present] @ np.log(self.eigenvalues[present])
        return float(np.exp(logarithms / self.weights[present].sum()))

    def coordinate_mean(self, values: Array) -> Array:
        """Average non-negative per-coordinate values that grow like variances over coordinates, (..., c) to (...)."""
        values = checks.last_axis("values", values, self.n_coordinates, finite=False)
        if self.heavy and self.axes:
            return np.where(values.any(axis=-1), np.inf, 0.0)
        return np.asarray(values @ self.coordinate_weights)

    def mean(self, values: Array) -> Array:
        """Compute tr f(Sigma)/d from the values of f at the eigenvalues, (..., r) to (...)."""
        return np.asarray(checks.last_axis("values", values, len(self.weights), finite=False) @ self.weights)

    def diagonal(self, values: Array) -> Array:
        """Compute diag f(Sigma) from the values of f at the eigenvalues, (..., r) to (..., c)."""
        values = checks.last_axis("values", values, len(self.weights), finite=False)
        if self.loadings is not None:
            return np.asarray(values @ self.loadings.T)
        return values if self.axes else np.asarray(values @ self.weights)[..., None]


def _finite(name: str, values: Array) -> Array:
    array = checks.real_array(name, values)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)][0]}")
    return array


def homogeneous(eigenvalues: Array, weights: Array) -> Spectrum:
    """Build the spectrum of coordinates that are all alike; the weights are normalized to sum to 1."""
    weights = np.asarray(weights, float)
    return Spectrum(np.asarray(eigenvalues, float), weights / weights.sum())


def dense(eigenvalues: Array, eigenvectors: Array) -> Spectrum:
    """Build the spectrum of a full eigendecomposition, eigenvectors in columns."""
    d = len(eigenvalues)
    return Spectrum(np.asarray(eigenvalues, float), np.full(d, 1 / d), loadings=eigenvectors * eigenvectors)
