"""The two-layer network and random features: gradients, the solution of the ridge, and what they can learn."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from simulate.core import DivergenceError, stream
from simulate.cumulants import (
    ReluNetwork,
    fit_random_features,
    labeled_samples,
    network_accuracy,
    network_gradient,
    random_features_accuracy,
    train_network,
)
from simulate.cumulants.network import _packed, _unpacked
from theory import cumulants
from theory.models import SpikedCumulant


def small_problem(n=30, d=4, width=6):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((n, d)), rng.choice((-1.0, 1.0), n)
    network = ReluNetwork(*(rng.standard_normal(shape) for shape in ((width, d), width, width)), offset=0.3)
    return network, X, y


def test_gradient_against_finite_differences():
    network, X, y = small_problem()
    loss, slope = network_gradient(network, X, y)
    numeric = approx_fprime(_packed(network), lambda theta: network_gradient(_unpacked(theta, 4), X, y)[0], 1e-7)
    np.testing.assert_allclose(_packed(slope), numeric, atol=2e-6)
    assert loss == pytest.approx(np.mean(np.log1p(np.exp(-y * network.output(X)))), rel=1e-12)


def test_output_in_plain_loops():
    network, X, _ = small_problem(n=3)
    for row, f in zip(X, network.output(X), strict=True):
        units = zip(network.first_layer, network.first_bias, network.readout, strict=True)
        assert f == pytest.approx(0.3 + sum(a * max(w @ row + b, 0) for w, b, a in units), rel=1e-12)


def test_training_is_adam_along_the_gradient():
    """Two full-batch steps written out: with as many draws as samples, only one sample makes all batches equal."""
    network, X, y = small_problem(n=1)
    trained = train_network(network, X, y, n_steps=2, rng=np.random.default_rng(0), rate=0.01, batch_size=3)
    theta, first, second = _packed(network), 0.0, 0.0
    for step in (1, 2):
        g = _packed(network_gradient(_unpacked(theta, 4), X, y)[1])
        first, second = 0.9 * first + 0.1 * g, 0.999 * second + 0.001 * g**2
        theta = theta - 0.01 * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    np.testing.assert_allclose(_packed(trained), theta, atol=2e-6)


def test_readout_of_random_features_solves_its_ridge():
    _, X, y = small_problem(n=200)
    fitted = fit_random_features(X, y, 12, np.random.default_rng(2), ridges=[0.3])
    phi = np.maximum(X @ fitted.first_layer.T + fitted.first_bias, 0)

    def loss(v):
        return np.mean((phi @ v[:-1] + v[-1] - y) ** 2) + 0.3 * v[:-1] @ v[:-1] / 12

    v = np.append(fitted.readout, fitted.offset)
    np.testing.assert_allclose(approx_fprime(v, loss, 1e-7), 0, atol=1e-6)


def test_the_ridge_is_the_best_on_held_out_samples():
    """Pure noise wants the largest ridge, a linear class without noise a small one."""
    rng = np.random.default_rng(3)
    X, ridges = rng.standard_normal((400, 4)), [1e-3, 1e3]
    noise = fit_random_features(X, rng.choice((-1.0, 1.0), 400), 200, np.random.default_rng(0), ridges=ridges)
    linear = fit_random_features(X, np.sign(X[:, 0]), 200, np.random.default_rng(0), ridges=ridges)
    assert abs(noise.readout).max() < 0.01 < abs(linear.readout).max()
    assert linear.accuracy(X, np.sign(X[:, 0])) > 0.9


def test_labeled_samples_of_both_classes():
    model, rng = SpikedCumulant(5, 1e4), np.random.default_rng(4)
    u = np.full(5, 5**-0.5)
    X, y = labeled_samples(model, u, 500, rng)
    along = abs(X @ u)
    assert y.sum() == 0
    assert np.all(abs(along[y == 1] - 1) < 0.1)
    assert np.mean(abs(along[y == -1] - 1) < 0.1) < 0.2


def test_a_network_learns_at_many_samples_where_random_features_do_not():
    """One run each at d = 6: far from 1/2 and below the oracle; shares of 20 000 test samples."""
    model = SpikedCumulant(6, 10.0)
    network = network_accuracy(model, 6000, stream(0, "network"), n_steps=2500, rate=5e-3)
    features = random_features_accuracy(model, 6000, stream(0, "features"))
    assert 0.6 < network < cumulants.oracle_accuracy(model) + 0.02
    assert features < 0.6


def test_training_that_runs_away_is_refused():
    network, X, y = small_problem()
    with pytest.raises(DivergenceError, match="floating-point numbers within 40 steps of rate 1e"):
        train_network(network, X, y, n_steps=40, rng=np.random.default_rng(0), rate=1e38)


def test_shapes_that_do_not_fit_are_refused():
    network, X, y = small_problem()
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"X must have 4 columns, got shape \(30, 3\)"):
        network.output(X[:, :3])
    with pytest.raises(ValueError, match="y must be 30 classes -1 or 1"):
        network.accuracy(X, np.zeros(30))
    with pytest.raises(ValueError, match=r"readout must have shape \(6,\)"):
        ReluNetwork(network.first_layer, network.first_bias, network.readout[:3], 0.0)
    with pytest.raises(ValueError, match=r"ridges\[0\] must lie in"):
        fit_random_features(X, y, 5, rng, ridges=[0.0])
    with pytest.raises(ValueError, match="ridges must be a sequence of positive numbers"):
        fit_random_features(X, y, 5, rng, ridges=[])
    with pytest.raises(ValueError, match="X must have at least 5 rows"):
        fit_random_features(X[:4], y[:4], 5, rng)
    with pytest.raises(ValueError, match="n_steps must be at most"):
        train_network(network, X, y, n_steps=10**9, rng=rng)


@pytest.mark.parametrize("measured", [network_accuracy, random_features_accuracy])
def test_five_units_for_each_dimension_where_no_width_is_given(measured):
    model, options = SpikedCumulant(6, 5.0), {"n_steps": 20} if measured is network_accuracy else {}
    found = [
        measured(model, 40, stream(0, "width"), **options, **width) for width in ({}, {"width": 30}, {"width": 36})
    ]
    assert found[0] == found[1] != found[2]
