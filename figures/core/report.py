"""Writes the table of an experiment for readers, as text, markdown, latex or csv."""

from string import ascii_lowercase
from typing import cast

import numpy as np
import pandas as pd

from figures.core.experiment import Experiment
from figures.core.render import plain, render, wrapped
from figures.core.rows import JOINT, MEASURED, RUN, Row
from figures.core.scores import expected_largest, spread_of_rms
from simulate.core import Estimate

X, AXIS = "x", "x is"
HEADER = ["panel", "curve", AXIS, X, "size", "kind", "theory", "simulation", "replicates", "z"]
ALWAYS_COLUMNS = ("curve", X, "kind")


def render_table(rows: pd.DataFrame, title: str, style: str, experiment: Experiment | None = None) -> str:
    """Write the rows that are markers, or where there are none those of the lines, and the summary below.

    The column of x is called as the axis of the figure, if all panels have one; else a column names it for each row.
    Rows of a group, which share samples, have a letter beside their z. `style` is text, markdown, latex or csv;
    ValueError for another one.
    """
    rows = rows[rows["kind"] != RUN]
    shown = rows[rows["size"].notna() | _tabulated(rows, experiment)]
    shown = rows if shown.empty else shown
    axes = _axes(rows, experiment)
    letters = _letters(rows)
    cells = [_cells(entry, axes, letters) for entry in cast(list[Row], shown.to_dict("records"))]
    labels = set(axes.values()) - {""}
    alone = labels.pop() if len(labels) == 1 else ""
    header = [alone or name if name == X else name for name in HEADER]
    kept = [
        i
        for i, name in enumerate(HEADER)
        if name in ALWAYS_COLUMNS or (any(line[i] for line in cells) and not (name == AXIS and alone))
    ]
    names, chosen = [header[i] for i in kept], [[line[i] for i in kept] for line in cells]
    below = summary(rows, experiment)
    if style == "text":
        names, chosen = list(map(plain, names)), [list(map(plain, line)) for line in chosen]
        title, below = wrapped(title), wrapped(below)
    return render(names, chosen, title, below, style)


def summary(rows: pd.DataFrame, experiment: Experiment | None = None) -> str:
    """Say how many numbers are judged and how far off they are, what is not judged and why, and what did not converge.

    "rms z" is the root of the mean of z^2 over independent comparisons, where a group of rows that share samples is
    one. Beside it stands what a right theory gives: 1.00 +- its standard deviation, and the median of the largest |z|.
    Of the rows that are not judged the gaps to theory are given in percent of the theory.
    """
    sentences = [*_judged(rows), *_not_judged(rows, experiment)]
    failed = int((~rows["converged"]).sum())
    if failed:
        sentences.append(f"{_count(failed, 'row')} NOT CONVERGED")
    return ". ".join(sentences)


def _judged(rows: pd.DataFrame) -> list[str]:
    joint, grouped = rows["kind"] == JOINT, rows["group"] != ""
    z = rows.loc[rows["z"].notna() & (joint | ~grouped), "z"].to_numpy(dtype=float)
    if not z.size:
        return []
    rms, largest = np.sqrt(np.mean(z**2)), np.abs(z).max()
    found = [
        f"{_count(z.size, 'independent comparison')}: rms z {rms:.2f}, expected 1.00 ± {spread_of_rms(z.size):.2f}; "
        f"largest |z| {largest:.2f}, expected about {expected_largest(z.size):.1f}"
    ]
    if joint.any():
        members = int((grouped & ~joint & rows["z"].notna()).sum())
        found.append(
            f"Rows with the same letter share samples and are judged together, {members} rows in "
            f"{_count(int(joint.sum()), 'comparison')}"
        )
    return found


def _not_judged(rows: pd.DataFrame, experiment: Experiment | None) -> list[str]:
    """Give the gaps of what is compared without a z: of each point that of its largest size."""
    reasons = [] if experiment is None else experiment.reasons()
    why = f" because {'; '.join(reasons)}" if reasons else ""
    points = rows[(rows["kind"] == MEASURED) & rows["simulation"].notna()]
    places = points.sort_values("size", kind="stable").drop_duplicates(["panel", "curve", "x"], keep="last")
    compared = places[places["z"].isna() & places["theory"].notna()]
    if compared.empty:
        if rows["z"].notna().any():
            return []
        if points.empty:
            return [f"Nothing is simulated{why}"]
        return [f"{_count(len(places), 'measured number')}, none with a prediction beside it{why}"]
    gap, theory = (compared["simulation"] - compared["theory"]).abs(), compared["theory"].abs()
    relative, absolute = 100 * (gap / theory)[theory > 0], gap[theory == 0]
    sizes = [
        f"deviation from {what} rms {np.sqrt(np.mean(some**2)):.2g}{unit}, largest {some.max():.2g}{unit}"
        for what, some, unit in (("theory", relative, " %"), ("a theory of zero", absolute, ""))
        if len(some)
    ]
    return [f"{_count(len(compared), 'comparison')} without z{why}: {'; '.join(sizes)}"]


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" + "s" * (n != 1)


def _tabulated(rows: pd.DataFrame, experiment: Experiment | None) -> "pd.Series[bool]":
    """Say which points of lines have a row of their own in the table."""
    wanted = pd.Series(False, index=rows.index)
    for panel in experiment.resolved_panels() if experiment is not None else ():
        own = True if experiment is None or experiment.panels is None else rows["panel"] == panel.title
        for label, curve in panel.resolved_curves():
            places = list(curve.table_points if curve.table_points is not None else ())
            wanted |= own & (rows["curve"] == label) & rows["x"].isin(places) & rows["size"].isna()
    return wanted


def _axes(rows: pd.DataFrame, experiment: Experiment | None) -> dict[str, str]:
    """Map the panels of the rows to the labels of their horizontal axes."""
    panels = [] if experiment is None else experiment.resolved_panels()
    if experiment is not None and experiment.panels is None:
        return dict.fromkeys(rows["panel"].unique(), panels[0].xlabel or "")
    known = {panel.title: panel.xlabel or "" for panel in panels}
    return {panel: known.get(panel, "") for panel in rows["panel"].unique()}


def _letters(rows: pd.DataFrame) -> dict[str, str]:
    """Give every group a short mark: a, b, ..., z, aa, ab, ..."""
    names = [name for name in rows["group"].unique() if name]
    marks = [*ascii_lowercase, *(first + second for first in ascii_lowercase for second in ascii_lowercase)]
    return dict(zip(names, marks, strict=False))


def _cells(entry: Row, axes: dict[str, str], letters: dict[str, str]) -> list[str]:
    """Return one line of the table in the order of HEADER."""
    joint, mark = entry["kind"] == JOINT, letters.get(entry["group"], "")
    single = bool(pd.notna(entry["simulation"]) and pd.isna(entry["stderr"]))
    z = _number(entry["z"], "+.2f")
    return [
        entry["panel"],
        f"{mark}: all rows of {entry['group']}" if joint else entry["curve"].removeprefix("_"),
        axes.get(entry["panel"], ""),
        _number(entry["x"], ".6g"),
        _number(entry["size"], "g"),
        entry["kind"],
        _number(entry["theory"], ".6g") if entry["converged"] else "not converged",
        _number(entry["simulation"], ".6g") if single else _measured(entry),
        _number(entry["replicates"], ".0f"),
        z if joint or not mark else f"({z}) {mark}",
    ]


def _measured(entry: Row) -> str:
    if pd.isna(entry["simulation"]):
        return ""
    return str(Estimate(entry["simulation"], entry["stderr"], int(entry["replicates"])))


def _number(value: float | None, style: str) -> str:
    return "" if value is None or pd.isna(value) else format(value, style)
