"""Says in an analysis, its table and its figure what more rows would give."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from figures.analyse.matrix.more_rows.curve import LongCurve, beyond, gaussian_theory, long_curve
from figures.analyse.matrix.plan import MIN_ROWS
from figures.core import Curve, Row, row
from simulate.core import Estimate

if TYPE_CHECKING:
    from figures.analyse.matrix.centered_rows import CenteredRows
    from figures.analyse.matrix.data_theory import Predict

MORE, LIMIT = "more rows than these", "infinitely many rows"
BLACK = 6
DRAWN_TIMES = 8  # the rows; further right the curve is flat, and the table has it
TWICE, FOUR_TIMES = 2, 4  # places of these numbers of rows in the curve
NOTICEABLE = 0.01  # a gain that is a smaller share of the error is said to be little


def more_rows(X: CenteredRows, unlike: Predict | None, dependent: bool, seed: int) -> LongCurve | None:
    """Continue the curve of the rows X, by the theory of rows of different scale where there is one.

    None for rows that depend on each other, whose theory says how more rows of the same kind would do only up to twice
    as many, and for so few rows that no theory is given.
    """
    if dependent or X.n < MIN_ROWS:
        return None
    return long_curve(X, unlike or gaussian_theory(X), beyond(X.n, X.d), seed)


def more_rows_lines(curve: LongCurve | None, smallest_n: int) -> list[Row]:
    """Return the rows of the table: the curve beyond the rows, and its limit as a line across the panel."""
    if curve is None:
        return []
    panel, found = "held-out rows", np.isfinite(curve.errors)
    pairs = list(zip(curve.rows[found], curve.errors[found], strict=True))
    lines = [row(MORE, n, panel=panel, theory=error) for n, error in pairs if n <= DRAWN_TIMES * curve.rows[0]]
    if pairs and math.isinf(pairs[-1][0]):
        ends = smallest_n, DRAWN_TIMES * curve.rows[0]
        lines += [row(LIMIT, n, panel=panel, theory=pairs[-1][1]) for n in ends]
    return lines


def more_rows_looks(color: int) -> dict[str, Curve]:
    """Return how the two lines are drawn, the first in the color of the curve that it continues."""
    return {MORE: Curve(model=None, color=color, style="--"), LIMIT: Curve(model=None, color=BLACK, style="--")}


def more_rows_text(curve: LongCurve | None, doubled: float) -> str:
    """Say what twice, four times and infinitely many rows would give, and whether it is worth it.

    `doubled` is what theory expects of twice as many rows where there is no curve.
    """
    if curve is None or not np.isfinite(curve.errors[[0, TWICE]]).all():
        return f"With twice as many rows theory expects {doubled:.4g}."
    now, text = curve.errors[0], f"With twice as many rows theory expects {_shown(curve, TWICE)}"
    if not (math.isinf(curve.rows[-1]) and np.isfinite(curve.errors[-1])):
        return (
            f"{text}, which tends to be too low where there are hardly more rows than columns; for the same reason "
            "nothing is said of still more rows."
        )
    gain = now - curve.errors[-1]
    text += f", with four times as many {_shown(curve, FOUR_TIMES)}, and with infinitely many {_shown(curve, -1)}"
    if gain < NOTICEABLE * now:
        return f"{text}: more rows would help little."
    half = np.flatnonzero(curve.errors <= now - gain / 2)
    return f"{text}; half of what more rows can gain needs about {_rounded(float(curve.rows[half[0]]))} rows."


def _shown(curve: LongCurve, place: int) -> str:
    error, stderr = float(curve.errors[place]), float(curve.stderr[place])
    return str(Estimate(error, stderr, 10)) if math.isfinite(stderr) and stderr > 0 else f"{error:.4g}"


def _rounded(count: float) -> str:
    return f"{float(f'{count:.2g}'):.0f}"
