"""The base class of all population covariances, and what their families share."""

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from theory.core import Array, checks
from theory.core.read_only import KeepsReadOnly, marked
from theory.models import spectrum
from theory.models.eigenmodes import eigenmodes
from theory.models.matrices import semidefinite_matrix
from theory.models.spectrum import Spectrum
from theory.numerics.quadrature import half_circle

OTHER_NODES = 4099  # at least so many nodes has the grid that verifies the means of a symbol
OTHER_TOLERANCE = 1e-8  # of these means, relative
Computed = TypeVar("Computed")
SHARES_TOLERANCE = 1e-9  # of the sum of the shares of a user's own modes


class Covariance(KeepsReadOnly, ABC):
    """The population covariance Sigma (d, d) of the inputs x: the base of all families of covariances.

    A family is a frozen dataclass with a field `d`. It defines its matrix by `_matrix`, its modes for d -> infinity by
    `_limit`, if it has such a limit, and its finite ones by `_spectrum`, if there is a faster way than a dense
    eigendecomposition; both are a `Spectrum`. What a class outside this package returns is checked: its matrix must be
    symmetric and positive semi-definite, its modes must have eigenvalues that are not negative and shares that sum to
    1. Results are cached by the record and read-only; a pickle carries only the parameters.
    """

    d: int | float
    _structured: ClassVar[bool] = False  # the finite spectrum is known without a dense eigendecomposition
    _instead: ClassVar[str] = ""  # what takes such a covariance without its eigendecomposition

    @abstractmethod
    def _matrix(self) -> Array:
        """Compute the dense matrix of a finite family."""

    def _limit(self) -> Spectrum:
        raise ValueError(
            f"{type(self).__name__} has no limit d -> infinity (a class of one's own defines it by a method _limit): "
            "take a finite d"
        )

    def _finer_limit(self, times: int) -> Spectrum | None:  # noqa: ARG002  # families use it
        """Compute the modes of the limit on `times` as many nodes; None for a family that has no finer quadrature."""
        return None

    def _spectrum(self) -> Spectrum:
        return spectrum.dense(self.eigenvalues, self.eigenvectors)

    def _eigh(self) -> tuple[Array, Array]:
        return eigenmodes(self.matrix)

    def _rough_eigenvalues(self) -> Array:
        """Compute eigenvalues (d,), ascending, to rounding of the largest only, and eigenvectors for none of them."""
        matrix = self.matrix  # some families make it of their eigenvectors, which are known from then on
        return self.eigenvalues if "_eigen" in self.__dict__ else np.asarray(np.linalg.eigvalsh(matrix))

    @property
    def is_finite(self) -> bool:
        """Whether d is finite: False for the limit d -> infinity."""
        # The families here check their d as they are made.
        return math.isfinite(checks.dimension(getattr(self, "d", None), infinite=True) if self._is_own else self.d)

    @property
    def size(self) -> int:
        """The dimension d as an int; ValueError in the limit d -> infinity, and where d counts no coordinates."""
        if not self.is_finite:
            raise ValueError(f"{self!r} is the limit d -> infinity: a matrix needs a finite d, see resized(d)")
        if self.d < 1 or self.d % 1:
            raise ValueError(f"d of {type(self).__name__} must be an integer of at least 1 or infinity, got {self.d!r}")
        return int(self.d)

    @cached_property
    def matrix(self) -> Array:
        """The matrix Sigma, (d, d), symmetric and positive semi-definite."""
        checks.fits_in_memory(f"the matrix of {self!r}", self.size**2, self._instead)
        matrix = self._computed(self._matrix, "matrix")
        if self._is_own:
            matrix = semidefinite_matrix(f"the matrix of {type(self).__name__}", matrix)
            if len(matrix) != self.size:
                raise ValueError(
                    f"the matrix of {type(self).__name__} must have d = {self.size} rows, got {len(matrix)}"
                )
        return frozen(matrix)

    @cached_property
    def _eigen(self) -> tuple[Array, Array]:
        # Three matrices are needed at once: this one, its eigenvectors, and the work space of their computation.
        checks.fits_in_memory(f"the eigendecomposition of {self!r}", 3 * self.size**2, self._instead)
        eigenvalues, eigenvectors = self._eigh()
        return frozen(eigenvalues), frozen(eigenvectors)

    @property
    def eigenvalues(self) -> Array:
        """The eigenvalues of Sigma (d,), ascending."""
        return self._eigen[0]

    @property
    def eigenvectors(self) -> Array:
        """The eigenvectors of Sigma (d, d), in columns, in the order of `eigenvalues`."""
        return self._eigen[1]

    @cached_property
    def spectrum(self) -> Spectrum:
        """The distinct modes of the matrix, or those of its limit d -> infinity."""
        modes = self._computed(self._spectrum if self.is_finite else self._limit, "modes")
        if self._is_own:
            self._require_modes(modes)
        return modes

    @property
    def _is_own(self) -> bool:
        """Whether the family is a class of the user's own, which may be wrong."""
        return type(self).__module__.partition(".")[0] != __name__.partition(".")[0]

    def _computed(self, compute: Callable[[], Computed], what: str) -> Computed:
        """Return what a method computes; a division by zero in a class of the user's own is no limit of precision."""
        try:
            return compute()
        except ZeroDivisionError as failed:
            if not self._is_own:
                raise
            raise ValueError(f"the {what} of {type(self).__name__} must be computable, got {failed!r}") from failed

    def _require_modes(self, modes: Any) -> None:
        """Raise ValueError unless these are modes of a covariance."""
        name = f"the modes of {type(self).__name__}"
        if not isinstance(modes, Spectrum):
            raise ValueError(f"{name} must be a Spectrum, got {checks.shown(modes)}")
        if modes.eigenvalues.min() < 0:
            raise ValueError(f"{name} must have eigenvalues that are not negative, got {modes.eigenvalues.min():.12g}")
        total = float(modes.weights.sum())
        if modes.weights.min() < 0 or abs(total - 1) > SHARES_TOLERANCE:
            raise ValueError(f"{name} must have shares that are not negative and sum to 1, got a sum of {total:.12g}")
        if self.is_finite and modes.loadings is not None and len(modes.loadings) != self.size:
            raise ValueError(f"{name} must have loadings of {self.size} coordinates, got {len(modes.loadings)}")

    @cached_property
    def variances(self) -> Array:
        """The diagonal of Sigma: (d,), or one entry for each class of coordinates in the limit d -> infinity."""
        if self.is_finite and not self._structured:
            return frozen(np.diagonal(self.matrix))
        diagonal = self.spectrum.diagonal(self.spectrum.eigenvalues)
        return frozen(np.broadcast_to(diagonal, (self.size,)) if self.is_finite else diagonal)

    def resized(self, d: int | float) -> Self:
        """Return the same family at dimension d."""
        try:
            return dataclasses.replace(self, d=d)  # type: ignore[type-var]  # every family is a dataclass
        except TypeError as failed:
            cure = "must be a dataclass with a field d, or define resized, to get another d"
            raise ValueError(f"{type(self).__name__} {cure}: {failed}") from failed

    def __getstate__(self) -> dict[str, Any]:
        return marked({field.name: getattr(self, field.name) for field in dataclasses.fields(self)})  # type: ignore[arg-type]


def set_checked(record: object, **checked: object) -> None:
    """Store checked values in the fields of a frozen record."""
    for name, value in checked.items():
        object.__setattr__(record, name, value)


def adaptive_circle(symbol: Callable[[Array], Array], name: str, tolerance: float = 1e-13, times: int = 1) -> Spectrum:
    """Compute the modes of a stationary covariance in the limit d -> infinity, from its spectral symbol on (0, pi).

    The number of nodes is doubled until the means of s and 1/s, and with them those of all s/(s + kappa), stand still,
    or until all that moves them is rounding in the symbol, and agree with those of another grid of at least 4099
    nodes, none of which is one of theirs: a narrow peak can lie between few nodes, and the means of steps can agree by
    chance. A peak narrower than about 0.001 may be missed. `times` as many nodes are then taken. ValueError where the
    symbol is not positive and smooth.
    """
    previous, change = np.zeros(3), np.inf
    for exponent in range(5, 21):
        angles = half_circle(2**exponent)
        s = _values(symbol, angles, name)
        current = _means(s, angles)
        before, change = change, float(np.max(abs(current - previous) / current[[0, 1, 0]]))
        if change <= tolerance or before / 2 < change <= 1e-9:
            others = half_circle(max(OTHER_NODES, int(1.618 * len(angles)) | 1))
            apart = abs(_means(_values(symbol, others, name), others) - current) / current[[0, 1, 0]]
            if float(np.max(apart)) <= OTHER_TOLERANCE:
                s = s if times == 1 else _values(symbol, half_circle(times * len(s)), name)
                return spectrum.homogeneous(s, np.ones(len(s)))
        previous = current
    raise ValueError(f"{name} is not smooth enough for a quadrature on 2**20 nodes; give a smooth one")


def _means(s: Array, angles: Array) -> Array:
    # Plain means of a step function can agree by chance from one level to the next; with a cosine they do not.
    return np.array([s.mean(), (1 / s).mean(), (s * np.cos(angles)).mean()])


def _values(symbol: Callable[[Array], Array], angles: Array, name: str) -> Array:
    try:
        values = symbol(angles.copy())  # a function may work in place
    except Exception as failed:  # it is the user's function, and may raise anything
        raise ValueError(f"{name} must map an array of angles to numbers, it raised {failed!r}") from failed
    found = checks.real_array(name, values)
    if found.shape != angles.shape:
        raise ValueError(f"{name} must map an array of angles to as many numbers, got shape {found.shape}")
    if not (np.isfinite(found).all() and found.min() > 0):
        raise ValueError(f"{name} must be finite and positive at every angle, got a minimum of {found.min()}")
    return found


def raised_cosine(least: float, amplitude: float, angle: Array) -> Array:
    """Return least + 2 |amplitude| + 2 amplitude cos(angle), accurate also where it is close to its minimum `least`."""
    half = np.sin(angle / 2) if amplitude < 0 else np.cos(angle / 2)
    return np.asarray(least + 4 * abs(amplitude) * half * half)


def repetitions(what: str, size: int, d: int | float) -> int:
    """Return how often `size` coordinates are repeated to have d of them; ValueError unless d is a multiple."""
    wanted = checks.dimension(d, infinite=True)
    if not math.isfinite(wanted) or wanted % size:
        raise ValueError(f"d must be a multiple of {size} to repeat these {what}, got {d!r}")
    checks.fits_in_memory(f"{what} of {wanted} coordinates", wanted)
    return int(wanted) // size


SomeCovariance = TypeVar("SomeCovariance", bound=Covariance)


def same_size(covariance: SomeCovariance, d: int | float) -> SomeCovariance:
    """Return the record itself at its own size; at another, ValueError: its numbers are those of one size."""
    if checks.dimension(d, infinite=True) != covariance.d:
        raise ValueError(f"a {type(covariance).__name__} covariance has fixed d = {covariance.d}, got {d!r}")
    return covariance


def frozen(array: Array) -> Array:
    """Make the array read-only and return it."""
    array = np.asarray(array)
    array.setflags(write=False)
    return array
