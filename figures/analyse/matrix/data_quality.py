"""Says which columns of a table are redundant, and which rows and single cells lie apart from all others.

Each sentence is tested, so that independent Gaussian numbers give it in at most 1 % of tables: by the number of pairs
of columns, of rows, or of columns, that could have given it.
"""

import numpy as np
from scipy.linalg import qr
from scipy.special import betainc, stdtr

from figures.analyse.wording import counted, listed
from theory.models.arrays import Array

LEVEL = 0.01  # chance of a sentence of each kind where there is nothing
SAME = 0.999  # correlation beyond which two columns say the same
DEPENDENT = 1e-8  # share of a column, in units of its spread, that the others leave where it follows from them
SPARE_ROWS = 10  # more rows than columns, without which every column follows from the others
LARGE_SHARE = 0.5  # of the variance of a column, in one cell
MANY = 0.05  # share of rows
MOST = 3e10  # floating point operations: some seconds
LISTED = 5


def quality_notes(X: Array, names: tuple[str, ...]) -> list[str]:
    """Return sentences on redundant columns, outlying rows and outlying cells of X (n, d), whose columns vary."""
    n, d = X.shape
    if n < 4 or n * d * d > MOST:
        return []
    centered = X - X.mean(axis=0)
    units = centered / np.sqrt((centered**2).sum(axis=0))  # columns of length 1
    copies, groups = equal_columns(units)
    kept = np.setdiff1d(np.arange(d), copies)
    notes = [
        f"the columns {listed([names[k] for k in group], LISTED)} say the same (correlations beyond {SAME} or below "
        f"-{SAME}): the error of each is that of copying another; keep one of them"
        for group in groups[:LISTED]
    ]
    dependent = [int(kept[k]) for k in dependent_columns(units[:, kept])]
    if dependent:
        follow = "follows" if len(dependent) == 1 else "follow"
        notes.append(
            f"{counted(len(dependent), 'column')} {follow} exactly from the others, such as sums and differences do "
            f"(for one choice of them: {listed([names[k] for k in dependent], LISTED)}): consider leaving such ones out"
        )
    rows = outlying_rows(units[:, np.setdiff1d(kept, dependent)])
    if len(rows):
        verb = "lies" if len(rows) == 1 else "lie"
        many = (
            "; so many are no single mistakes, the rows are of unlike kinds or scales" if len(rows) > MANY * n else ""
        )
        notes.append(
            f"{counted(len(rows), 'row')} of the data {verb} further from the mean than Gaussian rows would in 99 of "
            f"100 tables (numbers from 1 without the header, the furthest first: "
            f"{listed([k + 1 for k in rows], LISTED)}){many}"
        )
    notes += [
        f"one cell, in row {row + 1} of the data, makes {100 * units[row, k] ** 2:.0f} % of the variance of column "
        f"{names[k]}; check it"
        for k, row in outlying_cells(units)[:LISTED]
    ]
    return notes


def equal_columns(units: Array) -> tuple[list[int], list[list[int]]]:
    """Find groups of columns that are equal up to units and sign, and the copies in them beyond the first of each.

    `units` (n, d) are centered and of length 1. Few rows correlate by chance: a correlation must be beyond SAME and
    have a chance below LEVEL over the number of pairs.
    """
    n, d = units.shape
    correlation = units.T @ units
    squared = np.minimum(correlation**2, 1 - 1e-15)
    chance = 2 * stdtr(n - 2, -np.sqrt((n - 2) * squared / (1 - squared)))
    same = (abs(correlation) > SAME) & (chance < LEVEL / max(1, d * (d - 1) / 2))
    copies: list[int] = []
    groups = []
    for k in range(d):
        found = [int(j) for j in np.flatnonzero(same[k, k + 1 :]) + k + 1 if j not in copies]
        if k not in copies and found:
            groups.append([k, *found])
            copies += found
    return copies, groups


def dependent_columns(units: Array) -> list[int]:
    """Return columns of `units` (n, d) that are linear combinations of the others, up to rounding.

    Which columns of such a relation are named is the choice of the pivots: those with the least left to say.
    """
    n, d = units.shape
    if n < d + SPARE_ROWS:
        return []
    R, pivots = qr(units, mode="r", pivoting=True, check_finite=False)
    return sorted(int(pivots[k]) for k in range(d) if abs(R[k, k]) < DEPENDENT)


def outlying_rows(units: Array) -> Array:
    """Return the rows (k,) of `units` (n, d) that lie far from the mean for the covariance of all, the furthest first.

    For Gaussian rows of any covariance the leverage of a row about the mean, which is its Mahalanobis distance over
    n - 1, times n/(n - 1) has the law Beta(d/2, (n - d - 1)/2); a row lies apart where the chance of so much is below
    LEVEL/n. Columns must not be combinations of others; with hardly more rows than columns no row can stand out.
    """
    n, d = units.shape
    if n <= d + 1:
        return np.empty(0, np.int64)
    Q, _ = qr(units, mode="economic", check_finite=False)
    leverage = np.minimum((Q**2).sum(axis=1) * n / (n - 1), 1.0)
    found = np.flatnonzero(betainc((n - d - 1) / 2, d / 2, 1 - leverage) < LEVEL / n)
    return np.asarray(found[np.argsort(-leverage[found], kind="stable")])


def outlying_cells(units: Array) -> list[tuple[int, int]]:
    """Return (column, row) of cells that make more than LARGE_SHARE of a column's variance, by Grubbs's test.

    `units` (n, d) are centered and of length 1: the square of an entry is its share.
    """
    n, d = units.shape
    rows = abs(units).argmax(axis=0)
    share = units[rows, np.arange(d)] ** 2
    left = np.maximum((n - 1) / n - share, 1e-15)
    chance = 2 * n * stdtr(n - 2, -np.sqrt((n - 2) * share / left))
    found = np.flatnonzero((share > LARGE_SHARE) & (chance < LEVEL / d))
    return [(int(k), int(rows[k])) for k in found[np.argsort(-share[found], kind="stable")]]
