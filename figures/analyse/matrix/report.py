"""The analysis in words and in a text table."""

import math

import numpy as np

from figures.analyse.matrix.record import MatrixAnalysis
from figures.analyse.matrix.spectrum import spectrum_report
from figures.analyse.wording import WIDTH, paragraphs
from figures.core.render import render
from simulate.core import Estimate

HEADER = ["ridge", "n", "n/d", "held-out", "theory", "off", "empirical cov.", "off", "GCV", "off"]
LISTED = 5


def report(analysis: MatrixAnalysis, title: str, style: str = "text", width: int = WIDTH) -> str:
    """Table and summary; `style` as of the other tables."""
    cells = [
        line for i, label in enumerate(analysis.labels) for line in _lines(analysis, i, _plain(label, style), style)
    ]
    caption = (
        "held-out: mean squared error of a column on rows that were not fitted, mean over "
        f"{analysis.plan.repeats} random splits (their standard error)"
    )
    shown = render(HEADER, cells, title, caption, style)
    if style != "text":
        return shown
    return "\n".join((shown, "", paragraphs(summary(analysis), width), "", spectrum_report(analysis.spectrum, width)))


def summary(analysis: MatrixAnalysis) -> list[str]:
    """Sentences: the best ridge, what it achieves, how well theory describes it, which columns are predicted."""
    return [
        f"{analysis.n} rows, {analysis.d} columns, n/d = {analysis.n / analysis.d:.4g}",
        *(f"note: {note}" for note in analysis.notes),
        _best(analysis),
        _achieved(analysis),
        _agreement(analysis),
        *_columns(analysis),
    ]


def _lines(analysis: MatrixAnalysis, i: int, label: str, style: str) -> list[list[str]]:
    lines = []
    for j, n in enumerate(analysis.plan.sizes):
        held_out = Estimate.of(analysis.test_error[:, j, i])
        others = (analysis.theory[j, i], analysis.empirical_theory[j, i], analysis.gcv_error[:, j, i].mean())
        compared = [text for value in others for text in (_number(value), _off(value, held_out.mean))]
        lines.append([label, str(n), f"{n / analysis.d:.3g}", str(held_out), *compared])
    return lines


def _plain(label: str, style: str) -> str:
    """Without mathematical markup, where nothing renders it."""
    return label if style == "latex" else label.replace("$", "").replace(r"\lambda", "lam")


def _number(value: float) -> str:
    return f"{value:.5g}" if math.isfinite(value) else ""


def _off(value: float, measured: float) -> str:
    return f"{100 * (value / measured - 1):+.1f}%" if math.isfinite(value) and measured else ""


def _best(analysis: MatrixAnalysis) -> str:
    best = analysis.best
    loo = "not computed, too many numbers" if best.leave_one_out is None else f"{best.leave_one_out:.2g}"
    theory = {None: "undefined (too few rows)", 0.0: "0 (the smaller the better)", math.inf: "infinite"}.get(
        best.empirical_theory, f"{best.empirical_theory or 0:.2g}"
    )
    edge = " (the end of the range that was searched)" if best.gcv_at_edge else ""
    return (
        f"best ridge for all rows: lam = {best.gcv:.2g} by GCV{edge}, {loo} by leave-one-out, {theory} by theory with "
        f"the empirical covariance; at the first the effective ridge is {analysis.effective_ridge:.3g} "
        f"({analysis.degrees_of_freedom:.1f} of {analysis.d - 1} degrees of freedom)"
    )


def _achieved(analysis: MatrixAnalysis) -> str:
    error, variance = float(analysis.column_error.mean()), analysis.mean_variance
    text = (
        f"error there: {error:.4g} for a column on average, where predicting its mean leaves {variance:.4g}: "
        f"{100 * (1 - error / variance):.1f}% explained"
    )
    if analysis.doubled_error is not None:
        text += f"; twice as many rows would give {analysis.doubled_error:.4g}"
    return text


def _agreement(analysis: MatrixAnalysis) -> str:
    measured = analysis.test_error.mean(axis=0)
    if not np.isfinite(analysis.theory).any() or not np.isfinite(analysis.empirical_theory).any():
        return "Gaussian theory is not compared: too few rows"
    corrected, raw = (
        np.nanmedian(abs(values / measured - 1)) for values in (analysis.theory, analysis.empirical_theory)
    )
    return (
        f"Gaussian theory is off the held-out error by {100 * corrected:.1f}% (median) with the noise of the "
        f"covariance removed, by {100 * raw:.1f}% with the empirical covariance as it is: that one is estimated from "
        f"{analysis.n} rows, its small eigenvalues are too small, and it is optimistic where n is close to {analysis.n}"
    )


def _columns(analysis: MatrixAnalysis) -> list[str]:
    order = np.argsort(-analysis.explained, kind="stable")
    listed = min(LISTED, analysis.d // 2)
    named = [f"{analysis.names[k]} ({round(100 * analysis.explained[k])}%)" for k in order]
    return [
        f"predicted best by the other columns: {', '.join(named[:listed])}",
        f"predicted worst: {', '.join(reversed(named[-listed:]))}",
    ]
