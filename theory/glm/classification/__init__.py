"""Masked prediction by the saddle point: regression of a coordinate, classification of a spin or a color."""

from typing import TYPE_CHECKING

from theory.core.former import former
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

# A type checker takes a module with this function to have every name, and would let misspelled ones pass.
if not TYPE_CHECKING:
    __getattr__ = former(__name__)
