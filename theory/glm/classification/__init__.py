"""Masked prediction by the saddle point: regression of a coordinate, classification of a spin or a color."""

from theory.glm.classification.optimum import OptimalRidge, optimal_ridge
from theory.glm.classification.regression import masked_regression_problem
from theory.glm.classification.site_mixtures import masked_classification, masked_color, spin_glass_site, split_site
from theory.glm.classification.trees import TreeFloors, random_graph_floors, star_floors
from theory.glm.fresh_loss import fresh_loss, mixture_floor
from theory.glm.separability import mixture_separability_threshold

__all__ = [
    "OptimalRidge",
    "TreeFloors",
    "fresh_loss",
    "masked_classification",
    "masked_color",
    "masked_regression_problem",
    "mixture_floor",
    "mixture_separability_threshold",
    "optimal_ridge",
    "random_graph_floors",
    "spin_glass_site",
    "split_site",
    "star_floors",
]
