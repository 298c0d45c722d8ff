"""Noise whose coordinates fall into blocks of statistically equal ones, and its matrix Dyson equation."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from theory.core import Array
from theory.models import SpikedData
from theory.models.spectrum import Spectrum
from theory.models.training import Descent, Flow, Training
from theory.numerics import ConvergenceError
from theory.numerics.filters import Filter, Recursion, flow_filter, short_descent_filter
from theory.random_matrix.complex_ridge import inverse_diagonal, solve_complex_ridge
from theory.random_matrix.training.edge import Place, TrainingBranch
from theory.random_matrix.training.equation import DysonEquation, real_copies

POLES = 10  # error 2e-10 of the filter; with more of them the cancellation of their weights costs more than they bring
KEPT = 64  # branches, of some 100 kB each
LARGEST_ERROR = 1e-6  # of the filter of a descent
TOLERANCE = 1e-3  # of the distance 1 - a from the edge to 1, by the errors of filter and equation
ADVICE = "late in training with fewer rows than coordinates the edge merges with the eigenvalue 1: take an earlier time"


@dataclass(frozen=True, eq=False)
class BlockNoise:
    """Modes of variance `eigenvalues` (m,) and share `shares` (m,); mode c belongs to the block `blocks` (m,)."""

    spectrum: Spectrum = field(repr=False)
    blocks: NDArray[np.intp] = field(repr=False)
    representatives: NDArray[np.intp] = field(repr=False)  # one row of `Spectrum.diagonal` for each block

    @property
    def deviations(self) -> Array:
        """The standard deviation of the coordinates of each mode's block, (m,)."""
        variances = self.spectrum.diagonal(self.spectrum.eigenvalues)[self.representatives]
        return np.asarray(np.sqrt(variances)[self.blocks])


def block_noise(spectrum: Spectrum) -> BlockNoise:
    """Split the modes of a noise into blocks of coordinates; ValueError where a mode reaches over two blocks."""
    count = len(spectrum.weights)
    if spectrum.axes:
        return BlockNoise(spectrum, np.arange(count), np.arange(count))
    if spectrum.loadings is None:
        return BlockNoise(spectrum, np.zeros(count, dtype=np.intp), np.zeros(1, dtype=np.intp))
    alike = np.round(spectrum.loadings, 10)
    rows, first = np.unique(alike, axis=0, return_index=True)
    if np.any((rows > 0).sum(0) != 1):
        raise ValueError(
            "noise must consist of independent blocks of coordinates that are alike (independent coordinates, or "
            "d = inf), got one whose modes reach over coordinates of different kinds: detection along training is not "
            "derived for it"
        )
    return BlockNoise(spectrum, rows.argmax(0), first)


@dataclass(frozen=True, eq=False)
class TrainedNoise:
    """The branch of a noise that is fitted up to a time, with the error of its edge."""

    branch: TrainingBranch
    noise: BlockNoise
    error: float

    @property
    def equation(self) -> DysonEquation:
        """The equation of the branch."""
        return self.branch.equation

    @property
    def edge(self) -> Place:
        """The right edge."""
        return self.branch.edge


def trained_noise(data: SpikedData, top: Callable[[], float]) -> TrainedNoise:
    """Follow the branch of the joint predictor of `data` to its right edge; ValueError and ConvergenceError.

    `top` computes the largest eigenvalue of the sample covariance, which descent needs and the flow does not.
    """
    _require_allowed(data)
    training, lam = data.training, data.lam or 0.0
    if not (isinstance(training, Flow) or type(training) is Descent):
        raise ValueError(
            f"training must be Flow or Descent where spikes are predicted, got {training!r}: momentum takes ten ridges "
            "a step, and their square is the number of unknowns; one pass is no function of the sample covariance"
        )
    return _followed(data.noise.spectrum, data.alpha, training, lam, 0.0 if isinstance(training, Flow) else top() + lam)


@lru_cache(maxsize=KEPT)
def _followed(spectrum: Spectrum, alpha: float, training: Flow | Descent, lam: float, top: float) -> TrainedNoise:
    """Follow the branch once for all strengths and read-outs that are asked of one noise at one time."""
    noise, kernel = block_noise(spectrum), _kernel(training, top).shifted(lam)
    equation = dyson_equation(noise, alpha, kernel)
    branch = TrainingBranch(equation)
    what = f"edge of the predictor at time {training.time:g} for alpha = {alpha:g}"
    # Errors of the filter and of the equation move the edge by as much, which matters beside its distance from 1.
    error = (kernel.error + 3 * branch.edge.defect) / abs(1 - 1 / branch.edge.tau) if not branch.lost else math.inf
    if not error <= TOLERANCE:
        what = f"{what} ({branch.lost})" if branch.lost else what
        raise ConvergenceError.of(what, branch.edge, error, TOLERANCE, branch.iterations, advice=ADVICE)
    return TrainedNoise(branch, noise, error)


def dyson_equation(noise: BlockNoise, alpha: float, kernel: Filter) -> DysonEquation:
    """Build the equation from the ridges and weights of a filter."""
    spectrum = noise.spectrum
    kappa = solve_complex_ridge(spectrum, alpha, kernel.ridges).value
    inverse = inverse_diagonal(spectrum, kappa)[:, noise.representatives]
    weights = ((kernel.weights * kernel.ridges / kappa)[:, None] * inverse)[:, noise.blocks].T
    ridges, start, ones, b = real_copies(kernel.ridges, kappa, weights)
    return DysonEquation(spectrum.eigenvalues, spectrum.weights, b, ridges, ones, start, alpha)


def _kernel(training: Flow | Descent, top: float) -> Filter:
    if isinstance(training, Flow):
        return flow_filter(training.time, POLES)
    require_stable(training, top)
    found = short_descent_filter(Recursion(training.step, training.steps, 0.0), top, POLES)
    if not found.error <= LARGEST_ERROR:
        raise ValueError(
            f"training must have more steps, or smaller ones, where spikes are predicted, got {training!r}: its filter "
            f"is a sum of {POLES} ridges to {found.error:.2g} only, and {LARGEST_ERROR:g} is needed"
        )
    return found


def require_stable(training: Training | None, top: float) -> None:
    """Raise ValueError where descent diverges at the largest eigenvalue `top`, the ridge included."""
    if isinstance(training, Descent) and not training.step * top < 2:
        raise ValueError(
            f"training must have a step below {2 / top:.6g}, where Descent becomes unstable: the largest eigenvalue of "
            f"the sample covariance, with the ridge, is {top:.6g}; got step = {training.step:g}"
        )


def _require_allowed(data: SpikedData) -> None:
    if data.direction is not None:
        raise ValueError("direction must be None (a delocalized spike) along training: others are not derived")
    if not data.row_law.alike:
        raise ValueError("rows must be independent and of equal scale along training: others are not derived")
    spectrum = data.noise.spectrum
    if spectrum.unbounded:
        raise ValueError(f"noise must have a largest variance along training, got {data.noise}")
    if float(spectrum.eigenvalues.min()) <= 0:
        raise ValueError(f"noise must be positive definite, got an eigenvalue {float(spectrum.eigenvalues.min())}")
