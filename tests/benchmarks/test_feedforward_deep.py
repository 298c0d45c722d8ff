"""Binary networks at initialization and transfer: fixed points, switching sizes and drawn networks, side by side.

Run by `make bench`, with OPENBLAS_NUM_THREADS=1. Numbers are shown, never asserted. Each stands beside what one would
write without this project: iterating the map with scipy's adaptive quadrature, scanning the risks for changes of sign,
a ridge regression of scikit-learn for each strength, and scikit-learn's own network.
"""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from simulate.feedforward import decay, frozen_risks, train_multilayer
from simulate.feedforward.multilayer import Multilayer
from theory import feedforward
from theory.models import BinaryNetwork, NestedFeatures

pytest.importorskip("pytest_benchmark")

TANH = BinaryNetwork(mean_variance=0.99, bias_variance=0.001, neurons="tanh")
FEATURES = NestedFeatures(dimensions=(400, 100, 25, 5), kept_powers=(1, 0.9, 0.7, 0.4), noise=0.1)
LAMS = np.geomspace(1e-3, 1e2, 40)
INPUTS = np.random.default_rng(0).standard_normal((2_000, 32))
LABELS = np.sign(INPUTS[:, 0] * INPUTS[:, 1])


def test_fixed_point(benchmark):
    benchmark.group = "stationary variance and correlation of a tanh network"
    benchmark(feedforward.signal_fixed_point, TANH)


def test_fixed_point_by_iterated_quadrature(benchmark):
    """The variance only, by 300 steps of its map with adaptive quadrature; the correlation would need double ones."""
    benchmark.group = "stationary variance and correlation of a tanh network"

    def iterate():
        q = 1.0
        for _ in range(300):
            q = quad(lambda z, q=q: np.tanh(np.sqrt(q) * z) ** 2 * np.exp(-z * z / 2), -9, 9)[0]
            q = q / np.sqrt(2 * np.pi) + 0.001
        return q

    assert benchmark(iterate) == pytest.approx(feedforward.signal_fixed_point(TANH).variance, rel=1e-6)


def test_switching_sizes(benchmark):
    benchmark.group = "switching sizes of four depths"
    benchmark(feedforward.switching_sizes, FEATURES)


def test_switching_sizes_by_bisection(benchmark):
    benchmark.group = "switching sizes of four depths"

    def scan():
        grid = np.geomspace(1, 1e4, 60)
        best = [feedforward.frozen_risk(FEATURES, n).best_depth for n in grid]
        found = []
        for low, high, a, b in zip(grid, grid[1:], best, best[1:], strict=False):
            if a != b:
                found.append(
                    brentq(
                        lambda n, a=a, b=b: np.subtract(*feedforward.frozen_risk(FEATURES, n).risks[[a, b]]), low, high
                    )
                )
        return found

    np.testing.assert_allclose(benchmark(scan), feedforward.switching_sizes(FEATURES).sizes, rtol=1e-6)


def test_drawn_network(benchmark):
    benchmark(lambda: decay(TANH, 500, 20, np.random.default_rng(0), variance=0.023, correlation=0.818))


def test_ridge_at_all_depths(benchmark):
    benchmark.group = "ridge regression at four depths and 40 strengths, n = 640"
    benchmark(lambda: frozen_risks(FEATURES, 640, LAMS, np.random.default_rng(0)))


def test_ridge_at_all_depths_by_scikit_learn(benchmark):
    benchmark.group = "ridge regression at four depths and 40 strengths, n = 640"
    linear_model = pytest.importorskip("sklearn.linear_model")

    def fits():
        rng = np.random.default_rng(0)
        X = rng.standard_normal((640, 400))
        y = X @ np.full(400, 0.05) + rng.standard_normal(640)
        for k in FEATURES.dimensions:
            for lam in LAMS:
                linear_model.Ridge(alpha=640 * lam, fit_intercept=False).fit(X[:, :k], y)

    benchmark.pedantic(fits, rounds=2)


def test_training(benchmark):
    benchmark.group = "500 steps of Adam, batches of 128, four hidden layers of 64"
    start = Multilayer.random((32, 64, 64, 64, 64, 1), np.random.default_rng(0))
    benchmark(lambda: train_multilayer(start, INPUTS, LABELS, np.random.default_rng(0), n_steps=500))


@pytest.mark.filterwarnings("ignore")  # it says that so few steps are not enough
def test_training_by_scikit_learn(benchmark):
    """As many steps: 2,000 samples make 16 batches a pass, so that 31 passes are 496 steps."""
    benchmark.group = "500 steps of Adam, batches of 128, four hidden layers of 64"
    networks = pytest.importorskip("sklearn.neural_network")
    benchmark.pedantic(
        lambda: networks.MLPClassifier((64, 64, 64, 64), activation="tanh", batch_size=128, max_iter=31).fit(
            INPUTS.astype(np.float32), LABELS
        ),
        rounds=3,
    )
