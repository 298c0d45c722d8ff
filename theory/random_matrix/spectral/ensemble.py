"""Sample-covariance-like matrices S = D^1/2 (X'X/n + Lam) D^1/2, reduced to what their spectra depend on.

With h = 1/K, every one has the resolvent equivalent G(nu) = (Sigma_D h + Lam D - nu)^-1, and one scalar equation
1/h = 1 + <1/(h + a)>/alpha: the a are the eigenvalues of Sigma_D^-1/2 (Lam D - nu) Sigma_D^-1/2 and depend on nu alone.
With rows of different scales tau it is h = E[tau/(1 + tau delta)] at delta = <1/(h + a)>/alpha.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.core import Array, checks
from theory.core.read_only import KeepsReadOnly
from theory.models import Covariance, Isotropic, MaskedRidge, Spectrum
from theory.models.row_scales import GAUSSIAN, RowScales
from theory.random_matrix.effective_ridge import solve_effective_ridge

EQUAL_SCALES_TOLERANCE = 1e-12  # relative difference of scales that count as one; it moves eigenvalues by as little

Numbers = NDArray[Any]  # real or complex
Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class ScalarEquation:
    """Holds the coefficients of the scalar equation at every nu (points,), and of tr G/d = <c/(h + a)> + rest."""

    a: Numbers  # (points, r)
    c: Numbers  # (points or 1, r), -da/dnu
    rest: Numbers  # (points,), from the null space of Sigma
    below: Array  # (points,), share of levels of the null space below nu that are no eigenvalues of S; 0 at complex nu
    weights: Array  # (r,), the mean is over these; their sum is rank(Sigma)/d
    alpha: float
    rows: RowScales


@dataclass(frozen=True, eq=False)
class CommutingEnsemble(KeepsReadOnly):
    """An ensemble S whose matrices D^1/2 Sigma D^1/2 and Lam D commute, so that it depends on atoms alone.

    The rows X ~ N(0, Sigma) are n = alpha d, and D and Lam are fixed; an atom is a common eigenvector.
    """

    alpha: float
    sigma: Array = field(repr=False)  # (r,), eigenvalues of Sigma_D = D^1/2 Sigma D^1/2
    offset: Array = field(repr=False)  # (r,), those of Lam D on the same eigenvectors
    weights: Array = field(repr=False)  # (r,), shares of the d dimensions, summing to 1
    rows: RowScales = field(default=GAUSSIAN, repr=False)

    @cached_property
    def distinct(self) -> "CommutingEnsemble":
        """Return the ensemble with atoms that agree to rounding put together, ascending in sigma."""
        order = np.lexsort((self.offset, self.sigma))
        sigma, offset = self.sigma[order], self.offset[order]
        new = np.ones(len(sigma), bool)
        new[1:] = ~(np.isclose(sigma[1:], sigma[:-1], 1e-13, 0) & np.isclose(offset[1:], offset[:-1], 1e-13, 0))
        weights = np.asarray(np.bincount(np.cumsum(new) - 1, self.weights[order]), float)
        return CommutingEnsemble(self.alpha, sigma[new], offset[new], weights, self.rows)

    @property
    def size(self) -> int:
        """Numbers a point costs."""
        return len(self.distinct.sigma)

    @cached_property
    def common_offset(self) -> float | None:
        """The offset, where all atoms share one."""
        return float(self.offset[0]) if np.ptp(self.offset) <= 1e-13 * abs(self.offset[0]) else None

    def at(self, nu: Numbers, traced: bool = True) -> ScalarEquation:  # noqa: ARG002  # c costs nothing here
        """Return the scalar equation at nu (points,), real or complex; its c is always there."""
        atoms = self.distinct
        seen = atoms.sigma > 0
        inverse = 1 / atoms.sigma[seen]
        rest = (1 / (atoms.offset[~seen] - nu[:, None])) @ atoms.weights[~seen] if not seen.all() else 0 * nu
        a = (atoms.offset[seen] - nu[:, None]) * inverse
        return ScalarEquation(a, inverse[None, :], rest, np.zeros(len(nu)), atoms.weights[seen], self.alpha, self.rows)

    @cached_property
    def atoms(self) -> Array:
        """(k, 2), positions and masses: vectors of one offset that all n rows are orthogonal to, ascending."""
        low = self.distinct
        order = np.argsort(low.offset, kind="stable")
        offset, seen = low.offset[order], low.sigma[order] > 0
        levels, label = _clusters(offset)
        total, rank = np.bincount(label, low.weights[order]), np.bincount(label, low.weights[order] * seen)
        return _positive_masses(levels, np.asarray(total - np.minimum(rank, self.alpha * self.rows.present), float))

    @cached_property
    def mean(self) -> float:
        """tr S/d."""
        return float(self.weights @ (self.sigma + self.offset))


@dataclass(frozen=True, eq=False)
class DenseEnsemble:
    """An ensemble S in which nothing commutes, so that every nu costs an eigendecomposition."""

    alpha: float
    covariance: Array = field(repr=False)  # (d, d), Sigma_D = D^1/2 Sigma D^1/2
    offset: Array = field(repr=False)  # (d,), diagonal of Lam D
    rows: RowScales = field(default=GAUSSIAN, repr=False)

    common_offset = None

    @property
    def size(self) -> int:
        """Numbers a point costs."""
        return len(self.offset)

    @cached_property
    def _modes(self) -> tuple[Array, Array, Array, Array]:
        """The blocks of Lam D in the whitened range of Sigma_D and to its null space; the whitening; null levels."""
        values, vectors = np.linalg.eigh(self.covariance)
        seen = values > len(values) * np.finfo(float).eps * values[-1]
        white, null = vectors[:, seen] / np.sqrt(values[seen]), vectors[:, ~seen]
        levels, turn = np.linalg.eigh((null.T * self.offset) @ null)
        across = (white.T * self.offset) @ (null @ turn)
        return (white.T * self.offset) @ white, across, 1 / values[seen], levels

    @property
    def whitened(self) -> tuple[Array, Array]:
        """Lam D in the whitened range of Sigma_D (r, r), and the eigenvalues of Sigma_D^-1 there (r,)."""
        inner, _, inverse, _ = self._modes
        return inner, inverse

    def at(self, nu: Numbers, traced: bool = True) -> ScalarEquation:
        """Return the scalar equation at nu (points,), real or complex.

        The null space of Sigma is eliminated by its Schur complement. The c, which need eigenvectors, are left out at
        real nu unless `traced`: roots and shares do without them at a third of the cost.
        """
        inner, across, inverse, levels = self._modes
        d, real = len(self.offset), not np.iscomplexobj(nu)
        a = np.empty((len(nu), len(inverse)), nu.dtype)
        c, rest = np.full_like(a, np.nan), np.empty(len(nu), nu.dtype)
        for row, point in enumerate(nu):
            gap = 1 / (levels - point)
            matrix = inner - np.diag(point * inverse)
            if len(levels):
                matrix -= (across * gap) @ across.T
            rest[row] = gap.sum() / d
            if real and not traced:
                a[row] = np.linalg.eigvalsh(matrix)
                continue
            a[row], vectors = np.linalg.eigh(matrix) if real else np.linalg.eig(matrix)
            left = vectors.T if real else np.linalg.inv(vectors)
            c[row] = (left * vectors.T) @ inverse
            if len(levels):
                c[row] += ((left @ across) * (across.T @ vectors).T) @ gap**2
        below = np.searchsorted(levels, nu.real) / d if real else np.zeros(len(nu))
        return ScalarEquation(a, c, rest, below, np.full(len(inverse), 1 / d), self.alpha, self.rows)

    @cached_property
    def atoms(self) -> Array:
        """(k, 2), positions and masses: vectors of one offset that all n rows are orthogonal to, ascending."""
        d, (levels, label) = len(self.offset), _clusters(np.sort(self.offset))
        label = label[np.argsort(np.argsort(self.offset, kind="stable"))]
        masses = np.empty(len(levels))
        for number in range(len(levels)):
            inside = label == number
            block = self.covariance[np.ix_(inside, inside)]
            rank = np.linalg.matrix_rank(block, hermitian=True) if inside.sum() > 1 else int(block[0, 0] > 0)
            masses[number] = inside.sum() / d - min(rank / d, self.alpha * self.rows.present)
        return _positive_masses(levels, masses)

    @cached_property
    def mean(self) -> float:
        """tr S/d."""
        return float(np.trace(self.covariance) + self.offset.sum()) / len(self.offset)


Ensemble = CommutingEnsemble | DenseEnsemble


def _clusters(ascending: Array) -> tuple[Array, Indices]:
    """Return the values that differ by more than rounding, and for each entry the number of its value."""
    new = np.ones(len(ascending), bool)
    new[1:] = ~np.isclose(ascending[1:], ascending[:-1], 1e-13, 0)
    return ascending[new], np.cumsum(new) - 1


def _positive_masses(positions: Array, masses: Array) -> Array:
    kept = masses > 1e-12
    return np.stack([positions[kept], masses[kept]], axis=1)


def sample_covariance(
    covariance: Covariance, alpha: float, rows: RowScales = GAUSSIAN, spectrum: Spectrum | None = None
) -> CommutingEnsemble:
    """Describe X'X/n, with D = 1 and Lam = 0: the generalized Marchenko-Pastur law.

    `spectrum` is that of the covariance by default; a limit d -> infinity may be given on finer nodes.
    """
    spectrum = spectrum or covariance.spectrum
    alpha = checks.positive("alpha", alpha)
    return CommutingEnsemble(alpha, spectrum.eigenvalues, np.zeros_like(spectrum.eigenvalues), spectrum.weights, rows)


def sample_correlation(
    covariance: Covariance, alpha: float, rows: RowScales = GAUSSIAN, spectrum: Spectrum | None = None
) -> CommutingEnsemble:
    """Describe the sample correlation matrix: a sample covariance whose population is the correlation matrix."""
    spectrum = spectrum or covariance.spectrum
    if spectrum.axes:
        return sample_covariance(Isotropic(covariance.d), alpha, rows)
    if spectrum.homogeneous:
        ensemble = sample_covariance(covariance, alpha, rows, spectrum)
        return replace(ensemble, sigma=ensemble.sigma / spectrum.mean(ensemble.sigma))
    scale = 1 / np.sqrt(covariance.variances)
    eigenvalues = np.maximum(np.linalg.eigvalsh(scale[:, None] * covariance.matrix * scale), 0.0)
    d = len(eigenvalues)
    eigenvalues[eigenvalues < d * np.finfo(float).eps * eigenvalues[-1]] = 0  # else the rank would be rounding
    return CommutingEnsemble(checks.positive("alpha", alpha), eigenvalues, np.zeros(d), np.full(d, 1 / d), rows)


def masked_predictor(model: MaskedRidge, spectrum: Spectrum | None = None) -> Ensemble:
    """Describe S whose eigenvalues nu give those of the joint predictor, 1 - 1/nu: D = diag(Qbar), Lam = lam.

    If S w = nu w, the predictor has the right eigenvector D^-1/2 w and the left one D^1/2 w. Dense unless Sigma is
    homogeneous or diagonal.
    """
    spectrum = spectrum or model.covariance.spectrum
    scale = _merged(predictor_scale(model, spectrum))
    if spectrum.axes or spectrum.homogeneous:
        offset = np.broadcast_to(model.lam * scale, spectrum.eigenvalues.shape)
        return CommutingEnsemble(model.alpha, spectrum.eigenvalues * scale, offset, spectrum.weights, model.row_law)
    root = np.sqrt(scale)
    matrix = root[:, None] * model.covariance.matrix * root
    return DenseEnsemble(model.alpha, matrix, model.lam * scale, model.row_law)


def predictor_scale(model: MaskedRidge, spectrum: Spectrum | None = None) -> Array:
    """Compute diag(Qbar) = (kappa/lam) diag (Sigma + kappa)^-1, the equivalent of diag (X'X/n + lam)^-1.

    Shape (d,), or (1,) where all entries are equal.
    """
    spectrum = spectrum or model.covariance.spectrum
    alpha, lam = np.array(model.alpha), np.array(model.lam)
    kappa = float(solve_effective_ridge(spectrum, alpha, lam, row_scales=model.row_law).value)
    return np.asarray(kappa / model.lam * spectrum.diagonal(1 / (spectrum.eigenvalues + kappa)))


def _merged(values: Array) -> Array:
    """Replace positive values that agree to about rounding by their mean, so that they are one.

    Toward the middle of a chain the entries of diag(Qbar) tend to one number, exponentially fast. Directions that no
    row shows have eigenvalues near lam times these entries. Those of all that agree to rounding coincide, as an atom
    whose mass is known, where else bulks closer than rounding would have to be told apart.
    """
    order = np.argsort(values, kind="stable")
    new = np.diff(values[order], prepend=0.0) > EQUAL_SCALES_TOLERANCE * values[order]
    label = np.cumsum(new) - 1
    means = np.bincount(label, values[order]) / np.bincount(label)
    merged = np.empty_like(values)
    merged[order] = means[label]
    return merged
