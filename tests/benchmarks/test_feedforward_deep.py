"""Binary networks at initialization and transfer: fixed points, switching sizes, drawn networks and training.

Beside them is what one would write without this project: scipy's root finder on Gauss-Hermite averages, a scan of the
risks for changes of sign, one singular value decomposition for all strengths of a ridge, and scikit-learn's network.
"""

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq

from simulate.feedforward import decay, frozen_risks, train_multilayer
from simulate.feedforward.multilayer import Multilayer
from tests.benchmarks.machinery.jobs import Peer
from theory import feedforward
from theory.models import BinaryNetwork, NestedFeatures

SUBJECT = "deep networks"
TANH = BinaryNetwork(mean_variance=0.99, bias_variance=0.001, neurons="tanh")
FEATURES = NestedFeatures(dimensions=(400, 100, 25, 5), kept_powers=(1, 0.9, 0.7, 0.4), noise=0.1)
LAMS = np.geomspace(1e-3, 1e2, 40)


def fixed_point_by_scipy():
    """The variance of the fields, and the correlation by a product of two rules."""
    z, w = np.polynomial.hermite_e.hermegauss(40)
    w = w / w.sum()
    q = brentq(lambda q: w @ np.tanh(np.sqrt(q) * z) ** 2 + 0.001 - q, 1e-3, 1.0, xtol=1e-14)

    def gap(c):
        one, other = np.tanh(np.sqrt(q) * z), np.tanh(np.sqrt(q) * (c * z[:, None] + np.sqrt(1 - c * c) * z))
        return (0.99 * ((w * one) @ (other @ w)) + 0.001) / q - c

    return q, brentq(gap, 0.0, 1 - 1e-9, xtol=1e-13)


def test_fixed_point(jobs):
    def ours():
        point = feedforward.signal_fixed_point(TANH)
        return point.variance, point.correlation

    jobs.compare(
        "stationary variance and correlation of a tanh network",
        ours,
        {"scipy, brentq on Gauss-Hermite averages": fixed_point_by_scipy},
        off=lambda ours, theirs: np.max(abs(np.array(theirs) / ours - 1)),
    )


def sizes_by_bisection():
    grid = np.geomspace(1, 1e4, 60)
    best = [feedforward.frozen_risk(FEATURES, n).best_depth for n in grid]
    found = []
    for low, high, a, b in zip(grid, grid[1:], best, best[1:], strict=False):
        if a != b:
            risks = lambda n, a=a, b=b: np.subtract(*feedforward.frozen_risk(FEATURES, n).risks[[a, b]])  # noqa: E731
            found.append(brentq(risks, low, high))
    return found


def test_switching_sizes(jobs):
    jobs.compare(
        "switching sizes of four depths",
        lambda: feedforward.switching_sizes(FEATURES).sizes,
        beside={"ours, a scan of the risks": sizes_by_bisection},
    )


def test_drawn_network(jobs):
    def draw():
        decay(TANH, 500, 20, np.random.default_rng(0), variance=0.023, correlation=0.818)

    jobs.compare("a drawn network of 20 layers of 500 neurons", draw)


def ridge_by_scipy():
    """All strengths from one eigendecomposition of each depth's Gram matrix."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((640, 400))
    y = X @ np.full(400, 0.05) + rng.standard_normal(640)
    weights = []
    for k in FEATURES.dimensions:
        values, vectors = eigh(X[:, :k].T @ X[:, :k])
        weights.append(vectors @ ((vectors.T @ (X[:, :k].T @ y))[:, None] / (values[:, None] + 640 * LAMS)))
    return weights


def test_ridge_at_all_depths(jobs):
    jobs.compare(
        "ridge regression at four depths and 40 strengths, n = 640",
        lambda: frozen_risks(FEATURES, 640, LAMS, np.random.default_rng(0)),
        {"scipy, one eigendecomposition a depth": ridge_by_scipy},
        note="ours draws the features and computes the risks too",
    )


def inputs():
    X = np.random.default_rng(0).standard_normal((2_000, 32))
    return X, np.sign(X[:, 0] * X[:, 1])


def scikit_learn():
    """As many steps: 2,000 samples make 16 batches a pass, so that 31 passes are 496 steps."""
    from sklearn.neural_network import MLPClassifier

    X, y = inputs()
    hidden = (64, 64, 64, 64)
    sizes = {"batch_size": 128, "max_iter": 31, "n_iter_no_change": 100}
    return lambda: MLPClassifier(hidden, activation="tanh", **sizes).fit(X.astype(np.float32), y)


def test_training(jobs):
    X, y = inputs()
    start = Multilayer.random((32, 64, 64, 64, 64, 1), np.random.default_rng(0))
    jobs.compare(
        "500 steps of Adam, batches of 128, four hidden layers of 64",
        lambda: train_multilayer(start, X, y, np.random.default_rng(0), n_steps=500),
        {"scikit-learn, MLPClassifier": Peer(scikit_learn, made=True, times=500 / 496)},
        limit="0.9 times",
    )
