"""Analyses of users' own files: readers, and what is measured and predicted for matrices, sequences and text."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from figures.analyse.matrix.more_rows import RowsNeeded, rows_needed

__all__ = ["RowsNeeded", "rows_needed"]

PLACES = {"RowsNeeded": "figures.analyse.matrix.more_rows", "rows_needed": "figures.analyse.matrix.more_rows"}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Load a public name when it is first used: the rooms of one kind of data need not load the others."""
        if name not in PLACES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(PLACES[name]), name)
