"""What a fit does to single rows: its own ones, rows that depend on them, and those of a fold.

Everything here is a ratio to the test error, from the mean products E_k T (1 + D T)^-2 of the fitted rows' residuals.
With D = y/g, the share y = df1/alpha and the weight g = lam/kappa, all of them are functions of f = 1/(g + t y) at the
eigenvalues t of T, which stay finite in the limit g -> 0 of interpolation.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.core import Array, checks
from theory.masked.ridge_point import Numbers, RidgePoint, ridge_point
from theory.models import (
    AR1Rows,
    Covariance,
    GivenRows,
    IndependentRows,
    LongMemoryRows,
    RowDependence,
    RowScales,
)
from theory.models.joint_rows import joint_rows, law_of_rows
from theory.random_matrix.row_response import RowResponse, row_response, row_weight

Rows = NDArray[np.intp]  # numbers of rows

POSSIBLE = 1e-8  # relative variance below zero that rounding may leave of a row, given the others
STEADY = 1e-12  # change of an error on twice as many rows that stand for infinitely many
MOST_ROWS = 4096  # that are tried for it
FEWEST_ROWS = 2  # that a fold may leave to fit


@dataclass(frozen=True, eq=False)
class FittedRows:
    """The rows of a fit: their scales and dependence, and the numbers of its effective ridge."""

    scales: RowScales
    dependence: RowDependence
    n: float
    point: RidgePoint
    exact_size: bool

    @cached_property
    def law(self) -> RowScales:
        """The law of scales of independent rows with the same X'X."""
        return law_of_rows(self.scales, self.dependence)

    @cached_property
    def joint(self) -> RowDependence:
        """The dependence of the rows with their scales."""
        return self.dependence if self.dependence.is_identity else joint_rows(self.scales, self.dependence)

    @cached_property
    def response(self) -> RowResponse:
        """Averages over the law at the weight and share of the fit."""
        return row_response(self.law, np.asarray(self.point.weight), np.asarray(self.point.share))

    @property
    def effective_share(self) -> Numbers:
        """The share of independent rows of one scale that would do as well."""
        share = 1 / self.response.second
        return float(share) if share.ndim == 0 else share

    @cached_property
    def leave_one_out(self) -> Numbers:
        """The leave-one-out error over the test error."""
        if self.dependence.is_identity:
            return 1.0
        rows = self.joint.representative
        if rows is None:
            return self.point.gcv
        t, vectors = rows.modes
        loads = vectors**2
        kept, g = self._kept(t)
        ratios = ((t * kept**2) @ loads.T) / (kept @ loads.T) ** 2
        # A row that others determine is met exactly in the limit of interpolation.
        known = loads[:, t == 0].sum(axis=1) > POSSIBLE
        return _numbers(np.where(known & (g == 0), 0.0, ratios).mean(axis=-1))

    def near(self, covariances: Array, variance: float) -> Numbers:
        """Compute the error of a row with these covariances over the test error of an independent one."""
        t, squares = self._in_modes(covariances, variance)
        return _numbers(variance - self._taken(t, squares))

    def kriged(self, covariances: Array, variance: float) -> float:
        """Compute the same for predictions with the residual that is expected."""
        t, squares = self._in_modes(covariances, variance)
        if not t.all():
            raise ValueError("the covariance between the rows must not be singular for kriged_error")
        return max(variance - float((squares / t).sum()), 0.0)

    def next_row(self, steps: int) -> Numbers:
        """Compute the error of the row `steps` after the last one over that of an independent one."""
        if self.dependence.is_identity:
            return 1.0
        rows = self.joint
        if math.isfinite(rows.n):
            return self.near(rows._ahead(steps), 1.0)
        match rows:
            case AR1Rows():
                return _numbers(1 - rows.correlation ** (2 * steps) * (1 - self._last_of_series(rows.correlation)))
            case LongMemoryRows():
                raise ValueError(f"the next row of a long memory needs finitely many rows, got {rows!r}")
        n, before = 64, np.array(np.inf)
        while n <= MOST_ROWS:
            found = np.asarray(self.near(rows.resized(n)._ahead(steps), 1.0))
            if np.max(abs(found - before)) <= STEADY:
                return _numbers(found)
            before, n = found, 2 * n
        raise ValueError(f"row_dependence must be of finitely many rows for its next row, got {rows!r}")

    def folds(self, covariance: Covariance, lam: float, folds: ArrayLike, gap: int) -> Array:
        """Compute the error that cross-validation reports, (d,)."""
        if not math.isfinite(self.n):
            raise ValueError("fold_error needs finitely many rows: take a finite d")
        n = round(self.n)
        matrix = self._matrix(n)
        total = np.zeros(())
        for fold in _folds(folds, n):
            fitted = _outside(fold, gap, n)
            point, rows = self._refitted(covariance, lam, matrix[np.ix_(fitted, fitted)], len(fitted) / n)
            t, vectors = rows.joint.modes
            squares = (vectors.T @ matrix[np.ix_(fitted, fold)]) ** 2 / _mean_variance(matrix, fitted)
            variances = np.diagonal(matrix)[fold]
            ratio = variances.sum() - np.asarray(rows._taken(t, squares.sum(axis=1)))
            total = total + ratio * point.test_error
        return np.asarray(total / n)

    def about_mean(self, covariance: Covariance, lam: float) -> tuple[Array, Numbers]:
        """Return the test errors of rows fitted about their own mean, (d,), and the factor of predicting about it."""
        if not math.isfinite(self.n):
            return self.point.test_error, 1.0
        matrix = self._matrix(round(self.n))
        n = len(matrix)
        sums = matrix.sum(axis=0)
        c = sums - sums.mean()  # J T 1
        centered = matrix - sums / n - sums[:, None] / n + sums.mean() / n
        point, rows = self._refitted(covariance, lam, (centered + centered.T) / 2, 1.0)
        t, vectors = rows.joint.modes
        scale = np.trace(centered) / n
        squares = (vectors.T @ c) ** 2 / scale
        v = (sums.sum() - np.asarray(rows._taken(t, np.where(t > 0, squares, 0.0)))) / n**2
        return point.test_error, _numbers(1 + v)

    def corrected(self, told: RowDependence | None) -> Numbers:
        """Compute the cross-validation error corrected for the dependence that it is told, over the test error."""
        if told is None:
            return 1.0
        law = told.law
        share = np.atleast_1d(np.asarray(self.point.share, float))
        if (share >= law.present).any() and np.any(self.point.weight):
            raise ValueError(
                f"row_dependence must have a rank above the degrees of freedom, {share.max():.6g} n, got {told!r}: "
                "raise lam"
            )
        if not np.any(self.point.weight):  # both errors vanish; their ratio has a limit
            return law.mean_inverse / self.law.mean_inverse
        # What is free is g E[1/(g + t y)] at the true law: it does not cancel near interpolation.
        gap = np.atleast_1d(self.response.resting) + (law.present - self.law.present)
        weight = row_weight(law, share, gap) if not law.alike else gap
        train = row_response(law, weight, share).train_ratio()
        return _numbers((np.asarray(self.point.train) / train).reshape(np.shape(self.point.share)))

    def _kept(self, t: Array) -> tuple[Array, Array]:
        """Return f = 1/(g + t y) at every eigenvalue, (..., n), and g, (..., 1); zero where both terms vanish."""
        g, y = (np.asarray(value)[..., None] for value in (self.point.weight, self.point.share))
        total = g + t * y
        return np.divide(1.0, total, out=np.zeros_like(total), where=total > 0), g

    def _taken(self, t: Array, squares: Array) -> Array:
        """Compute c'(2D + D^2 T)(1 + D T)^-2 c from the squares of the components of c in the modes of T."""
        kept, g = self._kept(t)
        y = np.asarray(self.point.share)[..., None]
        return np.asarray((y * (2 * g + y * t) * kept**2) @ squares)

    def _in_modes(self, covariances: Array, variance: float) -> tuple[Array, Array]:
        """Return eigenvalues (n,) of T and the squares of the components of c; ValueError where no row has such c."""
        if math.isfinite(self.joint.n):
            if len(covariances) != self.joint.n:
                raise ValueError(f"covariances must have shape ({self.joint.n},), got ({len(covariances)},)")
            t, vectors = self.joint.modes
            squares = (vectors.T @ covariances) ** 2
        elif self.dependence.is_identity:
            if not self.scales.alike:
                raise ValueError("near_error needs rows of known scales: give T as GivenRows")
            t, squares = np.ones(len(covariances)), covariances**2
        else:
            t, vectors = self.dependence.resized(len(covariances)).modes
            squares = (vectors.T @ covariances) ** 2
        explained = float(np.divide(squares, t, out=np.zeros_like(t), where=t > 0).sum())
        outside = float(squares[t == 0].sum())
        if explained > variance * (1 + POSSIBLE) or outside > POSSIBLE * variance * max(float(t.max()), 1.0):
            raise ValueError(
                f"covariances must be those of a row of variance {variance:g} with the others, got ones that explain "
                f"{explained if outside <= POSSIBLE * variance else np.inf:.6g} of it"
            )
        return t, np.where(t > 0, squares, 0.0)

    def _last_of_series(self, phi: float) -> Array:
        """Compute [T (1 + D T)^-2]_nn of the last one of infinitely many rows of an autoregression."""
        g, y = np.asarray(self.point.weight), np.asarray(self.point.share)
        D = np.divide(y, g, out=np.zeros_like(y), where=g > 0)
        a = (1 - phi) * (1 + phi)
        eta, b = (phi / a) ** 2, (1 + phi * phi) / a + D
        s = np.sqrt(b * b - 4 * eta)
        G = 1 / (1 / a + D - 2 * eta / (b + s))
        return np.where(g > 0, G * G * (1 / a - 2 * eta / (b + s) * (1 + D / s)), 0.0)

    def _matrix(self, n: int) -> Array:
        """Return T of n rows, with the scales of the rows in it."""
        rows = self.dependence if math.isfinite(self.dependence.n) else self.dependence.resized(n)
        if isinstance(rows, IndependentRows):
            rows = GivenRows(np.eye(n))
        return joint_rows(self.scales, rows).matrix

    def _refitted(
        self, covariance: Covariance, lam: float, matrix: Array, share: float
    ) -> tuple[RidgePoint, "FittedRows"]:
        """Solve again for rows of the covariance `matrix`, which are `share` of all; the result is that of T/mean T_ii.

        Rows of a mean variance s are those of mean variance 1 with the ridge lam/s.
        """
        s = float(np.mean(np.diagonal(matrix)))
        if s <= 0:
            raise ValueError("rows to fit must not be zero")
        rows = GivenRows(matrix / s)
        _ = rows.modes  # first: they bring the eigenvalues, which the law would else compute by themselves
        law = IndependentRows().law if rows.is_identity else rows.law
        alpha = share * self.n / covariance.d
        point = ridge_point(covariance, alpha, lam / s, law, self.exact_size)
        return point, FittedRows(IndependentRows().law, rows, len(matrix), point, self.exact_size)


def _mean_variance(matrix: Array, rows: Rows) -> float:
    return float(np.mean(np.diagonal(matrix)[rows]))


def _numbers(values: ArrayLike) -> Numbers:
    array = np.asarray(values)
    return float(array) if array.ndim == 0 else array


def _folds(folds: ArrayLike, n: int) -> list[Rows]:
    """Return the rows of every fold."""
    if np.ndim(folds) == 0:
        count = checks.count("folds", folds, least=2)
        if count > n:
            raise ValueError(f"folds must be at most the number n = {n} of rows, got {count}")
        return list(np.array_split(np.arange(n), count))
    labels = np.asarray(folds)
    if labels.shape != (n,):
        raise ValueError(f"folds must be a number, or the fold of every row, ({n},), got shape {labels.shape}")
    if (labels % 1 != 0).any():
        raise ValueError(f"folds must be integers, got {labels[labels % 1 != 0][0]}")
    names = np.unique(labels)
    if len(names) < 2:
        raise ValueError(f"folds must be at least 2 different ones, got {names[0]} for every row")
    return [np.flatnonzero(labels == name) for name in names]


def _outside(fold: Rows, gap: int, n: int) -> Rows:
    """Return the rows that are more than `gap` rows away from a fold."""
    near = np.zeros(n, bool)
    for shift in range(-gap, gap + 1) if gap < n else ():
        moved = fold + shift
        near[moved[(moved >= 0) & (moved < n)]] = True
    left = np.flatnonzero(~near) if gap < n else np.empty(0, int)
    if len(left) < FEWEST_ROWS:
        raise ValueError(f"gap must leave at least {FEWEST_ROWS} rows to fit, got {gap}, which leaves {len(left)}")
    return left
