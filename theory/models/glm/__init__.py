"""Records of generalized linear models trained on structured Gaussian data."""

from theory.models.glm.cluster import Cluster, LabelLaw
from theory.models.glm.covariate import GaussianCovariateModel
from theory.models.glm.mixture import GaussianMixture, MulticlassMixture
from theory.models.glm.modes import DenseModes, Modes
from theory.models.glm.penalty import ElasticNet, Lasso, NonNegative, Penalty
from theory.models.glm.problem import GeneralizedLinearModel
from theory.models.glm.random_features import RandomFeatures
from theory.models.glm.random_labels import RandomLabels
from theory.models.glm.signal_law import BernoulliGauss, SignalLaw
from theory.models.glm.teacher_mixture import TeacherMixture
from theory.models.glm.transfer import HiddenManifold, TransferModel

__all__ = [
    "BernoulliGauss",
    "Cluster",
    "DenseModes",
    "ElasticNet",
    "GaussianCovariateModel",
    "GaussianMixture",
    "GeneralizedLinearModel",
    "HiddenManifold",
    "LabelLaw",
    "Lasso",
    "Modes",
    "MulticlassMixture",
    "NonNegative",
    "Penalty",
    "RandomFeatures",
    "RandomLabels",
    "SignalLaw",
    "TeacherMixture",
    "TransferModel",
]
