"""What is drawn has the moments that the records promise, and errors are exact given the weights."""

import numpy as np
import pytest
from scipy.stats import chi2, multivariate_normal

from simulate.core import stream
from simulate.glm import (
    FeatureTask,
    Group,
    LinearFit,
    Population,
    accuracy_minus,
    accuracy_plus,
    bias,
    disparate_impact,
    draw,
    fit,
    measure,
    population,
    random_inputs,
    resampled,
    squared_norm,
    test_error,
    train_loss,
)
from simulate.glm.draw import draw_group
from simulate.glm.errors import both_positive, respond
from simulate.glm.features import projection
from simulate.glm.modes import apportion, embed
from tests.glm.own_losses import Sigmoid
from theory.models import (
    AR1,
    Cluster,
    DenseModes,
    GaussianCovariateModel,
    GaussianMixture,
    GeneralizedLinearModel,
    Isotropic,
    Modes,
    MulticlassMixture,
    RandomFeatures,
    RandomLabels,
    TeacherMixture,
)

GROUPS = TeacherMixture(
    group_fraction=0.3,
    alpha=2.0,
    lam=0.1,
    variances=(0.5, 1.0),
    teacher_overlap=0.5,
    mean_overlaps=(0.2, 0.4),
    teacher_biases=(0.2, -0.3),
    loss_weights=((2.0, 3.0), (0.5, 1.0)),
)
MIXTURE = GaussianMixture.opposite(
    variances=[[0.3, 1.0], [0.8, 0.2]], probability=0.4, alpha=2.0, lam=0.1, weights=[0.25, 0.75]
)


def covariate(labels="sign", p=6, **options):
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((p, 2 * p)), rng.standard_normal(2 * p)
    blocks = {"covariance": A @ A.T / p, "signal": A @ B / np.sqrt(2 * p), "power": float(B @ B)}
    return GaussianCovariateModel(**blocks, alpha=3.0, lam=0.1, labels=labels, noise=0.3, **options)


def general(labels="sign"):
    rng = np.random.default_rng(1)
    roots = rng.standard_normal((2, 5, 7)) / np.sqrt(5)
    modes = DenseModes(roots @ roots.transpose(0, 2, 1), rng.standard_normal((2, 5)) / 4)
    clusters = [
        Cluster(probability=0.6, labels=labels, teacher_signal=0, teacher_variance=1.5, teacher_mean=0.2, noise=0.1),
        Cluster(probability=0.4, labels="random" if labels == "sign" else labels, covariance=1, **TEACHER),
    ]
    return GeneralizedLinearModel(modes=modes, clusters=clusters, alpha=4.0, loss="square", lam=0.1, bias=True)


EVIDENCE = {"residual": 0.0, "iterations": None, "converged": True}
TEACHER = {"mean_signal": 1, "mean_sign": -2.0, "teacher_signal": 0, "teacher_variance": 2.5}


@pytest.mark.parametrize(
    ("model", "p"),
    [(GROUPS, 5), (MIXTURE, 8), (covariate(), 6), (covariate("linear"), 6), (general(), 5), (general("linear"), 5)],
)
def test_errors_are_those_of_fresh_samples(model, p):
    """Twenty-four bounds at six standard deviations: one false alarm in 10^7 runs."""
    source, rng = population(model, p), stream(0, "fresh", p, type(model).__name__)
    n = 200_000
    for group in source.groups:
        fitted = LinearFit(rng.standard_normal((1, p)), rng.standard_normal(1) / 4, 0.0, **EVIDENCE)
        X, y = draw_group(group, n, rng)
        h = fitted.fields(X)
        wrong = (y - h) ** 2 if group.labels == "linear" else (y * h < 0).astype(float)
        predicted = respond(group, fitted)
        assert abs(wrong.mean() - predicted.error) < 6 * wrong.std() / np.sqrt(n)
        assert abs(np.mean(h > 0) - predicted.selection) < 3 / np.sqrt(n)


@pytest.mark.parametrize("shared", [-0.9, 0.0, 0.3, 1.19])
@pytest.mark.parametrize(("x", "y"), [(0.0, 0.0), (0.7, -0.2), (-3.0, 1.0)])
def test_both_positive_is_the_bivariate_normal(x, y, shared):
    normal = multivariate_normal([-x, -y], [[1.0, shared], [shared, 1.44]])
    assert both_positive(x, 1.0, y, 1.44, shared) == pytest.approx(float(normal.cdf([0, 0])), abs=2e-6)
    if x == y == 0:
        angle = np.arccos(shared / 1.2)
        assert both_positive(x, 1.0, y, 1.44, shared) == pytest.approx(0.5 - angle / (2 * np.pi), abs=1e-10)


def test_signals_have_their_gram_matrix_in_every_mode():
    rng = np.random.default_rng(3)
    roots = rng.standard_normal((2, 3, 2)) / 3
    gram = np.stack([root @ root.T for root in roots], axis=-1)
    covariances, signals = embed(Modes([0.3, 0.7], [[1.0, 2.0]], gram), 20)
    for i, rows in enumerate((slice(0, 6), slice(6, 20))):
        assert signals[:, rows] @ signals[:, rows].T / 20 == pytest.approx(gram[:, :, i])
        assert (covariances[0, rows] == (1.0, 2.0)[i]).all()
    with pytest.raises(ValueError, match="2 independent signals has 1 of p = d = 3"):
        embed(Modes([0.3, 0.7], [[1.0, 2.0]], gram), 3)
    v, plus, minus = population(GROUPS, 7).groups[0].mean, *(g.teacher for g in population(GROUPS, 7).groups)
    vectors = np.stack((v, plus, minus))
    assert vectors @ vectors.T == pytest.approx(GROUPS.overlap_matrix)


def test_signals_do_not_depend_on_eigenvectors_whose_signs_and_choice_are_free():
    """Opposite signals, and equally correlated ones, of whose Gram matrix an eigenvalue is double."""
    opposite, alike = np.array([[1.0, -1.0], [-1.0, 1.0]]), 0.5 + 0.5 * np.eye(3)
    assert embed(Modes([1.0], [[1.0]], opposite[..., None]), 4)[1] == pytest.approx(
        np.array([[2.0, 0, 0, 0], [-2.0, 0, 0, 0]])
    )
    found = embed(Modes([1.0], [[1.0]], alike[..., None]), 4)[1]
    assert found[:, :3] == pytest.approx(2 * np.linalg.cholesky(alike), abs=1e-12)
    assert (found[:, 3] == 0).all()


def test_counts_are_fixed_and_sum_up():
    assert apportion(np.array([0.5, 0.3, 0.2]), 10).tolist() == [5, 3, 2]
    assert apportion(np.full(3, 1 / 3), 100).sum() == 100
    sample = draw(population(GROUPS, 10), 20, np.random.default_rng(0))
    assert np.bincount(sample.groups).tolist() == [6, 14]
    assert sample.weights == pytest.approx(
        np.where(sample.groups == 0, np.where(sample.y > 0, 2.0, 3.0), np.where(sample.y > 0, 0.5, 1.0))
    )


@pytest.mark.parametrize("law", ["gaussian", "mixture", "rademacher", "features"])
def test_random_inputs_share_the_covariance(law):
    """Whitened, an empirical covariance of n rows has its spectrum within (1 +- sqrt(p/n))^2, up to e^(-n t^2/2)."""
    p, n = 30, 20_000
    covariance, t = AR1(p, 0.6), 0.045  # a false alarm of 2 e^(-20) = 4e-9
    values, vectors = np.linalg.eigh(covariance.matrix)
    white = random_inputs(covariance, n, stream(0, "inputs", law), law) @ vectors / np.sqrt(values)
    found = np.linalg.eigvalsh(white.T @ white / n)
    low, high = ((1 + sign * (np.sqrt(p / n) + t)) ** 2 for sign in (-1, 1))
    if law == "features":  # theirs only for p -> infinity
        low, high = 0.8 * low, 1.25 * high
    assert low < found[0]
    assert found[-2] < high
    if law == "mixture":  # plus the means: one large eigenvalue more
        assert found[-1] > 1 + 4 / values[-1] - 0.2
    else:
        assert found[-1] < high
    with pytest.raises(ValueError, match="inputs must be one of"):
        random_inputs(covariance, n, stream(0), "cauchy")


@pytest.mark.parametrize("law", ["gaussian", "mixture", "rademacher", "features"])
def test_the_size_of_random_inputs_to_one_percent(law):
    """Their mean square, within five deviations; features have it for p -> infinity, here to one percent."""
    p, n = (300, 2000) if law == "features" else (4, 200_000)
    rows = random_inputs(Isotropic(p, 0.25), n, stream(0, "size", law), law)
    exact = 0.25 * p + (4.0 if law == "mixture" else 0.0)  # the two clusters lie at the distance 2 from the origin
    power = np.sum(rows**2, axis=1)
    assert 5 * power.std() / np.sqrt(n) < 0.01 * exact
    off = 0.01 * exact if law == "features" else 5 * power.std() / np.sqrt(n) + 1e-12
    assert power.mean() == pytest.approx(exact, abs=off)


@pytest.mark.parametrize(("p", "d"), [(8, 5), (5, 8)])
def test_projections_have_unit_rows_on_average(p, d):
    rng = stream(0, "projection", p, d)
    singular = np.linalg.svd(projection("orthogonal", p, d, rng), compute_uv=False)
    assert singular == pytest.approx(np.full(5, np.sqrt(max(1, p / d))))
    total = d * sum(np.sum(projection("gaussian", p, d, rng) ** 2) for _ in range(2000))
    low, high = chi2.ppf([5e-7, 1 - 5e-7], 2000 * p * d)
    assert low < total < high


@pytest.mark.parametrize("noise", [0.0, 9.0])
def test_noise_of_labels_of_features_to_one_percent(noise):
    """Second and fourth moments of linear labels, and the share of signs that agree with those without noise."""
    n, options = 300_000, {"activation": "relu", "samples_per_input": 3.0, "features_per_input": 1.0, "lam": 0.1}
    task = FeatureTask(RandomFeatures(**options, labels="linear", noise=noise), 3, stream(0, "labels"))
    y = task.draw(n, stream(1, "labels"))[1] / np.sqrt(1 + noise)
    assert np.mean(y * y) == pytest.approx(1, abs=5 * np.sqrt(2 / n))
    assert np.mean((y * y) ** 2) == pytest.approx(3, abs=5 * np.sqrt(96 / n))
    signs = FeatureTask(RandomFeatures(**options, labels="sign", noise=noise), 3, stream(0, "labels"))
    inputs, drawn = signs._drawn(n, stream(2, "labels"))
    wrong = np.mean(drawn != np.sign(inputs @ signs.teacher))
    exact = np.arctan(np.sqrt(noise)) / np.pi
    assert wrong == pytest.approx(exact, abs=5 * np.sqrt(exact * (1 - exact) / n))


def test_features_are_centered_and_labeled_by_the_inputs():
    model = RandomFeatures(activation="relu", samples_per_input=3.0, features_per_input=1.5, lam=0.1, labels="linear")
    """Bounds at six standard deviations over rows, and at seven for the largest of 600 correlations."""
    rng, n = stream(0, "relu"), 4000
    task = FeatureTask(model, 400, rng)
    X, y = task.draw(n, rng)
    assert X.shape == (n, 600)
    norms = np.linalg.norm(task.map, axis=1)  # a ReLU of an input of another variance is scaled, its mean too
    mean, linear, rest = model.moments
    centered, power = X.mean(axis=1), (X**2).mean(axis=1)
    assert abs(centered.mean() - mean * (norms.mean() - 1)) < 6 * centered.std() / np.sqrt(n)
    exact = np.mean(norms**2 * (linear**2 + rest**2 + mean**2) - 2 * mean**2 * norms + mean**2)
    assert abs(power.mean() - exact) < 6 * power.std() / np.sqrt(n)
    low, high = chi2.ppf([5e-7, 1 - 5e-7], n)
    assert low < y @ y < high
    gap = X.T @ y / n - linear * task.map @ task.teacher / 20
    assert np.max(abs(gap) / (X * y[:, None]).std(axis=0)) < 7 / np.sqrt(n)


def test_replicates_are_the_entries_of_what_is_measured():
    rngs = [stream(0, "entries") for _ in range(8)]
    measured = measure(GROUPS, 20, rngs[0])
    assert train_loss(GROUPS, 20, rngs[1]) == measured.train_loss
    assert test_error(GROUPS, 20, rngs[2]) == measured.test_error
    assert squared_norm(GROUPS, 20, rngs[3]) == measured.squared_norm[0]
    assert bias(GROUPS, 20, rngs[4]) == measured.bias[0]
    assert accuracy_plus(GROUPS, 20, rngs[5]) == 1 - measured.cluster_errors[0]
    assert accuracy_minus(GROUPS, 20, rngs[6]) == 1 - measured.cluster_errors[1]
    assert disparate_impact(GROUPS, 20, rngs[7]) == measured.selection_rate[1] / measured.selection_rate[0]
    assert measured.test_error == pytest.approx(0.3 * measured.cluster_errors[0] + 0.7 * measured.cluster_errors[1])


def test_bad_sizes_and_records():
    rng = np.random.default_rng(7)
    features = RandomFeatures(samples_per_input=3.0, features_per_input=0.01, lam=0.1)
    classes = MulticlassMixture(
        modes=Modes([1.0], [[1.0]], np.eye(2)[..., None]), probabilities=(0.5, 0.5), alpha=1e-3, lam=1
    )
    for wrong, model, d in (
        ("d must be 6, the size", covariate(), 7),
        ("d must be 5, the size", general(), 7),
        ("d must be at least 3", GROUPS, 2),
        ("at least 1 feature", features, 10),
        ("at least 1 sample", classes, 10),
        ("at least 1 sample", RandomLabels(covariance=AR1(np.inf, 0.5), alpha=0.01, lam=0.1), 10),
        ("model must be a record", "mixture", 10),
        ("must be convex", covariate(loss=Sigmoid()), 6),
        ("two groups", None, 0),
    ):
        with pytest.raises(ValueError, match=wrong):
            accuracy_plus(covariate(), 6, rng) if model is None else measure(model, d, rng)


def test_resampled_data_are_judged_on_all_rows():
    rng = np.random.default_rng(8)
    v = rng.standard_normal((50, 4))
    y = v @ [1.0, 2.0, 0.0, 0.0] + 0.1 * rng.standard_normal(50)
    result = resampled(v, y, 40, 1e-6, np.random.default_rng(9))
    chosen = np.random.default_rng(9).integers(0, 50, 40)
    fitted = fit(v[chosen], y[chosen], "square", 1e-6)
    assert result.test_error == pytest.approx(np.mean((y - fitted.fields(v)) ** 2))
    assert result.train_loss == fitted.train_loss
    with pytest.raises(ValueError, match="one entry for each"):
        resampled(v, y[:-1], 40, 1e-6, rng)
    with pytest.raises(ValueError, match="n must be"):
        resampled(v, y, 0, 1e-6, rng)


@pytest.mark.parametrize("labels", ["sign", "linear"])
def test_error_of_features_has_the_mean_of_plain_errors_and_less_noise(labels):
    options = {"activation": "tanh", "samples_per_input": 2.0, "features_per_input": 1.5, "lam": 0.1}
    task = FeatureTask(RandomFeatures(**options, labels=labels, noise=0.3), 8, stream(0, "errors"))
    w = task.map @ task.teacher / np.sqrt(8) + 0.3 * stream(1, "errors").standard_normal(12)
    X, y = task.draw(200_000, stream(2, "errors"))
    h = X @ w / np.sqrt(12)
    errors = (y - h) ** 2 if labels == "linear" else (np.sign(h) != y).astype(float)
    found = np.array([task.error(w, 401, stream(3, "errors", r)) for r in range(100)])
    noise = np.hypot(found.std() / 10, errors.std() / np.sqrt(len(errors)))
    assert abs(found.mean() - errors.mean()) < 4 * noise
    assert noise < 0.01 * errors.mean()
    assert found.std() < 0.8 * errors.std() / np.sqrt(401)


def test_error_of_features_of_the_identity_is_exact():
    """There the linear learner is the learner itself, so that no noise is left."""
    options = {"activation": lambda z: z, "samples_per_input": 2.0, "features_per_input": 1.5, "lam": 0.1}
    task = FeatureTask(RandomFeatures(**options, labels="linear", noise=0.3), 8, stream(0, "identity"))
    w = np.arange(12.0)
    expected = 0.3 + np.sum((task.teacher / np.sqrt(8) - task.map.T @ w / np.sqrt(12)) ** 2)
    assert task.error(w, 401, stream(1, "identity")) == pytest.approx(expected, rel=1e-9)


def test_error_of_features_from_one_sample_is_that_of_the_sample():
    options = {"activation": "relu", "samples_per_input": 2.0, "features_per_input": 1.5, "lam": 0.1}
    task, w = FeatureTask(RandomFeatures(**options, noise=0.3), 8, stream(0, "one")), np.arange(12.0)
    for r in range(5):
        X, y = task.draw(1, stream(r, "one"))
        assert task.error(w, 1, stream(r, "one")) == float(y[0] * (X[0] @ w) < 0)
    with pytest.raises(ValueError, match="n must be"):
        task.error(w, 0, stream(1, "one"))


@pytest.mark.parametrize("labels", ["sign", "random", "cluster"])
def test_labels_that_are_not_linear_are_plus_or_minus_one(labels):
    group = Group(share=1.0, covariance=np.ones(3), mean=np.zeros(3), labels=labels, label=-1, teacher=np.ones(3))
    drawn = draw(Population(groups=(group,), alpha=2.0, loss="square", lam=0.1), 200, stream(0, "labels", labels)).y
    assert set(drawn) == ({-1.0} if labels == "cluster" else {-1.0, 1.0})
