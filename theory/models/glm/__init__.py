"""Records of generalized linear models trained on structured Gaussian data."""

from theory.models.glm.cluster import Cluster, LabelLaw
from theory.models.glm.modes import DenseModes, Modes
from theory.models.glm.problem import GeneralizedLinearModel

__all__ = ["Cluster", "DenseModes", "GeneralizedLinearModel", "LabelLaw", "Modes"]
