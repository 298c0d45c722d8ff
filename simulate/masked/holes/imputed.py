"""Fills the holes of a table, and says of each of them how far off it is expected to be."""

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from simulate.masked.checks import positive_ridge
from simulate.masked.holes.entry_errors import (
    errors_along,
    hole_weights,
    in_data_units,
    left_out,
    measured_weights,
    regressions_left_out,
)
from simulate.masked.holes.expectation import Gaussian, Maximized, maximize
from simulate.masked.holes.hidden import RIDGES, HiddenEntries
from simulate.masked.holes.laid import laid_holes
from simulate.masked.holes.own_rows import OwnRows
from simulate.masked.holes.pairwise import Pairwise
from simulate.masked.holes.patterns import Patterns
from simulate.masked.holes.table import HoledTable, holed_table, with_mask
from theory.core import Array, DataFrame, FitError, SolverResult, checked
from theory.core.frames import table as frame_of

ImputationMethod = Literal["em", "pairwise", "own_rows"]

MAX_STEPS = 500  # of expectation maximization; with Anderson's extrapolation 10 to 60 are usual
DISTANCE = 5e-3  # of the filled holes to the fixed point, root mean square, in standard deviations of the columns
DISTANCE_OF_HIDDEN = 2e-2  # likewise where entries are hidden: their errors are known to a few per cent
EQUAL_VARIANCES = 1e-9  # relative difference of variances under the model, below which it is rounding
COMMON_ENTRIES = 10  # with so many entries the factor of all columns counts in that of each column


class _Model(Protocol):
    def fill(self, values: Array, seen: NDArray[np.bool_]) -> tuple[Array, Array]:
        """Return the rows (n, d) with predictions in their holes, and a variance of each hole, in standard units."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """Expected squared errors of holes as functions of their variances under the model, all in standard units.

    They are (offset + slope v) times the factor of the column. Offset and slope, both at least zero, make the measured
    errors right on average among the half of the entries that the model calls safer, and among the other half: where
    there are few rows the model is too sure of the safe ones.
    """

    offset: float
    slope: float
    factors: Array  # (d,)

    def __call__(self, variances: Array) -> Array:
        """Return the expected squared errors (n, d) of entries with these variances."""
        return np.asarray((self.offset + self.slope * variances) * self.factors)

    @classmethod
    def line(cls, squares: Array, variances: Array, weights: Array | None = None) -> tuple[float, float]:
        """Return offset and slope from the measured squared errors (entries,) and their variances."""
        order = np.argsort(variances, kind="stable")
        variances, squares = variances[order], squares[order]
        weights = np.ones_like(squares) if weights is None else weights[order]
        # Entries of one variance, up to rounding, count with their mean: else the order of the rows would decide which
        # of them are among the safer half.
        group = np.cumsum(np.diff(variances, prepend=variances[0]) > EQUAL_VARIANCES * variances)
        squares = (np.bincount(group, weights * squares) / np.bincount(group, weights))[group]
        halves = np.array_split(np.arange(len(order)), 2)
        (low, high), (safe, doubtful) = (
            [np.average(part[half], weights=weights[half]) for half in halves] for part in (variances, squares)
        )
        mean, level = (float(np.average(part, weights=weights)) for part in (variances, squares))
        slope = (doubtful - safe) / (high - low) if high - low > 1e-9 * mean else level / mean
        slope = float(np.clip(slope, 0, level / mean))
        return float(level - slope * mean), slope


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
    _model: _Model = field(repr=False)

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
      accurate one. By default the ridge is chosen by hiding tenths of the entries (the seed is fixed), which also
      measures the errors; a larger one is taken where the steps do not settle.
    - "pairwise": covariances from the rows that have both columns; the row itself is left out. By default the ridge is
      chosen by leaving out one entry at a time, which also measures the errors; see `imputation_error`.
    - "own_rows": every column is regressed on the others over the rows that have it, with zeros for their holes.

    **The expected error of each hole** is a line in its conditional variance under the model, with the ridge, times a
    factor of its column. Both are found from the entries that were predicted as if they were holes: the line is right
    on average for the half of them that the model calls safer, and for the other half; the factor is the ratio of
    measured and expected errors of the column, to which all columns together contribute with 10 entries. Sums over
    holes of a column thus match measured errors; errors of "own_rows" do not depend on the pattern of the row. All this
    holds where entries are missing completely at random and apart: if whether an entry is missing has nothing to do
    with its value, nor with any other, nor with what else is missing in its row. No test on the table can show the
    first (`holes_depend_on_values` can show a part of the contrary); the last is plain to see. Entries that are
    predicted as if they were holes have more of the row beside them than holes that come together, as where whole
    blocks of columns are missing or rows end early. Errors there are then larger than expected: with 200 rows of an
    AR(1) chain of 12 columns, correlation 0.7, of which the first four are missing together in 30 % of the rows, by the
    factor 1.19(4) for "em", 1.33(5) for "pairwise" and 2.21(6) for "own_rows"; where they are missing apart, by
    1.02(3), 1.04(3) and 1.03(3). Another order of the rows hides other entries, and may choose another ridge for "em".

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
    found = {"em": _by_maximization, "pairwise": _by_pairs, "own_rows": _by_own_rows}[method](holed, strength)
    data = np.asarray(X if not np.ma.is_masked(X) else np.ma.filled(X, 0), dtype=np.float64)
    result = _calibrated(holed, data, found, method)
    if check and not result.converged:
        raise FitError(
            f"expectation maximization has left the holes {result.residual:.2g} standard deviations from its fixed "
            f"point after {result.iterations} steps at lam = {result.lam:g}: raise lam",
            result,
        )
    return result


@dataclass(frozen=True, eq=False)
class _Filled:
    """Predictions in standard units, and what was measured at entries predicted as if they were holes."""

    model: _Model
    values: Array  # (n, d)
    variances: Array  # (n, d), of the holes under the model
    residuals: Array  # (n, d), in units of the data
    measured_variances: Array  # (n, d), under the model, of the entries measured
    measured: Array  # (n, d), weights of the entries measured, 0 elsewhere
    lam: float
    matched: float
    distance: float = 0.0
    steps: int | None = None


def _by_maximization(holed: HoledTable, lam: float | None) -> _Filled:
    hidden = HiddenEntries(holed.values, holed.seen, hole_weights(holed.seen))
    patterns = Patterns.of(holed.seen)

    def maximized(ridge: float) -> Maximized:
        return maximize(holed.values, patterns, hidden.start(ridge), ridge, MAX_STEPS, DISTANCE)

    if lam is None:
        place = hidden.choose()
        found = maximized(RIDGES[place])
        while found.distance > DISTANCE and place > 0:  # few rows do not tell a small ridge from the next larger one
            place -= 1
            found = maximized(RIDGES[place])
        strength = RIDGES[place]
    else:
        strength, found = lam, maximized(lam)
    filled, variances = found.gaussian.fill(holed.values, holed.seen, patterns)
    at_hidden = hidden.at(strength, MAX_STEPS, DISTANCE_OF_HIDDEN)
    return _Filled(
        model=found.gaussian,
        values=filled,
        variances=variances,
        residuals=at_hidden.residuals * holed.scales,
        measured_variances=at_hidden.variances,
        measured=hidden.measured,
        lam=strength,
        matched=hidden.matched,
        distance=found.distance,
        steps=found.steps,
    )


def _by_pairs(holed: HoledTable, lam: float | None) -> _Filled:
    pairwise = Pairwise(holed.values, Patterns.of(holed.seen), holed.rates)
    if lam is None:
        errors = errors_along(holed, None, "pairwise")
        lam = float(errors.lams[errors.best()])
    pairwise.require(lam)
    filled, variances = pairwise.fill(lam)
    laid = laid_holes(holed.seen)
    residuals, measured_variances, shifts = left_out(pairwise, lam, laid)
    return _Filled(
        model=Gaussian(np.zeros(len(holed.means)), pairwise.covariance, lam),
        values=filled,
        variances=variances,
        residuals=in_data_units(residuals, shifts, holed),
        measured_variances=measured_variances,
        measured=measured_weights(holed.seen, laid),
        lam=lam,
        matched=1.0 if laid is None else laid.matched,
    )


def _by_own_rows(holed: HoledTable, lam: float | None) -> _Filled:
    regressions = OwnRows(holed.values, holed.seen)
    if lam is None:
        errors = errors_along(holed, None, "own_rows")
        lam = float(errors.lams[errors.best()])
    laid = laid_holes(holed.seen)
    residuals, shifts = regressions_left_out(regressions, [lam], laid)[0]
    model = _Regressions(regressions.predictor(lam))
    filled, variances = model.fill(holed.values, holed.seen)
    return _Filled(
        model=model,
        values=filled,
        variances=variances,
        residuals=in_data_units(residuals, shifts, holed),
        measured_variances=np.ones_like(filled),
        measured=measured_weights(holed.seen, laid),
        lam=lam,
        matched=1.0 if laid is None else laid.matched,
    )


@dataclass(frozen=True, eq=False)
class _Regressions:
    predictor: Array  # (d, d)

    def fill(self, values: Array, seen: NDArray[np.bool_]) -> tuple[Array, Array]:
        """Return the rows with predictions in their holes; all holes of a column have the same variance."""
        return np.where(seen, values, values @ self.predictor.T), np.where(seen, 0.0, 1.0)


def _calibrated(holed: HoledTable, data: Array, found: _Filled, method: str) -> Imputed:
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
