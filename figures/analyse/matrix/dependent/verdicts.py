"""Asks where neither the corrected error nor blocks can be trusted: drift, overlapping windows, few numbers.

The corrected error assumes that one correlation in time serves all columns (a separable covariance) and that it stays
as it is. What speaks against it is seen in the data themselves.
"""

import numpy as np
from scipy.stats import t as student

from figures.analyse.matrix.centered_rows import CenteredRows
from simulate.core import Estimate
from theory.core.arrays import Array

LEVEL = 0.01  # of the comparison of held-out blocks with what is reported, on each side
FAR_OFF = 1.3  # ratio of two errors below which a difference beyond the bars is not worth a warning
MIN_STRETCHES = 10.0  # independent values of the mean, below which a drift and a slow change look alike
MIN_MEANS = 3.0  # independent values of the mean, below which its variance, and what it adds, are not known
MIN_NUMBERS = 200.0  # rows times effective columns, with which correlations are known to .07
SHIFTED_CORRELATION = 0.999
SHIFTED_SHARE = 0.5  # of the columns
CHECKED_ROWS = 2000


def compared(held_out: Array, reported: Array) -> tuple[Estimate, bool, bool]:
    """Compare the held-out errors of blocks (R,) with what is reported of the rows that predict them, (R,).

    Returns their ratio, over blocks, and whether it is beyond the bars and FAR_OFF above 1, and below.
    """
    ratio = Estimate.of(np.log(np.asarray(held_out) / np.asarray(reported)))
    bar = student.isf(LEVEL, ratio.n - 1) * ratio.stderr
    least = np.log(FAR_OFF)
    shown = Estimate(float(np.exp(ratio.mean)), float(np.exp(ratio.mean) * ratio.stderr), ratio.n)
    return shown, ratio.mean - bar > 0 and ratio.mean > least, ratio.mean + bar < 0 and ratio.mean < -least


def repeats_shifted(X: CenteredRows) -> bool:
    """Say whether most columns repeat a neighboring column one row later, as windows of one series that overlap do."""
    rows = X.rows.take(np.arange(min(X.n, CHECKED_ROWS)))
    rows = rows - rows.mean(axis=0)
    now, later = rows[:-1], rows[1:]
    return any(
        _share_equal(a, b) > SHIFTED_SHARE for a, b in ((now[:, 1:], later[:, :-1]), (now[:, :-1], later[:, 1:]))
    )


def _share_equal(a: Array, b: Array) -> float:
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
    power = np.sqrt((a * a).sum(axis=0) * (b * b).sum(axis=0))
    correlation = np.divide((a * b).sum(axis=0), power, out=np.zeros(a.shape[1]), where=power > 0)
    return float((correlation > SHIFTED_CORRELATION).mean())
