"""Where rows depend on each other cross-validation reports too small an error, unless it leaves out distant blocks."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from figures.core import Axes, Curve, DataFrame, Experiment, Panel
from simulate.masked import blocked_error, fit, sample
from theory import masked
from theory.models import AR1, AR1Rows, LongMemoryRows, MaskedRidge, RowDependence

LAM, FOLDS, GAP = 0.1, 5, 15
NEW, KNOWING, GCV, ONE, BLOCKS = "new independent row", "GCV that knows the dependence", "GCV", "one row out", "blocks"
AR, LONG = "AR(1) rows", "long memory"
BLOCKED = f"{FOLDS} blocks with a gap"
LAWS: dict[str, Callable[[int, float], RowDependence]] = {AR: AR1Rows, LONG: LongMemoryRows}


class Reported(NamedTuple):
    """What is reported of the error of 2 d rows of a law of dependence; beside a block `gap` rows are left out."""

    of: str
    law: str
    parameter: float
    gap: int = 0
    relative: bool = False  # to the error on an independent row, by theory

    def model(self, d: int) -> MaskedRidge:
        return MaskedRidge(AR1(d, 0.6), 2.0, LAM, row_dependence=LAWS[self.law](2 * d, self.parameter))


@cache
def solved(law: str, parameter: float, d: int) -> masked.MaskedRidgeSolution:
    return masked.solve(Reported(NEW, law, parameter).model(d), exact_size=True)


def predicted(report: Reported, d: int) -> float:
    point = solved(report.law, report.parameter, d)
    match report.of:
        case "blocks":
            found = float(point.fold_error(FOLDS, report.gap).mean())
        case "GCV":
            found = point.mean_gcv_error
        case "one row out":
            found = float(point.leave_one_out_error.mean())
        case _:
            found = point.mean_test_error
    return found / point.mean_test_error if report.relative else found


def measured(report: Reported, d: int, rng: Generator) -> float:
    """Draw and fit one data set, and take what is reported of it."""
    model = report.model(d)
    X = sample(model.covariance, 2 * d, rng, row_dependence=model.row_dependence)
    if report.of == BLOCKS:
        found = blocked_error(X, LAM, FOLDS, report.gap).mean_error
        return found / solved(report.law, report.parameter, d).mean_test_error if report.relative else found
    fitted = fit(X, LAM)
    match report.of:
        case "GCV":
            return fitted.mean_gcv_error
        case "one row out":
            return float(fitted.loo_error.mean())
        case "GCV that knows the dependence":
            return float(fitted.corrected_error(model.row_dependence).mean())
    return fitted.mean_test_error(model.covariance)


def against_correlation(of: str, gap: int = 0, line: bool = True) -> Curve:
    return Curve(model=lambda phi: Reported(of, AR, phi, gap), line=None if line else ())


def against_gap(law: str, parameter: float, gray: str, marker: str) -> Curve:
    return Curve(
        model=lambda gap: Reported(BLOCKS, law, parameter, round(gap), relative=True), color=gray, marker=marker
    )


def draw(axes: Axes, _rows: DataFrame) -> None:
    """Draw the line where what is reported is right."""
    if axes.get_title() == BLOCKED:
        axes.axhline(1.0, color="0.7", linewidth=0.8, zorder=0)


EXPERIMENT = Experiment(
    title="Plain cross-validation reports too little where rows resemble each other",
    panels=[
        Panel(
            title="AR(1) rows",
            curves={
                NEW: against_correlation(NEW),
                KNOWING: against_correlation(KNOWING, line=False),
                f"{FOLDS} blocks, {GAP} rows apart": against_correlation(BLOCKS, GAP),
                f"{FOLDS} adjoining blocks": against_correlation(BLOCKS),
                GCV: against_correlation(GCV),
                "leaving one row out": against_correlation(ONE, line=False),
            },
            line=np.linspace(0, 0.94, 48),
            points=(0.0, 0.3, 0.6, 0.8, 0.9),
            xlabel=r"correlation $\phi$ of successive rows",
            ylabel="mean squared error",
        ),
        Panel(
            title=BLOCKED,
            curves={
                "AR(1) rows, 0.6": against_gap(AR, 0.6, "black", "p"),
                "AR(1) rows, 0.9": against_gap(AR, 0.9, "0.35", "<"),
                "long memory, 0.4": against_gap(LONG, 0.4, "0.55", ">"),
            },
            line=np.arange(31.0),
            points=(0, 4, 8, 15, 30),
            xlabel="rows left out on either side of a block",
            ylabel="reported / true error",
        ),
    ],
    theory_at=predicted,
    theory=lambda report: predicted(report, 100),
    replicate=measured,
    d=100,
    toy_d=50,
    extrapolate=False,
    replicates=20,
    draw=draw,
    caption="Where successive rows resemble each other, GCV and leaving one row out report the same error, and both "
    "report too little: a sixth of the truth at correlation 0.9. Lines are the theory, markers means over "
    "{replicates} data sets, at {sizes} coordinates, AR(1) with 0.6, and ridge 0.1. (a) The error on a new "
    "independent row, and five reports of it; squares belong to the solid line, plus signs to that of GCV. Only "
    "GCV that knows the dependence is right; distant blocks report more, from fewer rows. (b) What five blocks "
    "report over the true error (gray: 1). A longer gap costs rows, so that the ratio may exceed 1; with long "
    "memory no gap here suffices.",
)
