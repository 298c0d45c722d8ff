"""What a caller gets who says nothing: every number that is a default of a public function or record.

A changed default changes the answers of everyone who relies on it, and no comparison with a formula sees it: both sides
change. Whoever changes one changes the line here, and says so in the changelog.
"""

import importlib
import inspect
import pkgutil

import pytest

import simulate
import theory

# Where a search stops, what a run may use, which stream it draws from: no model and no estimate depends on them.
OTHERS = {"seed", "n_threads", "n_jobs", "save_seconds", "max_iter", "residual", "iterations", "coordinate", "d"}
DEFAULTS = {
    "figures.analyse.matrix": {
        "analyse_matrix": {"test_fraction": 0.2},
        "constant_text": {"limit": 8},
        "report": {"width": 110},
        "spectrum_report": {"width": 110},
    },
    "figures.analyse.sequences": {
        "analyse_sequences": {"identity": 0.8, "field_l2": 0.01, "test_fraction": 0.2, "tol": 0.003},
        "report": {"width": 110},
    },
    "figures.analyse.text": {
        "analyse_corpus": {"sweeps": 300, "draws": 6, "ridge": 0.0001, "dimension": 100, "permutations": 200},
        "report": {"width": 110},
    },
    "simulate.cumulants": {
        "network_accuracy": {"n_steps": 6000, "rate": 0.002, "batch_size": 256},
        "train_network": {"rate": 0.002, "batch_size": 256},
    },
    "simulate.feedforward": {
        "Multilayer.random": {"variance": 1.0},
        "decay": {"correlation": 1.0, "burn_in": 2, "n_pairs": 4},
        "field_statistics": {"variance": 1.0, "correlation": 0.0},
        "sample_narrow": {"lam": 1.0, "n_chains": 2, "n_samples": 120, "n_test": 2000, "r_hat_limit": 1.1},
        "train_multilayer": {"n_frozen": 0, "batch": 128, "rate": 0.001, "held_out": 0.1, "record_every": 50},
        "transfer_network": {"batch": 128},
    },
    "simulate.glm": {
        "Group": {"label": 1, "offset": 0.0, "unseen": 0.0, "noise": 0.0, "learner": 0},
        "LinearFit.fields": {"learners": 0},
        "Population": {"coupling": 0.0, "n_learners": 1},
        "fit_coupled": {"coupling": 0.0, "n_learners": 2},
        "scratch_error": {"steps": 200, "rate": 0.5},
        "train": {"steps": 10, "rate": 0.2},
    },
    "simulate.masked": {
        "RowBlocks.numbered": {"start": 0},
        "row_heterogeneity": {"rotations": 39},
    },
    "simulate.nets": {
        "clone": {"tol": 0.0001, "max_sweeps": 300000},
        "clone_of_stack": {"n_chains": 16, "max_sweeps": 20000},
        "enumerated_contexts": {"max_states": 1048576},
        "gradient_flow": {"max_time": 1000000000.0, "max_evaluations": 20000},
        "marginal_mismatches": {"max_subsets": 2000},
        "measured_orders": {"max_contexts": 262144},
        "train_encoder_on_population": {"rate": 0.003},
        "train_encoder_on_sequences": {"rate": 0.003, "batch_size": 256},
        "train_on_population": {"rate": 0.1},
        "train_on_sequences": {"rate": 0.1, "batch_size": 256},
    },
    "simulate.perceptron": {
        "descend_stochastic_weights": {"learning_rate": 0.02, "max_epochs": 3000},
        "entropy_profile": {"margin": 0.0, "instances": 15},
        "extrapolate_sizes": {"order": 2},
        "pair_entropies": {"instances": 15},
        "sample_stochastic_weights": {"n_chains": 2, "n_sweeps": 1000, "r_hat_limit": 1.05, "max_doublings": 4},
        "solution_counts": {"margin": 0.0},
        "solution_entropy": {"instances": 15},
        "zero_entropy_capacity": {"margin": 0.0, "instances": 1},
    },
    "simulate.potts": {
        "diagnose": {"stride": 1},
        "factored_attention": {"restarts": 0, "tol": 1e-05},
        "mean_field": {"pseudocount": 0.5},
        "pseudo_likelihood": {"l2": 0.01, "field_l2": 0.0001, "tol": 0.0001},
        "sample": {"max_sweeps": 300000},
        "sequence_weights": {"identity": 0.8},
        "site_independent": {"pseudocount": 0.5},
        "temper_ladder": {"hottest": 0.0, "n_chains": 16, "n_sweeps": 300, "rounds": 6},
        "train": {"batch_size": 256, "learning_rate": 0.01},
    },
    "simulate.topics": {
        "Training": {"init_noise": 0.0001, "batch_size": 40, "record_every": 100, "evaluated": 500},
        "attention_contrast": {"reference": 1.0, "permutations": 200},
        "count_attention_contrast": {"reference": 1.0, "permutations": 200},
        "embedding_contrast": {"permutations": 200},
        "fit_value_matrix": {"ridge": 0.0, "draws": 1},
        "gibbs_lda": {"sweeps": 300, "document_prior": 0.1, "word_prior": 0.01, "chains": 1, "record_every": 10},
        "sample_topic_documents": {"length": 100},
        "topic_contrast": {"permutations": 200},
    },
    "simulate.trees": {
        "TreeText.words": {"start": 0},
        "WordCounts": {"seconds": 0.0},
        "count_words": {"segment": 65536},
        "neighbor_loss": {"radius": 1},
        "prediction_loss": {"modulus": 1},
        "read_text": {"segment": 65536},
        "write_corpus": {"words_per_document": 100},
    },
    "theory.cumulants": {
        "NormTest.corrected_level": {"level": 0.05},
        "NormTest.corrected_power": {"level": 0.05},
        "NormTest.power": {"level": 0.05},
        "norm_test_samples": {"level": 0.05},
    },
    "theory.feedforward": {
        "bayes_curve": {"noise": 0.0},
        "propagate": {"correlation": 1.0},
        "specialization": {"noise": 0.0},
        "tempered_orders": {"lam": 1.0, "tol": 1e-10},
    },
    "theory.glm": {
        "bayes_optimal_linear": {"power": 1.0},
        "bayes_optimal_mixture": {"mean_power": 1.0, "probability": 0.5},
        "bayes_optimal_sign": {"noise": 0.0, "power": 1.0},
        "covariate_model": {"noise": 0.0},
        "gaussian_mixture": {"mean_power": 1.0, "variances": 1.0, "probability": 0.5},
        "learning_curve": {"tol": 1e-11},
        "masked_classification": {"label_mean": 0.0},
        "random_features": {"noise": 0.0},
        "random_labels_limit": {"rank": 1.0},
        "teacher_mixture": {"teacher_overlap": 1.0},
    },
    "theory.masked": {
        "estimate": {"probes": 16, "coordinates": 64, "max_steps": 200, "tol": 1e-06},
        "replica": {"tol": 1e-12},
    },
    "theory.models": {
        "Cluster": {
            "probability": 1.0,
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
        "FactoredStack.deterministic": {"scale": 1.0},
        "GOEPrecision": {"nu": 3.0, "variance": 1.0},
        "GammaScales": {"shape": 1.0},
        "GaussianCovariateModel": {"noise": 0.0},
        "GaussianFreeField": {"dimension": 1},
        "GaussianMixture.opposite": {"mean_power": 1.0, "variances": 1.0, "probability": 0.5},
        "GeneralizedLinearModel": {"coupling": 0.0, "n_learners": 1},
        "Isotropic": {"variance": 1.0},
        "ManyBodyPottsModel": {"beta": 1.0},
        "Masking": {"selected": 0.15, "kept": 0.1, "randomized": 0.1},
        "NarrowNetwork": {"noise": 0.0},
        "NestedFeatures": {"noise": 0.0},
        "NetworkTransfer": {"n_inputs": 32, "width": 64, "weight_variance": 2.25},
        "NumberText": {"first": 2},
        "PottsModel": {"beta": 1.0},
        "PottsModel.from_edges": {"beta": 1.0},
        "RandomFeatures": {"noise": 0.0},
        "SpanWindows": {"step": 1},
        "SquareLatticePotts": {"beta": 1.0},
        "TeacherMixture": {"teacher_overlap": 1.0},
        "TeacherStudent": {"noise": 0.0, "signal_power": 1.0},
        "TwoLevel": {"low": 0.3, "high": 4.0, "high_fraction": 0.2},
        "VanillaEncoder": {"mlp_ratio": 4},
    },
    "theory.nets": {
        "best_direction": {"n_starts": 6, "tol": 0.0001},
        "escape_time": {"tol": 1e-05, "max_evaluations": 100000},
        "structureless_gain": {"n_draws": 4, "n_starts": 4},
    },
    "theory.perceptron": {
        "copy_entropy": {"copies": 2, "tol": 1e-12},
        "entropy_curve": {"margin": 0.0, "tol": 1e-12},
        "first_moment_bound": {"margin": 0.0},
        "gardner_capacity": {"margin": 0.0},
        "solution_entropy": {"tol": 1e-12},
        "stochastic_saddle_point": {"tol": 1e-09},
        "zero_entropy_capacity": {"margin": 0.0, "tol": 1e-12},
    },
    "theory.potts": {
        "Ring": {"beta": 1.0},
        "cylinder": {"tol": 1e-12},
        "enumerate_states": {"max_states": 1048576},
        "k_body_floor": {"tol": 1e-13},
        "masked_clone": {"tol": 1e-18},
        "maximum_entropy_clone": {"tol": 1e-12},
        "ring": {"beta": 1.0},
    },
    "theory.random_matrix": {
        "RidgeMoments": {"rank": 1.0},
        "SpectralLaw.mean": {"power": 1},
        "ridge_moments": {"budget": 2000000},
        "solve_effective_ridge": {"tol": 1e-12},
        "solve_ridge_equation": {"tol": 1e-12},
    },
    "theory.topics": {
        "BlockMatrix": {"mask_column": 0.0, "mask_row": 0.0, "mask_mask": 0.0, "word_bias": 0.0, "mask_bias": 0.0},
        "Masking": {"selected": 0.15, "kept": 0.1, "randomized": 0.1},
        "embedding_family": {"mask_entry": 0.0, "diagonal_excess": 0.0},
        "many_topics": {"mask_weight": 1.0},
        "optimal_value_matrix": {"ridge": 0.0},
        "stage2_loss": {"mask_weight": 1.0, "mask_query_weight": 1.0},
        "stage2_optimum": {"mask_weight": 1.0},
    },
    "theory.trees": {
        "WordFrequency": {"density": 0.0},
        "mean_children": {"n_terms": 3},
        "squarefree_run_density": {"length": 2},
    },
}


def rooms():
    """The names of all packages with public functions; those of numerics are plumbing."""
    wings = [
        f"{wing.__name__}.{room.name}" for wing in (theory, simulate) for room in pkgutil.iter_modules(wing.__path__)
    ]
    return sorted(
        {*wings, *(f"figures.analyse.{kind}" for kind in ("matrix", "sequences", "text"))} - {"theory.numerics"}
    )


def callables(face):
    """The public functions, records and results of a package, and the methods of these as "Record.method"."""
    for name in getattr(face, "__all__", ()):
        one = getattr(face, name)
        if callable(one):
            yield name, one
        if inspect.isclass(one) and not issubclass(one, Exception):
            yield from (
                (f"{name}.{method}", found)
                for method in sorted(vars(one))
                if not method.startswith("_") and callable(found := getattr(one, method))
            )


def numbers(function):
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):  # of exceptions
        return {}
    return {
        each.name: each.default for each in parameters if type(each.default) in (int, float) and each.name not in OTHERS
    }


@pytest.mark.parametrize("room", rooms())
def test_the_numbers_that_are_defaults(room):
    face = importlib.import_module(room)
    found = {name: kept for name, one in callables(face) if (kept := numbers(one))}
    assert found == DEFAULTS.get(room, {})
