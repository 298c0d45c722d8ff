"""Writes the table of an experiment for readers, as text, markdown, latex or csv."""

from typing import cast

import numpy as np
import pandas as pd

from figures.core.render import render
from figures.core.rows import Row
from simulate.core import Estimate

HEADER = ["panel", "curve", "x", "d", "theory", "simulation", "n", "z"]


def render_table(rows: pd.DataFrame, title: str, style: str) -> str:
    """Writes the rows that are markers, or where there are none those of the lines, and the summary below.

    `style` is text, markdown, latex or csv; ValueError for another one.
    """
    shown = rows[rows["d"].notna()]
    shown = rows if shown.empty else shown
    cells = [_cells(entry) for entry in cast(list[Row], shown.to_dict("records"))]
    kept = [i for i, name in enumerate(HEADER) if name in ("curve", "x") or any(line[i] for line in cells)]
    return render([HEADER[i] for i in kept], [[line[i] for i in kept] for line in cells], title, summary(rows), style)


def summary(rows: pd.DataFrame) -> str:
    """Says how many numbers are compared, how far off they are in standard errors, and how many did not converge.

    "rms z" is the root of the mean of z^2, about 1 for a right theory, and max |z| grows with the number compared.
    """
    z = rows["z"].dropna().to_numpy(dtype=float)
    parts = ["no comparison with simulation"]
    if z.size:
        parts = [_count(z.size, "comparison"), f"rms z {np.sqrt(np.mean(z**2)):.2f}", f"max |z| {np.abs(z).max():.2f}"]
    failed = int((~rows["converged"]).sum())
    return ", ".join(parts + ([_count(failed, "row") + " NOT CONVERGED"] if failed else []))


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" + "s" * (n != 1)


def _cells(entry: Row) -> list[str]:
    """Returns one line of the table in the order of HEADER."""
    return [
        entry["panel"],
        entry["curve"].removeprefix("_"),
        f"{entry['x']:.6g}",
        _number(entry["d"], "g"),
        _number(entry["theory"], ".6g") if entry["converged"] else "not converged",
        "" if pd.isna(entry["simulation"]) else str(Estimate(entry["simulation"], entry["stderr"], int(entry["n"]))),
        _number(entry["n"], ".0f"),
        _number(entry["z"], "+.2f"),
    ]


def _number(value: float | None, style: str) -> str:
    return "" if value is None or pd.isna(value) else format(value, style)
