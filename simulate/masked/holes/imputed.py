"""Fills the holes of a table, and says of each of them how far off it is expected to be."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from simulate.masked.checks import positive_ridge
from simulate.masked.holes.calibration import Calibration
from simulate.masked.holes.entry_errors import (
    hole_weights,
)
from simulate.masked.holes.methods import DISTANCE, Filled, Model, by_maximization, by_own_rows, by_pairs
from simulate.masked.holes.table import HoledTable, holed_table, with_mask
from theory.core import Array, DataFrame, FitError, SolverResult, checked, foreign
from theory.core.frames import table as frame_of

ImputationMethod = Literal["em", "pairwise", "own_rows"]

COMMON_ENTRIES = 10  # with so many entries the factor of all columns counts in that of each column


@dataclass(frozen=True, eq=False, repr=False)
class Imputed(SolverResult):
    """A filled table, and the squared errors that are expected at its holes, in squared units of the columns."""

    table: Array  # (n, d), entries seen as they were given
    predicted_error: Array  # (n, d), of each hole; 0 at entries seen
    error_by_column: Array  # (d,), mean over the holes of the column; where it has none, of an entry if it were one
    stderr: Array  # (d,)
    relative_error: float  # mean over all holes in units of their columns' variances: 1 is what the mean gives
    relative_stderr: float
    lam: float  # the ridge, in units of the columns' variances
    method: str
    matched: float  # share of the holes that rows that see more could show; 1 where holes lie apart (see `impute`)
    variances: Array  # (d,), of the entries seen
    calibration: "Calibration" = field(repr=False)  # from variances under the model to expected squared errors
    entry_residuals: Array = field(repr=False)  # (n, d), of entries predicted as if they were holes; NaN elsewhere
    _means: Array = field(repr=False)
    _scales: Array = field(repr=False)
    _model: Model = field(repr=False)

    def fill(self, X: Any, seen: Any = None) -> tuple[Array, Array]:
        """Fill new rows X (m, d), and return them with the expected squared error of each of their holes, (m, d).

        A row without any entry gets the means. ValueError for rows of another size, or not finite where they are seen.
        """
        data, mask = with_mask("X", X, seen)
        if data.shape[1] != len(self._means):
            raise ValueError(f"X must have {len(self._means)} columns as the table, got {data.shape[1]}")
        standard = np.where(mask, (np.where(mask, data, 0.0) - self._means) / self._scales, 0.0)
        filled, variances = self._model.fill(standard, mask)
        predicted = np.where(mask, 0.0, self.calibration(variances) * self._scales**2)
        return np.where(mask, data, self._means + self._scales * filled), predicted

    def to_frame(self) -> DataFrame:
        """Make a table with a row for each column: expected squared error, its standard error, and the variance."""
        return frame_of(
            column=np.arange(len(self.stderr)),
            error=self.error_by_column,
            stderr=self.stderr,
            variance=self.variances,
        )


@checked
def impute(X: Any, seen: Any = None, lam: Any = None, method: ImputationMethod = "em", check: bool = True) -> Imputed:
    """Fill the holes of a table X (n, d) from the other columns, with the expected squared error of each hole.

    `seen` (n, d) are truth values; by default all entries but NaN are seen. Columns are brought to mean 0 and variance
    1 by their entries seen; a ridge `lam` is added to their covariance. The methods:

    - "em": expectation maximization: the mean and covariance of a Gaussian are fitted to rows filled with their
      conditional means, plus the conditional covariances of the holes, until they reproduce themselves. The most
      accurate one. By default the ridge is chosen by hiding entries, a tenth at a time (the seed is fixed), which also
      measures the errors; a larger one is taken where the steps do not settle.
    - "pairwise": covariances from the rows that have both columns; the row itself is left out. By default the ridge is
      chosen by leaving out one entry at a time, which also measures the errors; see `imputation_error`.
    - "own_rows": every column is regressed on the others over the rows that have it, with zeros for their holes.

    **The expected error of each hole** is a line in its conditional variance under the model, with the ridge, times a
    factor of its column. Both are found from the entries that were predicted as if they were holes: the line is right
    on average for the half of them that the model calls safer, and for the other half; the factor is the ratio of
    measured and expected errors of the column, to which all columns together contribute with 10 entries. Sums over
    holes of a column thus match measured errors; errors of "own_rows" do not depend on the pattern of the row. All this
    holds where entries are missing completely at random: if whether an entry is missing has nothing to do with any
    value. No test on the table can show that (`holes_depend_on_values` can show a part of the contrary).

    What else is missing in the row of a hole decides what it is predicted from. Where holes come together beyond
    chance, as where blocks of columns are missing in the same rows or rows end early, entries are therefore hidden
    together too: the holes of a row are laid on rows that see more, and what is left there is about what the row sees.
    `matched` is the share of the holes for which some row shows the column and half or more of what is beside the hole;
    for the others, as in two questionnaires without a common question, single entries stand, and true errors are
    larger than expected. Of 200 rows of an AR(1) chain (20 columns, correlation 0.7) true errors over expected ones are
    1.04(2) for "em", 1.05(2) for "pairwise" and 1.04(3) for "own_rows" with blocks of five columns missing in a fifth
    of the rows each, and 0.99(3), 1.00(3) and 0.99(3) with blocks of ten. Which entries are hidden depends on the ranks
    of the entries in their columns and not on the order of the rows, so that results are the same in any order, up to
    rounding.

    ValueError for an X that is no matrix of real numbers with 3 rows and 2 columns or more, a `seen` of another shape
    or not of truth values, a NaN or infinity where it is seen, a column with less than two entries or equal ones, a row
    without entries, a ridge that is not positive, for "pairwise" one at or below the least ridge, and for "em" a table
    without a column of three entries. FitError where the holes are not within 0.005 standard deviations of the fixed
    point after 500 steps; with `check=False` the result is returned with `converged` False. `residual` is the estimated
    distance to the fixed point.

    >>> from simulate.masked import sample, with_holes
    >>> from theory.models import AR1
    >>> rng = np.random.default_rng(0)
    >>> X = sample(AR1(12, 0.8), 200, rng)
    >>> holed, seen = with_holes(X, 0.2, rng)
    >>> found = impute(holed)
    >>> print(f"expected {found.relative_error:.2f}, true {np.mean((found.table - X)[~seen] ** 2):.2f}")
    expected 0.29, true 0.32
    """
    holed = holed_table(X, seen)
    strength = None if lam is None else positive_ridge(lam)
    try:
        ordered, rows = holed.in_own_order()
        fill = {"em": by_maximization, "pairwise": by_pairs, "own_rows": by_own_rows}[method]
        found = fill(ordered, strength).in_order(rows)
    except np.linalg.LinAlgError as error:
        raise ValueError(
            f"lam must be larger, since rounding decides what is left of the covariance: {error}, got {lam!r}"
        ) from None
    given = np.ma.filled(X, 0) if np.ma.is_masked(X) else foreign.plain("X", X, "real numbers", holes=True)
    data = np.asarray(given, dtype=np.float64)
    result = _calibrated(holed, data, found, method)
    if check and not result.converged:
        raise FitError(
            f"expectation maximization has left the holes {result.residual:.2g} standard deviations from its fixed "
            f"point after {result.iterations} steps at lam = {result.lam:g}: raise lam",
            result,
        )
    return result


def _calibrated(holed: HoledTable, data: Array, found: Filled, method: str) -> Imputed:
    """Scale the variances under the model to the errors measured."""
    measured, holes = found.measured > 0, ~holed.seen
    squares = np.where(measured, found.measured * found.residuals**2, 0.0) / holed.scales**2
    of_line = (
        measured & (holes & measured.any(axis=0)).any(axis=0) if (holes & measured.any(axis=0)).any() else measured
    )
    line = Calibration.line(
        (squares / np.where(measured, found.measured, 1))[of_line],
        found.measured_variances[of_line],
        found.measured[of_line],
    )
    common = Calibration(*line, np.ones(len(holed.means)))
    expected = np.where(measured, found.measured * common(found.measured_variances), 0.0)
    count = found.measured.sum(axis=0)
    fallback = expected.sum() / count.sum()
    typical = np.where(count > 0, expected.sum(axis=0) / np.where(count > 0, count, 1), fallback)
    total = expected.sum(axis=0) + COMMON_ENTRIES * typical
    factors = (squares.sum(axis=0) + COMMON_ENTRIES * typical) / total
    # The entries that stand for the other columns err like squares of Gaussian numbers, of variance 2.
    spread = np.sum((squares - factors * expected) ** 2, axis=0) + 2 * COMMON_ENTRIES * (factors * typical) ** 2
    stderr = np.sqrt(spread) / total / factors
    calibration = Calibration(*line, factors)
    n_holes = holes.sum(axis=0)
    predicted = np.where(holes, calibration(found.variances) * holed.scales**2, 0.0)
    in_holes = predicted.sum(axis=0) / np.maximum(n_holes, 1)
    error = np.where(n_holes > 0, in_holes, factors * typical * holed.scales**2)
    weights = hole_weights(holed.seen)
    # Each row, and what stands for the other columns, moves the errors of all columns at once.
    shares = weights * error / holed.variances / (total * factors)
    by_row = np.where(measured, squares - factors * expected, 0.0) @ shares
    common_part = 2 * COMMON_ENTRIES * np.sum((shares * factors * typical) ** 2)
    return Imputed(
        table=np.where(holed.seen, np.where(holed.seen, data, 0.0), holed.in_units(found.values)),
        predicted_error=predicted,
        error_by_column=error,
        stderr=stderr * error,
        relative_error=float(weights @ (error / holed.variances)),
        relative_stderr=float(np.sqrt(np.sum(by_row**2) + common_part)),
        lam=found.lam,
        method=method,
        matched=found.matched,
        variances=holed.variances,
        calibration=calibration,
        entry_residuals=np.where(measured, found.residuals, np.nan),
        _means=holed.means,
        _scales=holed.scales,
        _model=found.model,
        residual=found.distance,
        iterations=found.steps,
        converged=found.distance <= DISTANCE,
    )
