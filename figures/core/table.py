"""The table of an experiment: a CSV file with everything that is drawn, and its readable form."""

from pathlib import Path
from typing import cast

import numpy as np
import pandas as pd

from figures.core.render import render
from figures.core.rows import COLUMNS, Row
from figures.core.scratch import moved_into_place
from simulate.core import Estimate

NUMBERS = COLUMNS[2:-1]
HEADER = ["panel", "curve", "x", "d", "theory", "simulation", "n", "z"]


class TableError(ValueError):
    """A file is no table of an experiment; the message says what it holds."""


def to_frame(rows: list[Row]) -> pd.DataFrame:
    """The rows as a data frame with the types that the CSV file gives back."""
    return _typed(pd.DataFrame(rows, columns=list(COLUMNS)))


def _typed(table: pd.DataFrame) -> pd.DataFrame:
    return table.astype(dict.fromkeys(NUMBERS, float) | {"panel": str, "curve": str, "converged": bool})


def write_csv(rows: list[Row], path: Path) -> None:
    """Written beside and moved into place: a CSV file that is there is complete."""
    with moved_into_place(path) as scratch:
        to_frame(rows).to_csv(scratch, index=False)


def read_csv(path: Path) -> pd.DataFrame:
    """The rows of `write_csv`, numbers to the last bit; TableError where the file is something else."""
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        if tuple(table.columns) != COLUMNS:
            raise ValueError(f"its columns are {', '.join(map(str, table.columns))}")
        for name in NUMBERS:  # by Python's float: pandas' own parser may be off in the last bit
            table[name] = [float(cell or "nan") for cell in table[name]]
    except ValueError as error:  # pandas' own are among them
        reason = " ".join(str(error).split())
        raise TableError(f"{path} is no table of an experiment: {reason}") from error
    return _typed(table.assign(converged=table["converged"] == "True"))


def render_table(rows: pd.DataFrame, title: str, style: str) -> str:
    """As text, markdown, latex or csv: the markers, or where there are none the line; then the summary."""
    shown = rows[rows["d"].notna()]
    shown = rows if shown.empty else shown
    cells = [_cells(entry) for entry in cast(list[Row], shown.to_dict("records"))]
    kept = [i for i, name in enumerate(HEADER) if name in ("curve", "x") or any(line[i] for line in cells)]
    return render([HEADER[i] for i in kept], [[line[i] for i in kept] for line in cells], title, summary(rows), style)


def summary(rows: pd.DataFrame) -> str:
    """Number of comparisons, how far off they are in standard errors, and what did not converge."""
    z = rows["z"].dropna().to_numpy(dtype=float)
    parts = ["no comparison with simulation"]
    if z.size:
        parts = [_count(z.size, "comparison"), f"rms z {np.sqrt(np.mean(z**2)):.2f}", f"max |z| {np.abs(z).max():.2f}"]
    failed = int((~rows["converged"]).sum())
    return ", ".join(parts + ([_count(failed, "row") + " NOT CONVERGED"] if failed else []))


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" + "s" * (n != 1)


def _cells(entry: Row) -> list[str]:
    """One line in the order of HEADER."""
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
