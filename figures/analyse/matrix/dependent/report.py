"""Writes the sentences of the report about rows that depend on each other."""

import numpy as np

from figures.analyse.matrix.dependent.laws import SeriesLaws
from figures.analyse.matrix.dependent.record import DependentRows
from figures.analyse.matrix.dependent.row_order import NEAR_CORRELATION, RowOrder
from figures.analyse.matrix.dependent.verdicts import MIN_STRETCHES
from figures.analyse.matrix.plan import Plan
from figures.analyse.wording import counted
from simulate.core import Estimate
from theory.core.arrays import Array

MOST_TIMES = 100  # as many rows as there are: beyond it the mean is known but for rounding, as that of centered groups
SORTED = (
    "If the rows are sorted by a column, or stand by kinds, that alone can do it: shuffle them, sort them by what was "
    "measured when, or say --order none"
)


def row_order_text(found: RowOrder) -> str:
    """Say whether rows resemble their neighbors, or those of their group, and whether that is more than chance."""
    if found.before is not None:
        return f"{row_order_text(found.before)} {_after_whitening(found)}"
    test = found.test
    if isinstance(test, str):
        return f"{test}."
    chance = f"{'groups' if found.groups is not None else 'rows'} in random order do so with probability"
    some = "" if found.tested == found.n else f"; tested on {found.tested} of the rows"
    whose = "Rows of one group" if found.groups is not None else "Successive rows"
    where = "" if found.groups is not None else " at lag 1"
    correlation = f"correlation {Estimate(float(test.values[0]), float(test.stderr[0]), test.n)}{where}"
    if found.laws is None:
        return (
            f"{whose} do not resemble each other, as far as one can tell ({correlation}; {chance} {test.p_value:.2g}"
            f"{some})."
        )
    least = test.p_value <= 1 / 200
    how = "resemble" if test.values[0] > 0 else "depend on"
    return f"{whose} {how} each other ({correlation}; {chance} {test.p_value:.2g}{' at most' * least}{some})."


def dependent_text(found: DependentRows, plan: Plan, n: int, lam: float) -> list[str]:
    """Say what rows are worth, what is reported of them, what is right, and where neither is."""
    by_groups = found.order.groups is not None
    of_mean = found.effective_rows_of_mean
    means = f"about {of_mean:.0f}" if of_mean <= MOST_TIMES * n else f"more than {MOST_TIMES * n}"
    lines = [
        f"{n} rows are worth about {found.effective_rows:.0f} independent ones for the regressions, and {means} for "
        "the means."
    ]
    if not by_groups:
        lines[0] += f" The test does not know why. {SORTED}."
    how = (
        "5 sets of groups held out whole"
        if by_groups
        else f"5 blocks with gaps of {counted(found.order.gap or 0, 'row')}"
    )
    far = "of other groups" if by_groups else "far from these"
    lines.append(
        f"At lam = {lam:.2g} GCV reports an error of {found.gcv:.4g} and leave-one-out {found.loo}. The error on rows "
        f"{far} is about {found.corrected:.4g} (corrected), and {found.blocked_error} ({how}, fits to "
        f"{found.blocked.rows:.0f} rows)."
    )
    if by_groups:
        lines.append("In the table of errors whole groups are held out.")
    else:
        lines.append(
            f"In the table of errors the held-out rows are the last {plan.repeats * plan.stride}, in "
            f"{counted(plan.repeats, 'block')}, each predicted from rows that end {counted(plan.gap or 0, 'row')} "
            "before it."
        )
    return [*lines, *_doubts(found)]


def _doubts(found: DependentRows) -> list[str]:
    """Say where the corrected error, and blocks too, are not to be trusted, by what in the data, and what to do."""
    lines = []
    grouped = found.order.groups is not None
    blocks = f"the error of {'groups held out whole' if grouped else 'blocks with a gap'}, {found.blocked_error}"
    ratio = found.fits_later
    if found.unlike_ratio is not None:
        both = isinstance(found.order.laws, SeriesLaws) and found.order.laws.scales is not None
        knows = "The correction knows of both." if both else "The correction knows of the dependence alone."
        lines.append(
            f"The rows differ in scale, too: leave-one-out is {found.unlike_ratio} times what GCV reports, which "
            f"dependence alone does not do. {knows}"
        )
    if not found.order.reached:
        lines.append(
            f"Rows that are {found.order.gap} apart still correlate by more than {NEAR_CORRELATION:g}, and a wider gap "
            "would leave too few rows: blocks report too small an error, too. If a trend or a season that many columns "
            "share is what correlates them, the corrected error is too large instead."
        )
    if found.shifted:
        lines.append(
            "Most columns repeat their neighbor one row later, as windows of one series do that overlap. The "
            f"correction is not meant for such rows and makes the error too large: go by {blocks}, or take windows "
            "that do not overlap."
        )
    elif found.too_large:
        lines.append(
            f"Held-out {'groups' if grouped else 'blocks'} are predicted better than the corrected error says, beyond "
            f"the error bars, so that the correlation {'within groups' if grouped else 'in time'} is not the same in "
            f"all columns: go by {blocks}."
        )
    if found.few:
        by_blocks = "" if found.drift else f"; go by {blocks}"
        lines.append(
            "The table is too small to know how its rows depend on each other (too few rows times columns that vary by "
            f"themselves, or too few that are far apart): the correction is a guess{by_blocks}."
        )
    if found.drift:
        why = (
            f"the later blocks are predicted with {ratio} times the corrected error of the rows before them"
            if found.later_worse
            else f"the means of the rows are known as from {found.effective_rows_of_mean:.1f} independent ones, and "
            f"with fewer than {MIN_STRETCHES:g} a drift and a slow change look alike"
        )
        lines.append(
            f"The rows may drift: {why}. No estimate from the rows of a table knows where they go next. For later rows "
            "count on the held-out error of the last blocks at least, or analyze the changes from row to row."
        )
    return lines


def best_for_dependent_rows(
    found: DependentRows, chosen: float, gcv: float, edge: str, by_theory: str, used: str
) -> list[str]:
    """Say which ridge the corrected error chooses, which GCV would have chosen, and what that would cost."""
    lines = [
        f"The best ridge for all rows is lam = {chosen:.2g} by corrected GCV{edge}{by_theory}. At this ridge {used}."
    ]
    if gcv != chosen:
        more = 100 * (found.at_gcv / found.at_best - 1)
        lines.append(
            f"GCV would have chosen lam = {gcv:.2g}, with a corrected error that is {more:.1f} % above that of the "
            "best ridge."
        )
    return lines


def corrected_agreement(found: DependentRows, test: Array, gcv: Array) -> str:
    """Say how far what is reported of fitted rows is from the errors of later blocks, with correction and without."""
    measured = test.mean(axis=0)
    plain, corrected = (float(np.median(values.mean(axis=0) / measured)) for values in (gcv, found.corrected_error))
    return (
        f"What GCV reports of the fitted rows is {plain:.2f} times the held-out error (median over the table); what "
        f"corrected GCV reports is {corrected:.2f} times."
    )


def _after_whitening(found: RowOrder) -> str:
    test = found.test
    if isinstance(test, str):
        return "The rows were whitened."
    rest = f"with probability {test.p_value:.2g} rows in random order resemble each other as much"
    if test.p_value <= 0.01:
        return f"After whitening they still do ({rest}): the dependence is of another kind than what was fitted."
    return f"After whitening they do not, as far as one can tell ({rest})."
