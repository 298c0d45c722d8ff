"""What users leave out: the defaults by which a model or a fit is another one, and not only a more precise one."""

import importlib
import inspect
import math

import pytest

from simulate.cumulants import classification, random_features
from simulate.masked import path

# Of the functions and records of each room; penalties, noises, powers, rates and laws.
DEFAULTS = {
    "theory.models": {
        "BinaryNetwork": {"neurons": "sign"},
        "Cluster": {
            "probability": 1.0,
            "labels": "sign",
            "label": 1,
            "covariance": 0,
            "learner": 0,
            "mean_sign": 1.0,
            "teacher_variance": 1.0,
            "teacher_mean": 0.0,
            "noise": 0.0,
        },
        "DensePottsModel": {"beta": 1.0},
        "DiscretePerceptron": {"margin": 0.0},
        "GOEPrecision": {"nu": 3.0, "variance": 1.0},
        "GammaScales": {"shape": 1.0},
        "GaussianCovariateModel": {"loss": "logistic", "labels": "sign", "noise": 0.0},
        "GaussianFreeField": {"dimension": 1},
        "GaussianMixture": {"loss": "logistic", "bias": True},
        "GeneralizedLinearModel": {"bias": False, "coupling": 0.0, "n_learners": 1},
        "Isotropic": {"variance": 1.0},
        "ManyBodyPottsModel": {"beta": 1.0},
        "Masking": {"selected": 0.15, "kept": 0.1, "randomized": 0.1},
        "MulticlassMixture": {"loss": "square", "bias": True},
        "NarrowNetwork": {"noise": 0.0, "labels": "linear"},
        "NestedFeatures": {"noise": 0.0},
        "NetworkTransfer": {"n_inputs": 32, "width": 64, "weight_variance": 2.25},
        "NumberText": {"first": 2},
        "PottsModel": {"beta": 1.0},
        "RandomFeatures": {
            "activation": "sign",
            "loss": "logistic",
            "labels": "sign",
            "noise": 0.0,
            "projection": "gaussian",
        },
        "RandomLabels": {"loss": "square"},
        "SpanWindows": {"step": 1},
        "SpikedCumulant": {"prior": "signs"},
        "SquareLatticePotts": {"beta": 1.0},
        "TeacherMixture": {"loss": "logistic", "teacher_overlap": 1.0},
        "TeacherStudent": {"noise": 0.0, "signal_power": 1.0},
        "TransferModel": {"loss": "logistic"},
        "TwoLevel": {"low": 0.3, "high": 4.0, "high_fraction": 0.2},
        "VanillaEncoder": {"mlp_ratio": 4, "attention_only": False, "final_norm": False},
        "ridge_per_sample": {"d": math.inf},
        "ridge_per_unknown": {"d": math.inf},
    },
    "theory.random_matrix": {
        "RidgeMoments": {"rank": 1.0},
    },
    "theory.masked": {
        "replica": {"coordinate": 0},
    },
    "theory.potts": {
        "Ring": {"beta": 1.0},
        "complexity_gain": {"fields": True},
        "excess_loss_coefficient": {"parameterization": "factored", "fields": True},
        "recovery_error_coefficient": {"parameterization": "factored", "fields": True},
        "ring": {"beta": 1.0},
    },
    "theory.glm": {
        "bayes_optimal_linear": {"power": 1.0},
        "bayes_optimal_mixture": {"mean_power": 1.0, "probability": 0.5},
        "bayes_optimal_sign": {"noise": 0.0, "power": 1.0},
        "covariate_model": {"loss": "logistic", "labels": "sign", "noise": 0.0},
        "gaussian_mixture": {"mean_power": 1.0, "variances": 1.0, "probability": 0.5, "loss": "logistic", "bias": True},
        "masked_classification": {"label_mean": 0.0, "loss": "logistic", "bias": False},
        "masked_color": {"loss": "softmax", "bias": True},
        "masked_regression_problem": {"coordinate": 0},
        "multiclass_mixture": {"loss": "square", "bias": True},
        "random_features": {
            "activation": "sign",
            "loss": "logistic",
            "labels": "sign",
            "noise": 0.0,
            "projection": "gaussian",
        },
        "random_labels": {"loss": "square"},
        "random_labels_limit": {"loss": "square", "rank": 1.0},
        "teacher_mixture": {"loss": "logistic", "teacher_overlap": 1.0},
    },
    "theory.nets": {
        "best_direction": {"fields": False},
        "plateau_rate": {"fields": False},
        "population_signal": {"whitened": False},
        "second_moments": {"fields": False},
        "structureless_gain": {"n_draws": 4},
        "third_moments": {"fields": False},
    },
    "theory.perceptron": {
        "copy_entropy": {"copies": 2},
        "entropy_curve": {"margin": 0.0},
        "first_moment_bound": {"margin": 0.0},
        "gardner_capacity": {"margin": 0.0},
        "zero_entropy_capacity": {"margin": 0.0},
    },
    "theory.feedforward": {
        "bayes_curve": {"noise": 0.0, "labels": "linear"},
        "propagate": {"correlation": 1.0},
        "specialization": {"noise": 0.0, "labels": "linear"},
        "tempered_orders": {"lam": 1.0},
    },
    "theory.cumulants": {
        "norm_test_samples": {"level": 0.05},
    },
    "theory.trees": {
        "squarefree_run_density": {"length": 2},
    },
    "theory.topics": {
        "block_loss_uniform": {"loss": "squared"},
        "embedding_family": {"mask_entry": 0.0, "diagonal_excess": 0.0},
        "many_topics": {"mask_weight": 1.0},
        "optimal_embedding_gram": {"bias": "none"},
        "optimal_value_matrix": {"bias": "free", "ridge": 0.0},
        "population_loss": {"loss": "squared", "keys": "all"},
        "population_loss_uniform": {"loss": "squared"},
        "stability_limit": {"bias": "none"},
        "stage1_flow": {"loss": "squared", "bias": "none"},
        "stage2_loss": {"mask_weight": 1.0, "mask_query_weight": 1.0, "bias": "free", "keys": "all"},
        "stage2_optimum": {"mask_weight": 1.0, "bias": "free", "keys": "all"},
    },
    "simulate.glm": {
        "Group": {"labels": "sign", "label": 1, "offset": 0.0, "unseen": 0.0, "noise": 0.0, "learner": 0},
        "Population": {"bias": False, "coupling": 0.0, "n_learners": 1},
        "fit": {"bias": False},
        "fit_coupled": {"coupling": 0.0, "bias": True, "n_learners": 2},
        "fit_masked_site": {"bias": False},
        "fit_multiclass": {"bias": True},
        "scratch_error": {"steps": 200, "rate": 0.5},
        "train": {"steps": 10, "rate": 0.2},
    },
    "simulate.masked": {
        "row_heterogeneity": {"rotations": 39},
    },
    "simulate.trees": {
        "markov_loss": {"held_out": "blocks"},
        "neighbor_loss": {"radius": 1, "held_out": "blocks"},
        "prediction_loss": {"modulus": 1, "held_out": "blocks"},
        "remainder_loss": {"held_out": "blocks"},
        "write_corpus": {"words_per_document": 100},
    },
    "simulate.cumulants": {
        "enumerated_norm": {"law": "spiked"},
        "network_accuracy": {"n_steps": 6000, "rate": 0.002, "batch_size": 256},
        "train_network": {"rate": 0.002, "batch_size": 256},
    },
}


@pytest.mark.parametrize("room", DEFAULTS)
def test_defaults_are_those_that_the_pages_and_papers_name(room):
    package = importlib.import_module(room)
    for name, expected in DEFAULTS[room].items():
        parameters = inspect.signature(getattr(package, name)).parameters
        assert {key: parameters[key].default for key in expected} == expected, f"{room}.{name}"


def test_steps_of_the_smallest_ridges_and_shares_that_are_held_out():
    """Constants by which fits without an argument differ."""
    assert random_features.RIDGES == (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
    assert (random_features.HELD_OUT, classification.TEST_SAMPLES, path.LEFT_OUT) == (0.2, 10_000, 256)
