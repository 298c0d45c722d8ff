"""Reads and writes the table of an experiment, a CSV file with everything that is drawn."""

from pathlib import Path

import pandas as pd

from figures.core.plain_text import safe_frame, written_cell
from figures.core.rows import COLUMNS, Row
from theory.core.atomic_write import atomic_write

WORDS = ("panel", "curve", "kind", "group")
NUMBERS = ("x", "size", "theory", "simulation", "stderr", "low", "high", "replicates", "z")


class TableError(ValueError):
    """A file is no table of an experiment; the message says what it holds."""


def to_frame(rows: list[Row]) -> pd.DataFrame:
    """Turn rows into a data frame with the types that the CSV file gives back."""
    return _typed(pd.DataFrame(rows, columns=list(COLUMNS)))


def _typed(table: pd.DataFrame) -> pd.DataFrame:
    return table.astype(
        dict.fromkeys(NUMBERS, float) | dict.fromkeys(("panel", "curve", "kind", "group"), str) | {"converged": bool}
    )


def write_csv(rows: list[Row], path: Path) -> None:
    """Write the rows as CSV, whole or not at all: a file that is there is complete."""
    with atomic_write(path) as temporary:
        safe_frame(to_frame(rows)).to_csv(temporary, index=False)


def read_csv(path: Path) -> pd.DataFrame:
    """Read what `write_csv` wrote, numbers to the last bit; TableError where the file is something else."""
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        if tuple(table.columns) != COLUMNS:
            raise ValueError(f"its columns are {', '.join(map(str, table.columns))}")
        for name in NUMBERS:  # by Python's float: pandas' own parser may be off in the last bit
            table[name] = [float(cell or "nan") for cell in table[name]]
        for name in WORDS:
            table[name] = table[name].map(written_cell)
    except ValueError as error:  # pandas' own are among them
        reason = " ".join(str(error).split())
        raise TableError(f"{path} is no table of an experiment: {reason}") from error
    return _typed(table.assign(converged=table["converged"] == "True"))
