"""Masked regression on tables with holes: errors of two estimators, the least ridge of one, and the oracle."""

from typing import TYPE_CHECKING

from theory.core.lazy import names_on_use

if TYPE_CHECKING:
    from theory.masked.holes.missing_entries import solve_missing_entries
    from theory.masked.holes.oracle import OracleError, oracle_error
    from theory.masked.holes.solution import MissingEntriesSolution

__all__ = [
    "MissingEntriesSolution",
    "OracleError",
    "oracle_error",
    "solve_missing_entries",
]

# A type checker takes a module with these functions to have every name, and would let misspelled ones pass.
if not TYPE_CHECKING:
    __getattr__, __dir__ = names_on_use(__name__)
