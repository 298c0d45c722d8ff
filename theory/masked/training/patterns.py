"""Masked regression under a pattern of masks along training: random masks of the inputs, and one span."""

from dataclasses import dataclass, field

import numpy as np

from theory.core import Array, DataFrame, SolverResult, table
from theory.core.arrays import ComplexArray
from theory.masked.errors import per_coordinate
from theory.masked.masks.population import CommutingPopulation, population
from theory.masked.masks.span_moments import Spans
from theory.masked.signs import require_non_negative
from theory.masked.training.optimizers import filter_of
from theory.masked.training.pairs import PairSum, both_halves
from theory.masked.training.point import Resolvents
from theory.masked.training.trained import MeansOfErrors
from theory.models import Covariance, LargeCovariance, RandomMasksTraining, SpanMaskTraining, Spectrum, Training
from theory.numerics import Solution
from theory.numerics.filters import Filter, pair_weights
from theory.random_matrix.complex_ridge import ridge_map, solve_complex_ridge


@dataclass(frozen=True, eq=False, repr=False)
class PatternTrainingSolution(MeansOfErrors, SolverResult):
    """The errors of masked regression under a pattern of masks, trained for a while: mean squares, without factor 1/2.

    `test_error` and `train_error` have an entry for each coordinate (class of coordinates for d -> infinity), or for
    each coordinate of the span in its order. With random masks both are averaged over masks that hide the coordinate.
    `filter_error` and `rounding` are those of `MaskedTrainingSolution`.
    """

    covariance: Covariance = field(repr=False)
    alpha: float
    training: Training
    lam: float
    span: tuple[int, ...] | None  # None for random masks
    test_error: Array = field(repr=False)
    train_error: Array = field(repr=False)
    filter_error: float
    rounding: float

    def __post_init__(self) -> None:
        require_non_negative(self, "test_error", "train_error", "filter_error")

    def _mean(self, values: Array) -> float:
        return super()._mean(values) if self.span is None else float(values.mean())

    def to_frame(self) -> DataFrame:
        """Tabulate one row for each coordinate or class of coordinates: its test and train errors."""
        coordinate = np.arange(len(self.test_error)) if self.span is None else np.array(self.span)
        return table(coordinate=coordinate, test_error=self.test_error, train_error=self.train_error)


def solve_masks_training(model: RandomMasksTraining) -> PatternTrainingSolution:
    """Solve for the errors along training with masked inputs; see `theory.masked.solve`.

    ValueError where the variances of the coordinates differ: the masks then add a ridge to each that does not commute
    with Sigma, so that each complex ridge and pair would have matrices of its own.
    """
    if isinstance(model.covariance, LargeCovariance) or not _alike(model.covariance):
        raise ValueError(
            "covariance must have equal variances, and modes that are known, for random masks in training: unlike ones "
            f"were not derived; take the correlations, got {model.covariance!r}"
        )
    spectrum, p = model.covariance.spectrum, model.mask_rate
    variance = float(population(model.covariance).variances[0])
    extra = p / (1 - p) * variance  # the ridge that the masks add
    shrunk = (1 - p) ** 2, p * (1 - p) * variance
    found = filter_of(model.training, model.covariance, model.alpha, model.lam, shrunk=shrunk)
    given = found.ridges / (1 - p) ** 2
    ridge = solve_complex_ridge(spectrum, model.alpha, given + extra)
    slope, at = ridge_map(spectrum, model.alpha)(ridge.value)[1], Resolvents.of(spectrum, ridge.value)
    kappa, slope, given, excess, numerator = both_halves(ridge.value, slope, given, at.excess, at.numerator)
    pairs, squares = pair_weights(given, found.whole[1]), found.whole[1][:, None] ** 2
    full, k = (given + extra)[:, None], kappa[:, None]
    # 1/Q_kk - L, and its derivative in L, with L the whole ridge.
    above = full * excess / k
    slope_above = excess / k - full * numerator / k**2 / slope[:, None]
    shown = PairSum.of(pairs, kappa, excess, squares * numerator / slope[:, None])
    noise = PairSum.of(pairs, -np.ones_like(kappa), above, squares * slope_above)
    train = PairSum.of(pairs, given, above, squares * (above - given[:, None] * slope_above))
    return _solution(model, None, found, ridge, shown + noise.times(extra), train)


def solve_span_training(model: SpanMaskTraining) -> PatternTrainingSolution:
    """Solve for the errors of a span along training; see `theory.masked.solve`."""
    if isinstance(model.covariance, LargeCovariance):
        raise ValueError(f"covariance must be one whose eigenvalues are known, for training in time, got {model!r}")
    spectrum = model.covariance.spectrum
    found = filter_of(model.training, model.covariance, model.alpha, model.lam)
    ridge = solve_complex_ridge(spectrum, model.alpha, found.ridges)
    slope = ridge_map(spectrum, model.alpha)(ridge.value)[1]
    excess, numerator = _of_span(model, ridge.value)
    kappa, slope, excess, numerator = both_halves(ridge.value, slope, excess, numerator)
    ridges, weights = found.whole
    pairs, own = pair_weights(ridges, weights), weights[:, None] ** 2 * numerator / slope[:, None]
    ratio = ridges / kappa
    test = PairSum.of(pairs, kappa, excess, own)
    train = PairSum.of(pairs * (ratio[:, None] * ratio), kappa, excess, own * ratio[:, None] ** 2)
    return _solution(model, tuple(model.span), found, ridge, test, train)


def _of_span(model: SpanMaskTraining, kappa: ComplexArray) -> tuple[ComplexArray, ComplexArray]:
    """Return the diagonals (N, b) of R_BB^-1 [Sigma R]_BB = R_BB^-1 - kappa, and of R_BB^-1 [R Sigma R]_BB R_BB^-1."""
    s = model.covariance.eigenvalues
    rows = Spans.of(model.covariance, np.array([model.span])).rows[0]  # (b, d)

    def block(values: ComplexArray) -> ComplexArray:
        return np.asarray((rows * values[:, None, :]) @ rows.T)

    resolvent = 1 / (s + kappa[:, None])
    own = block(resolvent)
    excess = np.linalg.solve(own, block(s * resolvent))
    half = np.linalg.solve(own, block(s * resolvent**2))
    numerator = np.linalg.solve(own, half.transpose(0, 2, 1))
    return np.einsum("nii->ni", excess), np.einsum("nii->ni", numerator)


def _alike(covariance: Covariance) -> bool:
    spectrum: Spectrum = covariance.spectrum
    return not spectrum.axes and isinstance(population(covariance), CommutingPopulation)


def _solution(
    model: RandomMasksTraining | SpanMaskTraining,
    span: tuple[int, ...] | None,
    found: Filter,
    ridge: Solution[ComplexArray],
    test: PairSum,
    train: PairSum,
) -> PatternTrainingSolution:
    on_new, on_fitted = test.value, train.of_train()
    if span is None:
        on_new, on_fitted = (per_coordinate(model.covariance, values) for values in (on_new, on_fitted))
    return PatternTrainingSolution(
        model.covariance,
        model.alpha,
        model.training,
        model.lam,
        span,
        on_new,
        on_fitted,
        found.error,
        test.rounding(found.ridges),
        residual=ridge.residual,
        iterations=ridge.iterations,
        converged=ridge.converged,
    )
