"""Records of generalized linear models trained on structured Gaussian data."""

from theory.models.glm.cluster import Cluster, LabelLaw
from theory.models.glm.covariate import GaussianCovariateModel
from theory.models.glm.label_channels import Additive, Flips, LabelChannel, Logit, Poisson, Probit
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
    "Additive",
    "BernoulliGauss",
    "Cluster",
    "DenseModes",
    "ElasticNet",
    "Flips",
    "GaussianCovariateModel",
    "GaussianMixture",
    "GeneralizedLinearModel",
    "HiddenManifold",
    "LabelChannel",
    "LabelLaw",
    "Lasso",
    "Logit",
    "Modes",
    "MulticlassMixture",
    "NonNegative",
    "Penalty",
    "Poisson",
    "Probit",
    "RandomFeatures",
    "RandomLabels",
    "SignalLaw",
    "TeacherMixture",
    "TransferModel",
]
