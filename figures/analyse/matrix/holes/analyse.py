"""Analyzes a table with holes: where they are, what filling them reaches, and whether a check finds that."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from figures.analyse.matrix.copied_rows import copied_rows, copies_text
from figures.analyse.matrix.holes.admitted import FEWEST_SEEN, HoledTable, holed_table
from figures.analyse.matrix.holes.check import self_check
from figures.analyse.matrix.holes.dependence import dependence
from figures.analyse.matrix.holes.expected import LEFT_OUT, MOST_SECONDS, errors_before, filled, seconds
from figures.analyse.matrix.holes.record import METHOD_NAMES, HoleErrors, HolesAnalysis, LeftOut, Method
from figures.analyse.matrix.holes.table import figure_rows
from figures.analyse.matrix.holes.where import Booleans, hole_pattern
from figures.analyse.splits import Sweep
from figures.analyse.wording import counted
from simulate.core import Estimate, Task, stream, sweep
from simulate.masked import Imputed
from theory.core.arrays import Array

DRAWS = 5  # tenths of the entries that are hidden, each once
LEARNING_SHARES = (0.125, 0.25, 0.5)
FEWEST_LEARNING_ROWS = 10


def analyse_holes(
    X: Any,
    names: Sequence[str] | None = None,
    *,
    method: Method | None = None,
    lams: Sequence[float] | None = None,
    repeats: int | None = None,
    drop_constant: bool = False,
    seed: int = 0,
    n_jobs: int = 1,
    progress: str | None = None,
    run: Sweep | None = None,
) -> HolesAnalysis:
    """Say what masked regression can fill into the holes of X (n, d), which are NaN, and fill them.

    Columns are taken in units of their standard deviation, and `lams` are ridges for such columns (by default some that
    lie around the best). `method` fills the holes: "own_rows" (each column is regressed on the others with zeros for
    their holes), "pairwise" (the covariance of pairs of columns that are seen together) or "em" (expectation
    maximization with a ridge); by default "em". What is to be expected is first said by the better of the two others,
    which know it from the entries that are seen alone. `repeats` tenths of the seen entries are then hidden, and filled
    in from the rest (5 by default). No filled cell is taken for data anywhere, and all errors are those of entries that
    are seen. The result does not depend on n_jobs.

    X may also be a table that was admitted before (`holed_table`, whose ValueErrors these are). ValueError for lams <=
    0 and fewer than one of `repeats`.
    """
    table = X if isinstance(X, HoledTable) else holed_table(X, names, drop_constant=drop_constant)
    if table.seen.all():
        raise ValueError("X must have holes (NaN), got none")
    draws = DRAWS if repeats is None else repeats
    if draws < 1:
        raise ValueError(f"repeats must be at least 1, got {repeats}")
    run = run or partial(sweep, n_jobs=n_jobs, progress=progress)
    ridges = _checked(lams)
    before = errors_before(table, method, ridges)
    imputed = filled(table, method or "em", ridges, before)
    analysis = HolesAnalysis(
        table=table,
        pattern=hole_pattern(table.seen),
        dependence=dependence(table, seed),
        before=before,
        imputed=imputed,
        check=self_check(table, method or "em", imputed, draws, seed, run),
        learning=_learning(table, min(before, key=lambda one: one.error.mean), draws, seed, run),
        rows=[],
        notes=(*table.notes, *copies_text(copied_rows(table.X)), *_notes(before, imputed, table.seen, lams)),
        residual=imputed.residual,
        iterations=imputed.iterations,
        converged=imputed.converged,
    )
    analysis.rows.extend(figure_rows(analysis))
    return analysis


def _notes(before: Sequence[HoleErrors], imputed: Imputed, seen: Booleans, lams: Sequence[float] | None) -> list[str]:
    """Say what one should know of the fits before reading their numbers."""
    notes = [
        f"{counted(one.pairs_never_seen, 'pair')} of columns never have a number in the same row, and are taken to be "
        f"uncorrelated by the {METHOD_NAMES[one.method]}"
        for one in before
        if one.pairs_never_seen
    ]
    if lams is None and len(before) < len(LEFT_OUT) and before[0].method != imputed.method:
        notes.append("pairwise covariances were left out, to save time; --missing-as pairwise takes them")
    if not imputed.converged:
        notes.append(
            f"{METHOD_NAMES[imputed.method]} has not converged: its filled cells are {imputed.residual:.2g} standard "
            "deviations from where its steps lead; a larger ridge (--lams) helps"
        )
    alone = int((seen.sum(axis=1) == 1).sum())
    if alone:
        notes.append(
            f"{counted(alone, 'row')} {'has' if alone == 1 else 'have'} one number only, from which all others are "
            "filled"
        )
    return notes


def _checked(lams: Sequence[float] | None) -> Array | None:
    if lams is None:
        return None
    values = np.atleast_1d(np.asarray(lams, dtype=float))
    if values.ndim != 1 or not values.size or not (np.isfinite(values).all() and values.min() > 0):
        raise ValueError(f"lams must be positive numbers, got {lams}")
    return np.unique(values)


def _learning(
    table: HoledTable, chosen: HoleErrors, draws: int, seed: int, run: Sweep
) -> tuple[tuple[int, Estimate], ...]:
    """Return the errors expected at holes of fewer rows, at their own best ridge, and last those of all rows.

    Each is a mean over random choices of the rows; a size is left out where a choice leaves a column without numbers,
    and all are where that would take more than half a minute.
    """
    sizes = [round(share * table.n) for share in LEARNING_SHARES]
    sizes = [size for size in sizes if size >= FEWEST_LEARNING_ROWS]
    if sum(seconds(chosen.method, size, table.d) for size in sizes) * max(draws, 2) > MOST_SECONDS:
        return ()
    times = max(draws, 2)
    tasks = [
        Task(f"rows/{size}/{r}", fewer_rows, (table, chosen.method, size, seed, r))
        for size in sizes
        for r in range(times)
    ]
    found = run(tasks) if tasks else {}
    values = {size: [found[f"rows/{size}/{r}"] for r in range(times)] for size in sizes}
    measured = [(size, Estimate.of(errors)) for size, errors in values.items() if min(errors) > 0]
    return (*measured, (table.n, chosen.error))


def fewer_rows(table: HoledTable, method: LeftOut, size: int, seed: int, repeat: int) -> float:
    """Return the error to expect at holes of a random choice of so many rows, each at its own best ridge.

    0 where a column is seen too little in them.
    """
    some = np.sort(stream(seed, "rows", size, repeat).permutation(table.n)[:size])
    X = table.X[some]
    if (np.isfinite(X).sum(axis=0) < FEWEST_SEEN).any() or (np.nanmax(X, axis=0) == np.nanmin(X, axis=0)).any():
        return 0.0
    return errors_before(table.with_values(X), method, None)[0].error.mean
