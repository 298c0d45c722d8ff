"""Random masks, as in masked language modeling: errors for infinitely many masks of each sample, or finitely many."""

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from theory.core import Array, DataFrame, SolverResult, table
from theory.masked.errors import mean_over_coordinates, per_coordinate
from theory.masked.masks.equations import Point, solved_points
from theory.masked.masks.population import inverse, population
from theory.masked.signs import require_non_negative
from theory.models import Covariance, RandomMasks


@dataclass(frozen=True, eq=False, repr=False)
class RandomMasksSolution(SolverResult):
    """The mean squared errors of each masked coordinate, predicted from inputs that are masked too.

    They are averaged over samples and masks, without a factor 1/2 and with the irreducible part. Shapes are those of
    `MaskedRidgeSolution`: (d,), or one entry for each class of coordinates in the limit d -> infinity. The predictor is
    that of the population at the ridge `effective_ridge`, with `diagonal_ridge` times diag Sigma added to Sigma.
    """

    covariance: Covariance = field(repr=False)
    alpha: float
    lam: float
    mask_rate: float
    n_masks: int | None
    effective_ridge: float  # lam/((1 - mask_rate)^2 S)
    diagonal_ridge: float  # mask_odds W/S; S = 1/K and W = 1 for infinitely many masks
    test_error: Array = field(repr=False)
    train_error: Array = field(repr=False)

    def __post_init__(self) -> None:
        require_non_negative(self, "effective_ridge", "diagonal_ridge", "test_error", "train_error")

    @property
    def rows_per_coordinate(self) -> float:
        """The rows (pairs of sample and mask) of a regression over d, alpha n_masks mask_rate; errors peak near 1."""
        return math.inf if self.n_masks is None else self.alpha * self.n_masks * self.mask_rate

    @property
    def mean_test_error(self) -> float:
        """Mean of `test_error` over the coordinates."""
        return float(mean_over_coordinates(self.covariance, self.test_error))

    @property
    def mean_train_error(self) -> float:
        """Mean of `train_error` over the coordinates."""
        return float(mean_over_coordinates(self.covariance, self.train_error))

    @property
    def total_test_error(self) -> float:
        """Sum of `test_error` over all d coordinates; infinite in the limit d -> infinity."""
        return self.covariance.d * self.mean_test_error

    def to_frame(self) -> DataFrame:
        """Return a table of test and train errors with a row for each coordinate, or class of them for d = infinity."""
        return table(
            coordinate=np.arange(len(self.test_error)), test_error=self.test_error, train_error=self.train_error
        )

    @cached_property
    def predictor(self) -> Array:
        """The deterministic equivalent (d, d) of the predictor of masked inputs, with a zero diagonal."""
        G = inverse(self.covariance.matrix, 1.0, self.diagonal_ridge, self.effective_ridge)
        rows = -G / np.diagonal(G)[:, None] / (1 - self.mask_rate)
        np.fill_diagonal(rows, 0.0)
        return np.asarray(rows)


def solve_random_masks(model: RandomMasks) -> RandomMasksSolution:
    """Compute the errors of `RandomMasks` by the equations of `solve`."""
    of, alphas = population(model.covariance), np.array([model.alpha])
    point = solved_points(of, alphas, model.lam, model.mask_rate, model.n_masks)[0]
    return _solution(model, point)


def _solution(model: RandomMasks, point: Point) -> RandomMasksSolution:
    rate = model.mask_rate
    signal, noise = map(float, point.first)
    test, train = (per_coordinate(model.covariance, errors) for errors in (point.test_error, point.train_error))
    return RandomMasksSolution(
        model.covariance,
        model.alpha,
        model.lam,
        rate,
        model.n_masks,
        model.lam / ((1 - rate) ** 2 * signal),
        rate / (1 - rate) * noise / signal,
        test,
        train,
        residual=point.residual,
        iterations=point.iterations,
        converged=point.converged,
    )
