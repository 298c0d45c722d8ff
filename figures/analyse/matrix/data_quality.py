"""Says which columns of a table are redundant, and which rows and single cells lie apart from all others.

Each sentence is tested, so that independent Gaussian numbers give it in at most 1 % of tables: by the number of pairs
of columns, of rows, or of columns, that could have given it.
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular
from scipy.special import betainc, stdtr

from figures.analyse.matrix.centered_rows import CenteredRows
from figures.analyse.wording import counted, listed
from simulate.masked import RowBlocks
from theory.core.arrays import Array

LEVEL = 0.01  # chance of a sentence of each kind where there is nothing
EQUAL_COLUMNS_CORRELATION = 0.999  # correlation beyond which two columns say the same
# Share of a column, in units of its spread, that the others leave where it follows from them.
DEPENDENT_COLUMN_SHARE = 1e-8
NUMBERED = re.compile(r"column \d+")  # the name of a column that has none
SPARE_ROWS = 10  # more rows than columns, without which every column follows from the others
LARGE_SHARE = 0.5  # of the variance of a column, in one cell
MANY_ROWS_SHARE = 0.05  # share of rows
MAX_OPERATIONS = 1e11  # rows times columns squared: half a minute
N_LISTED_COLUMNS = 5


def quality_notes(X: CenteredRows) -> list[str]:
    """Return sentences on redundant columns, outlying rows and outlying cells of X (n, d), whose columns vary."""
    n, d, names = X.n, X.d, X.names
    if n < 4:
        return []
    if n * d * d > MAX_OPERATIONS:
        return ["redundant columns and outlying rows were not looked for: that would take minutes in so large a table"]
    units = unit_columns(X)
    copies, groups = equal_columns(correlations(units), n)
    kept = np.setdiff1d(np.arange(d), copies)
    triangle = units.triangle()
    notes = [
        f"{_columns([names[k] for k in group])} say the same (correlations beyond {EQUAL_COLUMNS_CORRELATION} or below "
        f"-{EQUAL_COLUMNS_CORRELATION}): the error of each is that of copying another; keep one of them"
        for group in groups[:N_LISTED_COLUMNS]
    ]
    dependent = [int(kept[k]) for k in dependent_columns(triangle[:, kept], n)]
    if dependent:
        follow = "follows" if len(dependent) == 1 else "follow"
        notes.append(
            f"{counted(len(dependent), 'column')} {follow} exactly from the others, such as sums and differences do "
            f"(for one choice of them: {listed([names[k] for k in dependent], N_LISTED_COLUMNS)}): consider leaving "
            "such ones out"
        )
    rows = outlying_rows(units, triangle, np.setdiff1d(kept, dependent))
    if len(rows):
        verb = "lies" if len(rows) == 1 else "lie"
        many = (
            "; so many are no single mistakes, the rows are of unlike kinds or scales"
            if len(rows) > MANY_ROWS_SHARE * n
            else ""
        )
        notes.append(
            f"{counted(len(rows), 'row')} of the data {verb} further from the mean than Gaussian rows would in 99 of "
            f"100 tables (numbers from 1 without the header, the furthest first: "
            f"{listed([k + 1 for k in rows], N_LISTED_COLUMNS)}){many}"
        )
    notes += [
        f"one cell, in row {row + 1} of the data, makes {100 * share:.0f} % of the variance of "
        f"{named_column(names[k])}; check it"
        for k, row, share in outlying_cells(units)[:N_LISTED_COLUMNS]
    ]
    return notes


def _columns(names: Sequence[str]) -> str:
    listed_names = listed(names, N_LISTED_COLUMNS)
    return listed_names if all(map(NUMBERED.fullmatch, names)) else f"the columns {listed_names}"


def named_column(name: str) -> str:
    """Name a column in a sentence; one without a name of its own is called by its number already, as in column 3."""
    return name if NUMBERED.fullmatch(name) else f"column {name}"


def unit_columns(X: CenteredRows) -> RowBlocks:
    """Return the rows of X, whose columns vary, about their mean, in units in which each column has length 1."""
    root = np.sqrt(X.n)
    return X.rows.centered(standardize=True).mapped(lambda _, block: block / root)


def correlations(units: RowBlocks) -> Array:
    """Return the correlations (d, d) of columns that are centered and of length 1."""
    return np.asarray(sum((block.T @ block for block in units), np.zeros((units.d, units.d))))


def equal_columns(correlation: Array, n: int) -> tuple[list[int], list[list[int]]]:
    """Find groups of columns that are equal up to units and sign, and the copies in them beyond the first of each.

    `correlation` (d, d) is that of n rows. Few rows correlate by chance: a correlation must be beyond
    EQUAL_COLUMNS_CORRELATION and have a chance below LEVEL over the number of pairs.
    """
    d = len(correlation)
    squared = np.minimum(correlation**2, 1 - 1e-15)
    chance = 2 * stdtr(n - 2, -np.sqrt((n - 2) * squared / (1 - squared)))
    same = (abs(correlation) > EQUAL_COLUMNS_CORRELATION) & (chance < LEVEL / max(1, d * (d - 1) / 2))
    copies: list[int] = []
    groups = []
    for k in range(d):
        found = [int(j) for j in np.flatnonzero(same[k, k + 1 :]) + k + 1 if j not in copies]
        if k not in copies and found:
            groups.append([k, *found])
            copies += found
    return copies, groups


def dependent_columns(triangle: Array, n: int) -> list[int]:
    """Return columns that are linear combinations of the others, up to rounding.

    `triangle` is the triangular factor of n rows of columns that are centered and of length 1. Which columns of such a
    relation are named is the choice of the pivots: those with the least left to say.
    """
    d = triangle.shape[1]
    if n < d + SPARE_ROWS:
        return []
    R, pivots = qr(triangle, mode="r", pivoting=True, check_finite=False)
    return sorted(int(pivots[k]) for k in range(d) if abs(R[k, k]) < DEPENDENT_COLUMN_SHARE)


def outlying_rows(units: RowBlocks, triangle: Array, used: NDArray[np.integer]) -> Array:
    """Return the rows (k,) of `units` (n, d) that lie far from the mean for the covariance of all, the furthest first.

    For Gaussian rows of any covariance the leverage of a row about the mean, which is its Mahalanobis distance over
    n - 1, times n/(n - 1) has the law Beta(d/2, (n - d - 1)/2); a row lies apart where the chance of so much is below
    LEVEL/n. The columns `used` must not be combinations of others, and `triangle` is the triangular factor of all;
    with hardly more rows than columns no row can stand out.
    """
    n, d = units.n, len(used)
    if n <= d + 1:
        return np.empty(0, np.int64)
    R = qr(triangle[:, used], mode="economic", check_finite=False)[1]
    squares = [
        (solve_triangular(R, block[:, used].T, trans="T", check_finite=False) ** 2).sum(axis=0) for block in units
    ]
    leverage = np.minimum(np.concatenate(squares) * n / (n - 1), 1.0)
    found = np.flatnonzero(betainc((n - d - 1) / 2, d / 2, 1 - leverage) < LEVEL / n)
    return np.asarray(found[np.argsort(-leverage[found], kind="stable")])


def outlying_cells(units: RowBlocks) -> list[tuple[int, int, float]]:
    """Return (column, row, share) of cells that make more than LARGE_SHARE of a column's variance, by Grubbs's test.

    `units` (n, d) are centered and of length 1: the square of an entry is its share.
    """
    n, d = units.n, units.d
    rows, share = np.zeros(d, np.int64), np.zeros(d)
    for start, block in units.numbered():
        largest = abs(block).argmax(axis=0)
        own = block[largest, np.arange(d)] ** 2
        rows, share = np.where(own > share, start + largest, rows), np.maximum(own, share)
    left = np.maximum((n - 1) / n - share, 1e-15)
    chance = 2 * n * stdtr(n - 2, -np.sqrt((n - 2) * share / left))
    found = np.flatnonzero((share > LARGE_SHARE) & (chance < LEVEL / d))
    return [(int(k), int(rows[k]), float(share[k])) for k in found[np.argsort(-share[found], kind="stable")]]
