"""Measures tables with holes: fills them, predicts the error at the holes, and tests whether holes depend on values."""

from simulate.masked.holes.dependence import HolesDependence, holes_depend_on_values
from simulate.masked.holes.draw import with_holes
from simulate.masked.holes.entry_errors import ImputationErrors, imputation_error
from simulate.masked.holes.imputed import Imputed, impute

__all__ = [
    "HolesDependence",
    "ImputationErrors",
    "Imputed",
    "holes_depend_on_values",
    "imputation_error",
    "impute",
    "with_holes",
]
