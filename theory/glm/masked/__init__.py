"""Masked prediction by the saddle point: regression of a coordinate, classification of a spin or a color."""

from theory.glm.masked.classification import masked_classification, masked_color, split_site
from theory.glm.masked.fresh_loss import fresh_loss, mixture_floor
from theory.glm.masked.optimum import BestRidge, best_ridge
from theory.glm.masked.regression import masked_regression_problem
from theory.glm.masked.spin_glass import spin_glass_site
from theory.glm.masked.threshold import mixture_separability_threshold
from theory.glm.masked.trees import TreeFloors, random_graph_floors, star_floors

__all__ = [
    "BestRidge",
    "TreeFloors",
    "best_ridge",
    "fresh_loss",
    "masked_classification",
    "masked_color",
    "masked_regression_problem",
    "mixture_floor",
    "mixture_separability_threshold",
    "random_graph_floors",
    "spin_glass_site",
    "split_site",
    "star_floors",
]
