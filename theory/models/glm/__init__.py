"""Records of generalized linear models trained on structured Gaussian data."""

from typing import TYPE_CHECKING

from theory.core.lazy import names_on_use

if TYPE_CHECKING:
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

# A type checker takes a module with these functions to have every name, and would let misspelled ones pass.
if not TYPE_CHECKING:
    __getattr__, __dir__ = names_on_use(__name__)
