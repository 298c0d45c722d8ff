"""Records of models: their parameters, conventions and what follows from them without solving anything."""

from typing import TYPE_CHECKING

from theory.core.lazy import names_on_use

if TYPE_CHECKING:
    from theory.models.composed import Empirical, Scaled, Spiked
    from theory.models.conventions import ridge_per_sample, ridge_per_unknown
    from theory.models.covariance import Covariance
    from theory.models.cumulants import AtomicLatent, SpikedCumulant, SpikedWishart
    from theory.models.diagonal import Diagonal, Isotropic, PowerLaw, TwoLevel
    from theory.models.ensembles import GOEPrecision, Wishart
    from theory.models.feedforward import BinaryNetwork, NarrowNetwork, NestedFeatures, NetworkTransfer
    from theory.models.given import GivenSpectrum, SpectralDensity
    from theory.models.glm import (
        Additive,
        BernoulliGauss,
        Cluster,
        DenseModes,
        ElasticNet,
        Flips,
        GaussianCovariateModel,
        GaussianMixture,
        GeneralizedLinearModel,
        HiddenManifold,
        LabelChannel,
        Lasso,
        Logit,
        Modes,
        MulticlassMixture,
        NonNegative,
        Penalty,
        Poisson,
        Probit,
        RandomFeatures,
        RandomLabels,
        TeacherMixture,
        TransferModel,
    )
    from theory.models.grouped import Blocks, Equicorrelated
    from theory.models.large import (
        CovarianceOperator,
        DiagonalPlusLowRank,
        LargeCovariance,
        ResolventDiagonals,
        SparsePrecision,
    )
    from theory.models.lattice import GaussianFreeField
    from theory.models.masked_ridge import MaskedRegression, MaskedRidge, RidgeProblem, SampledRows
    from theory.models.masks import RandomMasks, SpanMask, SpanWindows
    from theory.models.missing_entries import Dropout, MissingEntries
    from theory.models.nets import FactoredStack, VanillaEncoder
    from theory.models.pattern_training import RandomMasksTraining, SpanMaskTraining
    from theory.models.perceptron import DiscretePerceptron, StochasticPerceptron, equally_spaced_levels
    from theory.models.potts import (
        ContrastPopulation,
        DensePottsModel,
        GroupInteraction,
        Interaction,
        ManyBodyPottsModel,
        Potts,
        PottsModel,
        SquareLatticePotts,
    )
    from theory.models.row_densities import GammaScales, LogNormalScales, StudentTScales
    from theory.models.row_dependence import GivenRows, IndependentRows, RowDependence
    from theory.models.row_families import AR1Rows, Autocovariance, LongMemoryRows
    from theory.models.row_scales import EqualScales, PointScales, RowScales
    from theory.models.row_subjects import SubjectRows
    from theory.models.sequences import Sequences
    from theory.models.spectrum import Spectrum
    from theory.models.spiked_data import ReadOut, SpikedData, SpikeMethod
    from theory.models.stationary import AR1, Toeplitz, TridiagonalPrecision
    from theory.models.teacher_student import TeacherStudent
    from theory.models.topics import Masking, TopicMixture, TopicModel
    from theory.models.training import Descent, Flow, HeavyBall, MaskedTraining, Nesterov, OnePass, Training
    from theory.models.trees import NumberText, RootedTree

__all__ = [
    "AR1",
    "AR1Rows",
    "Additive",
    "AtomicLatent",
    "Autocovariance",
    "BernoulliGauss",
    "BinaryNetwork",
    "Blocks",
    "Cluster",
    "ContrastPopulation",
    "Covariance",
    "CovarianceOperator",
    "DenseModes",
    "DensePottsModel",
    "Descent",
    "Diagonal",
    "DiagonalPlusLowRank",
    "DiscretePerceptron",
    "Dropout",
    "ElasticNet",
    "Empirical",
    "EqualScales",
    "Equicorrelated",
    "FactoredStack",
    "Flips",
    "Flow",
    "GOEPrecision",
    "GammaScales",
    "GaussianCovariateModel",
    "GaussianFreeField",
    "GaussianMixture",
    "GeneralizedLinearModel",
    "GivenRows",
    "GivenSpectrum",
    "GroupInteraction",
    "HeavyBall",
    "HiddenManifold",
    "IndependentRows",
    "Interaction",
    "Isotropic",
    "LabelChannel",
    "LargeCovariance",
    "Lasso",
    "LogNormalScales",
    "Logit",
    "LongMemoryRows",
    "ManyBodyPottsModel",
    "MaskedRegression",
    "MaskedRidge",
    "MaskedTraining",
    "Masking",
    "MissingEntries",
    "Modes",
    "MulticlassMixture",
    "NarrowNetwork",
    "NestedFeatures",
    "Nesterov",
    "NetworkTransfer",
    "NonNegative",
    "NumberText",
    "OnePass",
    "Penalty",
    "PointScales",
    "Poisson",
    "Potts",
    "PottsModel",
    "PowerLaw",
    "Probit",
    "RandomFeatures",
    "RandomLabels",
    "RandomMasks",
    "RandomMasksTraining",
    "ReadOut",
    "ResolventDiagonals",
    "RidgeProblem",
    "RootedTree",
    "RowDependence",
    "RowScales",
    "SampledRows",
    "Scaled",
    "Sequences",
    "SpanMask",
    "SpanMaskTraining",
    "SpanWindows",
    "SparsePrecision",
    "SpectralDensity",
    "Spectrum",
    "SpikeMethod",
    "Spiked",
    "SpikedCumulant",
    "SpikedData",
    "SpikedWishart",
    "SquareLatticePotts",
    "StochasticPerceptron",
    "StudentTScales",
    "SubjectRows",
    "TeacherMixture",
    "TeacherStudent",
    "Toeplitz",
    "TopicMixture",
    "TopicModel",
    "Training",
    "TransferModel",
    "TridiagonalPrecision",
    "TwoLevel",
    "VanillaEncoder",
    "Wishart",
    "equally_spaced_levels",
    "ridge_per_sample",
    "ridge_per_unknown",
]

# A type checker takes a module with these functions to have every name, and would let misspelled ones pass.
if not TYPE_CHECKING:
    __getattr__, __dir__ = names_on_use(__name__)
