"""Makes the tables of an analysis of holes: the points of the figure, the columns, the holes, numbers at a glance."""

import json

import numpy as np

from figures.analyse.matrix.holes.record import METHOD_NAMES, HolesAnalysis
from figures.core import DataFrame, Row, row
from simulate.core import Estimate

RIDGE, COLUMNS, ROWS = "one entry left out, by the ridge", "hidden entries, by column", "one entry left out, by rows"
MEAN = "filling in the mean"
FOUND, EQUAL, BEST = "found at hidden entries", "as expected", "best"
EXPECTED_ROWS = "best ridge"


def figure_rows(analysis: HolesAnalysis) -> list[Row]:
    """Return the points of the figure: error against the ridge, found against expected, error against rows."""
    rows: list[Row] = []
    n = analysis.n
    for one in analysis.before:
        label = METHOD_NAMES[one.method]
        rows += [
            row(label, lam, panel=RIDGE, d=n, estimate=error, judged=False)
            for lam, error in zip(one.lams, one.path, strict=True)
        ]
    best, imputed = analysis.best_before, analysis.imputed
    rows.append(row(BEST, best.lam, panel=RIDGE, d=n, estimate=best.error, judged=False))
    if imputed.method == "em":
        rows.append(row(METHOD_NAMES["em"], imputed.lam, panel=RIDGE, d=n, estimate=analysis.error, judged=False))
    check = analysis.check
    if check is not None:
        rows.append(row(FOUND, imputed.lam, panel=RIDGE, d=n, estimate=check.measured, judged=False))
        known = np.isfinite(check.measured_by_column) & np.isfinite(check.measured_stderr)
        for k in np.flatnonzero(known):
            found = Estimate(float(check.measured_by_column[k]), float(check.measured_stderr[k]), int(check.hidden[k]))
            rows.append(row(FOUND, check.expected_by_column[k], panel=COLUMNS, d=n, estimate=found, judged=False))
        equal = (0.8 * np.nanmin(check.expected_by_column), 1.2 * np.nanmax(check.expected_by_column))
        rows += [row(EQUAL, x, panel=COLUMNS, theory=x, reference=True) for x in equal]
    rows += [row(EXPECTED_ROWS, x, panel=ROWS, d=n, estimate=error, judged=False) for x, error in analysis.learning]
    lams = np.concatenate([one.lams for one in analysis.before])
    ends = {RIDGE: (lams.min(), lams.max()), ROWS: (analysis.learning[0][0], n) if analysis.learning else ()}
    rows += [row(MEAN, x, panel=panel, theory=1.0, reference=True) for panel, xs in ends.items() for x in xs]
    return rows


def columns_frame(analysis: HolesAnalysis) -> DataFrame:
    """Return a table with one line for each column of the data, by the names that README and docs give."""
    import pandas as pd

    check, variances = analysis.check, analysis.imputed.variances
    empty = np.full(analysis.d, np.nan)
    return pd.DataFrame(
        {
            "column": analysis.names,
            "variance": variances,
            "error": analysis.imputed.error_by_column,
            "explained": 1 - analysis.by_column,
            "missing": analysis.pattern.missing,
            "expected": analysis.by_column,
            "expected_stderr": analysis.stderr,
            "root_error": analysis.root_errors,
            "root_error_stderr": analysis.root_stderr,
            "hidden": 0 if check is None else check.hidden,
            "expected_at_hidden": empty if check is None else check.expected_by_column,
            "found_at_hidden": empty if check is None else check.measured_by_column,
            "found_stderr": empty if check is None else check.measured_stderr,
            "worth_filling": analysis.worth_filling,
            "before": analysis.best_before.by_column,
            "before_stderr": analysis.best_before.stderr,
        }
    )


def holes_frame(analysis: HolesAnalysis) -> DataFrame:
    """Return a table with one line for each hole that is filled: its place, the number, and how far off it may be."""
    import pandas as pd

    rows, columns = np.nonzero(~analysis.table.seen)
    table, errors = analysis.table, analysis.imputed.predicted_error[rows, columns]
    return pd.DataFrame(
        {
            "row": [table.line_of(int(i)) for i in rows],
            "column": [table.names[k] for k in columns],
            "position": table.columns[columns] + 1,
            "value": analysis.imputed.table[rows, columns],
            "root_error": np.sqrt(errors),
            "share_of_variance": errors / analysis.imputed.variances[columns],
        }
    )


def glance(analysis: HolesAnalysis) -> str:
    """Return the numbers of the report as JSON, each by a name."""
    found, imputed, check = analysis.pattern, analysis.imputed, analysis.check
    names = analysis.names
    dependence = analysis.dependence
    numbers = {
        "rows": analysis.n,
        "columns": analysis.d,
        "missing_cells": found.cells,
        "missing_share": found.share,
        "columns_with_holes": len(found.columns),
        "complete_rows": found.complete_rows,
        "holes_together": [[names[k] for k in group] for group in found.together],
        "runs": [
            {
                "column": names[run.column],
                "first_row": analysis.table.line_of(run.first),
                "last_row": analysis.table.line_of(run.last),
            }
            for run in found.runs
        ],
        "drops_out": found.drops_out,
        "expected_before": {
            one.method: {"ridge": one.lam, "error": one.error.mean, "stderr": one.error.stderr}
            for one in analysis.before
        },
        "filled_by": imputed.method,
        "ridge": imputed.lam,
        "expected": analysis.error.mean,
        "expected_stderr": analysis.error.stderr,
        "converged": analysis.converged,
        "check": None
        if check is None
        else {
            "draws": check.draws,
            "hidden": int(check.hidden.sum()),
            "expected": check.expected.mean,
            "expected_stderr": check.expected.stderr,
            "found": check.measured.mean,
            "found_stderr": check.measured.stderr,
            "z": check.z,
        },
        "depends_on_values": {
            "p_value": dependence.p_value,
            "pairs": [{"values_of": names[a], "holes_of": names[b], "correlation": r} for a, b, r in dependence.pairs],
        },
        "not_worth_filling": [
            names[k] for k in range(analysis.d) if found.missing[k] and not analysis.worth_filling[k]
        ],
    }
    return json.dumps(numbers, indent=1, allow_nan=False) + "\n"
