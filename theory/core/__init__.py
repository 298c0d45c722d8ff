"""Plumbing that knows no physics: arrays, checks of arguments, results, errors, tables, compiled kernels, blocks."""

from theory.core.arguments import CheckedRecord, checked, checked_fields
from theory.core.arrays import Array
from theory.core.errors import FitError, MaskedSSLError
from theory.core.frames import DataFrame, table
from theory.core.ranges import (
    Accepted,
    AtLeast,
    Correlation,
    Count,
    Dimension,
    FiniteArray,
    Grid,
    Matrix,
    NonNegative,
    NonNegativeCount,
    Numbers,
    OpenShare,
    Positive,
    PositiveGrid,
    PositiveShare,
    PositiveVector,
    Real,
    Several,
    Share,
    Vector,
    Within,
)
from theory.core.results import Result, SolverResult

__all__ = [
    "Accepted",
    "Array",
    "AtLeast",
    "CheckedRecord",
    "Correlation",
    "Count",
    "DataFrame",
    "Dimension",
    "FiniteArray",
    "FitError",
    "Grid",
    "MaskedSSLError",
    "Matrix",
    "NonNegative",
    "NonNegativeCount",
    "Numbers",
    "OpenShare",
    "Positive",
    "PositiveGrid",
    "PositiveShare",
    "PositiveVector",
    "Real",
    "Result",
    "Several",
    "Share",
    "SolverResult",
    "Vector",
    "Within",
    "checked",
    "checked_fields",
    "table",
]
