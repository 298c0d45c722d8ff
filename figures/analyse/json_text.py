"""Writes an analysis as JSON: its conclusions in words, and all its numbers by their names."""

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

import theory
from figures.core.rows import COLUMNS

SCHEMA, VERSION = "masked-ssl-analysis", 1
MAX_LISTED_NUMBERS = 2000  # of an array; larger ones are in the tables
MAX_DEPTH = 4  # of records within records


def as_json(kind: str, title: str, notes: list[str], conclusions: list[str], analysis: Any) -> str:
    """Return one object with these keys, indented; what is not finite becomes null.

    `schema` and `version` name this form, and the version grows when a key changes its meaning; `program` is the
    version of the package. `kind`, `title`, `notes` (what was noticed as the data were read) and `conclusions` are
    words. `numbers` holds the fields of the analysis by their names: a measured one is an object with `mean`, `stderr`
    and `n`, a record within it an object of its own, an array a list, or an object with its `shape` alone where it has
    more than 2000 numbers. `table` lists the points of the figure, each an object with the columns of the table.
    """
    table = [dict(zip(COLUMNS, (_plain(row.get(name)) for name in COLUMNS), strict=True)) for row in analysis.rows]
    return json.dumps(
        {
            "schema": SCHEMA,
            "version": VERSION,
            "program": theory.__version__,
            "kind": kind,
            "title": title,
            "converged": bool(analysis.converged),
            "notes": notes,
            "conclusions": conclusions,
            "numbers": _fields(analysis, 0),
            "table": table,
        },
        indent=1,
        ensure_ascii=False,
        allow_nan=False,
    )


def _fields(record: Any, depth: int) -> dict[str, Any]:
    shown = (field.name for field in dataclasses.fields(record) if not field.name.startswith("_"))
    skipped = ("rows", "notes") if depth == 0 else ()
    return {name: _plain(getattr(record, name), depth) for name in shown if name not in skipped}


def _plain(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON can hold it; a string names the type of what it cannot."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, np.ndarray):
        return {"shape": list(value.shape)} if value.size > MAX_LISTED_NUMBERS else _plain(value.tolist(), depth)
    if dataclasses.is_dataclass(value):
        return type(value).__name__ if depth >= MAX_DEPTH else _fields(value, depth + 1)
    if isinstance(value, dict):
        return {str(key): _plain(each, depth) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, depth) for each in value[:MAX_LISTED_NUMBERS]]
    return type(value).__name__
