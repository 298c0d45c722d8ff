"""Plain descent with single samples: the kernel against numpy's gradient by finite differences, and what it learns."""

import numpy as np
import pytest

from simulate.core import DivergenceError, Estimate, stream
from simulate.cumulants import descended_accuracy, random_features_accuracy
from simulate.cumulants.descent import _accuracy, _epoch
from theory.models import SpikedCumulant


def outputs(theta, shapes, x):
    W, b, A, c = (part.reshape(shape) for part, shape in zip(np.split(theta, np.cumsum(
        [np.prod(shape, dtype=int) for shape in shapes])[:-1]), shapes, strict=True))  # fmt: skip
    return A @ np.maximum(W @ x + b, 0) + c


@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_one_step_by_finite_differences(label):
    """Of half the squared distance from the one-hot class plus decay/2 times the squared weights."""
    rng = np.random.default_rng(3)
    shapes, rate, decay = [(5, 3), (5,), (2, 5), (2,)], 0.1, 0.3
    parts = [rng.standard_normal(shape) for shape in shapes]
    theta, x = np.concatenate([part.ravel() for part in parts]), rng.standard_normal(3)
    target = np.array([label < 0, label > 0], dtype=float)

    def loss(theta):
        return ((outputs(theta, shapes, x) - target) ** 2).sum() / 2 + decay / 2 * (theta**2).sum()

    slopes = np.array([
        (loss(theta + 1e-6 * unit) - loss(theta - 1e-6 * unit)) / 2e-6 for unit in np.eye(len(theta))
    ])  # fmt: skip
    _epoch(*parts, x[None], np.array([label]), np.array([0]), rate, decay)
    moved = np.concatenate([part.ravel() for part in parts])
    np.testing.assert_allclose(moved, theta - rate * slopes, rtol=1e-7, atol=1e-8)


def test_an_epoch_is_one_step_for_each_sample_in_the_given_order():
    rng = np.random.default_rng(4)
    shapes = [(4, 3), (4,), (2, 4), (2,)]
    parts = [rng.standard_normal(shape) for shape in shapes]
    X, y, order = rng.standard_normal((6, 3)), rng.choice([-1.0, 1.0], 6), rng.permutation(6)
    singly = [part.copy() for part in parts]
    _epoch(*parts, X, y, order, 0.05, 0.1)
    for i in order:
        _epoch(*singly, X[i : i + 1], y[i : i + 1], np.array([0]), 0.05, 0.1)
    for one, other in zip(parts, singly, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13)


def test_the_larger_output_is_the_class():
    rng = np.random.default_rng(5)
    shapes = [(4, 3), (4,), (2, 4), (2,)]
    parts = [rng.standard_normal(shape) for shape in shapes]
    theta = np.concatenate([part.ravel() for part in parts])
    X, y = rng.standard_normal((200, 3)), rng.choice([-1.0, 1.0], 200)
    right = [np.argmax(outputs(theta, shapes, x)) == (label > 0) for x, label in zip(X, y, strict=True)]
    assert _accuracy(*parts, X, y) == np.mean(right)


def test_networks_learn_with_many_samples_and_features_do_not():
    """At 16 d^2 samples of each class, d = 8; known to 0.02, where guessing gives at most 0.52."""
    model = SpikedCumulant(8, 10.0)
    learned = Estimate.of([descended_accuracy(model, 1024, stream(0, "descent", r)) for r in range(4)])
    assert learned.mean > 0.62
    assert learned.stderr < 0.02
    features = [random_features_accuracy(model, 1024, stream(0, "features", r), ridges=[0.1]) for r in range(4)]
    assert abs(np.mean(features) - 0.5) < 0.02
    nothing = descended_accuracy(model, 64, stream(0, "few"), n_epochs=1)
    assert 0.48 < nothing < 0.53


def test_a_rate_that_is_too_large_is_refused():
    with pytest.raises(DivergenceError, match="floating-point numbers in epoch 1 at the rate 50"):
        descended_accuracy(SpikedCumulant(4, 2.0), 200, np.random.default_rng(0), rate=50.0)
