"""Every wrong argument has an error that names it and what is allowed."""

import numpy as np
import pytest

from tests.glm.settings import teacher_problem
from theory import glm
from theory.models import (
    AR1,
    Cluster,
    DenseModes,
    GaussianCovariateModel,
    GaussianMixture,
    GeneralizedLinearModel,
    Modes,
    MulticlassMixture,
    RandomFeatures,
    RandomLabels,
    TeacherMixture,
)

INDEFINITE = np.array([[1.0, 2.0], [2.0, 1.0]])
EYE = np.eye(2)
COMMON = {"alpha": 1.0, "lam": 0.1}


def problem(clusters=None, modes=None, **options):
    modes = Modes([1.0], [[1.0]], [[[1.0]]]) if modes is None else modes
    clusters = clusters or [Cluster(teacher_signal=0)]
    return GeneralizedLinearModel(modes=modes, clusters=clusters, **{**COMMON, "loss": "hinge"} | options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Modes.of_matrix(INDEFINITE), "covariance must be positive semi-definite"),
        (lambda: Modes.of_matrix(np.ones((2, 3))), "covariance must be square"),
        (lambda: Modes.of_matrix([[1, 0.5], [0, 1]]), "covariance must be symmetric"),
        (lambda: Modes.of_matrix(EYE, [1.0, 2.0, 3.0]), r"signals must have shape \(A, 2\)"),
        (lambda: Modes([0.5, 0.4], [[1.0, 1.0]]), "sum to 1"),
        (lambda: Modes([1.5, -0.5], [[1.0, 1.0]]), "non-negative and sum to 1"),
        (lambda: Modes([1.0], [[1.0, 2.0]]), r"covariances must have shape \(C, 1\)"),
        (lambda: Modes([1.0], [[-1.0]]), "positive semi-definite"),
        (lambda: Modes([1.0], [[1.0]], [[1.0]]), "gram must be a non-empty array with 3 axes"),
        (lambda: Modes([1.0], [[1.0]], np.ones((2, 1, 1))), r"gram must have shape \(A, A, 1\)"),
        (lambda: Modes([1.0], [[1.0]], INDEFINITE[:, :, None]), "gram must be positive semi-definite in every mode"),
        (lambda: Modes([1.0], [[1.0]], np.array([[1.0, 0.5], [0, 1]])[:, :, None]), "gram must be symmetric"),
        (lambda: Modes([1.0], [[np.nan]]), "must be finite"),
        (lambda: DenseModes([INDEFINITE]), r"covariances\[0\] must be positive semi-definite"),
        (lambda: DenseModes([EYE], np.ones(3)), "signals must have shape"),
        (lambda: Modes.of_coordinates([1.0], [-1e300]), r"signals must be at most 1e\+100 in size, got 1e\+300"),
        (lambda: Cluster(), "need a teacher"),
        (lambda: Cluster(labels="linear"), "need a teacher"),
        (lambda: Cluster(labels="fair"), "labels must be one of 'linear', 'sign', 'random', 'cluster'"),
        (lambda: Cluster(labels="cluster", label=0), "label must be -1 or 1"),
        (lambda: Cluster(labels="random", probability=0.0), "probability must lie in"),
        (lambda: Cluster(labels="random", noise=-1.0), "noise must lie in"),
        (lambda: Cluster(labels="random", loss_weights=(0, 0)), "not both zero"),
        (lambda: Cluster(labels="random", loss_weights=(1, 1, 1)), "must be two numbers"),
        (
            lambda: Cluster(labels="linear", teacher_signal=0, loss_weights=(2, 1)),
            "loss_weights must be equal for linear",
        ),
        (lambda: problem(lam=0.0), "lam must be positive"),
        (lambda: problem(lam=-1.0), "lam must be positive"),
        (lambda: problem(alpha=0.0), "alpha must lie in"),
        (lambda: problem(coupling=-1.0), "coupling must lie in"),
        (lambda: problem([Cluster(teacher_signal=0, teacher_variance=0.5)]), "teacher_variance must be at least"),
        (lambda: problem(modes=Modes([1.0], [[0.0]], [[[1.0]]])), "teacher_variance must be at least"),
        (lambda: problem(modes=EYE), r"modes must be a record of theory.models \(Modes or DenseModes\), got array"),
        (lambda: problem([Cluster(teacher_signal=3)]), r"teacher_signal must lie in 0..0"),
        (lambda: problem([Cluster(teacher_signal=0, covariance=1)]), r"covariance must lie in 0..0"),
        (lambda: problem([Cluster(teacher_signal=0, learner=1)]), r"learner must lie in 0..0"),
        (lambda: problem([Cluster(teacher_signal=0, probability=0.5)]), "sum to 1"),
        (lambda: problem(["cluster"]), r"clusters\[0\] must be a record of theory.models \(Cluster\)"),
        (lambda: problem(signal_learners=(0, 1)), "signal_learners must have 1 entries"),
        (
            lambda: problem(
                [
                    Cluster(teacher_signal=0, probability=0.5),
                    Cluster(teacher_signal=0, probability=0.5, labels="linear"),
                ]
            ),
            "linear in all clusters or in none",
        ),
        (
            lambda: GaussianCovariateModel.from_blocks(EYE, np.ones((3, 2)), EYE, [1, 1], **COMMON),
            "Phi must have shape",
        ),
        (lambda: GaussianCovariateModel.from_blocks(INDEFINITE, EYE, EYE, [1, 1], **COMMON), "Psi must be positive"),
        (
            lambda: GaussianCovariateModel.from_blocks(EYE, 2 * EYE, EYE, [1, 1], **COMMON),
            "Phi must be the cross-covariance",
        ),
        (lambda: GaussianCovariateModel.from_data(np.ones((3, 2)), [1.0, 2.0], **COMMON), "one entry for each"),
        (
            lambda: RandomFeatures(activation="step", samples_per_input=1, features_per_input=1, lam=1),
            "activation must",
        ),
        (lambda: RandomFeatures(samples_per_input=0, features_per_input=1, lam=1), "samples_per_input must lie"),
        (
            lambda: RandomFeatures(samples_per_input=1, features_per_input=1, lam=1, projection="haar"),
            "projection must be",
        ),
        (lambda: GaussianMixture.opposite(probability=1.5, **COMMON), "probability must lie in"),
        (lambda: GaussianMixture(modes=Modes([1.0], [[1.0]]), probabilities=(0.5, 0.5), **COMMON), "must have 2 means"),
        (lambda: RandomLabels(covariance=EYE, **COMMON), "covariance must be a record"),
        (lambda: TeacherMixture(group_fraction=1.0, **COMMON), "group_fraction must lie in"),
        (lambda: TeacherMixture(group_fraction=0.5, mean_overlaps=(0.9, -0.9), **COMMON), "Gram matrix of v, W_"),
        (lambda: glm.solve("model"), "model must be a record of a generalized linear model, got 'model'"),
        (lambda: glm.solve(problem(loss="ramp")), "loss must be one of"),
        (lambda: glm.solve(teacher_problem(1.0, 0.1, "hinge", labels="linear")), "needs labels"),
        (lambda: glm.learning_curve(problem(), [1.0, -1.0]), "alphas must be positive"),
        (lambda: glm.learning_curve(problem(), [1.0], [0.0]), "lams must be positive"),
        (lambda: glm.ridge_regression(problem()), "model must have a closed form, which needs square loss"),
        (lambda: glm.random_labels(AR1(5, 0.5), alpha=-1.0, lam=0.1), "alpha must lie in"),
    ],
)
def test_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_unknown_names():
    with pytest.raises(AttributeError, match="no attribute 'solver_of'"):
        glm.solver_of  # noqa: B018
    assert set(glm.__all__) == {name for name in glm.__all__ if getattr(glm, name) is not None}


def test_limits_that_are_not_known_are_refused():
    squared = glm.ConvexMargin(lambda t: (1 - t) ** 2 / 2, derivative=lambda t: t - 1)
    with pytest.raises(ValueError, match="loss must be one of square, logistic, hinge"):
        glm.random_labels_limit(1.5, squared)
    with pytest.raises(ValueError, match="loss must be one of square, logistic, hinge"):
        glm.random_labels_limit(3.0, "hard_margin")


def test_ridge_regression_checks_its_ridge_and_is_infinite_at_the_peak():
    one = np.eye(3)
    given = {"alpha": 1.0, "lam": 0.1, "labels": "linear", "loss": "square", "noise": 0.1}
    problem = GaussianCovariateModel.from_blocks(one, one, one, np.ones(3), **given)
    for lam in (-0.05, np.nan, "a"):
        with pytest.raises(ValueError, match="lam must"):
            glm.ridge_regression(problem, lam)
    assert glm.ridge_regression(problem, 0.0).test_error == np.inf


def test_labels_are_no_teacher_field():
    features = np.random.default_rng(0).standard_normal((50, 3))
    with pytest.raises(ValueError, match="targets must be the teacher's field"):
        GaussianCovariateModel.from_data(features, np.sign(features[:, 0]), labels="sign", alpha=2.0, lam=0.1)
    with pytest.raises(ValueError, match="labels must be one of 'sign', 'linear'"):
        GaussianCovariateModel.from_data(features, features[:, 0], labels="random", alpha=2.0, lam=0.1)


HALVES = [Cluster(teacher_signal=0, probability=0.5, learner=learner) for learner in (0, 1)]
ONE_LABEL = Cluster(labels="cluster", label=-1)
ONE_WEIGHT = Cluster(teacher_signal=0, loss_weights=(1, 0))
ONE_MEAN = Modes([1.0], [[1.0]], [[[1.0]]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: problem(n_learners=0), "n_learners must be an integer of at least 1"),
        (lambda: problem(n_learners=1.5), "n_learners must be an integer"),
        (lambda: problem(signal_learners=(1,)), r"signal_learners must lie in 0..0"),
        (lambda: GeneralizedLinearModel(modes=ONE_MEAN, clusters=[], loss="hinge", **COMMON), "non-empty sequence"),
        (lambda: problem(Cluster(teacher_signal=0)), r"clusters must be a sequence, got Cluster\("),
        (lambda: problem(HALVES, n_learners=2), "each learner needs its own covariance"),
        (lambda: problem([ONE_LABEL], bias=True), "a bias needs both labels"),
        (lambda: problem([ONE_WEIGHT], bias=True), "a bias needs both labels"),
    ],
)
def test_problems_without_a_solution_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
    assert problem([ONE_LABEL]).clusters == (ONE_LABEL,)  # without a bias there is one


def test_classes_of_a_multiclass_mixture():
    with pytest.raises(ValueError, match=r"modes must be a record of theory.models \(Modes\), got DenseModes"):
        MulticlassMixture(modes=DenseModes([EYE], EYE), probabilities=(0.5, 0.5), **COMMON)
    with pytest.raises(ValueError, match="at least 2 classes"):
        MulticlassMixture(modes=ONE_MEAN, probabilities=(1.0,), **COMMON)


@pytest.mark.parametrize(
    "make",
    [
        lambda lam: RandomFeatures(samples_per_input=1, features_per_input=1, lam=lam),
        lambda lam: GaussianMixture.opposite(alpha=1.0, lam=lam),
        lambda lam: RandomLabels(covariance=AR1(5, 0.5), alpha=1.0, lam=lam),
        lambda lam: TeacherMixture(group_fraction=0.5, alpha=1.0, lam=lam),
    ],
)
def test_a_ridge_is_positive(make):
    with pytest.raises(ValueError, match="lam must"):
        make(0.0)


@pytest.mark.parametrize("options", [{"max_iter": 0}, {"tol": 0.0}, {"tol": -1.0}])
def test_options_of_the_search(options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} must"):
        glm.solve(problem(), **options)
    modes = Modes([1.0], [[1.0]], EYE[:, :, None])
    with pytest.raises(ValueError, match=f"{next(iter(options))} must"):
        glm.solve(MulticlassMixture(modes=modes, probabilities=(0.5, 0.5), **COMMON), **options)
