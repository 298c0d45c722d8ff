"""Wrong values in every argument of the public functions of masked regression: refused by name, without a warning."""

import math

import numpy as np
import pytest

from simulate import masked as measured
from simulate.core import stream
from simulate.masked import masks, outliers, spectra
from tests.bad_arguments import Example, assert_all_refused
from theory import masked, random_matrix
from theory.models import (
    AR1,
    AR1Rows,
    Autocovariance,
    CovarianceOperator,
    Descent,
    DiagonalPlusLowRank,
    Dropout,
    Flow,
    GammaScales,
    GivenRows,
    HeavyBall,
    IndependentRows,
    LogNormalScales,
    LongMemoryRows,
    MaskedRegression,
    MaskedRidge,
    MaskedTraining,
    MissingEntries,
    Nesterov,
    OnePass,
    PointScales,
    RandomMasks,
    RandomMasksTraining,
    SpanMask,
    SpanMaskTraining,
    SpanWindows,
    SparsePrecision,
    SpikedData,
    StudentTScales,
    SubjectRows,
    TeacherStudent,
    TwoLevel,
    ridge_per_sample,
    ridge_per_unknown,
)

SIGMA = AR1(8, 0.5)
TWO = PointScales([0.5, 1.5])
ROWS = {"row_scales": TWO, "row_dependence": AR1Rows(12, 0.5)}
RIDGE, UNLIKE = MaskedRidge(SIGMA, 1.5, 0.1), MaskedRidge(SIGMA, 1.5, 0.1, TWO)
DEPENDENT = MaskedRidge(SIGMA, 1.5, 0.1, row_dependence=AR1Rows(12, 0.5))
TRAINED = MaskedTraining(SIGMA, 1.5, Flow(2.0), lam=0.1)
MASKS, SPAN = RandomMasks(SIGMA, 1.5, 0.1, 0.2, 2), SpanMask(SIGMA, 1.5, 0.1, (2, 3))
SPIKE = SpikedData(TwoLevel(10), strength=4.0, alpha=2.0, lam=0.1)
X = np.random.default_rng(0).standard_normal((10, 4))
MORE = np.random.default_rng(2).standard_normal((30, 4))
SUBJECTS = np.arange(30) // 3
HIDDEN = np.random.default_rng(1).random((2, 10, 4)) < 0.3
SEEN = np.arange(40).reshape(10, 4) % 7 > 0
HOLES = MissingEntries(SIGMA, 4.0, 0.1, 0.2)
DRAW = {"d": 8, "rng": stream(0), "inputs": "gaussian"}
PROBLEM = {"covariance": SIGMA, "alpha": 1.5, "lam": 0.1}

RECORDS = {
    "AR1Rows": Example(AR1Rows, {"n": 12, "correlation": 0.5}),
    "Autocovariance": Example(Autocovariance, {"values": [1.0, 0.4], "n": 3}),
    "CovarianceOperator": Example(CovarianceOperator, {"d": 3, "product": lambda V: V, "diagonal": np.ones(3)}),
    "DiagonalPlusLowRank": Example(DiagonalPlusLowRank, {"diagonal": np.ones(3), "factors": np.ones((3, 2))}),
    "Descent": Example(Descent, {"step": 0.1, "steps": 5}),
    "Dropout": Example(Dropout, {"fractions_seen": [1.0, 0.9, 0.6, 0.5]}),
    "Flow": Example(Flow, {"time": 2.0}),
    "GammaScales": Example(GammaScales, {"shape": 2.0}),
    "GivenRows": Example(GivenRows, {"covariances": np.eye(3)}),
    "HeavyBall": Example(HeavyBall, {"step": 0.1, "steps": 5, "momentum": 0.5}),
    "IndependentRows": Example(IndependentRows, {}),
    "LongMemoryRows": Example(LongMemoryRows, {"n": 12, "memory": 0.2}),
    "LogNormalScales": Example(LogNormalScales, {"log_std": 0.5}),
    "MaskedRegression": Example(MaskedRegression, {"covariance": SIGMA, "alpha": 1.5} | ROWS),
    "MaskedRidge": Example(MaskedRidge, PROBLEM | ROWS),
    "MaskedTraining": Example(MaskedTraining, {"training": Flow(2.0)} | PROBLEM),
    "MissingEntries": Example(
        MissingEntries,
        {"covariance": SIGMA, "alpha": 3.0, "lam": 2.0, "missing_rates": [0.1, 0.2, 0.3, 0.0] * 2, "method": "pairwise"}
        | {"rows": "table", "rescaled": True, "row_scales": TWO},
    ),
    "Nesterov": Example(Nesterov, {"step": 0.1, "steps": 5}),
    "OnePass": Example(OnePass, {"step": 0.1}),
    "PointScales": Example(PointScales, {"values": [0.5, 1.5], "weights": [0.5, 0.5]}),
    "PointScales.rescaled": Example(PointScales.rescaled, {"values": [1.0, 2.0], "weights": [0.75, 0.25]}),
    "RandomMasks": Example(RandomMasks, PROBLEM | {"mask_rate": 0.2, "n_masks": 2}),
    "SparsePrecision": Example(SparsePrecision, {"precision": np.eye(3)}),
    "SpanMask": Example(SpanMask, PROBLEM | {"span": (2, 3)}),
    "SpanWindows": Example(SpanWindows, PROBLEM | {"length": 2, "step": 1}),
    "SpikedData": Example(
        SpikedData,
        {"noise": TwoLevel(4), "direction": np.eye(4)[0], "strength": 1.0, "alpha": 1.0, "method": "ssr", "lam": 0.1}
        | {"row_scales": TWO, "row_dependence": AR1Rows(4, 0.5)},
    ),
    "SubjectRows": Example(SubjectRows, {"group_sizes": [3, 1], "correlation": 0.5, "n": 8}),
    "StudentTScales": Example(StudentTScales, {"degrees_of_freedom": 5.0}),
    "TeacherStudent": Example(TeacherStudent, PROBLEM | {"noise": 0.1, "signal_power": 1.0}),
    "ridge_per_sample": Example(ridge_per_sample, {"L": 0.1, "alpha": 1.0, "d": 4}),
    "ridge_per_unknown": Example(ridge_per_unknown, {"lam": 0.1, "alpha": 1.0, "d": 4}),
}
THEORY = {
    "estimate": Example(
        masked.estimate,
        {"model": RIDGE, "rng": stream(0), "probes": 3, "coordinates": 4, "max_steps": 20, "tol": 1e-4},
    ),
    "best_time": Example(masked.best_time, {"covariance": SIGMA, "alpha": 1.5, "lam": 0.1, "with_ridge": False}),
    "solve of trained masks": Example(
        masked.solve, {"model": RandomMasksTraining(SIGMA, 1.5, Flow(2.0), mask_rate=0.2)}
    ),
    "solve of a trained span": Example(masked.solve, {"model": SpanMaskTraining(SIGMA, 1.5, Flow(2.0), span=(2, 3))}),
    "trained_learning_curve": Example(
        masked.trained_learning_curve,
        {"covariance": SIGMA, "alphas": [1.5], "training": Flow(2.0), "lam": 0.1} | ROWS | {"row_scales": TWO},
    ),
    "conditional_variances": Example(masked.conditional_variances, {"covariance": SIGMA}),
    "learning_curve": Example(masked.learning_curve, {"covariance": SIGMA, "alphas": [0.5, 2.0], "lams": [0.1]}),
    "learning_curve of unlike rows": Example(
        masked.learning_curve, {"covariance": SIGMA, "alphas": [0.5, 2.0], "lams": [0.1], "row_scales": TWO}
    ),
    "learning_curve of dependent rows": Example(
        masked.learning_curve,
        {"covariance": SIGMA, "alphas": [0.5, 2.0], "lams": [0.1], "row_dependence": AR1Rows(math.inf, 0.5)},
    ),
    "solve of dependent rows": Example(masked.solve, {"model": DEPENDENT, "exact_size": False}),
    "ridgeless of dependent rows": Example(masked.ridgeless, {"covariance": MaskedRegression(SIGMA, 1.5, **ROWS)}),
    "mask_curve": Example(
        masked.mask_curve, {"covariance": SIGMA, "alphas": [0.5], "lam": 0.1, "mask_rates": [0.2], "n_masks": 2}
    ),
    "optimal_mask_rate": Example(
        masked.optimal_mask_rate,
        {"covariance": SIGMA, "alpha": 1.5, "lam": 0.1, "task_rate": 0.2, "n_masks": 2, "rescaled": True},
    ),
    "optimal_ridge": Example(masked.optimal_ridge, {"covariance": SIGMA, "alpha": 1.5}),
    "optimal_ridge of unlike rows": Example(
        masked.optimal_ridge, {"covariance": MaskedRegression(SIGMA, 1.5, TWO), "alpha": None}
    ),
    "peak_height": Example(masked.peak_height, {"covariance": SIGMA, "lam": 0.1}),
    "predictor": Example(masked.predictor, {"model": RIDGE}),
    "replica": Example(masked.replica, {"model": RIDGE, "coordinate": 1, "tol": 1e-12, "max_iter": 100}),
    "replica of unlike rows": Example(masked.replica, {"model": UNLIKE, "coordinate": 1, "tol": 1e-12, "check": True}),
    "oracle_error": Example(masked.oracle_error, {"covariance": SIGMA, "missing_rates": 0.2, "patterns": 5, "seed": 3}),
    "solve of missing entries": Example(
        masked.solve,
        {"model": MissingEntries(SIGMA, 3.0, 2.0, 0.2, "pairwise"), "exact_size": True, "patterns": 6, "seed": 1},
    ),
    "ridgeless of unlike rows": Example(
        masked.ridgeless, {"covariance": MaskedRegression(SIGMA, 1.5, TWO), "alpha": None}
    ),
    "solve of unlike rows": Example(masked.solve, {"model": UNLIKE, "exact_size": True}),
    "ridgeless": Example(masked.ridgeless, {"covariance": SIGMA, "alpha": 1.5}),
    "solve": Example(masked.solve, {"model": RIDGE, "exact_size": True}),
    "solve_span": Example(masked.solve, {"model": SPAN, "exact_size": True}),
    "solve_masks": Example(masked.solve, {"model": MASKS}),
    "solve_windows": Example(masked.solve, {"model": SpanWindows(SIGMA, 1.5, 0.1, 2), "exact_size": True}),
    "solve of training": Example(masked.solve, {"model": TRAINED, "exact_size": True}),
    "solve of one pass": Example(masked.solve, {"model": MaskedTraining(SIGMA, 1.5, OnePass(0.3))}),
    "solve of descent": Example(masked.solve, {"model": MaskedTraining(SIGMA, 1.5, HeavyBall(0.1, 10, 0.5))}),
    "training_curve": Example(
        masked.training_curve, {"covariance": SIGMA, "alpha": 1.5, "times": [0.5, 2.0], "lam": 0.1}
    ),
    "training_predictor": Example(masked.training_predictor, {"model": TRAINED}),
    "teacher_student": Example(masked.teacher_student, {"model": TeacherStudent(SIGMA, 1.5, 0.1)}),
    "outlier": Example(random_matrix.outlier, {"data": SPIKE}),
    "optimal_spike_ridge": Example(random_matrix.optimal_ridge, {"data": SpikedData(TwoLevel(10), alpha=2.0)}),
    "threshold": Example(random_matrix.threshold, {"data": SPIKE}),
    "symmetric_outlier": Example(random_matrix.symmetric_outlier, {"data": SPIKE}),
}
SIMULATE = {
    "autoregressive_rows": Example(
        measured.autoregressive_rows,
        {"X": MORE, "rng": stream(0), "max_order": 3, "level": 0.1, "permutations": 19},
    ),
    "blocked_error": Example(measured.blocked_error, {"X": X, "lam": 0.1, "folds": 3, "gap": 1, "centered": True}),
    "contrasts": Example(measured.contrasts, {"X": X}),
    "coordinate_test_errors": Example(measured.coordinate_test_errors, {"model": RIDGE} | DRAW),
    "correlation_eigenvalues": Example(measured.correlation_eigenvalues, {"model": RIDGE} | DRAW),
    "covariance_eigenvalues": Example(measured.covariance_eigenvalues, {"model": RIDGE} | DRAW),
    "diagnose_rows": Example(
        measured.diagnose_rows, {"X": MORE, "lam": 0.1, "rng": stream(0), "groups": SUBJECTS, "level": 0.01}
    ),
    "effective_ridge": Example(measured.effective_ridge, {"model": RIDGE} | DRAW),
    "eigenvalues_of_predictor": Example(
        spectra.eigenvalues_of_predictor,
        {"predictor": measured.fit(X, 0.1).predictor, "shrinkage": measured.fit(X, 0.1).shrinkage},
    ),
    "fit": Example(measured.fit, {"X": X, "lam": 0.1}),
    "fit_training": Example(measured.fit_training, {"X": X, "training": Flow(1.0), "lam": 0.1}),
    "fit_training_path": Example(measured.fit_training_path, {"X": X, "times": [0.5, 1.0], "lam": 0.1}),
    "one_pass": Example(measured.one_pass, {"X": X, "step": 0.3}),
    "pattern_replicate": Example(
        measured.pattern_replicate, {"model": SpanMaskTraining(SIGMA, 1.5, Flow(2.0), span=(2, 3))} | DRAW
    ),
    "training_replicate": Example(measured.training_replicate, {"model": TRAINED} | DRAW),
    "fit_path": Example(measured.fit_path, {"X": X, "lams": [0.1, 0.2]}),
    "fit_test_error": Example(measured.fit(X, 0.1).test_error, {"target": X}),
    "path_test_error": Example(measured.fit_path(X, [0.1]).test_error, {"i": 0, "target": X}),
    "fit_corrected_error": Example(
        measured.fit(X, 0.1).corrected_error, {"row_dependence": AR1Rows(10, 0.5), "centered": False}
    ),
    "path_corrected_error": Example(
        measured.fit_path(X, [0.1, 1.0]).corrected_error, {"row_dependence": AR1Rows(math.inf, 0.5), "centered": True}
    ),
    "path_best_corrected": Example(
        measured.fit_path(X, [0.1, 1.0]).best, {"by": "corrected", "row_dependence": AR1Rows(10, 0.5), "centered": True}
    ),
    "path_best": Example(measured.fit_path(X, [0.1, 1.0]).best, {"by": "loo"}),
    "path_loo_residuals": Example(measured.fit_path(X, [0.1, 1.0]).loo_residuals, {"i": 1}),
    "row_autocorrelation": Example(
        measured.row_autocorrelation,
        {"X": MORE, "lags": 3, "rng": stream(0), "groups": SUBJECTS, "permutations": 19},
    ),
    "holes_depend_on_values": Example(measured.holes_depend_on_values, {"X": X, "seen": ~HIDDEN[0], "rng": stream(0)}),
    "imputation_error": Example(
        measured.imputation_error, {"X": X, "seen": SEEN, "lams": [1.0, 2.0], "method": "own_rows"}
    ),
    "impute": Example(measured.impute, {"X": X, "seen": SEEN, "lam": 0.5, "method": "em", "check": True}),
    "mean_test_error at holes": Example(measured.mean_test_error, {"model": HOLES} | DRAW),
    "with_holes": Example(measured.with_holes, {"X": X, "missing_rates": 0.2, "rng": stream(0)}),
    "row_blocks": Example(measured.row_blocks, {"X": X}),
    "row_heterogeneity": Example(measured.row_heterogeneity, {"X": X, "lam": 0.1, "rng": stream(0), "rotations": 19}),
    "mean_gcv_error": Example(measured.mean_gcv_error, {"model": UNLIKE} | DRAW),
    "mean_loo_error": Example(measured.mean_loo_error, {"model": UNLIKE} | DRAW),
    "mean_corrected_error": Example(measured.mean_corrected_error, {"model": DEPENDENT, "centered": True} | DRAW),
    "mean_fold_error": Example(measured.mean_fold_error, {"model": DEPENDENT, "folds": 3, "gap": 1} | DRAW),
    "mean_next_row_error": Example(measured.mean_next_row_error, {"model": DEPENDENT, "steps": 2} | DRAW),
    "mean_test_error": Example(measured.mean_test_error, {"model": RIDGE} | DRAW),
    "mean_test_error_masks": Example(measured.mean_test_error, {"model": MASKS} | DRAW),
    "mean_train_error": Example(measured.mean_train_error, {"model": SPAN} | DRAW),
    "population_covariance": Example(measured.population_covariance, {"X": X}),
    "predictor_eigenvalues": Example(measured.predictor_eigenvalues, {"model": RIDGE} | DRAW),
    "sample": Example(
        measured.sample,
        {"covariance": SIGMA, "n": 5, "rng": stream(0), "inputs": "uniform", "row_scales": TWO}
        | {"row_dependence": AR1Rows(5, 0.5)},
    ),
    "symmetric_outlier": Example(measured.symmetric_outlier, {"data": SPIKE} | DRAW | {"d": 10}),
    "teacher_student_error": Example(measured.teacher_student_error, {"model": TeacherStudent(SIGMA, 1.5, 0.1)} | DRAW),
    "top_eigenvalue": Example(measured.top_eigenvalue, {"data": SPIKE} | DRAW | {"d": 10}),
    "top_eigenvectors": Example(outliers.top_eigenvectors, {"X": X, "method": "ssr", "lam": 0.1}),
    "top_outlier": Example(measured.top_outlier, {"data": SPIKE, "read_out": "reported"} | DRAW | {"d": 10}),
    "compared_overlaps": Example(
        measured.compared_overlaps, {"records": [SPIKE], "read_outs": ["reported"], "d": 10, "rng": stream(0)}
    ),
    "needed_strengths": Example(
        measured.needed_strengths,
        {"records": [SPIKE], "overlap": 0.5, "read_out": "reported", "d": 10, "rng": stream(0)},
    ),
    "top_overlap": Example(measured.top_overlap, {"data": SPIKE} | DRAW | {"d": 10}),
    "window_errors": Example(measured.window_errors, {"X": MORE, "n": 20, "lams": [0.1], "windows": 2}),
    "whitened": Example(measured.whitened, {"X": X, "row_dependence": AR1Rows(10, 0.5)}),
    "coordinate_errors": Example(masks.coordinate_errors, {"model": MASKS} | DRAW),
    "fit_expected_masks": Example(masks.fit_expected_masks, {"X": X, "lam": 0.1, "mask_rate": 0.2}),
    "fit_masks": Example(masks.fit_masks, {"X": X, "masks": HIDDEN, "lam": 0.1, "mask_rate": 0.3}),
    "fit_span": Example(masks.fit_span, {"C": X.T @ X, "lam": 0.1, "span": np.array([1, 2])}),
    "masked_test_error": Example(
        masks.masked_test_error, {"predictor": np.zeros((8, 8)), "covariance": SIGMA, "mask_rate": 0.2}
    ),
    "span_errors": Example(masks.span_errors, {"model": SPAN} | DRAW),
}
EXAMPLES = RECORDS | THEORY | {f"measured {name}": example for name, example in SIMULATE.items()}


def test_every_public_function_has_an_example():
    tried = {example.function for example in EXAMPLES.values()}
    for face in (masked, measured, masks):
        functions = {getattr(face, name) for name in face.__all__ if name.islower()}
        untried = {one for one in functions if callable(one)} - tried
        assert not untried, f"without an example: {untried}"


@pytest.mark.parametrize(("n", "seed"), [(300, 0), pytest.param(10_000, 1, marks=pytest.mark.slow)])
def test_wrong_values_are_refused_by_name(n, seed):
    assert_all_refused(EXAMPLES, n, seed)


def test_ridges_that_double_precision_cannot_divide_by_are_refused_by_name():
    with pytest.raises(ValueError, match=r"lams\[1\] must be 0 or at least 1e-300"):
        measured.fit_path(X, [0.1, 2e-321])
    with pytest.raises(ValueError, match="lam must be larger: rounding hides its penalty"):
        masks.fit_masks(np.ones((9, 3)), np.arange(3) == np.zeros((1, 9, 1)), 1e-300, 0.2)
