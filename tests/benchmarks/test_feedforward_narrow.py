"""Narrow networks: curves of 100 points beside plain iteration of the equation, and the cost of a gradient.

Run by `make bench`, with OPENBLAS_NUM_THREADS=1. Numbers are shown, never asserted. Plain iteration of
the equation, on a kernel that is integrated by a product of Gauss-Hermite rules, is what one would write without this
toolkit; it finds one state only, that of its start, and loses digits near the spinodal.
"""

import math

import numpy as np
import pytest

from simulate.core import stream
from simulate.feedforward.narrow_task import Task, activation_and_slope
from theory.feedforward import bayes_curve, specialization, tempered_orders
from theory.models import NarrowNetwork

pytest.importorskip("pytest_benchmark")

ALPHAS = np.linspace(0.5, 6.0, 100)
Z, WEIGHTS = np.polynomial.hermite_e.hermegauss(80)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def relu_function(h):
    return np.maximum(h, 0)


@pytest.mark.parametrize("labels", ["linear", "sign"])
@pytest.mark.parametrize("activation", ["erf", "relu", np.tanh, relu_function], ids=["erf", "relu", "tanh", "kinked"])
def test_curve_of_100_points(benchmark, activation, labels):
    benchmark(bayes_curve, activation, ALPHAS, noise=0.05, labels=labels)


def tanh_slope_kernel(q):
    """E f'(u) f'(v) for f = tanh by a product of Gauss-Hermite rules, the derivative of kappa."""
    second = q * Z[:, None] + math.sqrt(max(1 - q * q, 0.0)) * Z
    inner = (1 / np.cosh(second) ** 2) @ WEIGHTS
    return float(WEIGHTS @ (inner / np.cosh(Z) ** 2))


def tanh_kernel(q):
    second = q * Z[:, None] + math.sqrt(max(1 - q * q, 0.0)) * Z
    return float(WEIGHTS @ ((np.tanh(second) @ WEIGHTS) * np.tanh(Z)))


def test_curve_of_100_points_by_plain_iteration(benchmark):
    linear = float(WEIGHTS @ (Z * np.tanh(Z))) ** 2
    T = tanh_kernel(1.0)

    def image(q, alpha):
        r = alpha * (tanh_slope_kernel(float(q)) - linear) / (0.05 + T - tanh_kernel(float(q)) + linear * (q - 1))
        return r / (1 + r)

    def solved(alpha):
        q = 0.99
        for _ in range(5000):
            before, q = q, image(q, alpha)
            if abs(q - before) < 1e-10:
                break
        return q

    def curve():
        return [solved(alpha) for alpha in ALPHAS]

    benchmark.pedantic(curve, rounds=1)


@pytest.mark.parametrize("activation", ["erf", "relu", np.tanh, relu_function], ids=["erf", "relu", "tanh", "kinked"])
def test_specialization(benchmark, activation):
    benchmark(specialization, activation, noise=0.05)


def test_tempered_orders(benchmark):
    benchmark(tempered_orders, NarrowNetwork(alpha=4.0, activation="erf", noise=0.01), 60.0)


@pytest.mark.parametrize("activation", ["erf", "relu"])
def test_gradients_of_two_chains(benchmark, activation):
    """K = 6, N = 60 and 1080 samples: seconds for one gradient of both chains."""
    model = NarrowNetwork(alpha=3.0, activation=activation, noise=0.1)
    task = Task.draw(model, (60, 6, 10), None, 1.0, activation_and_slope(model, None), stream(0, "bench"))
    weights = np.repeat(task.teacher[:, None, :], 2, axis=1)
    benchmark(task.energy, weights)
