"""Tables with missing cells: where the holes are, what filling them reaches, and the filled table."""

from figures.analyse.matrix.holes.admitted import HoledTable, holed_table
from figures.analyse.matrix.holes.analyse import analyse_holes
from figures.analyse.matrix.holes.record import Dependence, HoleErrors, HolesAnalysis, SelfCheck
from figures.analyse.matrix.holes.report import holes_report
from figures.analyse.matrix.holes.where import HolePattern, Run, hole_pattern

__all__ = [
    "Dependence",
    "HoleErrors",
    "HolePattern",
    "HoledTable",
    "HolesAnalysis",
    "Run",
    "SelfCheck",
    "analyse_holes",
    "hole_pattern",
    "holed_table",
    "holes_report",
]
