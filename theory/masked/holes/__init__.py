"""Masked regression on tables with holes: errors of two estimators, the least ridge of one, and the oracle."""

from theory.masked.holes.missing_entries import solve_missing_entries
from theory.masked.holes.oracle import OracleError, oracle_error
from theory.masked.holes.solution import MissingEntriesSolution

__all__ = [
    "MissingEntriesSolution",
    "OracleError",
    "oracle_error",
    "solve_missing_entries",
]
