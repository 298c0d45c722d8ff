"""Stochastic binary weights: a point of the saddle-point solver beside the same by nested adaptive quadrature.

Run by `make bench`, with OPENBLAS_NUM_THREADS=1. Numbers are shown, never asserted. The peer evaluates the integrals of
one converged point once with scipy.integrate.quad; a solution by it would need a dozen such evaluations.
"""

import numpy as np
import pytest

from simulate.core import stream
from simulate.perceptron import descend_stochastic_weights, sample_stochastic_weights
from tests.perceptron.test_stochastic_theory import nested_averages
from theory.models import StochasticPerceptron
from theory.perceptron import stochastic_saddle_point

pytest.importorskip("pytest_benchmark")

POINTS = {
    "beta=5": StochasticPerceptron(alpha=0.4, squared_norm=0.5, beta=5),
    "beta=20": StochasticPerceptron(alpha=0.55, squared_norm=0.7, beta=20),
    "beta=100": StochasticPerceptron(alpha=0.55, squared_norm=0.9, beta=100),
}


@pytest.mark.parametrize("name", POINTS)
def test_saddle_point(benchmark, name):
    benchmark(stochastic_saddle_point, POINTS[name], check=False)


def test_one_evaluation_by_adaptive_quadrature(benchmark):
    point = stochastic_saddle_point(POINTS["beta=5"])
    curvature = point.norm_conjugate - point.qhat
    benchmark.pedantic(nested_averages, (POINTS["beta=5"], point.q, point.qhat, curvature), rounds=2)


def test_curve_of_100_points(benchmark):
    def curve():
        norms = np.linspace(0.4, 0.95, 100)
        return [stochastic_saddle_point(StochasticPerceptron(alpha=0.55, squared_norm=Q, beta=10)) for Q in norms]

    benchmark.pedantic(curve, rounds=1)


def test_samples_of_100_weights(benchmark):
    def sample():
        return sample_stochastic_weights(POINTS["beta=5"], 100, stream(0, "bench"), max_doublings=0, check=False)

    benchmark.pedantic(sample, rounds=3, warmup_rounds=1)


def test_descent_of_1001_weights(benchmark):
    benchmark.pedantic(lambda: descend_stochastic_weights(0.5, 1001, stream(0, "bench")), rounds=2)
