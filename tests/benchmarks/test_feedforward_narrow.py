"""Narrow networks: curves of 100 points beside plain iteration of the equation, and the cost of a gradient.

Plain iteration, on a kernel that is integrated by a product of Gauss-Hermite rules, is what one would write without
this toolkit; it finds one state only, that of its start, and loses digits near the spinodal.
"""

import math

import numpy as np
import pytest

from simulate.core import stream
from simulate.feedforward.narrow_task import Task, activation_and_slope
from tests.benchmarks.machinery.jobs import Peer
from theory.feedforward import bayes_curve, specialization, tempered_orders
from theory.models import NarrowNetwork

SUBJECT = "narrow networks"
ALPHAS = np.linspace(0.5, 6.0, 100)
SUBSET = 20  # points of the plain iteration that are timed
Z, WEIGHTS = np.polynomial.hermite_e.hermegauss(80)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def relu_function(h):
    return np.maximum(h, 0)


ACTIVATIONS = {"erf": "erf", "relu": "relu", "tanh": np.tanh, "kinked": relu_function}


def tanh_slope_kernel(q):
    """E f'(u) f'(v) for f = tanh by a product of Gauss-Hermite rules, the derivative of kappa."""
    second = q * Z[:, None] + math.sqrt(max(1 - q * q, 0.0)) * Z
    inner = (1 / np.cosh(second) ** 2) @ WEIGHTS
    return float(WEIGHTS @ (inner / np.cosh(Z) ** 2))


def tanh_kernel(q):
    second = q * Z[:, None] + math.sqrt(max(1 - q * q, 0.0)) * Z
    return float(WEIGHTS @ ((np.tanh(second) @ WEIGHTS) * np.tanh(Z)))


def by_iteration():
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

    return [solved(alpha) for alpha in ALPHAS[:: len(ALPHAS) // SUBSET]]


@pytest.mark.parametrize("labels", ["linear", "sign"])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_curve_of_100_points(jobs, name, labels):
    peer = {"numpy, plain iteration from one start": Peer(by_iteration, times=len(ALPHAS) / SUBSET)}
    jobs.compare(
        f"Bayes-optimal curve of 100 points, {name}, {labels} labels",
        lambda: bayes_curve(ACTIVATIONS[name], ALPHAS, noise=0.05, labels=labels),
        peer if (name, labels) == ("tanh", "linear") else None,
    )


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_specialization(jobs, name):
    jobs.compare(f"where {name} units specialize", lambda: specialization(ACTIVATIONS[name], noise=0.05))


def test_tempered_orders(jobs):
    model = NarrowNetwork(alpha=4.0, activation="erf", noise=0.01)
    jobs.compare("orders at one temperature, erf", lambda: tempered_orders(model, 60.0))


@pytest.mark.parametrize("activation", ["erf", "relu"])
def test_gradients_of_two_chains(jobs, activation):
    model = NarrowNetwork(alpha=3.0, activation=activation, noise=0.1)
    task = Task.draw(model, (60, 6, 10), None, 1.0, activation_and_slope(model, None), stream(0, "bench"))
    weights = np.repeat(task.teacher[:, None, :], 2, axis=1)
    title = f"a gradient of two chains, {activation}, K = 6, N = 60, 1080 samples"
    jobs.compare(title, lambda: task.energy(weights))
