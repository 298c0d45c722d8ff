"""Wrong values in every argument of the public functions of theory.glm and of its records: always a named refusal."""

import numpy as np
import pytest

from tests.bad_arguments import Example, assert_all_refused
from theory import glm
from theory.glm import classification
from theory.models import (
    AR1,
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
    MaskedRidge,
    Modes,
    MulticlassMixture,
    NonNegative,
    Probit,
    RandomFeatures,
    RandomLabels,
    TeacherMixture,
    TransferModel,
)

EYE = np.eye(2)
COMMON = {"alpha": 1.0, "lam": 0.1}
PAIR = Modes([1.0], [[1.0]], np.array([[1.0, -0.5], [-0.5, 1.0]])[:, :, None])
MIXTURE = GaussianMixture.opposite(loss="square", **COMMON)
GROUPS = TeacherMixture(group_fraction=0.3, loss="square", **COMMON)
FEATURES = RandomFeatures(samples_per_input=2.0, features_per_input=1.0, lam=0.1, loss="square")
LINEAR = GaussianCovariateModel.from_blocks(
    EYE, EYE, EYE, [1.0, 1.0], labels="linear", loss="square", noise=0.1, **COMMON
)
LOGIT = GeneralizedLinearModel(
    modes=PAIR, clusters=[Cluster(labels=Logit(), teacher_signal=0)], loss="logistic", **COMMON
)
TASK = HiddenManifold(np.eye(3), np.ones(3))
SPARSE = GeneralizedLinearModel(
    modes=Modes([1.0], [[1.0]], [[[0.25]]]),
    clusters=[Cluster(labels="linear", teacher_signal=0, teacher_variance=0.25, noise=0.1)],
    alpha=1.0,
    loss="square",
    penalty=Lasso(0.3),
    signals=BernoulliGauss(0.25),
)
FUNCTIONS = {
    "bayes_optimal": Example(glm.bayes_optimal, {"model": LOGIT, "start": "uninformed", "check": True}),
    "bayes_optimal_classes": Example(
        glm.bayes_optimal_classes, {"alpha": 1.0, "variance": 0.5, "shares": [0.3, 0.7], "mean_power": 1.0}
    ),
    "bayes_optimal_linear": Example(glm.bayes_optimal_linear, {"alpha": 1.0, "noise": 0.1, "power": 1.0}),
    "bayes_optimal_mixture": Example(
        glm.bayes_optimal_mixture, {"alpha": 1.0, "variance": 0.5, "mean_power": 1.0, "probability": 0.3}
    ),
    "bayes_optimal_sign": Example(glm.bayes_optimal_sign, {"alpha": 1.0, "noise": 0.1, "power": 1.0}),
    "bayes_optimal_signal": Example(glm.bayes_optimal_signal, {"model": SPARSE}),
    "bivariate_normal": Example(glm.bivariate_normal, {"x": 0.1, "y": 0.2, "correlation": 0.3}),
    "from_blocks": Example(
        GaussianCovariateModel.from_blocks, {"Psi": EYE, "Phi": EYE, "Omega": EYE, "teacher": [1, 1], **COMMON}
    ),
    "fairness_table": Example(glm.fairness_table, {"point": glm.solve(GROUPS)}),
    "gaussian_mixture": Example(glm.gaussian_mixture, {"mean_power": 1.0, "variances": 0.5, **COMMON}),
    "infinite_ridge": Example(glm.infinite_ridge, {"model": MIXTURE}),
    "is_separable": Example(glm.is_separable, {"problem": FEATURES}),
    "learning_curve": Example(glm.learning_curve, {"model": MIXTURE, "alphas": [0.5, 1.0], "lams": [0.1]}),
    "masked_classification": Example(glm.masked_classification, {"inputs": EYE, "cross": [0.3, 0.2], **COMMON}),
    "masked_color": Example(glm.masked_color, {"inputs": EYE, "cross": 0.2 * EYE, **COMMON}),
    "masked_regression_problem": Example(
        glm.masked_regression_problem, {"model": MaskedRidge(AR1(4, 0.5), alpha=2.0, lam=0.1), "coordinate": 1}
    ),
    "mixture_separability_threshold": Example(glm.mixture_separability_threshold, {"model": MIXTURE}),
    "random_features": Example(
        glm.random_features, {"activation": "erf", "samples_per_input": 2.0, "features_per_input": 1.0, "lam": 0.1}
    ),
    "random_features_threshold": Example(glm.random_features_threshold, {"model": FEATURES}),
    "random_labels": Example(glm.random_labels, {"covariance": AR1(5, 0.5), **COMMON}),
    "random_labels_limit": Example(glm.random_labels_limit, {"alpha": 3.0, "loss": "hinge", "rank": 0.9}),
    "optimal_strength": Example(glm.optimal_strength, {"model": SPARSE}),
    "best ridge": Example(glm.optimal_ridge, {"model": LINEAR, "by": "loss"}),
    "ridge_slopes": Example(glm.ridge_slopes, {"point": glm.solve(MIXTURE)}),
    "ridge_regression": Example(glm.ridge_regression, {"model": LINEAR, "lam": 0.2}),
    "separability_threshold": Example(glm.separability_threshold, {"alignment": 0.5}),
    "sparse_recovery_threshold": Example(glm.sparse_recovery_threshold, {"alpha": 0.5}),
    "solve": Example(glm.solve, {"model": MIXTURE, "tol": 1e-10, "max_iter": 1000, "check": True}),
    "teacher_alignment": Example(glm.teacher_alignment, {"model": FEATURES}),
    "optimal_ridge": Example(classification.optimal_ridge, {"model": MIXTURE, "bounds": (0.05, 0.2)}),
    "fresh_loss": Example(classification.fresh_loss, {"point": glm.solve(MIXTURE)}),
    "mixture_floor": Example(classification.mixture_floor, {"model": MIXTURE}),
    "random_graph_floors": Example(classification.random_graph_floors, {"mean_degree": 3.0, "beta": 0.3}),
    "spin_glass_site": Example(classification.spin_glass_site, {"beta": 0.3, "nodes": 20, **COMMON}),
    "split_site": Example(classification.split_site, {"covariance": np.eye(4), "site": 1, "width": 2}),
    "star_floors": Example(classification.star_floors, {"n_neighbors": 3, "beta": 0.3}),
}
CLUSTER = {
    "probability": 1.0,
    "labels": "sign",
    "label": 1,
    "covariance": 0,
    "learner": 0,
    "mean_signal": 0,
    "mean_sign": 1.0,
    "teacher_signal": 0,
    "teacher_variance": 1.0,
    "teacher_mean": 0.0,
    "noise": 0.0,
    "loss_weights": (1.0, 1.0),
}
RECORDS = {
    "BernoulliGauss": Example(BernoulliGauss, {"share": 0.25}),
    "Cluster": Example(Cluster, CLUSTER),
    "Additive": Example(Additive, {"density": lambda e: np.exp(-2 * abs(e))}),
    "Flips": Example(Flips, {"positive": 0.1, "negative": 0.2}),
    "LabelChannel": Example(LabelChannel, {"function": Logit().probability, "values": (1, -1)}),
    "Logit": Example(Logit, {"temperature": 0.5}),
    "Probit": Example(Probit, {"noise": 0.5}),
    "ConvexMargin": Example(
        glm.ConvexMargin, {"function": lambda t: t**2, "derivative": lambda t: 2 * t, "kinks": (), "name": "own"}
    ),
    "DenseModes": Example(DenseModes, {"covariances": [EYE], "signals": [[1.0, 0.0]]}),
    "ElasticNet": Example(ElasticNet, {"l1": 0.3, "l2": 0.2}),
    "FairnessTable": Example(glm.FairnessTable, {"joint": np.full((2, 2, 2), 0.125)}),
    "GaussianCovariateModel": Example(
        GaussianCovariateModel, {"covariance": EYE, "signal": [0.1, 0.1], "power": 1.0, **COMMON}
    ),
    "GaussianMixture": Example(GaussianMixture, {"modes": PAIR, "probabilities": [0.5, 0.5], **COMMON}),
    "GeneralizedLinearModel": Example(
        GeneralizedLinearModel,
        {
            "modes": PAIR,
            "clusters": [Cluster(teacher_signal=0)],
            "loss": "hinge",
            "coupling": 0.0,
            "n_learners": 1,
            "signal_learners": (0, 0),
            **COMMON,
        },
    ),
    "HiddenManifold": Example(HiddenManifold, {"input_map": np.eye(3), "teacher": np.ones(3)}),
    "Lasso": Example(Lasso, {"strength": 0.3}),
    "Modes": Example(Modes, {"weights": [0.5, 0.5], "covariances": [[1.0, 2.0]], "gram": np.ones((1, 1, 2))}),
    "MulticlassMixture": Example(MulticlassMixture, {"modes": PAIR, "probabilities": [0.5, 0.5], **COMMON}),
    "NonNegative": Example(NonNegative, {"ridge": 0.2}),
    "RandomFeatures": Example(
        RandomFeatures, {"activation": "erf", "samples_per_input": 2.0, "features_per_input": 1.0, "lam": 0.1}
    ),
    "RandomLabels": Example(RandomLabels, {"covariance": AR1(5, 0.5), **COMMON}),
    "TeacherMixture": Example(
        TeacherMixture,
        {"group_fraction": 0.3, "coupling": 0.5, "variances": (0.5, 1.0), "loss_weights": ((1, 1), (1, 2)), **COMMON},
    ),
    "TransferModel": Example(TransferModel, {"task": TASK, "first_layer": np.eye(3), **COMMON}),
}


def test_all_public_functions_are_tried():
    tried = set(FUNCTIONS) | set(RECORDS)
    results = {
        "BayesOptimalClasses",
        "BayesOptimalPoint",
        "LearningCurve",
        "Loss",
        "MulticlassSaddlePoint",
        "RidgeRegression",
        "SaddlePoint",
    }
    results |= {"UniversalRandomLabels", "as_problem", "OptimalRidge", "TreeFloors"}
    results |= {"BayesOptimalSignal", "OptimalStrength"}
    results |= {"BestRidge", "InfiniteRidge", "RidgeSlopes"}
    assert set(glm.__all__) | set(classification.__all__) <= tried | results


def test_wrong_arguments_are_refused_by_name():
    assert_all_refused(FUNCTIONS | RECORDS, 300, seed=0)


@pytest.mark.slow
def test_ten_thousand_wrong_arguments_are_refused_by_name():
    assert_all_refused(FUNCTIONS | RECORDS, 10_000, seed=1)


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1.0, 1e200])
def test_only_the_direction_of_a_teacher_counts(size):
    assert HiddenManifold(np.eye(3), size * np.ones(3)).teacher == pytest.approx(np.ones(3))


def test_a_signal_beyond_any_power_is_refused_by_name():
    with pytest.raises(ValueError, match="power must be at least what the signal and covariance explain, inf"):
        GaussianCovariateModel(covariance=EYE, signal=[1e300, 1.0], power=1.0, **COMMON)


def test_blocks_of_no_covariance_are_named_as_they_were_given():
    with pytest.raises(ValueError, match=r"Phi must be the cross-covariance .* explain 9 of a teacher's power 1"):
        GaussianCovariateModel.from_blocks(EYE, np.array([[2.0, 1.0], [1.0, 2.0]]), EYE, [1.0, 1.0], **COMMON)


def test_so_few_features_that_samples_per_feature_overflow_are_refused_by_name():
    with pytest.raises(ValueError, match="features_per_input must be large enough"):
        RandomFeatures(samples_per_input=2.0, features_per_input=1e-320, lam=0.1)
