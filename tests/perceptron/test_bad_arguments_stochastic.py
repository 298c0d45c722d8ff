"""Every wrong value in every argument about stochastic weights is refused by name."""

import numpy as np
import pytest

from simulate import perceptron as measured
from tests.bad_arguments import Example, assert_all_refused
from theory import ConvergenceError, perceptron
from theory.core.errors import MaskedSSLError
from theory.models import StochasticPerceptron
from theory.perceptron.stochastic_averages import WeightAverage, weight_average

INPUTS, LABELS = np.random.default_rng(1).standard_normal((6, 3)), np.array([0, 1, 2, 0, 1, 2])
MODEL = StochasticPerceptron(alpha=0.4, squared_norm=0.5, beta=2)


def rng():
    return np.random.default_rng(0)


EXAMPLES = {
    "StochasticPerceptron": Example(StochasticPerceptron, {"alpha": 0.4, "squared_norm": 0.5, "beta": 2}),
    "stochastic_saddle_point": Example(
        perceptron.stochastic_saddle_point, {"model": MODEL, "tol": 1e-9, "max_iter": 200, "check": True}
    ),
    "sample_stochastic_weights": Example(
        measured.sample_stochastic_weights,
        {
            "model": MODEL,
            "n_weights": 10,
            "rng": rng(),
            "n_chains": 2,
            "n_sweeps": 40,
            "r_hat_limit": 1.5,
            "max_doublings": 1,
            "check": False,
        },
    ),
    "descend_stochastic_weights": Example(
        measured.descend_stochastic_weights,
        {"alpha": 0.4, "n_weights": 11, "rng": rng(), "learning_rate": 0.02, "max_epochs": 20},
    ),
    "TwoLayerNetwork": Example(
        measured.TwoLayerNetwork, {"first": np.full((3, 4), 0.5), "second": np.full((4, 2), -0.5)}
    ),
    "train_two_layers": Example(
        measured.train_two_layers,
        {
            "inputs": INPUTS,
            "labels": LABELS,
            "test_inputs": INPUTS,
            "test_labels": LABELS,
            "n_hidden": 4,
            "rng": rng(),
            "stochastic": True,
            "learning_rate": 0.02,
            "epochs": 2,
            "batch_size": 3,
        },
    ),
}


def test_bad_arguments_are_refused_by_name():
    assert_all_refused(EXAMPLES, n=200, seed=0)


@pytest.mark.slow
def test_many_bad_arguments_are_refused_by_name():
    assert_all_refused(EXAMPLES, n=3_000, seed=1)


@pytest.mark.parametrize(
    ("name", "values"),
    [("alpha", (0, -1, np.inf, np.nan)), ("squared_norm", (0, 1, 1.5, -0.1, np.nan)), ("beta", (0, -2, np.inf))],
)
def test_values_of_the_record_that_make_no_sense(name, values):
    for value in values:
        with pytest.raises(ValueError, match=f"{name} must"):
            StochasticPerceptron(**{"alpha": 0.4, "squared_norm": 0.5, "beta": 2, name: value})


def test_sizes_without_patterns():
    with pytest.raises(ValueError, match="n_weights must give at least one pattern, got 2 with alpha = 0"):
        measured.descend_stochastic_weights(0.1, 2, rng())
    with pytest.raises(ValueError, match="n_weights must be an integer of at least 2"):
        measured.sample_stochastic_weights(MODEL, 1, rng())


EXTREME = [
    {"alpha": 1e-300, "squared_norm": 0.5, "beta": 1},
    {"alpha": 1e300, "squared_norm": 0.5, "beta": 1},
    {"alpha": 1, "squared_norm": 1e-300, "beta": 1},
    {"alpha": 1, "squared_norm": np.nextafter(1, 0), "beta": 1},
    {"alpha": 1, "squared_norm": 0.5, "beta": 1e-300},
    {"alpha": 1, "squared_norm": 0.5, "beta": 1e300},
]


@pytest.mark.parametrize("parameters", EXTREME, ids=str)
def test_extreme_parameters_are_solved_or_refused(parameters):
    try:
        point = perceptron.stochastic_saddle_point(StochasticPerceptron(**parameters))
    except MaskedSSLError:
        return
    assert point.converged
    assert 0 <= point.q < parameters["squared_norm"]


@pytest.mark.parametrize("parameters", [EXTREME[0], EXTREME[4]], ids=str)
def test_overlaps_that_rounding_hides_are_refused_with_the_way_out(parameters):
    with pytest.raises(ConvergenceError, match=r"alpha and beta are so small .* take larger ones"):
        perceptron.stochastic_saddle_point(StochasticPerceptron(**parameters))


@pytest.mark.parametrize("check", [True, False])
def test_overlaps_are_refused_as_well_where_rounding_leaves_nothing(monkeypatch, check):
    """Whether sums over a symmetric grid leave rounding or zero depends on the order in which a processor adds."""

    class Symmetric(WeightAverage):
        def mean(self, values):
            return super().mean((values + values[::-1]) / 2)

    def symmetric(*arguments):
        return Symmetric(**vars(weight_average(*arguments)))

    monkeypatch.setattr("theory.perceptron.stochastic.weight_average", symmetric)
    model = StochasticPerceptron(**EXTREME[0])
    if check:
        with pytest.raises(ConvergenceError, match=r"alpha and beta are so small .* take larger ones"):
            perceptron.stochastic_saddle_point(model)
    else:
        point = perceptron.stochastic_saddle_point(model, check=False)
        assert not point.converged
        assert 0 < point.q < 1e-25
