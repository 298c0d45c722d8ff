"""Every wrong value in every argument of binary networks and of transfer is refused by name."""

import numpy as np
import pytest

import theory.feedforward
from simulate import feedforward as simulated
from simulate.feedforward.multilayer import Multilayer
from tests.bad_arguments import Example, assert_all_refused
from theory import feedforward
from theory.models import BinaryNetwork, NestedFeatures, NetworkTransfer

SIGNS = BinaryNetwork(mean_variance=0.9, bias_variance=0.1)
FEATURES = NestedFeatures(dimensions=(20, 5), kept_powers=(1, 0.7), noise=0.1)
TASK = NetworkTransfer(n_inputs=3, width=4, layer_overlaps=(1.0, 0.5))
NETWORK = Multilayer.random(TASK.sizes, np.random.default_rng(0))
INPUTS = np.random.default_rng(1).standard_normal((12, 3))
LABELS = np.sign(INPUTS[:, 0])


def example(function, **keywords):
    return Example(function, keywords)


def rng():
    return np.random.default_rng(0)


TEACHER = simulated.draw_teachers(TASK, rng())[0]

THEORY = {
    "critical_mean_variance": example(feedforward.critical_mean_variance, variance=0.3, phi="erf"),
    "criticality": example(feedforward.criticality, neurons="sign", phi="tanh"),
    "frozen_risk": example(feedforward.frozen_risk, features=FEATURES, n_samples=12.5, lam=0.3),
    "propagate": example(feedforward.propagate, network=SIGNS, n_layers=3, variance=1.0, correlation=0.5),
    "signal_fixed_point": example(feedforward.signal_fixed_point, network=SIGNS, check=True),
    "switching_sizes": example(feedforward.switching_sizes, features=FEATURES),
    "warm_start_risk": example(feedforward.warm_start_risk, features=FEATURES, n_samples=12.5, overlap=0.8, lam=0.3),
}

RECORDS = {
    "BinaryNetwork": example(BinaryNetwork, mean_variance=0.9, bias_variance=0.1, neurons="sign", phi="tanh"),
    "NestedFeatures": example(NestedFeatures, dimensions=(20, 5), kept_powers=(1, 0.7), noise=0.1),
    "NetworkTransfer": example(NetworkTransfer, n_inputs=3, width=4, layer_overlaps=(1.0, 0.5), weight_variance=2.0),
}

SIMULATE = {
    "decay": example(
        simulated.decay,
        network=SIGNS,
        width=10,
        n_layers=2,
        rng=rng(),
        variance=0.2,
        correlation=0.9,
        burn_in=1,
        n_pairs=2,
    ),
    "draw_teachers": example(simulated.draw_teachers, task=TASK, rng=rng()),
    "field_statistics": example(
        simulated.field_statistics, network=SIGNS, width=10, n_layers=2, rng=rng(), variance=1.0, correlation=0.2
    ),
    "frozen_risks": example(
        simulated.frozen_risks, features=FEATURES, n_samples=12, lams=[0.1, 1.0], rng=rng(), depths=[1]
    ),
    "canonical_similarity": example(simulated.canonical_similarity, first=INPUTS, second=INPUTS[:, :2], kept=0.9),
    "procrustes_similarity": example(simulated.procrustes_similarity, first=INPUTS, second=INPUTS[:, :2]),
    "linear_alignment": example(simulated.linear_alignment, first=INPUTS, second=INPUTS[:, :2]),
    "stochastic_activations": example(
        simulated.stochastic_activations, network=SIGNS, width=10, n_layers=2, n_draws=3, rng=rng()
    ),
    "train_multilayer": example(
        simulated.train_multilayer,
        network=NETWORK,
        inputs=INPUTS,
        labels=LABELS,
        rng=rng(),
        n_steps=3,
        n_frozen=1,
        batch=4,
        rate=0.01,
        held_out=0.2,
        record_every=2,
    ),
    "transfer_network": example(
        simulated.transfer_network,
        source=NETWORK,
        n_kept=1,
        inputs=INPUTS,
        labels=LABELS,
        rng=rng(),
        protocol="fresh",
        n_steps=3,
        batch=4,
    ),
    "warm_start_risks": example(
        simulated.warm_start_risks, features=FEATURES, n_samples=12, overlap=0.5, lams=[0.1], rng=rng()
    ),
    "Multilayer.random": example(Multilayer.random, sizes=(3, 2, 1), rng=rng(), variance=1.0),
    "Multilayer": example(Multilayer, layers=NETWORK.layers),
    "Multilayer.hidden": example(NETWORK.hidden, inputs=INPUTS, depth=1),
    "Multilayer.outputs": example(NETWORK.outputs, inputs=INPUTS),
    "Multilayer.error": example(NETWORK.error, inputs=INPUTS, labels=LABELS),
    "Teacher.labels": example(TEACHER.labels, inputs=INPUTS),
    "Teacher.samples": example(TEACHER.samples, n_samples=5, rng=rng()),
}

EXAMPLES = {"theory": THEORY, "records": RECORDS, "simulate": SIMULATE}


@pytest.mark.parametrize("room", EXAMPLES)
def test_bad_arguments_are_refused_by_name(room):
    assert_all_refused(EXAMPLES[room], n=300, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("room", EXAMPLES)
def test_many_bad_arguments_are_refused_by_name(room):
    assert_all_refused(EXAMPLES[room], n=5_000, seed=1)


@pytest.mark.parametrize(("face", "room"), [(theory.feedforward, THEORY), (simulated, SIMULATE)])
def test_every_public_function_has_an_example(face, room):
    """Those of other files of the room have theirs in other tests."""
    ours = {one.function.__module__ for one in room.values()}
    functions = {name: getattr(face, name) for name in face.__all__ if name[0].islower()}
    assert {name for name, function in functions.items() if function.__module__ in ours} <= set(room)
