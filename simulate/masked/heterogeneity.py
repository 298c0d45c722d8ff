"""How unlike in scale the rows of a data matrix are: an estimate, and an exact test against Gaussian rows."""

import math
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.random import Generator
from scipy.linalg import qr

from simulate.masked.fit import MaskedFit, fit
from simulate.masked.row_blocks import RowBlocks
from simulate.masked.row_sources import as_row_blocks
from theory.core import Array, AtLeast, Positive, Result, checked

ROTATIONS = 39  # the least p-value is then 1/40
ROWS_PER_COLUMN = 2  # from which on residuals tell a large row better than its entries do
LEAST_ROTATIONS = 99  # of the test of the largest scale, which seldom needs all of them where rows are alike


@dataclass(frozen=True, eq=False, repr=False)
class RowHeterogeneity(Result):
    """The heterogeneity h = E tau^2 of rows sqrt(tau_i) Sigma^(1/2) z_i with E tau = 1, from one data matrix.

    `value` is 1 for rows of one scale, up to its standard error `stderr`. `row_scales` (n,) are the estimates of tau_i,
    of mean 1. `p_value` is the probability that Gaussian rows of one scale look at least as unlike: where it is small
    the rows differ in scale, or in shape.
    """

    value: float
    stderr: float
    p_value: float
    row_scales: Array = field(repr=False)
    lam: float


@checked
def row_heterogeneity(
    X: Any, lam: Positive, rng: Generator, rotations: Annotated[int, AtLeast(19)] = ROTATIONS
) -> RowHeterogeneity:
    """Estimate h = E tau^2 from the leave-one-out residuals of the masked regressions of X (n, d) at the ridge lam.

    The scale of a row is the mean of its squared residuals over the coordinates, each in units of its own mean square.
    Chance alone makes these means unequal. How unequal is found by rotation: Gaussian rows of one scale stay Gaussian
    rows of the same covariance if they are multiplied from the left by a random orthogonal matrix, which leaves X'X and
    all regressions as they are, so that `rotations` such matrices show what chance makes of these very data. The mean
    square of the scales is divided by its mean over the rotations, and ranked among them. This makes `p_value` exact
    for any n and d: a test at the level 0.05 is wrong in 5 % of Gaussian data sets, also after the means of the columns
    were subtracted. The standard error is that of a mean over n rows. It is too small where the law of tau has no
    fourth moment, and the more so, the heavier its tail.

    ValueError for an X that is no finite matrix of at least three rows and two columns, or has zeros alone, for
    lam <= 0, and for less than 19 rotations, with which no p-value is below 0.05.

    >>> from simulate.masked import sample
    >>> from theory.models import AR1, EqualScales, StudentTScales
    >>> rng = np.random.default_rng(0)
    >>> alike, unlike = (sample(AR1(30, 0.6), 100, rng, row_scales=law) for law in (EqualScales(), StudentTScales(8)))
    >>> row_heterogeneity(alike, 0.1, rng).p_value > 0.05, row_heterogeneity(unlike, 0.1, rng).p_value
    (True, 0.025)
    """
    data = as_row_blocks("X", X).all_rows()
    if data.shape[0] < 3 or data.shape[1] < 2:
        raise ValueError(f"X must have at least 3 rows and 2 columns, got shape {data.shape}")
    if not data.any():
        raise ValueError("X must have an entry that is not zero: rows of zeros have no scale")
    fitted = fit(RowBlocks.of_array("X", data), lam)
    scales = row_scales(fitted, data)
    observed = float(np.mean(scales**2))
    basis = _Rotations(data, rng)
    by_chance = np.array([np.mean(row_scales(fitted, basis.draw()) ** 2) for _ in range(rotations)])
    noise = float(by_chance.mean())
    value = observed / noise
    influence = (scales**2 - observed) / noise - 2 * value * (scales - 1)  # scales are divided by their own mean
    return RowHeterogeneity(
        value=value,
        stderr=float(influence.std(ddof=1) / np.sqrt(len(data))),
        p_value=(1 + int(np.sum(by_chance >= observed))) / (1 + len(by_chance)),
        row_scales=scales,
        lam=fitted.lam,
    )


def row_scales(fitted: MaskedFit, X: Array) -> Array:
    """Estimate the scales (n,) of the rows of X, which have the X'X of the fit, from their leave-one-out residuals."""
    residuals = X - X @ fitted.predictor.T
    weights = fitted.shrinkage / fitted.lam  # Q_kk, with which residuals are entries of X Q
    solved = residuals * weights
    leverage = (np.einsum("ij,ij->i", X, solved)[:, None] - residuals * solved) / len(X)
    residuals /= 1 - leverage
    residuals *= residuals
    mean = residuals.mean(axis=0)
    used = mean > 0  # a column of zeros tells nothing
    scales = (residuals[:, used] / mean[used]).mean(axis=1)
    return np.asarray(scales)


def largest_row_scale(fitted: MaskedFit, X: Array, rng: Generator, level: float) -> tuple[int, float, float]:
    """Return the row of X (n, d) of the largest estimated scale, that scale, and the p-value of an exact test of it.

    The largest scale is ranked among those of random rotations of the rows, as `row_heterogeneity` ranks their mean
    square: it sees one row among many that are alike, which hardly moves a mean. Rotations stop where so many of them
    reach the largest scale that the p-value cannot be at most `level` any more; it is then their share (Besag and
    Clifford 1991), which keeps it valid. Of less than two rows a column the scales are mean squares of the entries
    themselves, in units of those of their columns: the rows about their mean sum to zero, so that without a large row
    the others would still tell it. Where rows depend on each other the test is wrong more often than `level` says.
    """
    many = len(X) >= ROWS_PER_COLUMN * X.shape[1]
    scales = row_scales(fitted, X) if many else _mean_squares(X)
    row = int(scales.argmax())
    largest = float(scales[row])
    rotations = max(LEAST_ROTATIONS, math.ceil(1 / level - 1e-9) - 1)
    enough = math.floor(level * (rotations + 1) + 1e-9)
    basis, reached = _Rotations(X, rng), 0
    for made in range(1, rotations + 1):
        drawn = basis.draw()
        reached += float((row_scales(fitted, drawn) if many else _mean_squares(drawn)).max()) >= largest
        if reached == enough:
            return row, largest, enough / made
    return row, largest, (1 + reached) / (1 + rotations)


def _mean_squares(X: Array) -> Array:
    squares = X * X
    mean = squares.mean(axis=0)
    return np.asarray((squares[:, mean > 0] / mean[mean > 0]).mean(axis=1))


class _Rotations:
    """Matrices O X with random orthogonal O: a random frame of as many columns as X has dimensions, times a factor.

    Where the columns of X have mean zero, as after their means were subtracted, O keeps it so.
    """

    def __init__(self, X: Array, rng: Generator) -> None:
        self.rng, self.rows = rng, len(X)
        self.centered = bool(np.all(abs(X.mean(axis=0)) <= 1e-10 * np.sqrt((X * X).mean(axis=0))))
        self.factor = qr(X, mode="economic", check_finite=False)[1]  # X = Q R: R of shape (min(n, d), d)

    def draw(self) -> Array:
        noise = self.rng.standard_normal(
            (self.rows, len(self.factor) - (self.centered and len(self.factor) == self.rows))
        )
        if self.centered:
            noise -= noise.mean(axis=0)
        frame, triangle = qr(noise, mode="economic")
        frame *= np.sign(np.diagonal(triangle))  # else the frame is not uniform
        return np.asarray(frame @ self.factor[: frame.shape[1]])
