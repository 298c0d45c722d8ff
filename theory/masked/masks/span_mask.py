"""Spans of coordinates masked together and predicted from all others."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from theory.core import Array, DataFrame, SolverResult, table
from theory.masked.errors import variance_factor
from theory.masked.masks.span_moments import Spans
from theory.masked.signs import require_non_negative
from theory.models import Covariance, SpanMask, SpanWindows
from theory.random_matrix import ridge_moments, shrinkage, solve_effective_ridge, solve_ridge_equation

ENTRIES = 4_000_000  # size of a temporary, in numbers


@dataclass(frozen=True, eq=False, repr=False)
class SpanMaskSolution(SolverResult):
    """The mean squared errors of the b coordinates of a masked span, in the order given, without a factor 1/2.

    `error_matrix` (b, b) is the covariance of the residuals on a new sample; its diagonal is `test_error`.
    """

    covariance: Covariance = field(repr=False)
    alpha: float
    lam: float
    span: tuple[int, ...]
    effective_ridge: float
    error_matrix: Array = field(repr=False)  # (b, b), test covariance of the residuals
    train_error: Array = field(repr=False)  # (b,)

    def __post_init__(self) -> None:
        require_non_negative(self, "effective_ridge", "test_error", "train_error")

    @property
    def test_error(self) -> Array:
        """Test error of each masked coordinate, (b,): the diagonal of `error_matrix`."""
        return np.diagonal(self.error_matrix)

    @property
    def mean_test_error(self) -> float:
        """Mean of `test_error` over the masked coordinates."""
        return float(self.test_error.mean())

    @property
    def mean_train_error(self) -> float:
        """Mean of `train_error` over the masked coordinates."""
        return float(self.train_error.mean())

    def to_frame(self) -> DataFrame:
        """Return a table of test and train errors with a row for each masked coordinate."""
        return table(coordinate=np.array(self.span), test_error=self.test_error, train_error=self.train_error)

    @cached_property
    def predictor(self) -> Array:
        """The deterministic equivalent (b, d) of the predictor of the span, zero on the span itself."""
        span, vectors = list(self.span), self.covariance.eigenvectors
        rows = (vectors[span] / (self.covariance.eigenvalues + self.effective_ridge)) @ vectors.T
        predictor = -np.asarray(np.linalg.solve(rows[:, span], rows), float)
        predictor[:, span] = 0.0
        return predictor


@dataclass(frozen=True, eq=False, repr=False)
class SpanWindowsSolution(SolverResult):
    """Mean errors of every window of consecutive coordinates, each masked by itself; squared, without a factor 1/2."""

    covariance: Covariance = field(repr=False)
    alpha: float
    lam: float
    length: int
    step: int
    test_error: Array = field(repr=False)  # (windows,), means over the coordinates of a window

    def __post_init__(self) -> None:
        require_non_negative(self, "test_error")

    @property
    def mean_test_error(self) -> float:
        """Mean over the windows: the error of a window placed at random."""
        return float(self.test_error.mean())

    def to_frame(self) -> DataFrame:
        """Return a table with a row for each window: its first coordinate and its mean test error."""
        return table(start=self.step * np.arange(len(self.test_error)), test_error=self.test_error)


def solve_span_mask(model: SpanMask, exact_size: bool) -> SpanMaskSolution:
    """Compute the errors of `SpanMask` by the equations of `solve`."""
    kappa, matrices, evidence = _errors(model, np.array([model.span]), exact_size)
    train = (model.lam / kappa[0]) ** 2 * np.diagonal(matrices[0])
    residual, iterations, converged = evidence
    return SpanMaskSolution(
        model.covariance,
        model.alpha,
        model.lam,
        tuple(model.span),
        float(kappa[0]),
        matrices[0],
        train,
        residual=residual,
        iterations=iterations,
        converged=converged,
    )


def solve_span_windows(model: SpanWindows, exact_size: bool) -> SpanWindowsSolution:
    """Compute the mean errors of every window by the equations of `solve`, in blocks of bounded memory."""
    windows = np.array(model.starts)[:, None] + np.arange(model.length)
    blocks = np.array_split(windows, -(-windows.size * model.covariance.size // ENTRIES))
    found = [_errors(model, block, exact_size) for block in blocks]
    means = [np.einsum("wii->w", matrices) / model.length for _, matrices, _ in found]
    residuals, iterations, converged = zip(*(evidence for _, _, evidence in found), strict=True)
    return SpanWindowsSolution(
        model.covariance,
        model.alpha,
        model.lam,
        model.length,
        model.step,
        np.concatenate(means),
        residual=max(residuals),
        iterations=max(iterations),
        converged=all(converged),
    )


def _errors(
    model: SpanMask | SpanWindows, spans: NDArray[np.intp], exact_size: bool
) -> tuple[Array, Array, tuple[float, int, bool]]:
    """Compute effective ridges (spans,) and error matrices (spans, b, b), and return them with their evidence."""
    covariance = model.covariance
    of = Spans.of(covariance, spans)
    alpha, lam = np.full(len(spans), model.alpha), np.full(len(spans), model.lam)
    ridge = solve_effective_ridge(covariance.spectrum, alpha[:1], lam[:1])
    if exact_size:
        alpha *= covariance.size / (covariance.size - spans.shape[1])
        scale = float(ridge.value[0]) - model.lam
        ridge = solve_ridge_equation(of.complement_moments, alpha, lam, scale)
        factor = variance_factor(of.complement_moments(ridge.value), alpha)
    else:
        factor = variance_factor(ridge_moments(covariance.spectrum, ridge.value), alpha[:1])
    p, t = shrinkage(of.spectrum, ridge.value)
    own = of.block(t)
    half = np.linalg.solve(own, of.block(p * t))
    matrices = (factor * ridge.value)[:, None, None] * np.linalg.solve(own, half.transpose(0, 2, 1))
    matrices = (matrices + matrices.transpose(0, 2, 1)) / 2
    kappa = np.broadcast_to(ridge.value, len(spans))
    return kappa, matrices, (ridge.residual, ridge.iterations, ridge.converged)
