"""Reports an analysis to the user, in words and in a text table."""

import math

import numpy as np

from figures.analyse.matrix.dependent.report import (
    best_for_dependent_rows,
    corrected_agreement,
    dependent_text,
    row_order_text,
)
from figures.analyse.matrix.mask_rates import mask_rates_text
from figures.analyse.matrix.more_rows.lines import more_rows_text
from figures.analyse.matrix.record import MatrixAnalysis
from figures.analyse.matrix.spectrum import spectrum_report
from figures.analyse.matrix.unlike_report import best_for_unlike_rows, elliptical_agreement, row_scales_text, used
from figures.analyse.wording import WIDTH, paragraphs
from figures.core.render import render
from simulate.core import Estimate

HEADER = ["ridge", "n", "n/d", "held-out", "theory", "off", "empirical cov.", "off", "GCV", "off"]
HEADER_DEPENDENT = [*HEADER, "corrected", "off"]
HEADER_UNLIKE = [*HEADER[:6], "elliptical", "off", *HEADER[6:8], "emp. elliptical", "off", *HEADER[8:]]
N_LISTED_COLUMNS = 5
OF_DEPENDENT_ROWS = (
    "The rows of this table depend on each other, of which these limits know nothing: noise alone then has eigenvalues "
    "beyond them, and the outliers are too many. --whiten-rows takes the dependence out first."
)


def report(analysis: MatrixAnalysis, title: str, style: str = "text", width: int = WIDTH) -> str:
    """Write the analysis as a table and sentences; `style` is one of those of the other tables.

    Only the style "text" has the sentences and the spectrum.
    """
    cells = [line for i, label in enumerate(analysis.labels) for line in _lines(analysis, i, _plain(label, style))]
    caption = paragraphs([_caption(analysis)], width) if style == "text" else _caption(analysis)
    shown = render(_header(analysis), cells, title, caption, style)
    if style != "text":
        return shown
    spectrum = spectrum_report(analysis.spectrum, width)
    if analysis.dependent_rows is not None and not isinstance(analysis.spectrum, str):
        spectrum += f"\n{paragraphs([OF_DEPENDENT_ROWS], width)}"
    return "\n".join((shown, "", paragraphs(summary(analysis), width), "", spectrum))


def summary(analysis: MatrixAnalysis) -> list[str]:
    """Say what the best ridge is, what it achieves, how well theory describes it, and which columns are predicted."""
    return [
        f"The matrix has {analysis.n} rows and {analysis.d} columns, {analysis.n / analysis.d:.4g} rows per column.",
        *(f"Note: {note}." for note in analysis.notes),
        row_order_text(analysis.row_order),
        *_dependent(analysis),
        row_scales_text(analysis.heterogeneity, analysis.dependent_rows is not None),
        *_best(analysis),
        _achieved(analysis),
        *mask_rates_text(analysis.mask_rates),
        _agreement(analysis),
        *_corrected(analysis),
        *elliptical_agreement(analysis),
        *_columns(analysis),
    ]


def _header(analysis: MatrixAnalysis) -> list[str]:
    if analysis.dependent_rows is not None:
        return HEADER_DEPENDENT
    return HEADER if analysis.unlike_rows is None else HEADER_UNLIKE


def _dependent(analysis: MatrixAnalysis) -> list[str]:
    found = analysis.dependent_rows
    return [] if found is None else dependent_text(found, analysis.plan, analysis.n, analysis.best.chosen)


def _corrected(analysis: MatrixAnalysis) -> list[str]:
    found = analysis.dependent_rows
    return [] if found is None else [corrected_agreement(found, analysis.test_error, analysis.gcv_error)]


def _caption(analysis: MatrixAnalysis) -> str:
    """Say what the columns of the table are."""
    elliptical = (
        ""
        if analysis.unlike_rows is None
        else " The columns elliptical and emp. elliptical are the same two theories for rows whose scales differ as "
        "these do."
    )
    if analysis.dependent_rows is not None:
        elliptical = " The theory is that of rows that depend on each other, and so is the correction of GCV."
    blocks = analysis.plan.gap is not None
    splits = f"{analysis.plan.repeats} {'blocks of later rows' if blocks else 'random splits'}"
    return (
        "The column held-out is the mean squared error of a column of the matrix on rows that were not fitted, a mean "
        f"over {splits}, with its standard error in parentheses. The column theory is "
        "Gaussian theory whose covariance is corrected for the noise of the sample, and empirical cov. the same with "
        "the covariance of the data as it is. GCV is what generalized cross-validation of the fitted rows reports, and "
        f"off is the difference of the number before it from the held-out error.{elliptical}"
    )


def _lines(analysis: MatrixAnalysis, i: int, label: str) -> list[list[str]]:
    lines = []
    for j, n in enumerate(analysis.plan.sizes):
        held_out = Estimate.of(analysis.test_error[:, j, i])
        unlike, gcv = analysis.unlike_rows, analysis.gcv_error[:, j, i].mean()
        others = [analysis.theory[j, i], analysis.empirical_theory[j, i], gcv]
        if unlike is not None:
            others[1:1] = [unlike.theory[j, i]]
            others[3:3] = [unlike.empirical_theory[j, i]]
        if analysis.dependent_rows is not None:
            others.append(analysis.dependent_rows.corrected_error[:, j, i].mean())
        compared = [text for value in others for text in (_number(value), _off(value, held_out.mean))]
        lines.append([label, str(n), f"{n / analysis.d:.3g}", str(held_out), *compared])
    return lines


def _plain(label: str, style: str) -> str:
    """Return a label without mathematical markup, where nothing renders that."""
    return label if style == "latex" else label.replace("$", "").replace(r"\lambda", "lam")


def _number(value: float) -> str:
    return f"{value:.5g}" if math.isfinite(value) else ""


def _off(value: float, measured: float) -> str:
    return f"{100 * (value / measured - 1):+.1f}%" if math.isfinite(value) and measured else ""


def _best(analysis: MatrixAnalysis) -> list[str]:
    if analysis.unlike_rows is not None:
        return best_for_unlike_rows(analysis, analysis.unlike_rows, _by_theory(analysis))
    best = analysis.best
    edge = ", the end of the range that was searched" if best.at_edge else ""
    if analysis.dependent_rows is not None:
        found, theory = analysis.dependent_rows, _by_theory(analysis)
        return best_for_dependent_rows(found, best.chosen, best.gcv, edge, theory, used(analysis))
    return [
        f"The best ridge for all rows is lam = {best.gcv:.2g} by generalized cross-validation (GCV){edge}, "
        f"{best.leave_one_out:.2g} by leave-one-out{_by_theory(analysis)}. At the ridge by GCV {used(analysis)}."
    ]


def _by_theory(analysis: MatrixAnalysis) -> str:
    best = analysis.best.empirical_theory
    if best is None:
        return ""
    value = {0.0: "as small as possible", math.inf: "infinite"}.get(best, f"{best:.2g}")
    return f", {value} by the theory that takes the covariance of the data as exact"


def _achieved(analysis: MatrixAnalysis) -> str:
    error, variance = float(analysis.column_error.mean()), analysis.mean_variance
    explained = 100 * (1 - error / variance)
    verdict = f"{explained:.1f} % of the variance is explained"
    if round(explained, 1) <= 0:
        verdict = f"the other columns predict a column no better than its mean does ({explained:.1f} % explained)"
    text = (
        f"There the mean squared error of a column is {error:.4g} on average, where predicting the mean of the column "
        f"leaves {variance:.4g}: {verdict}."
    )
    if analysis.doubled_error is not None and _is_compared(analysis):
        text += f" {more_rows_text(analysis.more_rows, analysis.doubled_error)}"
    return text


def _is_compared(analysis: MatrixAnalysis) -> bool:
    """Say whether theory was held against measured errors anywhere: else it is not known how far off it is."""
    return bool(np.isfinite(analysis.theory).any() and np.isfinite(analysis.empirical_theory).any())


def _agreement(analysis: MatrixAnalysis) -> str:
    measured = analysis.test_error.mean(axis=0)
    if not _is_compared(analysis):
        return "Gaussian theory is not compared with the held-out errors: there are too few rows."
    corrected, raw = (
        np.nanmedian(abs(values / measured - 1)) for values in (analysis.theory, analysis.empirical_theory)
    )
    return (
        f"Gaussian theory differs from the held-out errors by {100 * corrected:.1f} % (median) when it corrects the "
        f"covariance for the noise of a sample, and by {100 * raw:.1f} % when it takes the covariance of the data as "
        f"exact. That covariance is estimated from {analysis.n} rows: its small eigenvalues are too small, which makes "
        f"the theory too optimistic where n is close to {analysis.n}."
    )


def _columns(analysis: MatrixAnalysis) -> list[str]:
    order = np.argsort(-analysis.explained, kind="stable")
    listed = min(N_LISTED_COLUMNS, analysis.d // 2)
    named = [f"{analysis.names[k]} ({round(100 * analysis.explained[k])} %)" for k in order]
    if round(100 * analysis.explained.max()) <= 0:
        return ["No column is predicted better than by its mean."]
    below = " A share below zero means worse than by its mean." if analysis.explained.min() < -0.005 else ""
    return [
        f"The other columns predict best (share of the variance that they explain): {', '.join(named[:listed])}.",
        f"They predict worst: {', '.join(reversed(named[-listed:]))}.{below}",
    ]
