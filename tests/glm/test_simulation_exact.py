"""Formulas of the simulation against independent exact ones: every term and factor is seen."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi2, multivariate_normal, norm

from simulate.core import stream
from simulate.glm import (
    FeatureTask,
    Group,
    LinearFit,
    MulticlassFit,
    Population,
    draw,
    fit,
    fit_coupled,
    fit_multiclass,
    measure,
    population,
    random_inputs,
)
from simulate.glm.draw import gaussian
from simulate.glm.errors import both_positive, respond
from simulate.glm.features import controlled_mean, sign_error
from simulate.glm.measure import ClassClusters
from simulate.glm.modes import apportion
from theory.models import (
    Cluster,
    Diagonal,
    GaussianMixture,
    GeneralizedLinearModel,
    Modes,
    MulticlassMixture,
    RandomFeatures,
    TeacherMixture,
)

EVIDENCE = {"residual": 0.0, "iterations": None, "converged": True}
FALSE_ALARM = 1e-7


def learner(weights, bias):
    return LinearFit(np.atleast_2d(weights), np.atleast_1d(bias), 0.0, **EVIDENCE)


def joint_law(group, w, b):
    """Means and covariance of (nu, h) as dense matrices, label noise included."""
    p = len(group.mean)
    C = np.diag(group.covariance) if group.covariance.ndim == 1 else group.covariance
    w, teacher = w / math.sqrt(p), np.zeros(p) if group.teacher is None else group.teacher
    rows = np.stack((teacher, w))
    covariance = rows @ C @ rows.T + np.diag([group.unseen + group.noise, 0.0])
    return np.array([group.offset, w @ group.mean + b]), covariance


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("labels", ["linear", "sign", "cluster", "random"])
def test_response_of_a_group_is_that_of_the_joint_normal_law(labels, dense):
    """A linear group with a teacher of mean 1.5 has (offset - center)^2 in its error, whatever the learner."""
    rng, p = stream(0, "joint", labels, dense), 5
    root = rng.standard_normal((p, p)) / math.sqrt(p)
    group = Group(
        share=1.0,
        covariance=root @ root.T if dense else rng.uniform(0.5, 2, p),
        mean=rng.standard_normal(p),
        labels=labels,
        label=-1,
        teacher=rng.standard_normal(p),
        offset=1.5,
        unseen=0.4,
        noise=0.3,
    )
    w, b = rng.standard_normal(p), 0.7
    found = respond(group, learner(w, b))
    (nu, h), S = joint_law(group, w, b)
    positive = norm.cdf(h / math.sqrt(S[1, 1]))
    assert found.selection == pytest.approx(positive, rel=1e-12)
    both = float(multivariate_normal([-nu, -h], S).cdf([0, 0]))
    expected = {
        "linear": (nu - h) ** 2 + S[0, 0] + S[1, 1] - 2 * S[0, 1],
        "sign": norm.cdf(nu / math.sqrt(S[0, 0])) + positive - 2 * both,
        "cluster": positive,
        "random": 0.5,
    }
    assert found.error == pytest.approx(expected[labels], rel=1e-5 if labels == "sign" else 1e-12)


def test_a_learner_that_is_constant_has_a_field_without_variance():
    label = norm.cdf(0.7 / 1.3)
    assert both_positive(0.4, 0.0, 0.7, 1.69, 0.0) == pytest.approx(label, rel=1e-12)
    assert both_positive(-0.4, 0.0, 0.7, 1.69, 0.0) == 0
    group = Group(share=1.0, covariance=np.ones(2), mean=np.zeros(2), teacher=np.array([1.3, 0.0]), offset=0.7)
    assert respond(group, learner(np.zeros(2), 0.4)).error == pytest.approx(1 - label, rel=1e-12)


def test_both_positive_by_quadrature():
    for x, y, shared in ((0.3, -0.4, 0.9), (-1.0, 0.5, -0.7)):
        width = math.sqrt(1.44 - shared**2 / 2.25)
        exact = quad(
            lambda u, x=x, y=y, shared=shared, width=width: (
                norm.pdf(u, x, 1.5) * norm.cdf((y + shared / 2.25 * (u - x)) / width)
            ),
            0,
            20,
            epsabs=1e-13,
        )[0]
        assert both_positive(x, 2.25, y, 1.44, shared) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("kind", ["diagonal", "dense", "singular"])
def test_root_of_the_covariance_that_rows_are_drawn_with(kind):
    rng = stream(0, "root", kind)
    A = rng.standard_normal((4, 2 if kind == "singular" else 4))
    covariance = rng.uniform(0.5, 2, 4) if kind == "diagonal" else A @ A.T
    white = stream(0, "white").standard_normal((9, 4))
    root = np.linalg.lstsq(white, gaussian(covariance, 9, stream(0, "white")), rcond=None)[0]
    assert root.T @ root == pytest.approx(np.diag(covariance) if kind == "diagonal" else covariance, abs=1e-12)


def test_groups_of_a_mixture_have_means_of_the_promised_power():
    source = population(GaussianMixture.opposite(mean_power=1.7, variances=0.3, alpha=2.0, lam=0.1), 8)
    for group in source.groups:
        assert group.mean @ group.mean == pytest.approx(1.7, rel=1e-12)
        assert group.covariance == pytest.approx(np.full(8, 0.3))


def test_teachers_of_two_groups_have_their_offsets():
    overlaps = {"mean_overlaps": (0.2, 0.4), "teacher_overlap": 0.5}
    model = TeacherMixture(group_fraction=0.3, alpha=2.0, lam=0.1, teacher_biases=(0.25, -0.3), **overlaps)
    plus, minus = population(model, 7).groups
    assert (plus.offset, minus.offset) == pytest.approx((0.2 + 0.25, -0.4 - 0.3), rel=1e-12)
    assert plus.teacher @ plus.teacher == pytest.approx(1, rel=1e-12)
    assert plus.mean == pytest.approx(-minus.mean)


def test_seen_and_unseen_parts_of_a_linear_cluster():
    """Signal s with s^2/(p Omega) explained; mean and label noise as told."""
    cluster = Cluster(labels="linear", teacher_signal=0, teacher_variance=2.0, teacher_mean=1.5, noise=0.3)
    modes = Modes([0.5, 0.5], [[1.0, 4.0]], [[[0.5, 1.0]]])
    model = GeneralizedLinearModel(modes=modes, clusters=[cluster], alpha=2.0, loss="square", lam=0.1, bias=True)
    (group,) = population(model, 6).groups
    explained = 0.5 / 1.0 + 1.0 / 4.0
    assert group.teacher @ group.times_covariance(group.teacher) == pytest.approx(explained, rel=1e-12)
    assert (group.unseen, group.offset, group.noise) == pytest.approx((2 - explained, 1.5, 0.3), rel=1e-12)


def test_largest_remainders_are_rounded_up():
    assert apportion(np.array([0.26, 0.26, 0.48]), 10).tolist() == [3, 2, 5]


def test_features_of_the_identity_give_the_inputs_back():
    """Labels are the teacher's field over sqrt(d), and noise of the variance that the model tells."""
    options = {"activation": lambda z: z, "samples_per_input": 1.0, "features_per_input": 1.5, "lam": 1.0}
    exact = FeatureTask(RandomFeatures(**options, labels="linear"), 8, stream(0, "identity"))
    X, y = exact.draw(30, stream(0, "inputs"))
    inputs = np.linalg.lstsq(exact.map, X.T, rcond=None)[0].T
    assert y == pytest.approx(inputs @ exact.teacher / math.sqrt(8), rel=1e-9, abs=1e-12)
    assert exact.teacher @ exact.teacher == pytest.approx(8, rel=1e-12)

    n = 40_000
    noisy = FeatureTask(RandomFeatures(**options, labels="linear", noise=0.3), 8, stream(0, "identity"))
    X, y = noisy.draw(n, stream(0, "noise"))
    inputs = np.linalg.lstsq(noisy.map, X.T, rcond=None)[0].T
    power = np.sum((y - inputs @ noisy.teacher / math.sqrt(8)) ** 2)
    low, high = chi2.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], n)
    assert low < power / 0.3 < high
    assert not low < 1.1 * power / 0.3 < high


def test_error_of_features_with_linear_labels_is_a_mean_square():
    """Without noise and with every input seen, almost no ridge leaves almost no error; a constant learner leaves 1."""
    options = {"activation": lambda z: z, "samples_per_input": 4.0, "features_per_input": 1.0, "labels": "linear"}
    seen = measure(RandomFeatures(**options, loss="square", lam=1e-9), 12, stream(0, "seen"))
    assert seen.test_error < 1e-6
    blind = measure(RandomFeatures(**options, loss="square", lam=1e9), 12, stream(0, "blind"))
    assert blind.test_error == pytest.approx(1, abs=0.15)  # 2000 squares of a standard normal: a deviation of .03


@pytest.mark.parametrize("loss", ["square", "logistic", "hinge"])
def test_train_loss_is_the_mean_of_the_weighted_losses(loss):
    rng = stream(0, "train", loss)
    X, y, weights = rng.standard_normal((20, 4)), rng.choice((-1.0, 1.0), 20), rng.uniform(0.5, 2, 20)
    own = np.arange(20) % 2
    fitted = fit_coupled(X, y, own, loss, 0.3, coupling=0.4, sample_weights=weights, bias=True)
    h = np.sum(X * fitted.weights[own], axis=1) / 2 + fitted.bias[own]
    losses = {"square": (y - h) ** 2 / 2, "logistic": np.log1p(np.exp(-y * h)), "hinge": np.maximum(0, 1 - y * h)}
    assert fitted.train_loss == pytest.approx(np.mean(weights * losses[loss]), rel=1e-9)
    assert fitted.fields(X, own) == pytest.approx(h, rel=1e-12)
    assert fitted.squared_norm == pytest.approx([w @ w / 4 for w in fitted.weights], rel=1e-12)
    assert fitted.converged
    assert fitted.residual < 1e-9


@pytest.mark.parametrize("loss", ["square", "softmax"])
def test_train_loss_of_classes_is_that_of_their_fields(loss):
    """The square loss has its half; squared_norm is |w_k|^2/p."""
    rng = stream(0, "classes", loss)
    X, classes = rng.standard_normal((30, 4)), np.arange(30) % 3
    fitted = fit_multiclass(X, classes, 3, loss, 0.2)
    h = X @ fitted.weights.T / 2 + fitted.bias
    square = np.mean(np.sum((np.eye(3)[classes] - h) ** 2, axis=1)) / 2
    softmax = np.mean(np.log(np.exp(h).sum(axis=1)) - h[np.arange(30), classes])
    assert fitted.train_loss == pytest.approx({"square": square, "softmax": softmax}[loss], rel=1e-9)
    assert fitted.squared_norm == pytest.approx([w @ w / 4 for w in fitted.weights], rel=1e-12)


def test_what_is_measured_of_classes_is_what_was_fitted():
    """Clusters without spread: every sample is its mean, so that the fit is one of K weighted points."""
    gram = np.array([[2, 0.5, 0], [0.5, 1, 0.2], [0, 0.2, 1.5]])
    modes = Modes([1.0], [[0.0]], gram[:, :, None])
    model = MulticlassMixture(modes=modes, probabilities=(0.5, 0.3, 0.2), alpha=2.0, lam=0.1, loss="square")
    clusters = ClassClusters.of(model, 10)
    assert clusters.means @ clusters.means.T == pytest.approx(gram, abs=1e-12)
    found = measure(model, 10, stream(0, "points"))
    classes = np.repeat(np.arange(3), [10, 6, 4])
    fitted = fit_multiclass(clusters.means[classes], classes, 3, "square", 0.1)
    assert found.train_loss == pytest.approx(fitted.train_loss, rel=1e-9)
    assert found.squared_norm == pytest.approx(np.mean(fitted.weights**2, axis=1), rel=1e-9)
    assert found.bias == pytest.approx(fitted.bias, rel=1e-9)
    wrong = fitted.fields(clusters.means).argmax(axis=1) != np.arange(3)
    assert found.cluster_errors == pytest.approx(wrong.astype(float))


def test_errors_of_classes_are_normal_probabilities():
    """Two outputs in two dimensions: the prediction is the sign of a normal difference, known exactly."""
    roots, means = np.array([[0.6, 1.1], [0.9, 0.4]]), np.array([[0.5, -0.2], [-0.3, 0.8]])
    W, bias = np.array([[1.0, -0.5], [-0.4, 0.9]]), np.array([0.1, -0.2])
    n = 400_000
    fitted = MulticlassFit(W, bias, 0.0, **EVIDENCE)
    found = ClassClusters(means, roots).errors(fitted, stream(0, "errors"), n)
    for c, sign in ((0, 1), (1, -1)):
        v = (W[0] - W[1]) / math.sqrt(2)
        center, spread = v @ means[c] + bias[0] - bias[1], np.linalg.norm(v * roots[c])
        exact = norm.cdf(-sign * center / spread)
        allowed = norm.isf(FALSE_ALARM / 2) * math.sqrt(exact * (1 - exact) / n)
        assert abs(found[c] - exact) < allowed
        assert abs(found[c] - norm.cdf(-sign * center / (1.05 * spread))) > allowed or abs(center) < 0.1


def test_errors_of_three_classes_are_those_of_rows_that_are_drawn():
    """Exactly, from the joint law of two differences of fields; and by draws where that law has no density."""
    roots, means = np.array([[0.6, 1.1], [0.9, 0.4], [0.8, 0.8]]), np.array([[0.5, -0.2], [-0.3, 0.8], [-0.4, -0.5]])
    W, bias = np.array([[1.0, -0.5], [-0.4, 0.9], [-0.7, -0.3]]), np.array([0.1, -0.2, 0.1])
    clusters, rng, n = ClassClusters(means, roots), stream(0, "three"), 400_000
    exact = clusters.errors(MulticlassFit(W, bias, 0.0, **EVIDENCE), rng, n=1)
    for c in range(3):
        rows = clusters.draw(np.full(n, c), rng)
        drawn = float(np.mean(np.argmax(rows @ W.T / math.sqrt(2) + bias, axis=1) != c))
        allowed = norm.isf(FALSE_ALARM / 2) * math.sqrt(exact[c] * (1 - exact[c]) / n)
        assert abs(drawn - exact[c]) < allowed < 0.02 * exact[c]
    assert both_positive(21.5, 0.6, 28.0, 2.6, 0.11) <= 1  # so that no rounding makes an error negative
    proportional = MulticlassFit(np.outer([1.0, 2.0, 4.0], [1.0, 0.0]), bias, 0.0, **EVIDENCE)
    found = clusters.errors(proportional, rng, n)
    z = rng.standard_normal(n)
    for c in range(3):
        h = np.outer((means[c, 0] + roots[c, 0] * z) / math.sqrt(2), [1.0, 2.0, 4.0]) + bias
        wrong = float(np.mean(np.argmax(h, axis=1) != c))
        assert abs(found[c] - wrong) < norm.isf(FALSE_ALARM / 2) * math.sqrt(0.5 / n)


def test_two_clusters_of_inputs_lie_at_distance_two():
    X = random_inputs(Diagonal(np.full(6, 1e-18)), 40, stream(0, "clusters"), "mixture")
    assert np.linalg.norm(X, axis=1) == pytest.approx(np.full(40, 2.0), rel=1e-6)


def test_weights_of_the_loss_are_those_of_the_labels():
    model = TeacherMixture(group_fraction=0.5, alpha=2.0, lam=0.1, loss_weights=((2.0, 3.0), (0.5, 1.0)))
    sample = draw(population(model, 10), 40, stream(0, "weights"))
    pairs = {(0, 1.0): 2.0, (0, -1.0): 3.0, (1, 1.0): 0.5, (1, -1.0): 1.0}
    rows = zip(sample.groups, sample.y, strict=True)
    assert sample.weights.tolist() == [pairs[group, label] for group, label in rows]


def test_ridge_fit_of_one_sample_by_hand():
    """One input x = (3, 4), y = 2, lam = 1: w = x y/sqrt(2)/(1 + |x|^2/2)."""
    fitted = fit([[3.0, 4.0]], [2.0], "square", 1.0)
    assert fitted.weights[0] == pytest.approx(np.array([3.0, 4.0]) * 2 / math.sqrt(2) / (1 + 12.5), rel=1e-12)
    assert fitted.train_loss == pytest.approx((2 / 13.5) ** 2 / 2, rel=1e-12)


@pytest.mark.parametrize("labels", ["linear", "sign"])
def test_labels_of_a_teacher_that_sees_everything(labels):
    """Without unseen inputs and noise they are a function of the inputs."""
    teacher, mean = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.1, -0.2])
    group = Group(share=1.0, covariance=np.ones(3), mean=mean, labels=labels, teacher=teacher, offset=0.4)
    sample = draw(Population(groups=(group,), alpha=1.0, loss="square", lam=1.0), 30, stream(0, "labels"))
    nu = 0.4 + (sample.X - mean) @ teacher
    assert sample.y == pytest.approx(nu if labels == "linear" else np.where(nu >= 0, 1.0, -1.0), rel=1e-12)


def test_noise_and_unseen_inputs_of_a_teacher_add_up():
    n = 40_000
    group = Group(
        share=1.0, covariance=np.ones(2), mean=np.zeros(2), labels="linear", teacher=np.ones(2), unseen=0.5, noise=0.25
    )
    sample = draw(Population(groups=(group,), alpha=1.0, loss="square", lam=1.0), n, stream(0, "unseen"))
    power = np.sum((sample.y - sample.X.sum(axis=1)) ** 2)
    low, high = chi2.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], n)
    assert low < power / 0.75 < high
    assert not low < 1.1 * power / 0.75 < high


@pytest.mark.parametrize(
    ("v", "noise", "error"),
    [
        ([3.0, 0.0], 0.0, 0.0),
        ([1.0, math.sqrt(3)], 0.0, 1 / 3),  # fields at an angle of 60 degrees
        ([2.0, 0.0], 4.0, 1 / 4),  # half of the teacher's variance is noise
        ([0.0, 5.0], 1.0, 1 / 2),
        ([-1.0, 0.0], 0.0, 1.0),
        ([0.0, 0.0], 1.0, 1 / 2),  # a learner that has learned nothing
    ],
)
def test_share_of_wrong_signs_of_a_linear_learner(v, noise, error):
    assert sign_error(np.array(v), np.array([2.0, 0.0]), noise) == pytest.approx(error, abs=1e-14)


def test_a_learner_of_known_error_takes_out_the_noise_that_it_shares():
    known = stream(0, "controlled").random(1000)
    assert controlled_mean(0.25 + 2 * known, known, 0.5) == pytest.approx(1.25, abs=1e-12)
    assert controlled_mean(known, np.ones(1000), 1.0) == np.mean(known)  # nothing is shared with a constant
