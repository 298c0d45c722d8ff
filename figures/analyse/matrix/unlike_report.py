"""Writes the sentences of the report about rows of different scale."""

import numpy as np

from figures.analyse.matrix.record import MatrixAnalysis, UnlikeRows
from figures.analyse.matrix.row_scales import differ
from figures.analyse.wording import counted
from simulate.core import Estimate
from simulate.masked import RowHeterogeneity
from theory.core.arrays import Array


def row_scales_text(found: RowHeterogeneity | str, dependent: bool = False) -> str:
    """Say how unlike the rows are, and whether that is more than chance.

    What follows for GCV and leave-one-out is said where rows are not `dependent`.
    """
    if isinstance(found, str):
        return f"{found}."
    h = (
        f"h = {Estimate(found.value, found.stderr, len(found.row_scales))}, where h is the mean square of their "
        f"scales, 1 for Gaussian rows; Gaussian rows would look at least as unlike with probability p = "
        f"{found.p_value:.2g}"
    )
    if not differ(found):
        return f"The rows are of one scale, as far as one can tell: {h}."
    if dependent:
        return f"The rows differ in scale: {h}."
    return (
        f"The rows differ in scale: {h}. Generalized cross-validation (GCV) then reports too small an error, and "
        "leave-one-out does not."
    )


def best_for_unlike_rows(analysis: MatrixAnalysis, unlike: UnlikeRows, by_theory: str) -> list[str]:
    """Say which ridge leave-one-out chooses, which GCV would have chosen, and what that would cost."""
    best = analysis.best
    edge = ", the end of the range that was searched" if best.at_edge else ""
    chosen = (
        f"The best ridge for all rows is lam = {best.chosen:.2g} by leave-one-out{edge}{by_theory}. At the ridge by "
        f"leave-one-out {used(analysis)}."
    )
    reported = f"reports an error of {unlike.reported_by_gcv:.4g} there, where leave-one-out finds"
    if best.gcv == best.chosen:
        return [chosen, f"GCV would have chosen the same ridge, but {reported} {unlike.error}."]
    more = 100 * unlike.cost.mean / unlike.error.mean
    return [
        chosen,
        f"GCV would have chosen lam = {best.gcv:.2g}. It {reported} {unlike.error_at_gcv}. That is {unlike.cost} more "
        f"than the {unlike.error} of the best ridge, or {more:.1f} %.",
    ]


def used(analysis: MatrixAnalysis) -> str:
    """Say what the effective ridge and the degrees of freedom at the chosen ridge are."""
    return (
        f"the effective ridge is {analysis.effective_ridge:.3g}, and the regression of one column uses "
        f"{analysis.degrees_of_freedom:.1f} of {counted(analysis.d - 1, 'degree')} of freedom"
    )


def elliptical_agreement(analysis: MatrixAnalysis) -> list[str]:
    """Say how far elliptical theory is from the held-out errors, and which line is nearer."""
    unlike = analysis.unlike_rows
    if unlike is None:
        return []
    measured = analysis.test_error.mean(axis=0)
    pairs = ((analysis.theory, unlike.theory), (analysis.empirical_theory, unlike.empirical_theory))
    if not all(np.isfinite(gaussian + elliptical).any() for gaussian, elliptical in pairs):
        return []
    both = [_differences(measured, *pair) for pair in pairs]
    nearer = [elliptical < gaussian for gaussian, elliptical in both]
    (corrected_gaussian, corrected), (raw_gaussian, raw) = ([f"{100 * x:.1f} %" for x in pair] for pair in both)
    verdict = {
        (True, True): "It is nearer to the held-out errors than Gaussian theory in both forms",
        (True, False): "It is nearer to the held-out errors than Gaussian theory in the first form, not in the second",
        (False, True): "It is nearer to the held-out errors than Gaussian theory in the second form, not in the first",
        (False, False): "It is not nearer to the held-out errors than Gaussian theory: scales alone do not describe "
        "these rows",
    }[nearer[0], nearer[1]]
    reported = analysis.gcv_error.mean(axis=0)
    gcv_gaussian, gcv = (f"{100 * x:.1f} %" for x in _differences(reported, analysis.theory, unlike.gcv_theory))
    return [
        f"Elliptical theory, which knows how the scales of the rows are distributed, differs from the held-out errors "
        f"by {corrected} (median; Gaussian theory at the same points: {corrected_gaussian}) when it corrects the "
        f"covariance for the noise of a sample, and by {raw} (Gaussian: {raw_gaussian}) when it takes the covariance "
        f"of the data as exact. {verdict}. From what GCV reports of the fitted rows it differs by {gcv} (Gaussian: "
        f"{gcv_gaussian})."
    ]


def _differences(measured: Array, gaussian: Array, elliptical: Array) -> tuple[float, float]:
    """Return the median relative differences from what is measured, where both theories reach."""
    both = np.isfinite(gaussian) & np.isfinite(elliptical)
    first, second = (float(np.median(abs(values / measured - 1)[both])) for values in (gaussian, elliptical))
    return first, second
