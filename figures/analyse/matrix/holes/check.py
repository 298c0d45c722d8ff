"""Checks expected errors of holes: hides entries that are seen, fills them, and compares."""

import numpy as np

from figures.analyse.matrix.holes.admitted import HoledTable
from figures.analyse.matrix.holes.hiding import hidden_parts
from figures.analyse.matrix.holes.ratio import ratio_stderr
from figures.analyse.matrix.holes.record import Method, SelfCheck
from figures.analyse.matrix.holes.where import Booleans
from figures.analyse.splits import Sweep
from simulate.core import Estimate, Task
from simulate.masked import Imputed, impute
from simulate.masked.holes.laid import come_together
from theory.core.arrays import Array

FEWEST_HIDDEN = 20  # entries of all draws: with fewer nothing is judged


def self_check(
    table: HoledTable, method: Method, imputed: Imputed, draws: int, seed: int, run: Sweep
) -> SelfCheck | None:
    """Hide a tenth of the seen entries so many times, another tenth each, and compare with what was expected of them.

    Where holes come together in rows, entries are hidden together, as the holes of other rows lie.

    All is learned again from what is left: scales of the columns, the ridge, and what is to be expected. `imputed` is
    the whole table as the method filled it. None where too little is seen.
    """
    parts = list(hidden_parts(table.X, draws, seed))
    if sum(int(part.sum()) for part in parts) < FEWEST_HIDDEN:
        return None
    tasks = [Task(f"hidden/{r}", one_draw, (table, part, method)) for r, part in enumerate(parts)]
    found = np.array(list(run(tasks).values()))
    squares = imputed.entry_residuals**2 / imputed.variances
    measured = np.isfinite(squares)
    sums = np.where(measured, squares, 0.0).sum(axis=1)
    # Hidden entries are spread over all that are seen, not as the holes are.
    relative = ratio_stderr(sums, measured.sum(axis=1)) * measured.sum() / sums.sum()
    return judged(np.array(parts), found, relative, come_together(table.seen))


def one_draw(table: HoledTable, hidden: Booleans, method: Method) -> Array:
    """Hide entries and fill the table, in units of the variances of what is left of the columns.

    Returns (2 n + 1, d): squared errors of the entries that were hidden, what was expected of them, both zero
    elsewhere, and the standard error of what was expected in each column.
    """
    found = impute(np.where(hidden, np.nan, table.X), method=method, check=False)
    squares = np.where(hidden, found.table - table.X, 0.0) ** 2
    expected = np.where(hidden, found.predicted_error, 0.0)
    return np.vstack([squares, expected, found.stderr]) / found.variances


def judged(parts: Booleans, draws: Array, relative_stderr: float, as_holes: bool = False) -> SelfCheck:
    """Put draws (draws, 2 n + 1, d) together, for each column and for all entries; those of a row err together.

    `parts` (draws, n, d) says which entries were hidden, and `relative_stderr` is that of the expected error of all.
    """
    n = parts.shape[1]
    counts = parts.sum(axis=0)  # (n, d)
    squares, expected = draws[:, :n].sum(axis=0), draws[:, n:-1].sum(axis=0)
    hidden = counts.sum(axis=0)
    by_draw = parts.sum(axis=1) / np.maximum(hidden, 1)  # (draws, d), what a draw has of the entries of a column
    mean = float(expected.sum() / hidden.sum())
    stderr = (by_draw * draws[:, -1]).sum(axis=0)  # of the same entries nearly, so that draws do not make it smaller
    return SelfCheck(
        draws=len(parts),
        as_holes=as_holes,
        hidden=hidden,
        expected=Estimate(mean, relative_stderr * mean, n),
        measured=Estimate(
            float(squares.sum() / hidden.sum()), ratio_stderr(squares.sum(axis=1), counts.sum(axis=1)), n
        ),
        expected_by_column=_shares(expected, hidden),
        expected_stderr=np.where(hidden > 0, stderr, np.nan),
        measured_by_column=_shares(squares, hidden),
        measured_stderr=np.array([ratio_stderr(squares[:, k], counts[:, k]) for k in range(len(hidden))]),
    )


def _shares(sums: Array, counts: Array) -> Array:
    """Return the means (d,) over the hidden entries of each column; NaN where none was hidden."""
    return np.asarray(np.divide(sums.sum(axis=0), counts, out=np.full(len(counts), np.nan), where=counts > 0))
