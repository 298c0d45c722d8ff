"""From the record of a model to its modes and clusters: `as_problem`."""

from theory.glm.systems import covariate, mixture, random_features, random_labels, teacher_mixture, transfer
from theory.glm.systems.registry import as_problem

__all__ = ["as_problem", "covariate", "mixture", "random_features", "random_labels", "teacher_mixture", "transfer"]
