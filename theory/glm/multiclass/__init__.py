"""K classes trained at once: overlaps are matrices over classes."""

from theory.glm.multiclass.solve import MulticlassSaddlePoint, solve_multiclass

__all__ = ["MulticlassSaddlePoint", "solve_multiclass"]
