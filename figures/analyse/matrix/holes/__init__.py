"""Tables with missing cells: where the holes are, what filling them reaches, and the filled table."""

from figures.analyse.matrix.holes.admitted import HoledTable, holed_table
from figures.analyse.matrix.holes.where import HolePattern, Run, hole_pattern

__all__ = ["HolePattern", "HoledTable", "Run", "hole_pattern", "holed_table"]
