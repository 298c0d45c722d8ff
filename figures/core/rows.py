"""Makes the rows of a table: each is a point of a line of theory, or a measured number beside its prediction."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from figures.core.scores import COVERAGE, joint_score, normal_score
from simulate.core import Estimate

COLUMNS = (
    "panel",
    "curve",
    "x",
    "size",
    "kind",
    "theory",
    "simulation",
    "stderr",
    "low",
    "high",
    "replicates",
    "z",
    "group",
    "converged",
)
PREDICTED, MEASURED, REFERENCE, JOINT, RUN, OWN = "predicted", "measured", "reference", "joint", "run", "own"
MIN_BARRED = 6  # replicates from which on a figure shows a mean with its bar, and not the replicates themselves
Row = dict[str, Any]


def row(
    curve: str,
    x: float,
    *,
    panel: str = "",
    theory: float | None = None,
    d: float | None = None,
    estimate: Estimate | None = None,
    measured: float | None = None,
    judged: bool = True,
    reference: bool = False,
) -> Row:
    """Make one row: the curve and the place x, the prediction, and the measured number where there is one.

    `d` is the size that was simulated (math.inf for what is extrapolated), or None for a point of a line. `theory` is
    None where there is none and NaN where the solver did not converge, which the table marks. A measured number is an
    `estimate` over replicates, or `measured`, a single number without an error, such as an eigenvalue of data: it
    stands in the column `simulation`, never under `theory`. z is the normal score of the gap (`normal_score`);
    `judged` False leaves it empty where the theory is not meant for that very number (a finite size, real data).

    `kind` says what the row is: "measured" where anything was measured, else "predicted", or "reference" where
    `reference` says that the number under `theory` is not a prediction that is tested (the line of equality, chance,
    what another work states). `low` and `high` are the ends of the estimate's interval, which the bars show.

    >>> made = row("measured", 2.0, theory=1.0, d=50, estimate=Estimate(1.2, 0.1, 40))
    >>> made["kind"], round(made["z"], 2), made["converged"]
    ('measured', 1.94, True)
    """
    if estimate is not None and measured is not None:
        raise ValueError(f"a row has an estimate or a single measured number, got {estimate} and {measured}")
    predicted = None if theory is None else float(theory)
    comparable = predicted is not None and math.isfinite(predicted)
    scored = estimate is not None and judged and comparable
    is_measured = estimate is not None or measured is not None
    low, high = (None, None) if estimate is None else estimate.interval(COVERAGE)
    z = None
    if scored and estimate is not None and predicted is not None:
        z = normal_score(estimate.z(predicted), estimate.degrees_of_freedom)
    return {
        "panel": panel,
        "curve": curve,
        "x": float(x),
        "size": d,
        "kind": REFERENCE if reference else MEASURED if is_measured else PREDICTED,
        "theory": predicted if comparable else None,
        "simulation": estimate.mean if estimate else None if measured is None else float(measured),
        "stderr": estimate.stderr if estimate else None,
        "low": low,
        "high": high,
        "replicates": estimate.n if estimate else None,
        "z": z,
        "group": "",
        "converged": predicted is None or comparable,
    }


def single_runs(
    curve: str, xs: Sequence[float], values: ArrayLike, *, panel: str = "", d: float, along: bool
) -> list[Row]:
    """Make one row for each of the `values`, (n, p), that n replicates have at the p places xs, where n is small.

    Where a mean has fewer than MIN_BARRED replicates its error is hardly known, and the figure shows the replicates
    themselves: their kind is "run". With `along` the values of a replicate are one run along x, which is drawn as a
    line, and its rows have the number of the run as their group. There are none where n is larger.
    """
    sample = np.asarray(values, dtype=float)
    if len(sample) >= MIN_BARRED:
        return []
    return [
        {**row(curve, x, panel=panel, d=d, measured=value), "kind": RUN, "group": f"run {k + 1}" if along else ""}
        for k, own in enumerate(sample)
        for x, value in zip(xs, own, strict=True)
    ]


def judged_together(name: str, rows: Sequence[Row], values: ArrayLike) -> list[Row]:
    """Mark these rows, which share samples, as the group `name`, and return them and a row with their joint score.

    `values`, (n, p), holds the n replicates of the numbers in the p rows, whose means they show. Only rows with a z
    are judged, alone or together; the summary of a table counts the added row instead of them. Where none has a z,
    nothing is marked and no row is added. ValueError for another shape.

    >>> rng = np.random.default_rng(1)
    >>> values = 5 + rng.standard_normal((20, 1)) + 0.1 * rng.standard_normal((20, 3))
    >>> rows = [row("a", k, theory=5.0, d=9, estimate=Estimate.of(values[:, k])) for k in range(3)]
    >>> made = judged_together("the same samples", rows, values)
    >>> [entry["group"] for entry in made] == 4 * ["the same samples"], made[-1]["kind"]
    (True, 'joint')
    """
    sample = np.asarray(values, dtype=float)
    if sample.ndim != 2 or sample.shape[1] != len(rows):
        raise ValueError(f"values must have one column for each of the {len(rows)} rows, got shape {sample.shape}")
    judged = [k for k, entry in enumerate(rows) if entry["z"] is not None]
    if not judged:
        return list(rows)
    score = joint_score(sample[:, judged] - np.array([rows[k]["theory"] for k in judged]))
    first = rows[judged[0]]
    joint = {**row(name, math.nan, panel=first["panel"], d=first["size"]), "kind": JOINT, "z": score, "group": name}
    for k in judged:
        rows[k]["group"] = name
    return [*rows, joint | {"replicates": len(sample)}]
