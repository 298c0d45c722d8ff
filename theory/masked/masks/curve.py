"""Errors over mask rates and sample ratios: one population, and one spectrum a mask rate, serve all points."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from theory.masked.masks.classes import row_classes
from theory.masked.masks.equations import Point, all_masks, finite_masks
from theory.masked.masks.population import Population, population
from theory.masked.masks.random_masks import checked_masks, mean_over_coordinates
from theory.models import Covariance, MaskedRidge, checks
from theory.models.arrays import Array
from theory.models.frames import table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class MaskCurve:
    """Mean errors on the grid `mask_rates` (rows) by `alphas` (columns); arrays have shape (n_rates, n_alphas)."""

    covariance: Covariance = field(repr=False)
    alphas: Array
    lam: float
    mask_rates: Array
    n_masks: int | None
    mean_test_error: Array = field(repr=False)
    mean_train_error: Array = field(repr=False)
    residual: float
    iterations: int
    converged: bool

    def to_frame(self) -> "pd.DataFrame":
        """One row a point, with columns mask_rate, alpha, mean_test_error, mean_train_error."""
        rate, alpha = (grid.ravel() for grid in np.meshgrid(self.mask_rates, self.alphas, indexing="ij"))
        return table(
            mask_rate=rate,
            alpha=alpha,
            mean_test_error=self.mean_test_error.ravel(),
            mean_train_error=self.mean_train_error.ravel(),
        )


def mask_curve(
    covariance: Covariance, alphas: ArrayLike, lam: float, mask_rates: ArrayLike, n_masks: int | None = None
) -> MaskCurve:
    """The mean errors of `random_masks` on a grid; `iterations` and `residual` are the worst of all points."""
    alphas = checks.finite_array("alphas", np.atleast_1d(np.asarray(alphas)), 1)
    rates = checks.finite_array("mask_rates", np.atleast_1d(np.asarray(mask_rates)), 1)
    for alpha in alphas:
        MaskedRidge(covariance, alpha, lam)
    for rate in rates:
        checked_masks(rate, n_masks)
    of = population(covariance)
    points = [point for rate in rates for point in _points(of, alphas, float(lam), float(rate), n_masks)]

    def means(errors: list[Array]) -> Array:
        return np.reshape([mean_over_coordinates(covariance, error) for error in errors], (len(rates), len(alphas)))

    return MaskCurve(
        covariance,
        alphas,
        float(lam),
        rates,
        n_masks,
        means([point.test_error for point in points]),
        means([point.train_error for point in points]),
        max(point.residual for point in points),
        max(point.iterations for point in points),
        all(point.converged for point in points),
    )


def _points(of: Population, alphas: Array, lam: float, rate: float, n_masks: int | None) -> list[Point]:
    if n_masks is None:
        return all_masks(of, alphas, lam, rate)
    classes = row_classes(n_masks, rate)
    return [finite_masks(of, float(alpha), lam, rate, classes) for alpha in alphas]
