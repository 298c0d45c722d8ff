"""Covariances of the clusters and the signals hidden in them, in common eigenmodes or as dense matrices."""

from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from theory.core import Array, FiniteArray, Matrix, checked_fields, checks
from theory.core.read_only import KeepsReadOnly
from theory.models.covariance import set_checked

ROUNDING = 1e-10  # relative: negative eigenvalues below this are rounding
MAX_SIGNAL = 1e100  # of an entry, so that products of two, and their sums, are finite


@dataclass(frozen=True, eq=False)
class Modes(KeepsReadOnly):
    """Hold commuting covariances in their common eigenbasis, and the Gram matrix of the signals in each mode.

    `weights` (M,) are the shares of the p dimensions in each mode, summing to 1, and `covariances` (C, M) the
    eigenvalues of each Omega_c. `gram` (A, A, M) is (1/p) times the sum of s_a s_b over the dimensions of a mode, for A
    signal vectors s with entries O(1): a cluster mean mu has the signal sqrt(p) mu, a teacher field nu the signal
    sqrt(p) Cov(x, nu). `diagonal` tells that the modes are coordinates of the inputs, or groups of them, and not other
    directions of space, as those of `of_matrix` are in general: a separable penalty needs it.

    >>> modes = Modes(weights=[0.75, 0.25], covariances=[[1.0, 3.0]], gram=[[[0.5, 0.5]]])
    >>> modes.n_covariances, modes.n_signals
    (1, 1)
    >>> float(modes.weights @ modes.covariances[0])  # the mean variance of a coordinate
    1.5
    """

    weights: Any = field(repr=False)
    covariances: Matrix = field(repr=False)
    gram: Any = field(default=None, repr=False)
    diagonal: bool = field(default=True, repr=False)

    def __post_init__(self) -> None:
        checked_fields(self)
        weights = checks.finite_array("weights", self.weights, 1)
        if weights.min() < 0 or weights.max() > 1 + 1e-9 or abs(weights.sum() - 1) > 1e-9:
            raise ValueError(f"weights must be non-negative and sum to 1, got {checks.shown(self.weights)}")
        covariances = self.covariances
        if covariances.shape[1] != len(weights):
            raise ValueError(f"covariances must have shape (C, {len(weights)}), as weights, got {covariances.shape}")
        if covariances.min() < 0:
            raise ValueError(f"covariances must be positive semi-definite, got an eigenvalue {covariances.min()}")
        gram = _checked_gram(self.gram, len(weights))
        set_checked(self, weights=weights, gram=gram)

    @classmethod
    def of_matrix(cls, covariance: Any, signals: Any = ()) -> "Modes":
        """Make the modes of one covariance (p, p) and of signals (A, p), by its eigendecomposition."""
        return cls.of_eigenbasis(*np.linalg.eigh(covariance_matrix("covariance", covariance)), signals)

    @classmethod
    def of_eigenbasis(cls, eigenvalues: Any, vectors: Any, signals: Any = ()) -> "Modes":
        """Make the modes of one covariance of `eigenvalues` (p,) and eigenvectors, the columns of `vectors` (p, p).

        `signals` are (A, p), in the coordinates of the covariance. ValueError for shapes that do not fit together.

        >>> Modes.of_eigenbasis([1.0, 3.0], [[0.6, -0.8], [0.8, 0.6]], signals=[[3.0, 4.0]]).gram[0, 0].round(12)
        array([12.5,  0. ])
        """
        values, basis = checks.finite_array("eigenvalues", eigenvalues, 1), checks.finite_array("vectors", vectors, 2)
        p = len(values)
        if basis.shape != (p, p):
            raise ValueError(f"vectors must have shape ({p}, {p}), as eigenvalues, got {basis.shape}")
        s = signal_array(signals, p) @ basis
        gram = s[:, None, :] * s[None, :, :] / p
        diagonal = bool(np.all(np.count_nonzero(basis, axis=0) == 1))
        return cls(np.full(p, 1 / p), np.maximum(values, 0)[None], gram, diagonal)

    @classmethod
    def of_coordinates(cls, variances: Any, signals: Any = ()) -> "Modes":
        """Make one mode of each coordinate: diagonal covariances of `variances` (p,) or (C, p) and signals (A, p).

        >>> Modes.of_coordinates([1.0, 3.0], signals=[[1.0, 2.0]]).gram[0, 0]
        array([0.5, 2. ])
        """
        given = checks.finite_array("variances", np.atleast_2d(checks.real_array("variances", variances)), 2)
        if np.any(given < 0):
            raise ValueError(f"variances must not be negative, got {given.min():g}")
        p = given.shape[1]
        rows = np.atleast_2d(checks.real_array("signals", signals))
        if rows.size and rows.shape[-1] != p:
            raise ValueError(f"signals must have one entry for each of {p} variances, (A, {p}), got {rows.shape}")
        s = signal_array(signals, p)
        return cls(np.full(p, 1 / p), given, s[:, None, :] * s[None, :, :] / p)

    @property
    def n_covariances(self) -> int:
        """The number C of covariances."""
        return len(self.covariances)

    @property
    def n_signals(self) -> int:
        """The number A of signals."""
        return len(self.gram)


@dataclass(frozen=True, eq=False)
class DenseModes(KeepsReadOnly):
    """Hold covariances (C, p, p) that need not commute, and signals (A, p) as in `Modes`.

    The signal of a cluster mean mu is sqrt(p) mu, that of a teacher field nu sqrt(p) Cov(x, nu).
    """

    covariances: Annotated[Any, FiniteArray(3)] = field(repr=False)
    signals: Any = field(default=(), repr=False)

    def __post_init__(self) -> None:
        checked_fields(self)
        stacked = self.covariances
        matrices = np.stack([covariance_matrix(f"covariances[{c}]", matrix) for c, matrix in enumerate(stacked)])
        set_checked(self, covariances=matrices, signals=signal_array(self.signals, matrices.shape[1]))

    @property
    def n_covariances(self) -> int:
        """The number C of covariances."""
        return len(self.covariances)

    @property
    def n_signals(self) -> int:
        """The number A of signals."""
        return len(self.signals)


def covariance_matrix(name: str, value: Any) -> Array:
    """Check that this is a symmetric positive semi-definite matrix (p, p); ValueError names the least eigenvalue."""
    matrix = symmetric_matrix(name, value)
    require_semidefinite(name, float(np.linalg.eigvalsh(matrix)[0]), matrix)
    return matrix


def symmetric_matrix(name: str, value: Any) -> Array:
    """Check that this is a symmetric matrix (p, p), and return a symmetric copy; ValueError names the difference."""
    matrix = checks.finite_array(name, value, 2)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{name} must be square, got shape {matrix.shape}")
    if abs(matrix - matrix.T).max() > ROUNDING * abs(matrix).max():
        raise ValueError(f"{name} must be symmetric, got a difference of {abs(matrix - matrix.T).max()}")
    return np.asarray((matrix + matrix.T) / 2)


def require_semidefinite(name: str, least: float, matrix: Array) -> None:
    """Refuse a matrix whose `least` eigenvalue is negative beyond rounding."""
    if least < -ROUNDING * abs(matrix).max():
        raise ValueError(f"{name} must be positive semi-definite, got an eigenvalue {least}")


def signal_array(signals: Any, p: int) -> Array:
    """Return the signals as an array (A, p), of which there may be none."""
    given = checks.real_array("signals", signals)
    if given.size == 0:
        return np.zeros((0, p))
    array = checks.finite_array("signals", np.atleast_2d(given), 2)
    if array.shape[1] != p:
        raise ValueError(f"signals must have shape (A, {p}) (signals, dimensions), got {array.shape}")
    if abs(array).max() > MAX_SIGNAL:
        raise ValueError(f"signals must be at most {MAX_SIGNAL:g} in size, got {abs(array).max():g}")
    return array


def _checked_gram(value: Any, n_modes: int) -> Array:
    if value is None or checks.real_array("gram", value).size == 0:
        return np.zeros((0, 0, n_modes))
    gram = checks.finite_array("gram", value, 3)
    if gram.shape[0] != gram.shape[1] or gram.shape[2] != n_modes:
        raise ValueError(f"gram must have shape (A, A, {n_modes}) (signals, signals, weights), got {gram.shape}")
    per_mode = np.moveaxis(gram, 2, 0)
    if abs(per_mode - per_mode.transpose(0, 2, 1)).max() > ROUNDING * abs(gram).max():
        raise ValueError("gram must be symmetric in its first two axes")
    least = float(gram.min() if len(gram) == 1 else np.linalg.eigvalsh(per_mode).min())
    if least < -ROUNDING * abs(gram).max():
        raise ValueError(f"gram must be positive semi-definite in every mode, got an eigenvalue {least}")
    return gram
