"""Theory against simulation: one or two numbers of each system, at sizes where 1/d is below the error bars."""

import math

import numpy as np
import pytest

from simulate.core import Estimate, stream
from simulate.glm import measure, resampled
from theory import glm
from theory.models import (
    AR1,
    Cluster,
    DenseModes,
    GaussianCovariateModel,
    GeneralizedLinearModel,
    Modes,
    MulticlassMixture,
    RandomFeatures,
    RandomLabels,
    TeacherMixture,
)

D = 150


def estimates(model, d, count, *names, **options):
    """Estimate of the entries of what is measured, by name."""
    measured = [measure(model, d, stream(0, "theory", *names, d, r), **options) for r in range(count)]
    return lambda entry: Estimate.of([entry(one) for one in measured])


def train_loss(measured):
    return measured.train_loss


def test_error(measured):
    return measured.test_error


test_error.__test__ = False


def test_covariate_model(agrees):
    rng = np.random.default_rng(0)
    F, G = rng.standard_normal((D, D)) / math.sqrt(D), rng.standard_normal((D, 120)) / math.sqrt(120)
    Omega, Phi = F @ F.T + 0.1 * np.eye(D), G.T @ F.T * 0.9
    model = GaussianCovariateModel.from_blocks(
        G.T @ G + 0.3 * np.eye(120), Phi, Omega, rng.standard_normal(120), alpha=2.0, lam=0.1, noise=0.1
    )
    agrees(estimates(model, D, 40, "covariate")(test_error), glm.solve(model).test_error, resolves=0.06)


def test_random_features_with_their_nonlinearity(agrees):
    model = RandomFeatures(
        activation="erf",
        samples_per_input=3.0,
        features_per_input=0.6,
        loss="square",
        lam=0.01,
        projection="orthogonal",
    )
    agrees(estimates(model, D, 60, "features")(test_error), glm.solve(model).test_error, resolves=0.08)


def test_mixture_with_unequal_probabilities(agrees):
    model = glm.gaussian_mixture(1.0, 0.5, probability=0.25, loss="logistic", lam=0.1, alpha=3.0)
    point, found = glm.solve(model), estimates(model, D, 64, "mixture")
    agrees(found(test_error), point.test_error, resolves=0.08)
    agrees(found(lambda one: one.bias[0]), point.bias[0], resolves=0.12)


@pytest.mark.parametrize(("law", "loss", "lam"), [("mixture", "square", 1e-4), ("features", "hinge", 0.1)])
def test_random_labels_of_inputs_that_are_not_gaussian(agrees, law, loss, lam):
    model = RandomLabels(covariance=AR1(np.inf, 0.5), alpha=3.0, lam=lam, loss=loss)
    found = estimates(model, 100, 40, "labels", law, inputs=law)
    agrees(found(train_loss), glm.solve(model).train_loss, resolves=0.12)


def test_reweighed_groups(agrees):
    model = TeacherMixture(
        group_fraction=0.4,
        alpha=2.0,
        lam=0.1,
        teacher_overlap=0.6,
        mean_overlaps=(0.3, 0.1),
        loss_weights=((2.0, 3.0), (0.5, 1.0)),
    )
    found, impact = estimates(model, D, 64, "groups"), glm.fairness_table(glm.solve(model)).disparate_impact
    agrees(found(lambda one: one.selection_rate[1] / one.selection_rate[0]), impact, resolves=0.15)


def test_coupled_learners(agrees):
    model = TeacherMixture(
        group_fraction=0.4,
        alpha=2.0,
        lam=0.1,
        loss="square",
        variances=(0.5, 1.0),
        teacher_overlap=0.5,
        mean_overlaps=(0.3, 0.1),
        coupling=1.0,
    )
    found = estimates(model, D, 56, "coupled")
    agrees(found(lambda one: one.cluster_errors[0]), glm.solve(model).cluster_errors[0], resolves=0.12)


def test_three_classes_by_softmax(agrees):
    gram = np.array([[1, 0.3, 0], [0.3, 1, 0.2], [0, 0.2, 1.0]])[:, :, None]
    model = MulticlassMixture(
        modes=Modes([1.0], [[0.4]], gram), probabilities=(0.5, 0.3, 0.2), alpha=1.0, lam=0.1, loss="softmax"
    )
    point, found = glm.solve(model), estimates(model, 100, 56, "classes")
    agrees(found(test_error), point.test_error, resolves=0.08)
    agrees(found(lambda one: one.squared_norm[0]), point.q[0, 0, 0] / 0.4, resolves=0.12)


def test_three_classes_by_square_loss(agrees):
    """The loss has its half, q = 0.4 |w|^2/p."""
    gram = np.array([[1, 0.3, 0], [0.3, 1, 0.2], [0, 0.2, 1.0]])[:, :, None]
    model = MulticlassMixture(
        modes=Modes([1.0], [[0.4]], gram), probabilities=(0.5, 0.3, 0.2), alpha=1.0, lam=0.1, loss="square"
    )
    point, found = glm.solve(model), estimates(model, 100, 56, "square classes")
    agrees(found(train_loss), point.train_loss, resolves=0.2)
    agrees(found(lambda one: one.squared_norm.sum()), np.trace(point.q[0]) / 0.4, resolves=0.12)


@pytest.mark.parametrize("bias", [True, False])
def test_linear_labels_with_a_mean(agrees, bias):
    """A teacher of mean 1.5 that a bias learns; without one the square of it remains in the error."""
    model = GeneralizedLinearModel(
        modes=Modes([1.0], [[1.0]], [[[0.8]]]),
        clusters=[Cluster(labels="linear", teacher_signal=0, teacher_mean=1.5, noise=0.2)],
        alpha=2.0,
        loss="square",
        lam=0.5,
        bias=bias,
    )
    point, found = glm.solve(model), estimates(model, D, 40, "mean", bias)
    agrees(found(test_error), point.test_error, resolves=0.08)
    if bias:
        agrees(found(lambda one: one.bias[0]), point.bias[0], resolves=0.08)
    else:
        assert point.test_error > 1.5**2


@pytest.mark.slow
def test_hard_margin(agrees):
    model = GeneralizedLinearModel(
        modes=Modes([1.0], [[1.0]], [[[1.0]]]),
        clusters=[Cluster(labels="sign", teacher_signal=0)],
        alpha=1.0,
        loss="hard_margin",
        lam=1.0,
    )
    margin = estimates(model, 100, 100, "margin")(lambda one: 1 / math.sqrt(one.squared_norm[0]))
    agrees(margin, 1 / math.sqrt(1.6163950210), resolves=0.07)


@pytest.mark.slow
def test_covariances_that_do_not_commute(agrees):
    rng = np.random.default_rng(1)
    roots = rng.standard_normal((2, D, D)) / math.sqrt(D) * np.array([1.0, 0.7])[:, None, None]
    modes = DenseModes(roots @ roots.transpose(0, 2, 1), rng.standard_normal((2, D)))
    clusters = [
        Cluster(probability=0.3, labels="cluster", label=1, mean_signal=0),
        Cluster(probability=0.7, labels="cluster", label=-1, covariance=1, mean_signal=1),
    ]
    model = GeneralizedLinearModel(modes=modes, clusters=clusters, alpha=2.0, loss="hinge", lam=0.1, bias=True)
    agrees(estimates(model, D, 40, "dense")(test_error), glm.solve(model).test_error, resolves=0.2)


def test_handwritten_digits_are_as_gaussian_data(agrees):
    """Ridge regression of "odd" against "even" on 61 pixels: real inputs, real labels, moments alone in the theory."""
    datasets = pytest.importorskip("sklearn.datasets")
    digits = datasets.load_digits()
    pixels = digits["data"][:, digits["data"].std(axis=0) > 0]
    v = (pixels - pixels.mean(axis=0)) / pixels.std()
    y = np.where(digits["target"] % 2, 1.0, -1.0)
    model = GaussianCovariateModel.from_data(v, y - y.mean(), alpha=4.0, lam=0.5)
    n = round(4.0 * v.shape[1])
    found = [resampled(v, y - y.mean(), n, 0.5, stream(0, "digits", r)).test_error for r in range(120)]
    agrees(Estimate.of(found), glm.solve(model).test_error, resolves=0.06, bias=0.3 / v.shape[1])
