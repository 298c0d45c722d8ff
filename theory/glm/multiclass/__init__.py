"""K classes trained at once: overlaps are matrices over classes."""

from theory.glm.multiclass.saddle_point import MulticlassSaddlePoint
from theory.glm.multiclass.solve import solve_multiclass

__all__ = ["MulticlassSaddlePoint", "solve_multiclass"]
