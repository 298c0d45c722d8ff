"""The pairwise estimator on rows with holes: new ones, and those of the table that it was fitted to."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from theory.core.arrays import Array
from theory.masked.holes.columns import DensePencil, Regression, form
from theory.masked.holes.equation import RowWeight
from theory.masked.holes.estimators import Estimator
from theory.masked.holes.patterns import Pattern, PatternMean, pattern_mean
from theory.models import MissingEntries


def pairwise_on_holes(model: MissingEntries, patterns: int, seed: int) -> tuple[PatternMean, list[RowWeight]]:
    """Compute the errors of pairwise regression at the holes of new rows, or of the table, averaged over patterns."""
    q = np.broadcast_to(np.asarray(model.seen_rates, float), model.covariance.size)
    rows = _RowsWithHoles(Estimator.of(model), q, model.rows == "table")
    return pattern_mean(q, rows.errors, patterns, seed), rows.weights


@dataclass(frozen=True, eq=False)
class _RowsWithHoles:
    """Rows that show some columns: the regression is that of S restricted to them, on the rows of the whole table."""

    estimator: Estimator
    seen_rates: Array
    own_table: bool
    weights: list[RowWeight] = field(default_factory=list)  # of all regressions that were solved

    def errors(self, pattern: Pattern) -> Array:
        """Compute the errors (d,) at the holes of a row that shows `pattern` (d,), NaN at what it shows."""
        errors = np.full(len(pattern), np.nan)
        seen, holes = np.flatnonzero(pattern), np.flatnonzero(~pattern)
        if holes.size:
            errors[holes] = self._at_holes(seen, holes)
        return errors

    def _at_holes(self, seen: NDArray[np.intp], holes: NDArray[np.intp]) -> Array:
        of = self.estimator
        if not seen.size:
            return np.asarray(of.covariance[holes, holes])
        block = np.ix_(seen, seen)
        at = DensePencil.of(of.signal[block], of.ridge[seen]).at(float(of.rows[0]), of.law)
        self.weights.append(at.weight)
        a = at.coefficients(of.signal[np.ix_(seen, holes)])
        Sigma, cross = of.covariance[block], of.covariance[np.ix_(seen, holes)]
        explained = 2 * np.einsum("ij,ij->j", cross, a)
        residual = of.covariance[holes, holes] - explained + form(a, Sigma)
        own = of.signal[holes, holes] - explained + form(a, of.signal[block])
        new = residual + at.noise(at.in_modes(Sigma)) * own
        if not self.own_table:
            return np.asarray(new)
        return np.asarray(new + self._own_part(at, Sigma, cross, a, self.seen_rates[seen], own))

    def _own_part(self, at: Regression, Sigma: Array, cross: Array, a: Array, q: Array, own: Array) -> Array:
        """Compute what a row's part in the covariances adds to the errors at its own holes, (h,).

        The row adds y y'/n, y = x_O/q_O, to the input covariances and nothing to the cross covariances. With P of the
        other rows and u = x_O, its prediction a.u therefore becomes a.u - c b.u, b = a/q, c = (y'Pu/n)/(1 + y'Py/n),
        in which both averages concentrate; they grow with the row's scale t. The second moments of a and b follow from
        the form B = Sigma with inputs 1 - c/q times as large.
        """
        b = a / q[:, None]
        mixed = at.in_modes((Sigma / q + Sigma / q[:, None]) / 2)
        scaled = at.in_modes(Sigma / np.outer(q, q))
        linear = np.einsum("ij,ij->j", cross, b) - np.einsum("ij,ij->j", a, Sigma @ b) - at.noise(mixed) * own
        square = form(b, Sigma) + at.noise(scaled) * own
        t, weights = self.estimator.law.nodes, self.estimator.law.probabilities
        c = t * at.trace(mixed) / at.n / (1 + t * at.trace(scaled) / at.n)
        return np.asarray(2 * float(weights @ (t * c)) * linear + float(weights @ (t * c * c)) * square)
