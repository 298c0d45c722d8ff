"""Errors of perceptrons and of feed-forward networks advise only what their callers can do."""

import numpy as np
import pytest

from simulate.core import stream
from simulate.feedforward import sample_narrow
from simulate.perceptron import sample_stochastic_weights
from tests.advice import assert_advice_is_possible, test_general_advice_names_no_argument, unknown_arguments, vocabulary
from theory import feedforward, perceptron
from theory.models import BinaryNetwork, DiscretePerceptron, NarrowNetwork, StochasticPerceptron
from theory.perceptron import discrete_path

__all__ = ["test_general_advice_names_no_argument"]

MODELS = (DiscretePerceptron, StochasticPerceptron, NarrowNetwork, BinaryNetwork)
FUNCTIONS = [
    getattr(room, name) for room in (perceptron, feedforward) for name in room.__all__ if name[0].islower()
] + [sample_narrow, sample_stochastic_weights]
NAMES = vocabulary(FUNCTIONS, MODELS) - {"rng"}

BINARY = (-1.0, 1.0)
FROZEN = NarrowNetwork(alpha=3.0, activation="erf", noise=0.001)


def rapid(h):
    return np.sin(300 * h)


COLD = NarrowNetwork(alpha=12.58, activation="erf", noise=0.0194)
STOCHASTIC = StochasticPerceptron(alpha=0.4, squared_norm=0.5, beta=5)
ABOVE = DiscretePerceptron(levels=BINARY, alpha=5.0)
BROKEN = DiscretePerceptron(levels=BINARY, alpha=1.2)


@pytest.mark.parametrize(
    ("function", "keywords", "words"),
    [
        (perceptron.solution_entropy, {"model": ABOVE}, "take an alpha nearer"),
        (perceptron.solution_entropy, {"model": BROKEN}, "replica symmetry is broken"),
        (perceptron.entropy_curve, {"levels": BINARY, "alphas": [5.0]}, "take an alpha nearer"),
        (perceptron.entropy_curve, {"levels": BINARY, "alphas": [1.2]}, "replica symmetry is broken"),
        (perceptron.zero_entropy_capacity, {"levels": (1.0, 0.1, -0.1), "margin": 0.05}, "take other levels"),
        (perceptron.zero_entropy_capacity, {"levels": (-1.0, 0.01, 1.0), "margin": -0.3}, "take a margin nearer to 0"),
        (perceptron.copy_entropy, {"model": ABOVE, "overlap": 0.8}, "take an alpha nearer"),
        (
            perceptron.copy_entropy,
            {"model": DiscretePerceptron(levels=BINARY, alpha=0.75), "overlap": 0.97, "copies": 20},
            "fewer copies",
        ),
        (perceptron.stochastic_saddle_point, {"model": STOCHASTIC, "max_iter": 1}, "take a squared_norm farther"),
        (
            perceptron.stochastic_saddle_point,
            {"model": StochasticPerceptron(alpha=0.4, squared_norm=0.5, beta=1e30)},
            "too extreme",
        ),
        (
            perceptron.stochastic_saddle_point,
            {"model": StochasticPerceptron(alpha=1e-15, squared_norm=0.5, beta=1e-10)},
            "take larger ones",
        ),
        (feedforward.tempered_orders, {"model": COLD, "beta": 1e9, "max_iter": 1}, "take another start"),
        (
            feedforward.tempered_orders,
            {"model": NarrowNetwork(alpha=1.5, activation="relu", noise=0.1), "beta": 100.0},
            "lower beta",
        ),
        (feedforward.bayes_optimal, {"model": NarrowNetwork(alpha=1.0, activation="quadratic")}, "take a smaller one"),
        (feedforward.bayes_curve, {"activation": rapid, "alphas": [2.0], "noise": 0.1}, "more noise"),
        (
            sample_narrow,
            {"model": FROZEN, "n_inputs": 20, "n_units": 4, "rng": stream(0, "narrow short"), "n_samples": 4,
             "r_hat_limit": 1.0001, "start": "random"},
            "raise n_samples",
        ),
        (
            sample_stochastic_weights,
            {"model": StochasticPerceptron(alpha=0.55, squared_norm=0.95, beta=100), "n_weights": 30,
             "rng": stream(0, "advice"), "n_sweeps": 40, "max_doublings": 0},
            "raise n_sweeps or max_doublings",
        ),
    ],
)  # fmt: skip
def test_advice_can_be_followed(function, keywords, words):
    assert_advice_is_possible(function, keywords, words, NAMES)


def test_a_search_that_runs_out_of_steps_names_no_option_of_another_function(monkeypatch):
    """The message that first showed the fault advised method='newton', which only the inner solver has."""
    monkeypatch.setattr(discrete_path, "MAX_STEPS", 3)
    assert_advice_is_possible(perceptron.zero_entropy_capacity, {"levels": BINARY}, "max_iter after 3", NAMES)


def test_an_impossible_advice_is_seen():
    advice = "raise max_iter, or use method='newton' and a smaller alpha"
    assert unknown_arguments(advice, perceptron.zero_entropy_capacity, {"levels": BINARY}, NAMES) == {
        "max_iter", "method", "alpha"
    }  # fmt: skip
    assert unknown_arguments(advice, perceptron.solution_entropy, {"model": ABOVE}, NAMES) == {"method"}
    assert not unknown_arguments("lower the load", np.mean, {}, NAMES)
