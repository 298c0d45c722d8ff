"""Spans of coordinates masked together and predicted from all others."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from theory.masked.errors import variance_factor
from theory.masked.masks.span_moments import Spans
from theory.models import Covariance, MaskedRidge, checks
from theory.models.arrays import Array
from theory.models.frames import table
from theory.random_matrix import ridge_moments, shrinkage, solve_effective_ridge, solve_ridge_equation

if TYPE_CHECKING:
    import pandas as pd

ENTRIES = 4_000_000  # of a temporary, in numbers


@dataclass(frozen=True, eq=False)
class SpanMaskSolution:
    """Errors of a masked span of b coordinates, in the order given; squared, without a factor 1/2."""

    covariance: Covariance = field(repr=False)
    alpha: float
    lam: float
    span: tuple[int, ...]
    effective_ridge: float
    error_matrix: Array = field(repr=False)  # (b, b), test covariance of the residuals
    train_error: Array = field(repr=False)  # (b,)
    residual: float
    iterations: int
    converged: bool

    @property
    def test_error(self) -> Array:
        """(b,), diagonal of `error_matrix`."""
        return np.diagonal(self.error_matrix)

    @property
    def mean_test_error(self) -> float:
        """Mean over the masked coordinates."""
        return float(self.test_error.mean())

    @property
    def mean_train_error(self) -> float:
        """Mean over the masked coordinates."""
        return float(self.train_error.mean())

    def to_frame(self) -> "pd.DataFrame":
        """One row a masked coordinate: test and train error."""
        return table(coordinate=np.array(self.span), test_error=self.test_error, train_error=self.train_error)

    @cached_property
    def predictor(self) -> Array:
        """(b, d) deterministic equivalent of the predictor of the span; zero on the span itself."""
        span, vectors = list(self.span), self.covariance.eigenvectors
        rows = (vectors[span] / (self.covariance.eigenvalues + self.effective_ridge)) @ vectors.T
        predictor = -np.asarray(np.linalg.solve(rows[:, span], rows), float)
        predictor[:, span] = 0.0
        return predictor


def span_mask(
    covariance: Covariance, alpha: float, lam: float, span: Iterable[int], *, exact_size: bool = False
) -> SpanMaskSolution:
    """Every coordinate of `span` regressed with ridge lam on the coordinates outside it, n = alpha d samples.

    With kappa the effective ridge and R = (Sigma + kappa)^-1, block inversion gives the predictor
    -(R_BB)^-1 R_B,outside and the error matrix (R_BB)^-1 [R Sigma R]_BB (R_BB)^-1 / (1 - df2/alpha); train errors are
    (lam/kappa)^2 of it. Right for b << d; `exact_size` takes kappa and df2 from Sigma outside the span, the d - b
    unknowns that there are, which removes a relative O(b/d). A span of one coordinate is `solve`.

    ValueError for an infinite d, and for a span that is empty, all of d, repeats a coordinate or leaves 0..d-1.
    """
    model = MaskedRidge(covariance, alpha, lam)
    chosen = _checked_span(covariance, span)
    kappa, matrices, evidence = _errors(model, np.array([chosen]), exact_size)
    train = (model.lam / kappa[0]) ** 2 * np.diagonal(matrices[0])
    return SpanMaskSolution(
        covariance, model.alpha, model.lam, tuple(chosen), float(kappa[0]), matrices[0], train, *evidence
    )


def span_windows(covariance: Covariance, alpha: float, lam: float, length: int, *, exact_size: bool = False) -> Array:
    """(d - length + 1,) mean test error per masked coordinate of every window of `length` consecutive coordinates.

    The formulas of `span_mask` for all windows at once; their mean is the error of a window placed at random.
    """
    model, d = MaskedRidge(covariance, alpha, lam), covariance.size
    b = int(checks.dimension(length, name="length"))
    if b >= d:
        raise ValueError(f"length must be below d = {d}, got {length!r}")
    windows = np.arange(d - b + 1)[:, None] + np.arange(b)
    blocks = np.array_split(windows, -(-windows.size * d // ENTRIES))
    means = [np.einsum("wii->w", _errors(model, block, exact_size)[1]) / b for block in blocks]
    return np.concatenate(means)


def _errors(model: MaskedRidge, spans: Array, exact_size: bool) -> tuple[Array, Array, tuple[float, int, bool]]:
    """Effective ridges (spans,), error matrices (spans, b, b), and the evidence for them."""
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


def _checked_span(covariance: Covariance, span: Iterable[int]) -> list[int]:
    d = covariance.size
    try:
        chosen = [int(checks.dimension(k, least=-(10**18), name="span")) for k in span]
    except TypeError:
        raise ValueError(f"span must be a sequence of coordinates, got {span!r}") from None
    if not chosen:
        raise ValueError("span must hold at least one coordinate, got none")
    if min(chosen) < 0 or max(chosen) >= d:
        raise ValueError(f"span must lie in 0..{d - 1}, got {min(chosen)}..{max(chosen)}")
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"span must not repeat a coordinate, got {chosen}")
    if len(chosen) == d:
        raise ValueError(f"span must leave a coordinate to predict from, got all {d}")
    return chosen
