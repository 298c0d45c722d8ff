"""Steps of stochastic gradients, against their definitions number by number."""

import math

import numpy as np
import pytest

from simulate.core.optimizers import CACHED, SGD, Adam, adam_direction


@pytest.mark.parametrize("shape", [(), (3,), (CACHED // 8, 9)], ids=["number", "vector", "more than one block"])
def test_adam_keeps_running_means_of_the_gradient_and_of_its_square(shape):
    rng = np.random.default_rng(0)
    start, gradients = rng.standard_normal(shape), [rng.standard_normal(shape) for _ in range(4)]
    x, optimizer = np.array(start), Adam(0.02)
    for gradient in gradients:
        optimizer([x], [gradient])
    expected, m, v = np.array(start), 0.0, 0.0
    for step, gradient in enumerate(gradients, 1):
        m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
        expected = expected - 0.02 * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    np.testing.assert_allclose(x, expected, rtol=1e-12)


def test_the_first_step_of_adam_has_the_size_of_the_rate_and_small_gradients_are_not_blown_up():
    moments = np.zeros((2, 2))
    assert adam_direction(np.array([5.0, -1e-8]), *moments, 1) == pytest.approx([1.0, -0.5], rel=1e-8)


def test_sgd_subtracts_the_gradient_times_the_rate():
    x = np.array([1.0, math.pi])
    SGD(0.1)([x], [np.array([2.0, -1.0])])
    assert x == pytest.approx([0.8, math.pi + 0.1], rel=1e-15)
