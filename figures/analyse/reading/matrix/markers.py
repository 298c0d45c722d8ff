"""Notes numbers that people write where a value is missing, such as -999."""

import numpy as np

from figures.analyse.wording import counted
from theory.core.arrays import Array

MARKERS = tuple(sign * (10.0**k - 1) for k in (2, 3, 4, 5) for sign in (-1, 1))  # -99, 99, -999, ...


def marker_notes(values: Array) -> tuple[str, ...]:
    """Return a sentence for each such number that stands apart in at least two cells of a table of finite numbers.

    It stands apart where its distance from the other numbers of its column is larger than their range. NaN, which
    stands for a missing cell, is passed by.
    """
    notes = []
    lowest, highest = (np.nanmin(values), np.nanmax(values)) if values.size else (0.0, 0.0)
    for marker in MARKERS if values.size else ():
        if not lowest <= marker <= highest:
            continue
        times = (values == marker).sum(axis=0)
        columns = [k for k in np.flatnonzero(times) if _is_apart(values[:, k], marker)]
        cells = int(times[columns].sum())
        if cells > 1:
            notes.append(
                f"the number {marker:.0f} stands in {counted(cells, 'cell')}, far from all others of "
                f"{'its column' if len(columns) == 1 else 'their columns'}: if it marks what is missing say "
                f"--missing {marker:.0f}"
            )
    return tuple(notes)


def _is_apart(column: Array, marker: float) -> bool:
    others = column[(column != marker) & ~np.isnan(column)]
    if len(others) < 2:
        return False
    lowest, highest = others.min(), others.max()
    return bool(max(lowest - marker, marker - highest) > highest - lowest > 0)
