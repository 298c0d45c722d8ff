"""Errors over mask rates and sample ratios, whose points share one population and one spectrum for each mask rate."""

from dataclasses import dataclass, field

import numpy as np

from theory.core import Array, DataFrame, Grid, SolverResult, checked, checks, table
from theory.masked.errors import mean_over_coordinates
from theory.masked.masks.equations import solved_points
from theory.masked.masks.population import population
from theory.masked.signs import require_non_negative
from theory.models import Covariance, RandomMasks
from theory.models.conventions import RATIOS
from theory.models.masks import LEAST_RATE


@dataclass(frozen=True, eq=False, repr=False)
class MaskCurve(SolverResult):
    """Mean errors under random masks on the grid of `mask_rates` (rows) by `alphas` (columns).

    Arrays have shape (n_rates, n_alphas). `residual` and `iterations` are the worst of all points.
    """

    covariance: Covariance = field(repr=False)
    alphas: Array
    lam: float
    mask_rates: Array
    n_masks: int | None
    mean_test_error: Array = field(repr=False)
    mean_train_error: Array = field(repr=False)

    def __post_init__(self) -> None:
        require_non_negative(self, "mean_test_error", "mean_train_error")

    def to_frame(self) -> DataFrame:
        """Tabulate a row for each point: mask_rate, alpha, mean_test_error, mean_train_error."""
        rate, alpha = (grid.ravel() for grid in np.meshgrid(self.mask_rates, self.alphas, indexing="ij"))
        return table(
            mask_rate=rate,
            alpha=alpha,
            mean_test_error=self.mean_test_error.ravel(),
            mean_train_error=self.mean_train_error.ravel(),
        )


@checked
def mask_curve(
    covariance: Covariance, alphas: Grid, lam: float, mask_rates: Grid, n_masks: int | None = None
) -> MaskCurve:
    """Compute the mean errors of `RandomMasks` on a grid of mask rates and sample ratios.

    One population serves all points; for infinitely many masks one spectrum serves each mask rate. Derived here as in
    `solve`: infinitely many masks add a diagonal to the sample covariance, and a finite number makes classes of rows
    (an extension of arXiv:2601.23208). Raises ValueError and ConvergenceError as `solve` does.

    >>> from theory.models import AR1
    >>> mask_curve(AR1(np.inf, 0.6), alphas=[1.0, 2.0], lam=0.01, mask_rates=[0.15]).mean_test_error.round(4)
    array([[0.8863, 0.716 ]])
    """
    for rate in mask_rates:
        checks.between("mask_rates", rate, 0 if n_masks is None else LEAST_RATE, 1, closed=(True, False))
    for alpha in alphas:
        RandomMasks(covariance, RATIOS.check("alphas", alpha), lam, mask_rates[0], n_masks)
    of = population(covariance)
    points = [point for rate in mask_rates for point in solved_points(of, alphas, lam, float(rate), n_masks)]

    def means(errors: list[Array]) -> Array:
        found = [float(mean_over_coordinates(covariance, error)) for error in errors]
        return np.reshape(found, (len(mask_rates), len(alphas)))

    return MaskCurve(
        covariance,
        alphas,
        lam,
        mask_rates,
        n_masks,
        means([point.test_error for point in points]),
        means([point.train_error for point in points]),
        residual=max(point.residual for point in points),
        iterations=max(point.iterations for point in points),
        converged=all(point.converged for point in points),
    )
