"""Public functions without a row on the page "What it costs", and why."""

ROOMS = (
    "masked", "random_matrix", "glm", "potts", "nets", "topics", "perceptron", "feedforward", "cumulants", "trees"
)  # fmt: skip
FORMULA = "a closed form, an integral or an equation of few unknowns, whose time no size moves"
PART = "a step of solvers that have rows, called by those who write their own"
SUMS = "it reads its input once, or sums over it"
REPLICATE = "one replicate: what it draws and fits are calls with rows, or it costs what a replicate beside it does"
EXPANDED = "milliseconds up to the size at which its tables of contexts are refused"
PACKAGE = "it trains with JAX where that is installed; its time is that of the network"


def _all(reason: str, room: str, names: str) -> dict[str, str]:
    return {f"{room}.{name}": reason for name in names.split()}


EXCEPTIONS = {
    **_all(PART, "theory.random_matrix", "degrees_of_freedom minor_moments population population_errors ridge_moments"),
    **_all(PART, "theory.random_matrix", "shrinkage solve_effective_ridge solve_population_ridge solve_ridge_equation"),
    **_all(FORMULA, "theory.glm", "bayes_optimal_classes bayes_optimal_linear bayes_optimal_mixture"),
    **_all(FORMULA, "theory.glm", "bayes_optimal_sign bivariate_normal fairness_table infinite_ridge is_separable"),
    **_all(FORMULA, "theory.glm", "mixture_separability_threshold random_features_threshold random_labels_limit"),
    **_all(FORMULA, "theory.glm", "teacher_alignment"),
    **_all(FORMULA, "theory.glm", "ridge_regression separability_threshold sparse_recovery_threshold"),
    **_all(PART, "theory.glm", "as_problem gaussian_mixture masked_classification masked_color"),
    **_all(PART, "theory.glm", "masked_regression_problem"),
    **_all(FORMULA, "theory.potts", "curie_weiss curie_weiss_critical_beta curie_weiss_jump curie_weiss_latent_heat"),
    **_all(FORMULA, "theory.potts", "curie_weiss_spinodals cylinder finite_curie_weiss onsager_energy ring"),
    **_all(FORMULA, "theory.potts", "ring_contrasts ring_correlation ring_test_error square_lattice_critical_beta"),
    **_all(FORMULA, "theory.potts", "square_lattice_critical_energy"),
    **_all("it costs what masked_loss_floor does", "theory.potts", "masked_loss_floors_by_site"),
    **_all(FORMULA, "theory.nets", "conserved_quantities corrected_growth learning_threshold norm_ratios"),
    **_all(FORMULA, "theory.nets", "spectral_overlaps spectral_signal spectral_threshold token_growth token_path"),
    **_all(EXPANDED, "theory.nets", "best_direction high_temperature_floors leading_gain linear_response_signal"),
    **_all(EXPANDED, "theory.nets", "order_fractions plateau_rate population_signal second_moments third_moments"),
    **_all("it costs what escape_time does", "theory.nets", "lower_layers"),
    **_all("it costs what the network does that it is given", "theory.nets", "logits_table"),
    **_all(FORMULA, "theory.topics", "attention_averages attention_logits block_loss_uniform cross_entropy_optimum"),
    **_all(FORMULA, "theory.topics", "embedding_excess embedding_family escape_rate finite_length_loss many_topics"),
    **_all(FORMULA, "theory.topics", "finite_length_value_matrix optimal_embedding_gram optimal_value_matrix"),
    **_all(FORMULA, "theory.topics", "population_loss_uniform same_topic_gap scaling_limit sectors stability_limit"),
    **_all(FORMULA, "theory.topics", "stage1_flow stage2_bounds stage2_loss stage2_optimum unselected_keys"),
    **_all(FORMULA, "theory.topics", "without_random_words"),
    **_all(FORMULA, "theory.perceptron", "first_moment_bound gardner_capacity"),
    **_all(FORMULA, "theory.feedforward", "activation_kernel bayes_optimal critical_mean_variance criticality"),
    **_all(FORMULA, "theory.feedforward", "frozen_risk ground_state propagate signal_fixed_point stable_states"),
    **_all(FORMULA, "theory.feedforward", "switching_sizes tempered_orders warm_start_risk"),
    **_all(FORMULA, "theory.cumulants", "likelihood_ratio_rate likelihood_ratio_threshold"),
    **_all("a tenth of a second, which no size moves", "theory.cumulants", "likelihood_ratio_beta"),
    **_all(FORMULA, "theory.cumulants", "norm_test norm_test_samples oracle_accuracy overlap_function"),
    **_all(FORMULA, "theory.cumulants", "wishart_low_degree_limit wishart_low_degree_norm"),
    **_all(FORMULA, "theory.trees", "additive_mean depth_density exponent_density mean_children mean_depth"),
    **_all(FORMULA, "theory.trees", "mean_excess_edges pattern_density smallest_number squarefree_run_density"),
    **_all(FORMULA, "theory.trees", "word_frequency"),
    **_all(REPLICATE, "simulate.masked", "coordinate_test_errors correlation_eigenvalues effective_ridge"),
    **_all(REPLICATE, "simulate.masked", "mean_corrected_error mean_fold_error mean_gcv_error mean_loo_error"),
    **_all(REPLICATE, "simulate.masked", "mean_next_row_error mean_train_error pattern_replicate training_replicate"),
    **_all(REPLICATE, "simulate.masked", "compared_overlaps teacher_student_error top_eigenvalue top_outlier"),
    **_all(SUMS, "simulate.masked", "contrasts population_covariance row_blocks whitened with_holes"),
    **_all(REPLICATE, "simulate.glm", "accuracy_minus accuracy_plus bias disparate_impact squared_norm test_error"),
    **_all(REPLICATE, "simulate.glm", "posterior_error resampled scratch_error train_error train_loss"),
    **_all(SUMS, "simulate.glm", "conditional_entropy draw draw_task population random_inputs random_network"),
    **_all(SUMS, "simulate.potts", "autocorrelation_time covariance_agreement diagnose effective_sample_size"),
    **_all(SUMS, "simulate.potts", "full_recovery_error masked_inputs matched_scale recovery_error sample_ring"),
    **_all(SUMS, "simulate.potts", "site_independent split_r_hat"),
    **_all("it costs what masked_loss does", "simulate.potts", "loss_and_gradient masked_language_model_loss"),
    **_all("it draws rows and costs what fit_contrasts does", "simulate.potts", "fit_gaussian"),
    **_all("its sweeps have rows", "simulate.potts", "make_dynamics temper_ladder"),
    **_all(SUMS, "simulate.nets", "enumerated_contexts measured_orders sampled_contexts token_gradients"),
    **_all("it costs what clone does, or the states of a stack", "simulate.nets", "clone_of_stack"),
    **_all(PACKAGE, "simulate.nets", "train_encoder_on_population train_encoder_on_sequences"),
    **_all(SUMS, "simulate.topics", "attention_by_class batch_of layer_loss loss_and_gradient planted_values"),
    **_all(SUMS, "simulate.topics", "attention_contrast count_attention_contrast embedding_contrast topic_contrast"),
    **_all(SUMS, "simulate.topics", "random_embedding topic_gap topic_membership"),
    **_all("it costs what solution_counts does", "simulate.perceptron", "enumerate_solutions solution_entropy"),
    **_all("it costs what pair_entropies does", "simulate.perceptron", "pair_entropy_change"),
    **_all(SUMS, "simulate.perceptron", "extrapolate_sizes"),
    **_all(SUMS, "simulate.feedforward", "canonical_similarity draw_teachers linear_alignment procrustes_similarity"),
    **_all("it costs what train_multilayer does", "simulate.feedforward", "transfer_network"),
    **_all(REPLICATE, "simulate.feedforward", "narrow_risk"),
    **_all(SUMS, "simulate.cumulants", "draw_spike labeled_samples network_gradient sample_null sample_spiked"),
    **_all(SUMS, "simulate.cumulants", "sample_wishart"),
    **_all(REPLICATE, "simulate.cumulants", "enumerated_wishart_norm known_spike_accuracy"),
    **_all("it is most of random_features_accuracy", "simulate.cumulants", "fit_random_features"),
    **_all("it is most of network_accuracy", "simulate.cumulants", "train_network"),
    **_all(SUMS, "simulate.trees", "letters_of_word random_window word_of_letters"),
    **_all("it costs what prediction_loss does", "simulate.trees", "neighbor_loss remainder_loss"),
    **_all(REPLICATE, "simulate.trees", "window_depth_share window_excess_edges window_pattern_share"),
}
