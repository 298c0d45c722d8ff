"""Transfer: covariances by the arcsine law, training by hand-written gradients, theory against the network."""

import numpy as np
import pytest
from scipy.special import erf
from scipy.stats import chi2

from simulate.core import Estimate, stream
from simulate.glm import Network, draw_task, measure, random_network, scratch_error, train
from simulate.glm import test_error as error_of
from theory import glm
from theory.models import GaussianCovariateModel, HiddenManifold, TransferModel

D, N, P = 40, 80, 60


@pytest.fixture(scope="module")
def source():
    return HiddenManifold.random(N, D, stream(0, "source"))


@pytest.fixture(scope="module")
def untrained():
    return random_network(P, N, stream(0, "network"))


@pytest.fixture(scope="module")
def trained(source, untrained):
    return train(untrained, *draw_task(source, 1000, stream(0, "training")))


def moved(network, start):
    return np.linalg.norm(network.first_layer - start.first_layer) / np.linalg.norm(start.first_layer)


def test_arcsine_law_against_samples(source, trained):
    model = TransferModel(task=source, first_layer=trained.first_layer, alpha=1.0, lam=0.01)
    rng, n = stream(0, "moments"), 40_000
    c = rng.standard_normal((n, D))
    nu = c @ source.teacher / np.sqrt(D)
    v = erf(erf(c @ source.input_map.T) @ trained.first_layer.T)
    options = {"labels": "sign", "loss": "logistic", "alpha": 1.0, "lam": 0.01}
    sampled, law = GaussianCovariateModel.from_data(v, nu, **options), model.covariate_model
    # x is not Gaussian: its moments beyond the second enter at relative order 1/sqrt(N) in the trained direction
    assert sampled.covariance == pytest.approx(law.covariance, abs=0.05)
    assert sampled.signal == pytest.approx(law.signal, abs=0.1 * abs(law.signal).max())
    assert glm.solve(model).test_error == pytest.approx(glm.solve(sampled).test_error, rel=0.02)


def test_first_layer_that_copies_one_input_has_closed_moments():
    task = HiddenManifold([[1.0, 0.0], [0.0, 2.0]], [1.0, 0.0])
    model = TransferModel(task=task, first_layer=np.eye(2) * [[0.3], [0.7]], alpha=1.0, lam=1.0).covariate_model
    z = np.linspace(-10, 10, 20_001)
    weight = np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * (z[1] - z[0])
    a = np.sqrt(weight @ erf(z) ** 2)  # standard deviation of x_0, taken as Gaussian in the second layer
    assert model.covariance[0, 0] == pytest.approx(weight @ erf(0.3 * a * z) ** 2)
    assert model.covariance[0, 1] == pytest.approx(0, abs=1e-15)
    slope = weight @ (z * erf(z)) / a  # E nu x_0 / std x_0
    assert model.signal == pytest.approx([np.sqrt(2) * slope * (weight @ (z * erf(0.3 * a * z))), 0])


def test_gradients_are_finite_differences(source, untrained):
    X, y = draw_task(source, 30, stream(0, "gradient"))
    small = Network(untrained.first_layer[:4], 2 * untrained.readout[:4])
    slope = small.gradient(X, y)[1]
    for i, j in ((0, 0), (1, 7), (3, 70)):
        step = np.zeros((4, N))
        step[i, j] = 1e-5
        up, down = (Network(small.first_layer + s * step, small.readout).gradient(X, y)[0] for s in (1, -1))
        assert 4 * (up - down) / 2e-5 == pytest.approx(slope.first_layer[i, j], rel=1e-6, abs=1e-9)
        up, down = (Network(small.first_layer, small.readout + s * step[:, j]).gradient(X, y)[0] for s in (1, -1))
        assert 4 * (up - down) / 2e-5 == pytest.approx(slope.readout[i], rel=1e-6, abs=1e-9)


def test_correlations_are_those_asked_for(source):
    rng = stream(0, "target")
    same, other = source.correlated(1, 1, rng), source.correlated(0.8, -0.6, rng)
    assert same.teacher == pytest.approx(source.teacher)
    assert same.input_map == pytest.approx(source.input_map)
    assert other.teacher @ source.teacher / D == pytest.approx(-0.6)
    assert other.teacher @ other.teacher == pytest.approx(D)
    assert np.sum(other.input_map * source.input_map) / N == pytest.approx(0.8, abs=0.05)


def replicates(model, label, count):
    return Estimate.of([error_of(model, P, stream(0, "transfer", label, r)) for r in range(count)])


def test_untrained_features_follow_the_theory(agrees, source, untrained):
    model = TransferModel(task=source, first_layer=untrained.first_layer, alpha=2.0, lam=0.01)
    estimate = replicates(model, "untrained", 60)
    agrees(estimate, glm.solve(model).test_error, resolves=0.12, bias=0.6 / P)  # 3 % at P = 60


def test_training_helps_and_the_theory_is_too_pessimistic(source, untrained, trained):
    assert 0.2 < moved(trained, untrained) < 0.8
    target = source.correlated(0.9, 0.9, stream(0, "related"))
    errors, predictions = {}, {}
    for name, network in (("random", untrained), ("transferred", trained)):
        model = TransferModel(task=target, first_layer=network.first_layer, alpha=0.5, lam=0.01)
        errors[name], predictions[name] = replicates(model, name, 12), glm.solve(model).test_error
    assert errors["transferred"].mean < errors["random"].mean - 0.05
    assert predictions["transferred"] < predictions["random"] - 0.05
    assert 0.88 < errors["transferred"].mean / predictions["transferred"] < 1.02


def test_scratch_needs_more_samples_than_transfer(source, trained):
    model = TransferModel(task=source, first_layer=trained.first_layer, alpha=0.5, lam=0.01)
    scratch = [scratch_error(model, P, stream(0, "scratch", r)) for r in range(4)]
    transferred = [measure(model, P, stream(0, "transferred", r)).test_error for r in range(4)]
    assert min(scratch) > max(transferred)  # 0.31 and 0.19 on average, with a spread of 0.03


def test_bad_input(source, untrained):
    with pytest.raises(ValueError, match="teacher must have shape"):
        HiddenManifold(np.eye(3), np.ones(2))
    with pytest.raises(ValueError, match="teacher must not be zero"):
        HiddenManifold(np.eye(3), np.zeros(3))
    for correlations in ((1.1, 0), (0, -1.1)):
        with pytest.raises(ValueError, match="correlation must lie in"):
            source.correlated(*correlations, stream(0))
    with pytest.raises(ValueError, match="first_layer must have 80 columns"):
        TransferModel(task=source, first_layer=np.eye(3), alpha=1.0, lam=0.1)
    with pytest.raises(ValueError, match="task must be a record"):
        TransferModel(task="digits", first_layer=np.eye(3), alpha=1.0, lam=0.1)
    for wrong in ({"alpha": 0, "lam": 1}, {"alpha": 1, "lam": 0}):
        with pytest.raises(ValueError, match="must lie in"):
            TransferModel(task=source, first_layer=untrained.first_layer, **wrong)
    model = TransferModel(task=source, first_layer=untrained.first_layer, alpha=1e-4, lam=0.1)
    for d, match in ((P, "at least 1 sample"), (P + 1, "d must be 60")):
        with pytest.raises(ValueError, match=match):
            measure(model, d, stream(0))
    X, y = draw_task(source, 50, stream(0))
    with pytest.raises(RuntimeError, match="take a smaller rate"):
        train(untrained, X, y, rate=1e4)
    with pytest.raises(ValueError, match="steps"):
        train(untrained, X, y, steps=0)


def test_an_untrained_network_has_the_variance_that_is_said():
    """Entries of variance 1/N by chi-square, at 1e-6 a tail, and a readout of random signs."""
    network = random_network(50, 30, stream(0, "untrained"))
    assert chi2.isf(1 - 1e-6, 1500) < 30 * np.sum(network.first_layer**2) < chi2.isf(1e-6, 1500)
    assert set(network.readout) == {-1.0, 1.0}


def test_untrained_networks_have_the_variance_of_their_inputs():
    network = random_network(600, 500, stream(0, "variance"))
    x = network.first_layer.ravel() * np.sqrt(500)
    assert abs(x.mean()) < 5 / np.sqrt(x.size)
    assert np.mean(x * x) == pytest.approx(1, abs=5 * np.sqrt(2 / x.size))  # 1.3 percent
    assert np.mean((x * x) ** 2) == pytest.approx(3, abs=5 * np.sqrt(96 / x.size))
    assert set(network.readout) == {-1.0, 1.0}
    assert abs(network.readout.mean()) < 5 / np.sqrt(600)


def test_inputs_of_a_task_have_the_power_of_the_arcsine_law_to_one_percent():
    """E erf(u)^2 = 2/pi arcsin(2 v/(1 + 2 v)) for u of variance v, the squared length of a row of the map."""
    task, n = HiddenManifold(np.array([[0.2, 0.1], [-0.3, 0.6]]), np.array([1.0, 2.0])), 400_000
    inputs, labels = draw_task(task, n, stream(0, "power"))
    v = np.sum(task.input_map**2, axis=1)
    squares = inputs**2
    off = 5 * squares.std(axis=0) / np.sqrt(n)
    exact = 2 / np.pi * np.arcsin(2 * v / (1 + 2 * v))
    assert np.all(off < 0.0115 * exact)
    assert np.all(abs(squares.mean(axis=0) - exact) < off)
    assert abs(labels.mean()) < 5 / np.sqrt(n)
