"""What a caller gets who says nothing: all numbers, words and truth values that are defaults of public names.

A changed default changes the answers of everyone who relies on it, and no comparison with a formula sees it: both sides
change. Whoever changes one changes the line here, and says so in the changelog.
"""

import importlib
import inspect
import pkgutil
from math import inf

import pytest

import simulate
import theory
from simulate.cumulants import classification, random_features
from simulate.masked import path

# Where a search stops, what a run may use, which stream it draws from: no model and no estimate depends on them.
OTHERS = {"seed", "n_threads", "n_jobs", "save_seconds", "max_iter", "residual", "iterations", "coordinate", "d"}
DEFAULTS = {
    "figures.analyse.matrix": {
        "MatrixAnalysis": {"converged": True},
        "admitted": {"drop_constant": False},
        "analyse_matrix": {
            "test_fraction": 0.2,
            "standardize": False,
            "drop_constant": False,
            "equal_rows": False,
            "order": "none",
            "whiten_rows": False,
        },
        "constant_text": {"limit": 8},
        "panels": {"tuned": "$\\lambda$ by GCV"},
        "report": {"style": "text", "width": 110},
        "spectrum_report": {"width": 110},
    },
    "figures.analyse.sequences": {
        "SequenceAnalysis": {"converged": True},
        "analyse_sequences": {"identity": 0.8, "field_l2": 0.01, "test_fraction": 0.2, "tol": 0.003},
        "as_experiment": {"is_short": False},
        "panels": {"is_short": False},
        "report": {"width": 110},
    },
    "figures.analyse.text": {
        "TextAnalysis": {"converged": True},
        "analyse_corpus": {
            "sweeps": 300,
            "draws": 6,
            "ridge": 0.0001,
            "dimension": 100,
            "permutations": 200,
            "split": False,
        },
        "report": {"width": 110},
    },
    "simulate.core": {"sweep": {"digest": "", "backend": "loky"}},
    "simulate.cumulants": {
        "NormStatistics": {"converged": True},
        "descended_accuracy": {"rate": 0.002, "decay": 0.002, "n_epochs": 200},
        "enumerated_norm": {"law": "spiked"},
        "network_accuracy": {"n_steps": 6000, "rate": 0.002, "batch_size": 256},
        "train_network": {"rate": 0.002, "batch_size": 256},
    },
    "simulate.feedforward": {
        "Decay": {"converged": True},
        "FieldStatistics": {"converged": True},
        "Multilayer.random": {"variance": 1.0},
        "StochasticActivations": {"converged": True},
        "Teacher": {"converged": True},
        "TrainedMultilayer": {"converged": True},
        "canonical_similarity": {"kept": 0.99},
        "decay": {"correlation": 1.0, "burn_in": 2, "n_pairs": 4},
        "field_statistics": {"variance": 1.0, "correlation": 0.0},
        "fit_narrow": {"start": "teacher", "n_test": 2000, "max_evaluations": 20000, "check": True},
        "sample_narrow": {
            "start": "teacher",
            "lam": 1.0,
            "n_chains": 2,
            "n_samples": 120,
            "n_test": 2000,
            "r_hat_limit": 1.1,
            "check": True,
        },
        "sample_version_space": {"n_chains": 2, "n_sweeps": 200, "n_test": 2000},
        "train_multilayer": {"n_frozen": 0, "batch": 128, "rate": 0.001, "held_out": 0.1, "record_every": 50},
        "transfer_network": {"batch": 128},
    },
    "simulate.glm": {
        "Group": {"labels": "sign", "label": 1, "offset": 0.0, "unseen": 0.0, "noise": 0.0, "learner": 0},
        "LinearFit.fields": {"learners": 0},
        "Population": {"bias": False, "coupling": 0.0, "n_learners": 1},
        "fit": {"bias": False, "argument": "margin"},
        "fit_coupled": {"coupling": 0.0, "bias": True, "n_learners": 2, "argument": "margin"},
        "fit_masked_site": {"bias": False},
        "fit_multiclass": {"bias": True},
        "measure": {"inputs": "gaussian"},
        "posterior_error": {"mean_power": 1.0},
        "random_inputs": {"inputs": "gaussian"},
        "scratch_error": {"steps": 200, "rate": 0.5},
        "train": {"steps": 10, "rate": 0.2},
        "train_loss": {"inputs": "gaussian"},
    },
    "simulate.masked": {
        "BlockedError": {"converged": True},
        "HolesDependence": {"converged": True},
        "HolesDependence.strongest": {"count": 5},
        "ImputationErrors": {"converged": True},
        "MaskedFit": {"converged": True},
        "MaskedFit.corrected_error": {"centered": False},
        "MaskedPath": {"converged": True},
        "MaskedPath.best": {"by": "gcv", "centered": False},
        "MaskedPath.corrected_error": {"centered": False},
        "RowAutocorrelation": {"converged": True},
        "RowAutocorrelation.dependence": {"level": 0.01},
        "RowAutoregression": {"converged": True},
        "RowBlocks": {"name": "X"},
        "RowBlocks.centered": {"standardize": False},
        "RowBlocks.numbered": {"start": 0},
        "RowDiagnosis": {"converged": True},
        "RowHeterogeneity": {"converged": True},
        "WindowErrors": {"converged": True},
        "autoregressive_rows": {"level": 0.01, "permutations": 199},
        "blocked_error": {"gap": 0, "centered": False},
        "coordinate_test_errors": {"inputs": "gaussian"},
        "correlation_eigenvalues": {"inputs": "gaussian"},
        "covariance_eigenvalues": {"inputs": "gaussian"},
        "diagnose_rows": {"level": 0.01},
        "effective_ridge": {"inputs": "gaussian"},
        "imputation_error": {"method": "pairwise"},
        "impute": {"method": "em", "check": True},
        "mean_corrected_error": {"centered": False, "inputs": "gaussian"},
        "mean_fold_error": {"gap": 0, "inputs": "gaussian"},
        "mean_gcv_error": {"inputs": "gaussian"},
        "mean_loo_error": {"inputs": "gaussian"},
        "mean_next_row_error": {"steps": 1, "inputs": "gaussian"},
        "mean_test_error": {"inputs": "gaussian"},
        "mean_train_error": {"inputs": "gaussian"},
        "predictor_eigenvalues": {"inputs": "gaussian"},
        "row_autocorrelation": {"permutations": 199},
        "row_heterogeneity": {"rotations": 39},
        "sample": {"inputs": "gaussian"},
        "symmetric_outlier": {"inputs": "gaussian"},
        "teacher_student_error": {"inputs": "gaussian"},
        "top_eigenvalue": {"inputs": "gaussian"},
        "top_outlier": {"inputs": "gaussian"},
        "top_overlap": {"inputs": "gaussian"},
        "window_errors": {"windows": 12},
    },
    "simulate.nets": {
        "EncoderTraining": {"converged": True},
        "MarginalMismatch": {"converged": True},
        "MarginalReport": {"converged": True},
        "SpectralEstimate": {"converged": True},
        "StackGradient": {"converged": True},
        "StackTraining": {"converged": True},
        "clone": {"triplets": "full", "tol": 0.0001, "max_sweeps": 300000, "tempering": False, "check": True},
        "clone_of_stack": {"n_chains": 16, "max_sweeps": 20000, "check": True},
        "enumerated_contexts": {"max_states": 1048576},
        "gradient_flow": {"max_time": 1000000000.0, "max_evaluations": 20000},
        "marginal_mismatches": {"max_subsets": 2000},
        "measured_orders": {"max_contexts": 262144},
        "spectral_estimate": {"whitened": False},
        "train_encoder_on_population": {"rate": 0.003, "precision": "float32", "orders": False},
        "train_encoder_on_sequences": {"rate": 0.003, "batch_size": 256, "precision": "float32"},
        "train_on_population": {"rate": 0.1, "optimizer": "gradient_descent", "orders": False},
        "train_on_sequences": {"rate": 0.1, "batch_size": 256, "optimizer": "gradient_descent", "orders": False},
    },
    "simulate.perceptron": {
        "descend_stochastic_weights": {"learning_rate": 0.02, "max_epochs": 3000},
        "entropy_profile": {"margin": 0.0, "instances": 15},
        "extrapolate_sizes": {"order": 2},
        "pair_entropies": {"instances": 15},
        "sample_stochastic_weights": {
            "n_chains": 2,
            "n_sweeps": 1000,
            "r_hat_limit": 1.05,
            "max_doublings": 4,
            "check": True,
        },
        "solution_counts": {"margin": 0.0},
        "solution_entropy": {"instances": 15},
        "zero_entropy_capacity": {"margin": 0.0, "instances": 1},
    },
    "simulate.potts": {
        "ContrastFit": {"converged": True},
        "MixingError": {"unit": "sweeps"},
        "TemperedDynamics": {"method": "heat_bath"},
        "Training": {"converged": True},
        "diagnose": {"stride": 1},
        "factored_attention": {"fields": True, "start": "kronecker", "restarts": 0, "tol": 1e-05, "check": True},
        "make_dynamics": {"method": "heat_bath"},
        "matched_scale": {"fields": True},
        "mean_field": {"pseudocount": 0.5},
        "pseudo_likelihood": {
            "l2": 0.01,
            "field_l2": 0.0001,
            "symmetric": True,
            "gauge": "zero_sum",
            "tol": 0.0001,
            "check": True,
        },
        "recovery_error": {"fields": True},
        "sample": {"method": "auto", "max_sweeps": 300000, "progress": False, "check": True},
        "sequence_weights": {"identity": 0.8},
        "site_independent": {"pseudocount": 0.5},
        "temper_ladder": {"hottest": 0.0, "n_chains": 16, "n_sweeps": 300, "rounds": 6, "method": "heat_bath"},
        "train": {"batch_size": 256, "learning_rate": 0.01, "optimizer": "adam", "masks": "every", "fields": True},
    },
    "simulate.topics": {
        "AttentionByClass": {"converged": True},
        "TopicContrast": {"converged": True},
        "Training": {
            "loss": "squared",
            "optimizer": "adam",
            "documents": "sampled",
            "keys": "all",
            "init_noise": 0.0001,
            "batch_size": 40,
            "record_every": 100,
            "evaluated": 500,
        },
        "ValueMatrixFit": {"converged": True},
        "attention_contrast": {"reference": 1.0, "permutations": 200},
        "batch_of": {"keys": "all"},
        "count_attention_contrast": {"reference": 1.0, "permutations": 200},
        "embedding_contrast": {"measure": "cosine", "permutations": 200},
        "fit_value_matrix": {"bias": "free", "ridge": 0.0, "draws": 1},
        "gibbs_lda": {"sweeps": 300, "document_prior": 0.1, "word_prior": 0.01, "chains": 4, "record_every": 10},
        "population_batch": {"keys": "all"},
        "sample_topic_documents": {"length": 100},
        "topic_contrast": {"permutations": 200},
        "topic_membership": {"overlap": False},
    },
    "simulate.trees": {
        "NGramCounts": {"converged": True},
        "PredictionLoss": {"converged": True},
        "TreeText": {"converged": True},
        "TreeText.words": {"start": 0},
        "WordCounts": {"seconds": 0.0, "converged": True},
        "WrittenCorpus": {"converged": True},
        "count_words": {"segment": 65536},
        "markov_loss": {"held_out": "blocks"},
        "neighbor_loss": {"radius": 1, "held_out": "blocks"},
        "prediction_loss": {"modulus": 1, "held_out": "blocks"},
        "read_text": {"segment": 65536},
        "remainder_loss": {"held_out": "blocks"},
        "write_corpus": {"words_per_document": 100},
    },
    "theory.cumulants": {
        "LikelihoodRatioNorm": {"converged": True},
        "LowDegreeNorm": {"converged": True},
        "NormTest": {"converged": True},
        "NormTest.corrected_level": {"level": 0.05},
        "NormTest.corrected_power": {"level": 0.05},
        "NormTest.power": {"level": 0.05},
        "norm_test_samples": {"level": 0.05},
    },
    "theory.feedforward": {
        "Criticality": {"converged": True},
        "FrozenRisk": {"converged": True},
        "SignalPropagation": {"converged": True},
        "SwitchingSizes": {"converged": True},
        "WarmStartRisk": {"converged": True},
        "bayes_curve": {"noise": 0.0, "labels": "linear", "readout": "balanced"},
        "bayes_optimal": {"state": "equilibrium"},
        "critical_mean_variance": {"phi": "tanh"},
        "criticality": {"phi": "erf"},
        "ground_state": {"start": "teacher", "tol": 1e-10, "check": True},
        "propagate": {"correlation": 1.0},
        "signal_fixed_point": {"check": True},
        "specialization": {"noise": 0.0, "labels": "linear", "readout": "balanced"},
        "tempered_orders": {"lam": 1.0, "start": "teacher", "tol": 1e-10, "check": True},
    },
    "theory.glm": {
        "BayesOptimalClasses": {"converged": True},
        "ConvexMargin": {"name": "custom"},
        "FairnessTable": {"converged": True},
        "RidgeRegression": {"converged": True},
        "UniversalRandomLabels": {"converged": True},
        "bayes_optimal_classes": {"mean_power": 1.0},
        "bayes_optimal_linear": {"power": 1.0},
        "bayes_optimal_mixture": {"mean_power": 1.0, "probability": 0.5},
        "bayes_optimal_sign": {"noise": 0.0, "power": 1.0},
        "gaussian_mixture": {"mean_power": 1.0, "variances": 1.0, "probability": 0.5},
        "learning_curve": {"tol": 1e-11, "check": True},
        "masked_classification": {"label_mean": 0.0, "loss": "logistic", "bias": False},
        "masked_color": {"loss": "softmax", "bias": True},
        "random_features": {
            "activation": "sign",
            "loss": "logistic",
            "labels": "sign",
            "noise": 0.0,
            "projection": "gaussian",
        },
        "random_labels": {"loss": "square"},
        "random_labels_limit": {"loss": "square", "rank": 1.0},
        "solve": {"check": True},
    },
    "theory.masked": {
        "MaskedRidgeSolution.fold_error": {"gap": 0},
        "MaskedRidgeSolution.kriged_error": {"variance": 1.0},
        "MaskedRidgeSolution.near_error": {"variance": 1.0},
        "MaskedRidgeSolution.next_row_error": {"steps": 1},
        "OracleError": {"converged": True},
        "PeakHeight": {"converged": True},
        "estimate": {"probes": 16, "coordinates": 64, "max_steps": 200, "tol": 1e-06},
        "oracle_error": {"patterns": 200},
        "replica": {"tol": 1e-12, "check": True},
        "solve": {"exact_size": False},
    },
    "theory.models": {
        "BinaryNetwork": {"neurons": "sign", "phi": "erf"},
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
        "Empirical.from_data": {"center": True},
        "FactoredStack": {"skip": False},
        "FactoredStack.deterministic": {"scale": 1.0, "skip": False},
        "FactoredStack.random": {"skip": False},
        "GOEPrecision": {"nu": 3.0, "variance": 1.0},
        "GammaScales": {"shape": 1.0},
        "GaussianCovariateModel": {"loss": "logistic", "labels": "sign", "noise": 0.0},
        "GaussianFreeField": {"dimension": 1},
        "GaussianMixture": {"loss": "logistic", "bias": True},
        "GaussianMixture.opposite": {"mean_power": 1.0, "variances": 1.0, "probability": 0.5},
        "GeneralizedLinearModel": {"bias": False, "coupling": 0.0, "n_learners": 1},
        "Isotropic": {"variance": 1.0},
        "ManyBodyPottsModel": {"beta": 1.0},
        "Masking": {"selected": 0.15, "kept": 0.1, "randomized": 0.1},
        "MissingEntries": {"method": "own_rows", "rows": "holes", "rescaled": True},
        "MulticlassMixture": {"loss": "square", "bias": True},
        "NarrowNetwork": {"noise": 0.0, "labels": "linear", "readout": "balanced"},
        "NestedFeatures": {"noise": 0.0},
        "NetworkTransfer": {"n_inputs": 32, "width": 64, "weight_variance": 2.25},
        "NumberText": {"first": 2},
        "PottsModel": {"beta": 1.0},
        "PottsModel.from_edges": {"beta": 1.0},
        "RandomFeatures": {
            "activation": "sign",
            "loss": "logistic",
            "labels": "sign",
            "noise": 0.0,
            "projection": "gaussian",
        },
        "RandomLabels": {"loss": "square"},
        "RowDependence.effective_rows": {"alpha": inf},
        "RowDependence.effective_share": {"alpha": inf},
        "SpanWindows": {"step": 1},
        "Spectrum": {"axes": False, "heavy": False, "unbounded": False},
        "SpikedCumulant": {"prior": "signs"},
        "SpikedData": {"method": "ssr"},
        "SpikedWishart": {"prior": "signs"},
        "SquareLatticePotts": {"beta": 1.0},
        "SubjectRows.further_row": {"group": 0},
        "TeacherMixture": {"loss": "logistic", "teacher_overlap": 1.0},
        "TeacherStudent": {"noise": 0.0, "signal_power": 1.0},
        "TransferModel": {"loss": "logistic"},
        "TwoLevel": {"low": 0.3, "high": 4.0, "high_fraction": 0.2},
        "VanillaEncoder": {"mlp_ratio": 4, "attention_only": False, "final_norm": False},
    },
    "theory.nets": {
        "ConservedQuantities": {"converged": True},
        "CorrectedGrowth": {"converged": True},
        "HighTemperatureFloors": {"converged": True},
        "LearningThreshold": {"converged": True},
        "OrderFractions": {"converged": True},
        "PlateauRate": {"converged": True},
        "SpectralOverlaps": {"converged": True},
        "SpectralSignal": {"converged": True},
        "SpectralThreshold": {"converged": True},
        "TokenFlow": {"converged": True},
        "best_direction": {"n_starts": 6, "fields": False, "tol": 0.0001},
        "escape_time": {"tol": 1e-05, "max_evaluations": 100000},
        "factored_floor": {"n_starts": 8, "fields": False, "tol": 1e-06},
        "lower_layers": {"tol": 1e-05, "max_evaluations": 100000},
        "plateau_rate": {"fields": False},
        "population_signal": {"whitened": False, "least_share": 0.5},
        "second_moments": {"fields": False},
        "spectral_signal": {"whitened": False},
        "spectral_threshold": {"share": 1.0},
        "structureless_gain": {"n_draws": 4, "n_starts": 4},
        "third_moments": {"fields": False},
    },
    "theory.perceptron": {
        "copy_entropy": {"copies": 2, "tol": 1e-12, "check": True},
        "entropy_curve": {"margin": 0.0, "tol": 1e-12, "check": True},
        "first_moment_bound": {"margin": 0.0},
        "gardner_capacity": {"margin": 0.0},
        "solution_entropy": {"tol": 1e-12, "check": True},
        "stochastic_saddle_point": {"tol": 1e-09, "check": True},
        "zero_entropy_capacity": {"margin": 0.0, "tol": 1e-12, "check": True},
    },
    "theory.potts": {
        "CurieWeiss": {"converged": True},
        "CurieWeissBranch": {"converged": True},
        "Enumeration": {"converged": True},
        "ExcessLoss": {"converged": True},
        "FiniteCurieWeiss": {"converged": True},
        "Ring": {"beta": 1.0, "periodic": True, "converged": True},
        "Torus": {"converged": True},
        "complexity_gain": {"fields": True},
        "cylinder": {"tol": 1e-12},
        "enumerate_states": {"max_states": 1048576},
        "excess_loss_coefficient": {"parameterization": "factored", "fields": True},
        "k_body_floor": {"symmetric": False, "tol": 1e-13},
        "masked_clone": {"tol": 1e-18},
        "maximum_entropy_clone": {"tol": 1e-12, "check": True},
        "recovery_error_coefficient": {"parameterization": "factored", "fields": True},
        "ring": {"beta": 1.0, "periodic": True},
    },
    "theory.random_matrix": {
        "RidgeMoments": {"rank": 1.0},
        "SpectralLaw.mean": {"power": 1},
        "ridge_moments": {"budget": 2000000},
        "solve_effective_ridge": {"tol": 1e-12, "check": True},
        "solve_ridge_equation": {"tol": 1e-12, "check": True},
        "spike_outliers": {"method": "ssr", "side": "right"},
    },
    "theory.topics": {
        "AttentionAverages": {"converged": True},
        "BlockMatrix": {
            "mask_column": 0.0,
            "mask_row": 0.0,
            "mask_mask": 0.0,
            "word_bias": 0.0,
            "mask_bias": 0.0,
            "converged": True,
        },
        "EscapeRate": {"converged": True},
        "Masking": {"selected": 0.15, "kept": 0.1, "randomized": 0.1},
        "Sectors": {"converged": True},
        "Stage1Flow": {"converged": True},
        "Stage2Bounds": {"converged": True},
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
    "theory.trees": {
        "MeanChildren": {"converged": True},
        "NumberDensity": {"converged": True},
        "NumberMean": {"converged": True},
        "PatternDensity": {"converged": True},
        "WordFrequency": {"density": 0.0, "converged": True},
        "mean_children": {"n_terms": 3},
        "squarefree_run_density": {"length": 2},
    },
}


def rooms():
    """The names of all packages with public functions; those of core and numerics are plumbing."""
    wings = [
        f"{wing.__name__}.{room.name}" for wing in (theory, simulate) for room in pkgutil.iter_modules(wing.__path__)
    ]
    return sorted(
        {*wings, *(f"figures.analyse.{kind}" for kind in ("matrix", "sequences", "text"))}
        - {"theory.core", "theory.numerics"}
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


def defaults(function):
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):  # of exceptions
        return {}
    plain = (int, float, bool, str)
    return {each.name: each.default for each in parameters if type(each.default) in plain and each.name not in OTHERS}


@pytest.mark.parametrize("room", rooms())
def test_the_defaults(room):
    face = importlib.import_module(room)
    found = {name: kept for name, one in callables(face) if (kept := defaults(one))}
    assert found == DEFAULTS.get(room, {})


def test_steps_of_the_smallest_ridges_and_shares_that_are_held_out():
    """Constants by which fits without an argument differ."""
    assert random_features.RIDGES == (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
    assert (random_features.HELD_OUT, classification.TEST_SAMPLES, path.LEFT_OUT) == (0.2, 10_000, 256)
