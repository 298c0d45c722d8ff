"""Notes columns that only count the rows, such as an index, a year, or the number of a wavelength."""

import numpy as np

from figures.analyse.reading.matrix.record import Matrix
from figures.analyse.wording import listed, shown
from theory.core.arrays import Array

MIN_MEASURED_ROWS = 5  # rows whose measured numbers make equal steps by chance in few tables
ROUNDING = 1e-6  # relative rounding error of a step
N_LISTED_COLUMNS = 5


def steady_notes(matrix: Matrix, values: Array) -> tuple[str, ...]:
    """Return a sentence where columns of the `values` of a matrix go up or down by the same step from row to row.

    Such columns measure nothing. With fewer than five rows only 0, 1, 2, ... and 1, 2, 3, ... in the first column are
    taken for a count. Cells may be NaN, and their columns then count nothing.
    """
    step = values[1] - values[0]
    gaps = abs(
        np.diff(values[:MIN_MEASURED_ROWS], axis=0) - step
    )  # few rows first, since hardly any column passes them
    found = [int(k) for k in np.flatnonzero((step != 0) & (gaps <= ROUNDING * abs(step)).all(axis=0))]
    found = [k for k in found if (abs(np.diff(values[:, k]) - step[k]) <= ROUNDING * abs(step[k])).all()]
    if len(values) < MIN_MEASURED_ROWS:
        found = [k for k in found if k == 0 and step[0] == 1 and values[0, 0] in (0, 1)]
    if not found or len(found) == values.shape[1]:
        return ()
    names = listed([shown(matrix.names[k]) for k in found], N_LISTED_COLUMNS)
    places = ",".join(str((matrix.positions[k] if matrix.positions else k) + 1) for k in found)
    verb, they, them = ("goes", "it", "it") if len(found) == 1 else ("go", "they", "them")
    what = f"by {abs(step[found[0]]):.6g}" if len(found) == 1 else "in equal steps"
    change = "up" if (step[found] > 0).all() else "down" if (step[found] < 0).all() else "up or down"
    return (
        f"{names} {verb} {change} {what} from row to row, as a count of the rows does: if {they} "
        f"{'is' if len(found) == 1 else 'are'} no measurement leave {them} out with --skip-columns {places}",
    )
