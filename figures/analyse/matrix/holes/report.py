"""Reports the analysis of a table with holes to the user, in words and in a text table."""

import numpy as np

from figures.analyse.matrix.holes.admitted import HoledTable
from figures.analyse.matrix.holes.record import METHOD_NAMES, Dependence, HoleErrors, HolesAnalysis, SelfCheck
from figures.analyse.matrix.holes.where_report import ended, percent, where_text
from figures.analyse.wording import WIDTH, listed, paragraphs
from figures.core.render import render
from simulate.core import Estimate

HEADER = ["column", "missing", "expected error", "in units", "hidden", "expected there", "found", "z"]
MOST_LINES = 40  # of the table of columns; the file has all
N_LISTED = 3
NOT_AT_RANDOM = (
    "This holds if whether a cell is missing has nothing to do with its value. No test on these data can show that."
)
NOT_DONE = (
    "Not done, because it is known for complete tables only: Gaussian theory of the learning curve, the spectrum of "
    "the predictor, whether rows differ in scale or depend on each other, the best time to stop training (its estimate "
    "needs one matrix of second moments for all columns), and the search for redundant columns and outlying rows."
)
ALL_BUT_FEW = 0.99  # of the holes
FEWEST_COMPLETE = 3  # rows of a matrix


def holes_report(analysis: HolesAnalysis, title: str, width: int = WIDTH) -> str:
    """Write the analysis as a table of the columns and sentences."""
    order = np.argsort(analysis.by_column, kind="stable")
    cells = [_line(analysis, int(k)) for k in order[:MOST_LINES]]
    text = render(HEADER, cells, title, paragraphs([_caption(analysis)], width), "text")
    return "\n".join((text, "", paragraphs(summary(analysis), width)))


def summary(analysis: HolesAnalysis) -> list[str]:
    """Say where the holes are, what filling them reaches, and whether that was found where it could be checked."""
    table = analysis.table
    return [
        *(f"Note: {note}." for note in analysis.notes),
        *where_text(analysis.pattern, table.names, table.line_of),
        *expected_text(analysis),
        *_best_and_worst(analysis),
        check_text(analysis.check),
        *_uneven(analysis),
        NOT_AT_RANDOM,
        dependence_text(analysis.dependence, table),
        *_learning(analysis),
        _not_done(analysis.pattern.complete_rows),
    ]


def expected_text(analysis: HolesAnalysis) -> list[str]:
    """Say how far off a cell would be before any is filled, and how far off the filled ones are expected to be."""
    best, imputed = analysis.best_before, analysis.imputed
    others = [one for one in analysis.before if one is not best]
    beside = "".join(f" ({METHOD_NAMES[one.method]}: {one.error} at {one.lam:.2g})" for one in others)
    lines = [
        f"Filled from the other columns, a missing cell is expected to be off by {best.error} of its column's variance "
        f"(mean square; filling in the mean of the column leaves 1), by {METHOD_NAMES[best.method]} at the ridge "
        f"{best.lam:.2g}{_edge(best)}{beside}. That is known before anything is filled: each entry that is seen was "
        "left out once and predicted from the others of its row."
    ]
    if imputed.method == "em":
        lines.append(
            f"The holes are filled by expectation maximization (EM) at the ridge {imputed.lam:.2g}, which is expected "
            f"to be off by {analysis.error}."
        )
    else:
        lines.append(f"The holes are filled by that method, which is expected to be off by {analysis.error} there.")
    return lines


def _edge(best: HoleErrors) -> str:
    """Say so where the best ridge lies at an end of those that were tried."""
    at_edge = len(best.lams) > 2 and best.lam in (best.lams[0], best.lams[-1])
    return ", an end of the range that was searched" if at_edge else ""


def _best_and_worst(analysis: HolesAnalysis) -> list[str]:
    """Name the columns that are filled best and worst, among those that have holes, and those not worth it."""
    errors, names = analysis.by_column, analysis.names
    order = [int(k) for k in np.argsort(errors, kind="stable") if analysis.pattern.missing[k]]
    shown = min(N_LISTED, max(1, len(order) // 2))
    best, worst = ([_named(analysis, k) for k in part[:shown]] for part in (order, order[::-1]))
    lines = [f"Best: {', '.join(best)}."]
    if len(order) > 1:
        lines[0] += f" Worst: {', '.join(worst)}."
    poor = [names[k] for k in order if not analysis.worth_filling[k]]
    if poor:
        lines.append(
            ended(
                "Not worth filling, since the other columns take less than a tenth of the variance off, or no more "
                f"than chance: {listed(poor, 10)}"
            )
        )
    return lines


def _named(analysis: HolesAnalysis, k: int) -> str:
    error, root = analysis.by_column[k], analysis.root_errors[k]
    return f"{analysis.names[k]} {error:.2g} (a root mean square of {root:.3g} in its units)"


def check_text(check: SelfCheck | None) -> str:
    """Say what was expected of hidden entries, and what was found."""
    if check is None:
        return "The expected errors were not checked on hidden entries: too little is seen."
    times = "once" if check.draws == 1 else f"{check.draws} times"
    hidden = f"a tenth of them was hidden, {times}{'' if check.draws == 1 else ', another tenth each'}"
    if check.as_holes:
        hidden = f"some were hidden together, as the holes of other rows lie, {times}"
    z = check.z_by_column[np.isfinite(check.z_by_column)]
    verdict = (
        "expectation and finding agree"
        if abs(check.z) <= 2
        else "they differ by more than chance: rely on the error that was found"
    )
    return (
        f"Checked on entries that are seen: {hidden}, and filled in from the rest. Expected "
        f"was an error of {check.expected}, found was {check.measured} (z = {check.z:+.1f}; {verdict}). "
        f"By column, {int((abs(z) > 2).sum())} of {len(z)} differ by more than two standard errors."
    )


def _uneven(analysis: HolesAnalysis) -> list[str]:
    """Say how errors are measured where rows with holes show less than others, and of which holes they are not."""
    if analysis.check is None or not analysis.check.as_holes:
        return []
    lines = [
        "Rows that miss several columns at once show less beside a hole than other rows beside an entry that is seen. "
        "All errors printed here are therefore measured on entries that are hidden together, as the holes of such rows "
        "lie, in rows that show more."
    ]
    matched = analysis.imputed.matched
    if matched < ALL_BUT_FEW:
        lines[-1] += (
            f" That can be done for {100 * matched:.0f} % of the holes: no row shows the column of the others and half "
            "of what is seen beside them, so that what is expected of them is not measured, and may be too small."
        )
    return lines


def dependence_text(found: Dependence, table: HoledTable) -> str:
    """Say whether holes go with the values of other columns."""
    if not found.pairs:
        return (
            "As far as one can tell, whether a cell is missing does not depend on the values of other columns that are "
            f"seen (p = {found.p_value:.2g})."
        )
    which = [
        f"cells of {table.names[holes]} are missing more often where {table.names[values]} is "
        f"{'large' if correlation > 0 else 'small'} (correlation {correlation:+.2f})"
        for values, holes, correlation in found.pairs
    ]
    more = "; and others" if len(which) > N_LISTED else ""
    return (
        f"It does not hold here, since holes depend on values that are seen (p = {found.p_value:.2g}): "
        f"{'; '.join(which[:N_LISTED])}{more}. The errors at the holes will differ from those printed, which are those "
        "of holes spread evenly."
    )


def _learning(analysis: HolesAnalysis) -> list[str]:
    if len(analysis.learning) < 2:
        return []
    texts = [f"{error} with {rows}" for rows, error in analysis.learning]
    return [f"Errors to expect with fewer rows of this kind, before filling: {', '.join(texts)} rows."]


def _not_done(complete_rows: int) -> str:
    if complete_rows < FEWEST_COMPLETE:
        return NOT_DONE
    return f"{NOT_DONE} --drop-rows does all of it for the {complete_rows} complete rows alone."


def _caption(analysis: HolesAnalysis) -> str:
    check = analysis.check
    hidden = (
        ""
        if check is None
        else f" Hidden counts entries that are seen and were hidden, {check.draws} times; expected there is what "
        "the rest of the table said of their errors, found is what they were, and z is the difference over its "
        "standard error. Less is seen while they are hidden, and they stand in other rows than the holes, so that "
        "what is expected there is not what is expected of holes."
    )
    cut = (
        ""
        if analysis.d <= MOST_LINES
        else f" The {MOST_LINES} best of {analysis.d} columns are shown, the file has all."
    )
    return (
        "The column missing is the share of a column's cells that are holes. The expected error of a hole is a mean "
        "square over the variance of the column, with its standard error in parentheses, and in units the root mean "
        f"square in the units of the file.{hidden}{cut}"
    )


def _line(analysis: HolesAnalysis, k: int) -> list[str]:
    check, n = analysis.check, analysis.n
    expected = _with_error(analysis.by_column[k], analysis.stderr[k], n)
    units = _with_error(analysis.root_errors[k], analysis.root_stderr[k], n)
    found = ["", "", "", ""]
    if check is not None:
        there = _with_error(check.expected_by_column[k], check.expected_stderr[k], n)
        number = _with_error(check.measured_by_column[k], check.measured_stderr[k], n)
        found = [str(check.hidden[k]), there, number, _signed(check.z_by_column[k])]
    return [analysis.names[k], percent(analysis.pattern.missing[k] / n), expected, units, *found]


def _with_error(mean: float, stderr: float, n: int) -> str:
    return str(Estimate(float(mean), float(stderr), n)) if np.isfinite([mean, stderr]).all() else ""


def _signed(z: float) -> str:
    return f"{z:+.1f}" if np.isfinite(z) else ""
