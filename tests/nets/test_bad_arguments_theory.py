"""Every wrong value in every argument of the theory of networks is refused by name."""

import numpy as np
import pytest

from tests.bad_arguments import Example, assert_all_refused
from theory import nets
from theory.models import AR1, FactoredStack, PottsModel, Sequences, VanillaEncoder

J = np.array([[0.0, 0.5, -0.3], [0.5, 0.0, 0.8], [-0.3, 0.8, 0.0]])
MODEL = PottsModel(J, np.eye(2))
ONE, STACK = (FactoredStack.deterministic(n, 3, 2) for n in (1, 2))
RATE = nets.plateau_rate(MODEL)
ESCAPE = nets.escape_time(MODEL, STACK)
STEPS = np.full(2, 0.1)
SKIP = FactoredStack.deterministic(2, 3, 2, skip=True)
FLOOR = nets.factored_floor(MODEL, np.random.default_rng(0), n_starts=1).layer


def example(function, **keywords):
    return Example(function, keywords)


def rng():
    return np.random.default_rng(0)


THEORY = {
    "best_direction": example(
        nets.best_direction, model=MODEL, n_layers=2, rng=rng(), n_starts=1, fields=False, tol=1e-3, max_iter=200
    ),
    "conserved_quantities": example(nets.conserved_quantities, stack=STACK),
    "corrected_growth": example(
        nets.corrected_growth, start=STACK, now=STACK, attention_steps=STEPS, value_steps=STEPS
    ),
    "escape_time": example(nets.escape_time, model=MODEL, stack=STACK, tol=1e-3, max_evaluations=20_000),
    "factored_floor": example(
        nets.factored_floor, model=MODEL, rng=rng(), n_starts=1, fields=False, tol=1e-4, max_iter=500
    ),
    "high_temperature_floors": example(nets.high_temperature_floors, model=MODEL),
    "leading_gain": example(nets.leading_gain, model=MODEL, stack=STACK),
    "learning_threshold": example(nets.learning_threshold, gain=0.01, noise=0.1),
    "linear_response_signal": example(nets.linear_response_signal, model=MODEL.at(0.5)),
    "logits_table": example(
        nets.logits_table,
        network=lambda sequences, site: np.cos(np.outer(sequences.sum(axis=1), [1.0, 2.0, 3.0])),
        sequence=[0, 1, 2, 1],
        sites=[1, 3],
        tokens=[0, 2],
        mask_token=0,
        batch_size=2,
    ),
    "lower_layers": example(
        nets.lower_layers, model=MODEL, stack=SKIP, plateau=FLOOR, tol=1e-3, max_evaluations=20_000
    ),
    "norm_ratios": example(nets.norm_ratios, n_layers=3),
    "order_fractions": example(nets.order_fractions, network=STACK),
    "plateau_rate": example(nets.plateau_rate, model=MODEL, fields=True),
    "population_signal": example(nets.population_signal, model=MODEL, whitened=True, least_share=0.2),
    "spectral_signal": example(nets.spectral_signal, model=MODEL, whitened=True),
    "second_moments": example(nets.second_moments, model=MODEL, fields=True),
    "spectral_overlaps": example(nets.spectral_overlaps, n_sites=60, n_colors=10, signal=0.1, n_samples=800),
    "spectral_threshold": example(nets.spectral_threshold, n_sites=60, n_colors=10, signal=0.1, share=0.9),
    "structureless_gain": example(
        nets.structureless_gain, n_sites=3, n_colors=2, n_layers=2, n_samples=10, rng=rng(), n_draws=1, n_starts=1
    ),
    "third_moments": example(nets.third_moments, model=MODEL, fields=False),
    "token_flow": example(nets.token_flow, covariance=AR1(3, 0.5), masked=0, first=np.zeros((3, 3)), last=np.ones(3)),
    "token_growth": example(nets.token_growth, third_moments=np.zeros((3, 3, 3)), masked=0, last=np.ones(3)),
    "token_path": example(nets.token_path, covariance=AR1(3, 0.5), masked=0, last=np.ones(3), times=[1.0]),
    "truncated_conditional_loss": example(nets.truncated_conditional_loss, model=MODEL, order=2),
}

RECORDS = {
    "FactoredStack": example(
        FactoredStack, attentions=STACK.attentions, values=STACK.values, fields=np.zeros((3, 2)), skip=True
    ),
    "FactoredStack.random": example(
        FactoredStack.random, n_layers=2, n_sites=3, n_colors=2, scale=0.5, rng=rng(), skip=False
    ),
    "FactoredStack.deterministic": example(
        FactoredStack.deterministic, n_layers=2, n_sites=3, n_colors=2, scale=0.5, skip=True
    ),
    "FactoredStack.scaled": example(STACK.scaled, factor=0.5),
    "FactoredStack.logits": example(STACK.logits, inputs=np.zeros((4, 3, 2))),
    "Sequences": example(Sequences, states=[[0, 1, 1]], n_colors=2, weights=[2.0]),
    "VanillaEncoder": example(
        VanillaEncoder,
        n_sites=5,
        n_colors=3,
        n_layers=1,
        n_heads=2,
        width=16,
        mlp_ratio=2,
        attention_only=False,
        final_norm=True,
    ),
    "PlateauRate.amplitude": example(RATE.amplitude, stack=ONE),
    "PlateauRate.escape_time": example(RATE.escape_time, stack=ONE, gain=0.01),
    "EscapeTime.time": example(ESCAPE.time, scale=0.5),
    "LowerLayers.time": example(nets.lower_layers(MODEL, SKIP, FLOOR).time, scale=0.5),
}

EXAMPLES = {"theory": THEORY, "records": RECORDS}


@pytest.mark.parametrize("room", EXAMPLES)
def test_bad_arguments_are_refused_by_name(room):
    assert_all_refused(EXAMPLES[room], n=150, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("room", EXAMPLES)
def test_many_bad_arguments_are_refused_by_name(room):
    assert_all_refused(EXAMPLES[room], n=5_000, seed=1)


def test_every_public_function_has_an_example():
    assert {name for name in nets.__all__ if name[0].islower()} == set(THEORY)
