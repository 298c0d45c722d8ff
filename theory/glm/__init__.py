"""Generalized linear models: replica saddle points on structured Gaussian data, one solver for six systems.

`solve` takes any record of theory.models.glm and returns its training loss, test error and overlaps; `learning_curve`
solves a grid, each point from its neighbor.
"""

from typing import TYPE_CHECKING

from theory.core.former import former
from theory.glm.bayes_optimal import bayes_optimal_linear, bayes_optimal_mixture, bayes_optimal_sign
from theory.glm.bayes_optimal_channel import BayesOptimalPoint, bayes_optimal
from theory.glm.bayes_optimal_classes import BayesOptimalClasses, bayes_optimal_classes
from theory.glm.bayes_optimal_signal import BayesOptimalSignal, bayes_optimal_signal
from theory.glm.best_ridge import BestRidge, optimal_ridge
from theory.glm.classification import masked_classification, masked_color, masked_regression_problem
from theory.glm.curves import LearningCurve, learning_curve
from theory.glm.fairness import FairnessTable, fairness_table
from theory.glm.infinite_ridge import InfiniteRidge, infinite_ridge
from theory.glm.losses import ConvexMargin, Loss
from theory.glm.multiclass import MulticlassSaddlePoint
from theory.glm.normal_law import bivariate_normal
from theory.glm.optimal_strength import OptimalStrength, optimal_strength
from theory.glm.ridge import RidgeRegression, ridge_regression
from theory.glm.ridge_slope import RidgeSlopes, ridge_slopes
from theory.glm.saddle_point import SaddlePoint
from theory.glm.separability import (
    is_separable,
    mixture_separability_threshold,
    random_features_threshold,
    separability_threshold,
    teacher_alignment,
)
from theory.glm.solver import solve
from theory.glm.sparse_recovery import sparse_recovery_threshold
from theory.glm.systems import as_problem
from theory.glm.universality import UniversalRandomLabels, random_labels_limit
from theory.models.glm import GaussianMixture, RandomFeatures, RandomLabels

# The models that are solved most often, also by their names in this package.
random_features, random_labels, gaussian_mixture = RandomFeatures, RandomLabels, GaussianMixture.opposite

__all__ = [
    "BayesOptimalClasses",
    "BayesOptimalPoint",
    "BayesOptimalSignal",
    "BestRidge",
    "ConvexMargin",
    "FairnessTable",
    "InfiniteRidge",
    "LearningCurve",
    "Loss",
    "MulticlassSaddlePoint",
    "OptimalStrength",
    "RidgeRegression",
    "RidgeSlopes",
    "SaddlePoint",
    "UniversalRandomLabels",
    "as_problem",
    "bayes_optimal",
    "bayes_optimal_classes",
    "bayes_optimal_linear",
    "bayes_optimal_mixture",
    "bayes_optimal_sign",
    "bayes_optimal_signal",
    "bivariate_normal",
    "fairness_table",
    "gaussian_mixture",
    "infinite_ridge",
    "is_separable",
    "learning_curve",
    "masked_classification",
    "masked_color",
    "masked_regression_problem",
    "mixture_separability_threshold",
    "optimal_ridge",
    "optimal_strength",
    "random_features",
    "random_features_threshold",
    "random_labels",
    "random_labels_limit",
    "ridge_regression",
    "ridge_slopes",
    "separability_threshold",
    "solve",
    "sparse_recovery_threshold",
    "teacher_alignment",
]

# A type checker takes a module with this function to have every name, and would let misspelled ones pass.
if not TYPE_CHECKING:
    __getattr__ = former(__name__)
