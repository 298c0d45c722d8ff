"""Three methods to fill the holes of a table, and what each of them measures at entries predicted as if holes."""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

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
from simulate.masked.holes.table import HoledTable
from theory.core import Array

MAX_STEPS = 500  # of expectation maximization; with Anderson's extrapolation 10 to 60 are usual
DISTANCE = 5e-3  # of the filled holes to the fixed point, root mean square, in standard deviations of the columns
DISTANCE_OF_HIDDEN = 2e-2  # likewise where entries are hidden: their errors are known to a few per cent


class Model(Protocol):
    """What was learned of a table, by which it fills rows."""

    def fill(self, values: Array, seen: NDArray[np.bool_]) -> tuple[Array, Array]:
        """Return the rows (n, d) with predictions in their holes, and a variance of each hole, in standard units."""


@dataclass(frozen=True, eq=False)
class Filled:
    """Predictions in standard units, and what was measured at entries predicted as if they were holes."""

    model: Model
    values: Array  # (n, d)
    variances: Array  # (n, d), of the holes under the model
    residuals: Array  # (n, d), in units of the data
    measured_variances: Array  # (n, d), under the model, of the entries measured
    measured: Array  # (n, d), weights of the entries measured, 0 elsewhere
    lam: float
    matched: float
    distance: float = 0.0
    steps: int | None = None

    def in_order(self, rows: NDArray[np.intp]) -> "Filled":
        """Return the same for a table of which these were the numbers (n,) of the rows."""
        names = ("values", "variances", "residuals", "measured_variances", "measured")
        return replace(self, **{name: getattr(self, name)[np.argsort(rows)] for name in names})


def by_maximization(holed: HoledTable, lam: float | None) -> Filled:
    """Fill by expectation maximization; without a ridge `lam` that of least error at hidden entries is taken."""
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
    return Filled(
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


def by_pairs(holed: HoledTable, lam: float | None) -> Filled:
    """Fill by covariances of pairs of columns that are seen together, without the row itself."""
    pairwise = Pairwise(holed.values, Patterns.of(holed.seen), holed.rates)
    if lam is None:
        errors = errors_along(holed, None, "pairwise")
        lam = float(errors.lams[errors.best()])
    pairwise.require(lam)
    filled, variances = pairwise.fill(lam)
    laid = laid_holes(holed.seen)
    residuals, measured_variances, shifts = left_out(pairwise, lam, laid)
    return Filled(
        model=Gaussian(np.zeros(len(holed.means)), pairwise.covariance, lam),
        values=filled,
        variances=variances,
        residuals=in_data_units(residuals, shifts, holed),
        measured_variances=measured_variances,
        measured=measured_weights(holed.seen, laid),
        lam=lam,
        matched=1.0 if laid is None else laid.matched,
    )


def by_own_rows(holed: HoledTable, lam: float | None) -> Filled:
    """Fill by regressions of each column over the rows that have it."""
    regressions = OwnRows(holed.values, holed.seen)
    if lam is None:
        errors = errors_along(holed, None, "own_rows")
        lam = float(errors.lams[errors.best()])
    laid = laid_holes(holed.seen)
    residuals, shifts = regressions_left_out(regressions, np.array([lam]), laid)[0]
    model = _Regressions(regressions.predictor(lam))
    filled, variances = model.fill(holed.values, holed.seen)
    return Filled(
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
