"""What the spectra of a matrix are, and where noise ends in them."""

from dataclasses import dataclass, field

from figures.analyse.matrix.spectrum.noise_part import NoisePart
from theory.core.arrays import Array
from theory.random_matrix import SpectralLaw

MASKED, COVARIANCE, CORRELATION = "masked regression", "covariance", "correlation matrix"


@dataclass(frozen=True, eq=False)
class NoiseBulk:
    """Where the eigenvalues of noise end.

    The margins are the .99 quantile of the fluctuation of the extreme eigenvalue about the edge (Tracy-Widom).
    """

    law: SpectralLaw = field(repr=False)
    low: float
    high: float
    low_margin: float
    high_margin: float

    def above(self, eigenvalues: Array) -> int:
        """Count the eigenvalues beyond the upper edge and its margin."""
        return int((eigenvalues > self.high + self.high_margin).sum())

    def below(self, eigenvalues: Array) -> int:
        """Count the eigenvalues beyond the lower edge and its margin."""
        return int((eigenvalues < self.low - self.low_margin).sum())


@dataclass(frozen=True, eq=False)
class MethodSpectrum:
    """The spectrum of one matrix: of the data, and as its noise part or independent columns predict it."""

    method: str
    eigenvalues: Array = field(repr=False)  # (d,), ascending
    directions: Array = field(repr=False)  # (d, d), unit right eigenvectors in columns of the same order
    permuted: Array = field(repr=False)  # (d,), of the data with every column permuted by itself
    noise: NoiseBulk
    independent: NoiseBulk
    scale: Array = field(repr=False)  # (d,), D, which takes right eigenvectors to left ones

    @property
    def outliers(self) -> int:
        """The number of eigenvalues above the noise part."""
        return self.noise.above(self.eigenvalues)

    @property
    def outliers_left(self) -> int:
        """The number of eigenvalues below the noise part."""
        return self.noise.below(self.eigenvalues)

    def leading(self, count: int) -> Array:
        """Return the directions of the `count` largest eigenvalues in rows (count, d), the largest first."""
        return self.directions[:, ::-1][:, :count].T


@dataclass(frozen=True, eq=False)
class MatrixSpectrum:
    """The spectra of a data matrix (n, d) about its mean, at one ridge."""

    names: tuple[str, ...]
    n: int
    lam: float
    noise: NoisePart
    methods: tuple[MethodSpectrum, ...]  # masked regression, covariance, correlation matrix

    def __getitem__(self, method: str) -> MethodSpectrum:
        return next(one for one in self.methods if one.method == method)
