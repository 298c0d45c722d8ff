"""What errors the windows of a real series report of themselves, beside those on rows that come later."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from simulate.masked import checks
from simulate.masked.autocorrelation import TEST_LEVEL
from simulate.masked.autoregression import autoregressive_rows
from simulate.masked.blocked import blocked_error
from simulate.masked.lagged_products import LEAST_ROWS
from simulate.masked.path import fit_path
from theory.core import Array, AtLeast, Count, PositiveGrid, Result, checked

FOLDS = 5  # contiguous blocks of a window that are left out in turn
GAP_SHARE, LATER_SHARE = 10, 4  # of a window: a tenth is the gap beside a block, a quarter what later rows are away


@dataclass(frozen=True, eq=False, repr=False)
class WindowErrors(Result):
    """Mean errors of windows of a series at several ridges, each (windows, n_lams), for columns of unit variance.

    `held_out` is the error on later rows. The others are what the window reports: GCV, leaving one row out, contiguous
    blocks without and with a gap, and the corrected error with the autoregression that the window tells, of which the
    order is `orders` (windows,). `lag_one` (windows,) are the correlations of successive rows, `p_values` those of the
    test of independence.
    """

    lams: Array
    held_out: Array
    gcv: Array
    loo: Array
    blocks: Array
    blocks_with_gap: Array
    corrected: Array
    orders: NDArray[np.integer]
    lag_one: Array
    p_values: Array

    def medians(self) -> dict[str, float]:
        """Return the median over ridges of each reported over the held-out error, both means over the windows."""
        held_out = self.held_out.mean(axis=0)
        names = ("gcv", "loo", "blocks", "blocks_with_gap", "corrected")
        return {name: float(np.median(getattr(self, name).mean(axis=0) / held_out)) for name in names}


@checked
def window_errors(
    X: Any, n: Annotated[int, AtLeast(LEAST_ROWS)], lams: PositiveGrid, windows: Count = 12
) -> WindowErrors:
    """Compare what windows of n successive rows of a series X (N, d) report with their errors on later rows.

    The columns are scaled to unit variance over the series. The windows begin at equal distances, so many that they
    need not overlap but at most `windows`, and each is fitted about its mean. The later rows, as many as a quarter of a
    window, begin a quarter of a window after its end, and are taken about the mean of the window. The autoregression is
    gated by the test of independence at the level .01; without a rejection the corrected error is that of independent
    rows.

    ValueError for a series that is shorter than one and a half windows, with a column that is constant in it or in a
    window, or as in `fit_path` and `autoregressive_rows`.

    >>> from simulate.core import stream
    >>> from simulate.masked import sample
    >>> from theory.models import AR1, AR1Rows
    >>> X = sample(AR1(d=20, correlation=0.6), 2000, stream(0, "docstring"), row_dependence=AR1Rows(2000, 0.9))
    >>> found = window_errors(X, 80, [0.1])
    >>> print({name: round(ratio, 1) for name, ratio in found.medians().items()})
    {'gcv': 0.2, 'loo': 0.2, 'blocks': 0.6, 'blocks_with_gap': 0.9, 'corrected': 0.9}
    """
    data = checks.data_matrix("X", X)
    quarter = n // LATER_SHARE
    if len(data) < n + 2 * quarter:
        raise ValueError(f"X must have at least {n + 2 * quarter} rows for a window of n = {n}, got {len(data)}")
    scales = data.std(axis=0)
    if not scales.all():
        raise ValueError(f"X must have no constant column, got one in column {int(scales.argmin())}: leave it out")
    data /= scales
    room = len(data) - n - 2 * quarter
    starts = np.linspace(0, room, min(windows, 1 + room // n)).astype(int)
    rows = [_one_window(data[start : start + n + 2 * quarter], n, np.asarray(lams)) for start in starts]
    found = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return WindowErrors(
        lams=np.asarray(lams),
        held_out=found["held_out"],
        gcv=found["gcv"],
        loo=found["loo"],
        blocks=found["blocks"],
        blocks_with_gap=found["blocks_with_gap"],
        corrected=found["corrected"],
        orders=found["orders"],
        lag_one=found["lag_one"],
        p_values=found["p_values"],
    )


def _one_window(rows: Array, n: int, lams: Array) -> dict[str, Any]:
    """Return the mean errors (n_lams,) of one window, the first n rows, and on the last quarter of a window."""
    rows = rows - rows[:n].mean(axis=0)
    inside, later = rows[:n], rows[n + n // LATER_SHARE :]
    path, process = fit_path(inside, lams), autoregressive_rows(inside, level=TEST_LEVEL)
    folds = [
        [blocked_error(inside, lam, FOLDS, gap, centered=True).mean_error for lam in lams]
        for gap in (0, n // GAP_SHARE)
    ]
    return {
        "held_out": path.mean_test_errors(later),
        "gcv": path.mean_gcv_error,
        "loo": path.mean_loo_error,
        "blocks": folds[0],
        "blocks_with_gap": folds[1],
        "corrected": path.corrected_error(process.dependence(n), centered=True).mean(axis=1),
        "orders": process.order,
        "lag_one": process.dependence(2).matrix[0, 1],
        "p_values": process.p_value,
    }
