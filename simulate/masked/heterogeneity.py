"""How unlike in scale the rows of a data matrix are: an estimate, and an exact test against Gaussian rows."""

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

    ValueError for an X that is no finite matrix of at least three rows and two columns, for lam <= 0, and for less than
    19 rotations, with which no p-value is below 0.05.

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
