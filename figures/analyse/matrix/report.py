"""Reports an analysis to the user, in words and in a text table."""

import math

import numpy as np

from figures.analyse.matrix.copies import copies_said
from figures.analyse.matrix.dependent.report import (
    best_for_dependent_rows,
    corrected_agreement,
    dependent_text,
    row_order_text,
)
from figures.analyse.matrix.grouped_errors import groups_held_out
from figures.analyse.matrix.mask_rates import mask_rates_text
from figures.analyse.matrix.more_rows.lines import more_rows_text
from figures.analyse.matrix.record import MatrixAnalysis
from figures.analyse.matrix.spectrum import spectrum_sentences, spectrum_table
from figures.analyse.matrix.stopping import best_stop_text
from figures.analyse.matrix.unlike_report import best_for_unlike_rows, elliptical_agreement, row_scales_text, used
from figures.analyse.wording import WIDTH, paragraphs
from figures.core.render import render
from simulate.core import Estimate

HEADER = ["ridge", "n", "n/d", "held-out", "theory", "off", "empirical cov.", "off", "GCV", "off"]
HEADER_DEPENDENT = [*HEADER, "corrected", "off"]
HEADER_UNLIKE = [*HEADER[:6], "elliptical", "off", *HEADER[6:8], "emp. elliptical", "off", *HEADER[8:]]
OF_THEORY = ("theory", "empirical cov.", "elliptical", "emp. elliptical")
N_LISTED_COLUMNS = 5
OF_DEPENDENT_ROWS = (
    "The rows of this table depend on each other, of which these limits know nothing: noise alone then has eigenvalues "
    "beyond them, and the outliers are too many. --whiten-rows takes the dependence out first."
)


def report(analysis: MatrixAnalysis, title: str, style: str = "text", width: int = WIDTH) -> str:
    """Write the analysis as sentences and then tables; `style` is one of those of the other tables.

    Only the style "text" has the sentences and the spectrum, and leaves out the columns of theory unless the analysis
    says `show_theory`.
    """
    whole = style != "text" or analysis.show_theory
    cells = [line for i, label in enumerate(analysis.labels) for line in _lines(analysis, i, _plain(label, style))]
    caption = _caption(analysis, whole)
    caption = paragraphs([caption], width) if style == "text" else caption
    header = _header(analysis)
    kept = [k for k, name in enumerate(_owners(header)) if whole or name not in OF_THEORY]
    named = title if style != "text" else "Errors of a column against the number of fitted rows"
    shown = render([header[k] for k in kept], [[line[k] for k in kept] for line in cells], named, caption, style)
    if style != "text":
        return shown
    dependent = analysis.dependent_rows is not None and not isinstance(analysis.spectrum, str)
    said = [*spectrum_sentences(analysis.directions, analysis.spectrum), *([OF_DEPENDENT_ROWS] if dependent else [])]
    tables = "" if isinstance(analysis.spectrum, str) else f"\n\n{spectrum_table(analysis.spectrum, width)}"
    words = paragraphs([*conclusions(analysis), *said], width)
    trust = paragraphs(evidence(analysis), width)
    return f"{title}\n\n{words}\n\n{trust}\n\n{shown}{tables}"


def _owners(header: list[str]) -> list[str]:
    """Return for each column what it is about: that on how far off a number is belongs to the one before it."""
    return [header[k - 1] if name == "off" else name for k, name in enumerate(header)]


def summary(analysis: MatrixAnalysis) -> list[str]:
    """Say what was found, and then what speaks for it: all sentences but those of the spectrum."""
    return [*conclusions(analysis), *evidence(analysis)]


def conclusions(analysis: MatrixAnalysis) -> list[str]:
    """Say what the best ridge is, what it achieves, and which columns are predicted."""
    return [
        f"The matrix has {analysis.n} rows and {analysis.d} columns, {analysis.n / analysis.d:.4g} rows per column.",
        *(f"{note[0].upper()}{note[1:]}." for note in _of_copies(analysis)),
        *_best(analysis),
        _achieved(analysis),
        *best_stop_text(analysis.stopping),
        *mask_rates_text(analysis.mask_rates),
        *_columns(analysis),
        *groups_held_out(analysis),
    ]


def _of_copies(analysis: MatrixAnalysis) -> list[str]:
    all_kept = len(analysis.copies.of) == analysis.n
    return copies_said(analysis.copies, "together" if all_kept else "once", analysis.row_names)


def evidence(analysis: MatrixAnalysis) -> list[str]:
    """Say what was done to the table, whether its rows are independent and alike, and how well theory describes it."""
    return [
        *(f"Note: {note}." for note in analysis.notes if note not in _of_copies(analysis)),
        row_order_text(analysis.row_order),
        *_dependent(analysis),
        row_scales_text(analysis.heterogeneity, analysis.dependent_rows is not None),
        _agreement(analysis),
        *_corrected(analysis),
        *elliptical_agreement(analysis),
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


def _caption(analysis: MatrixAnalysis, whole: bool) -> str:
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
    known = (
        "The column theory is Gaussian theory whose covariance is corrected for the noise of the sample, and empirical "
        "cov. the same with the covariance of the data as it is. "
    )
    end = elliptical if whole else " The file has what theory predicts too, which --show-theory prints."
    return (
        "The column held-out is the mean squared error of a column of the matrix on rows that were not fitted, a mean "
        f"over {splits}, with its standard error in parentheses. {known if whole else ''}GCV is what generalized "
        "cross-validation of the fitted rows reports, and off is the difference of the number before it from the "
        f"held-out error.{end}"
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
