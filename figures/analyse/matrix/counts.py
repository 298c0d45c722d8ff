"""Says of tables of counts what Gaussian theory misses in them, and what logarithms change."""

import numpy as np

from figures.analyse.matrix.centered_rows import CenteredRows, centered_rows
from simulate.masked import RowBlocks, fit_path
from theory.core.arrays import Array

MIN_VALUES = 3  # different numbers; fewer are yes and no
MANY_ZEROS_SHARE = 0.3  # of the cells
GROWTH = 0.5  # power of the mean with which the variance grows, above which it does so
MIN_COLUMNS = 4  # whose means and variances are compared
MAX_OPERATIONS = 2e10  # of the comparison with logarithms: seconds
RIDGES = np.geomspace(1e-4, 1e2, 25)  # for columns in units of their standard deviations


def logarithms(X: CenteredRows) -> CenteredRows:
    """Return the rows with log(1 + x) in the place of every cell x. ValueError where a cell is negative."""
    lowest = min(float(block.min()) for block in X.rows)
    if lowest < 0:
        raise ValueError(f"log1p needs cells of at least 0, got {lowest:.6g}")
    return X.changed(X.rows.mapped(_log1p), "log(1 + x) was taken of every cell")


def _log1p(_: int, block: Array) -> Array:
    return np.log1p(block)


def counts_notes(X: CenteredRows) -> list[str]:
    """Say of X (n, d), in memory, what share of cells is zero and how variances grow, and what log(1 + x) changes.

    Nothing is said of tables that are neither whole numbers from 0 on, of at least MIN_VALUES different ones, nor hold
    MANY_ZEROS_SHARE of zeros without a negative number.
    """
    cells = X.rows.in_memory
    if cells is None or X.n < MIN_COLUMNS or cells.min() < 0:
        return []
    zeros = float((cells == 0).mean())
    whole = bool((cells == np.floor(cells)).all())
    if len(np.unique(cells[: 10**5 // X.d + 1])) < MIN_VALUES or not (whole or zeros >= MANY_ZEROS_SHARE):
        return []
    power = variance_power(X)
    grows = power is not None and power > GROWTH
    if whole and not (grows or zeros > 0):
        return []
    what = "Every cell is a whole number from 0 on" if whole else "No cell is negative"
    said = f"{what}, and {100 * zeros:.0f} % are zeros, as counts are"
    if grows:
        said += f"; variances of columns grow as the power {power:.1f} of their means"
    said += (
        ". Errors on held-out rows are right for any numbers. Gaussian theory knows of counts their covariance alone: "
        "its error bars and limits of noise take large counts for outliers, and rows of more counts in all for rows of "
        "larger scale, which is a direction of its own"
    )
    return [f"{said}. {_compared(X, cells)}"]


def variance_power(X: CenteredRows) -> float | None:
    """Return the slope of the log variances of columns against their log means; None where too few differ.

    It is 1 for counts by Poisson's law and near 2 where the rates themselves vary.
    """
    some = (X.mean > 0) & (X.variances > 0)
    if some.sum() < MIN_COLUMNS:
        return None
    logs = np.log(X.mean[some])
    if np.ptp(logs) < np.log(2):
        return None
    return float(np.polyfit(logs, np.log(X.variances[some]), 1)[0])


def _compared(X: CenteredRows, cells: Array) -> str:
    advice = "Consider --log1p, and dividing each row by its sum before if rows differ in how much was counted in all"
    if X.n * X.d**2 > MAX_OPERATIONS:
        return f"{advice}; what that would change was not measured, to save time."
    logs = np.log1p(cells)
    sums = cells.sum(axis=1, keepdims=True)
    shares = np.log1p(cells / np.where(sums > 0, sums, 1) * np.median(sums))
    before, after, normalized = (explained(values) for values in (cells, logs, shares))
    return (
        f"{advice}: in units of standard deviations the other columns explain {100 * before:.0f} % of a column as it "
        f"is, {100 * after:.0f} % of its log(1 + x), and {100 * normalized:.0f} % of log(1 + x) after each row was "
        "scaled to the median of the sums (by generalized cross-validation); a share that falls by scaling was the "
        "sums' own."
    )


def explained(values: Array) -> float:
    """Return the share of the variance of a column of `values` (n, d) that the others explain, by GCV at its best."""
    rows = centered_rows(RowBlocks.of_array("X", np.ascontiguousarray(values)))
    varies = np.setdiff1d(np.arange(rows.d), rows.constant)
    if len(varies) < 2:
        return 0.0
    rows = centered_rows(rows.rows.columns(varies.tolist()))
    path = fit_path(rows.changed(rows.standardized(), "").contrasts(), RIDGES)
    return 1 - float(path.gcv_error.mean(axis=1).min())
