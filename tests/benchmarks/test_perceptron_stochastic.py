"""Stochastic binary weights: saddle points beside one evaluation of their integrals by nested adaptive quadrature.

The peer evaluates the integrals of a converged point once with scipy.integrate.quad; a solution by it would need
a dozen of them.
"""

import numpy as np
import pytest

from simulate.core import stream
from simulate.perceptron import descend_stochastic_weights, sample_stochastic_weights
from tests.benchmarks.machinery.jobs import Peer
from tests.perceptron.test_stochastic_theory import nested_averages
from theory.models import StochasticPerceptron
from theory.perceptron import stochastic_saddle_point

SUBJECT = "stochastic perceptron"
POINTS = {
    "beta = 5": StochasticPerceptron(alpha=0.4, squared_norm=0.5, beta=5),
    "beta = 20": StochasticPerceptron(alpha=0.55, squared_norm=0.7, beta=20),
    "beta = 100": StochasticPerceptron(alpha=0.55, squared_norm=0.9, beta=100),
}


def quadrature():
    model = POINTS["beta = 5"]
    point = stochastic_saddle_point(model)
    return lambda: nested_averages(model, point.q, point.qhat, point.norm_conjugate - point.qhat)


@pytest.mark.parametrize("name", POINTS)
def test_saddle_point(jobs, name):
    peers = {"scipy, quad nested twice, one evaluation": Peer(quadrature, made=True)} if name == "beta = 5" else None
    jobs.compare(f"saddle point, {name}", lambda: stochastic_saddle_point(POINTS[name], check=False), peers, rounds=2)


def test_curve(jobs):
    def curve():
        norms = np.linspace(0.4, 0.95, 30)
        return [stochastic_saddle_point(StochasticPerceptron(alpha=0.55, squared_norm=Q, beta=10)) for Q in norms]

    jobs.compare("curve of 30 squared norms, beta = 10, a point", curve, per=30.0, rounds=1)


def test_simulations(jobs):
    def sample():
        return sample_stochastic_weights(POINTS["beta = 5"], 100, stream(0, "bench"), max_doublings=0, check=False)

    jobs.compare("samples of 100 weights", sample, rounds=2)
    jobs.compare("descent of 1001 weights", lambda: descend_stochastic_weights(0.5, 1001, stream(0, "bench")), rounds=2)
