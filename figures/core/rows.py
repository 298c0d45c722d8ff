"""One row of a table: a point of a theory line, or a measured number beside its prediction."""

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
    """`d` None is a point of a line, otherwise a marker; `theory` NaN says that the solver did not converge.

    `judged` False leaves z empty: where the theory is not meant for that very number (a finite size, real data).
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
