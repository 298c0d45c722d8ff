"""Makes the rows of a table: each is a point of a line of theory, or a measured number beside its prediction."""

import math
from typing import Any

from simulate.core import Estimate

COLUMNS = ("panel", "curve", "x", "d", "theory", "simulation", "stderr", "n", "z", "converged")
Row = dict[str, Any]


def row(
    curve: str,
    x: float,
    *,
    panel: str = "",
    theory: float | None = None,
    d: float | None = None,
    estimate: Estimate | None = None,
    judged: bool = True,
) -> Row:
    """Makes one row: the curve and the place x, the prediction, and the measured number where there is one.

    `d` is the size that was simulated (math.inf for what is extrapolated), or None for a point of a line. `theory` is
    None where there is none and NaN where the solver did not converge, which the table marks. z = (mean -
    theory)/stderr; `judged` False leaves it empty where the theory is not meant for that very number (a finite size,
    real data).

    >>> made = row("measured", 2.0, theory=1.0, d=50, estimate=Estimate(1.2, 0.1, 40))
    >>> round(made["z"], 6), made["converged"]
    (2.0, True)
    """
    predicted = None if theory is None else float(theory)
    comparable = predicted is not None and math.isfinite(predicted)
    return {
        "panel": panel,
        "curve": curve,
        "x": float(x),
        "d": d,
        "theory": predicted if comparable else None,
        "simulation": estimate.mean if estimate else None,
        "stderr": estimate.stderr if estimate else None,
        "n": estimate.n if estimate else None,
        "z": estimate.z(predicted) if estimate and judged and predicted is not None and comparable else None,
        "converged": predicted is None or comparable,
    }
