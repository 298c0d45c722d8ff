"""Says in words how many cells of a table are missing, and where."""

from collections.abc import Callable, Sequence

import numpy as np

from figures.analyse.matrix.data_quality import named_column
from figures.analyse.matrix.holes.where import HolePattern
from figures.analyse.wording import counted, listed

N_LISTED = 5
RARE_ROWS_SHARE = 0.2  # of complete rows: with fewer it is said what leaving out the others would cost


def where_text(found: HolePattern, names: Sequence[str], line: Callable[[int], int]) -> list[str]:
    """Return sentences on the holes of a table; `line` says in which line of the file a row (from 0) stands."""
    return [
        _how_many(found),
        *_columns(found, names),
        *_together(found, names),
        *_runs(found, names, line),
        *_tails(found),
    ]


def percent(share: float) -> str:
    """Write a share of something in per cent: 0.3 %, 4 %, 57 %, but never 0 % or 100 % of what is in between."""
    value = 100 * share
    if 0 < value < 0.1 or 99.9 < value < 100:
        return "less than 0.1 %" if value < 1 else "more than 99.9 %"
    near_end = value < 1 or value > 99
    return f"{value:.1f} %" if near_end and value % 100 else f"{value:.0f} %"


def ended(text: str) -> str:
    """Return a sentence with its full stop, which the dots of a list that is cut take the place of."""
    return text if text.endswith("...") else f"{text}."


def _how_many(found: HolePattern) -> str:
    cells = f"{found.cells} of {counted(found.n * found.d, 'cell')} ({percent(found.share)})"
    columns = f"{len(found.columns)} of {counted(found.d, 'column')}"
    whole = found.complete_rows / found.n
    text = (
        f"{cells} in {columns} are missing; {counted(found.complete_rows, 'row')} of {found.n} "
        f"({percent(whole)}) {'is' if found.complete_rows == 1 else 'are'} complete."
    )
    if 0 < whole < RARE_ROWS_SHARE:
        text += f" The complete rows hold {percent(found.complete_rows * found.d / (found.n * found.d - found.cells))}"
        text += " of the cells that are seen: that much would be left with --drop-rows."
    return text


def _columns(found: HolePattern, names: Sequence[str]) -> list[str]:
    shares = [f"{names[k]} ({percent(found.missing[k] / found.n)})" for k in found.columns]
    if len(shares) == 1:
        return []
    return [ended(f"The columns with most missing cells are {listed(shares, N_LISTED)}")]


def _together(found: HolePattern, names: Sequence[str]) -> list[str]:
    if not found.together:
        return []
    groups = listed([f"({listed([names[k] for k in group], 2 * N_LISTED)})" for group in found.together], N_LISTED)
    return [
        f"These columns have nearly all their holes in the same rows: {groups}. None of such a group helps to fill "
        "another."
    ]


def _runs(found: HolePattern, names: Sequence[str], line: Callable[[int], int]) -> list[str]:
    if not found.runs:
        return []
    longest = sorted(found.runs, key=lambda run: -run.length)
    texts = [
        f"{named_column(names[run.column])} in {run.length} rows that follow each other (rows {line(run.first)} to "
        f"{line(run.last)} of the file{_end(run.last, found.n)})"
        for run in longest
    ]
    return [
        f"Runs of holes, longer than chance has them, are in {counted(len(texts), 'column')}: "
        f"{listed(texts, N_LISTED)}. Whole stretches are missing there, as where something stopped being measured. If "
        "successive rows resemble each other, the errors of such cells are larger than what is expected here."
    ]


def _end(last: int, n: int) -> str:
    return ", its end" if last == n - 1 else ""


def _tails(found: HolePattern) -> list[str]:
    if not found.drops_out:
        return []
    return [
        f"In {found.tails} of the {found.several} rows with several holes everything is missing from some column on, "
        "as where measurements of a row end early."
    ]


def rows_text(lines: Sequence[int]) -> str:
    """Name rows by their lines in the file."""
    return f"{'row' if len(lines) == 1 else 'rows'} {listed(np.asarray(lines).tolist(), N_LISTED)}"
