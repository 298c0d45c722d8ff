"""Every wrong value in every argument of theory, records and measurements of spiked cumulants is refused by name."""

import numpy as np
import pytest

import simulate.cumulants
from simulate.cumulants import (
    NormStatistics,
    ReluNetwork,
    descended_accuracy,
    draw_spike,
    enumerated_norm,
    enumerated_wishart_norm,
    fit_random_features,
    known_spike_accuracy,
    labeled_samples,
    network_accuracy,
    network_gradient,
    norm_statistics,
    random_features_accuracy,
    sample_null,
    sample_spiked,
    sample_wishart,
    train_network,
)
from tests.bad_arguments import Example, assert_all_refused
from theory import cumulants
from theory.models import AtomicLatent, SpikedCumulant, SpikedWishart

SIGNS = SpikedCumulant(4, 2.0)
SPHERE = SpikedCumulant(4, 2.0, "sphere", AtomicLatent((-0.5, 2.0), (0.8, 0.2)))
WISHART = SpikedWishart(4, 0.5)
SPIKE = np.full(4, 0.5)
TEST = cumulants.norm_test(SIGNS, 50)
NETWORK = ReluNetwork(np.eye(4), np.zeros(4), np.ones(4), 0.5)
X, Y = np.arange(40.0).reshape(10, 4) % 7 - 3, np.tile([1.0, -1.0], 5)
STATISTICS = NormStatistics(5, np.arange(4.0), np.arange(4.0))


def example(function, **keywords):
    return Example(function, keywords)


def rng():
    return np.random.default_rng(0)


THEORY = {
    "likelihood_ratio_beta": example(cumulants.likelihood_ratio_beta, model=SIGNS, gamma=3.0),
    "likelihood_ratio_norm": example(cumulants.likelihood_ratio_norm, model=SPHERE, n=10),
    "likelihood_ratio_rate": example(cumulants.likelihood_ratio_rate, model=SIGNS, gamma=3.0),
    "likelihood_ratio_threshold": example(cumulants.likelihood_ratio_threshold, model=SIGNS),
    "low_degree_norm": example(cumulants.low_degree_norm, model=SIGNS, n=10, degree=8),
    "norm_test": example(cumulants.norm_test, model=SIGNS, n=10),
    "norm_test_samples": example(cumulants.norm_test_samples, model=SIGNS, power=0.5, level=0.05),
    "oracle_accuracy": example(cumulants.oracle_accuracy, model=SPHERE),
    "overlap_function": example(cumulants.overlap_function, model=SIGNS, overlaps=[-0.5, 0.3]),
    "wishart_low_degree_limit": example(cumulants.wishart_low_degree_limit, beta=0.5, gamma=2.0, degree=8),
    "wishart_low_degree_norm": example(cumulants.wishart_low_degree_norm, model=WISHART, n=10, degree=8),
}

RECORDS = {
    "AtomicLatent": example(AtomicLatent, atoms=[-1.0, 1.0], probabilities=[0.5, 0.5]),
    "AtomicLatent.diluted_signs": example(AtomicLatent.diluted_signs, probability=0.5),
    "AtomicLatent.hermite_moment": example(AtomicLatent.signs().hermite_moment, order=4),
    "AtomicLatent.normalized_moments": example(AtomicLatent.signs().normalized_moments, order=4),
    "SpikedCumulant": example(SpikedCumulant, d=5, beta=1.0, prior="sphere", latent=AtomicLatent.signs()),
    "SpikedWishart": example(SpikedWishart, d=5, beta=1.0, prior="sphere"),
    "SpikedCumulant.norm_statistic": example(SIGNS.norm_statistic, squared_norms=[1.0, 4.0]),
    "NormTest.power": example(TEST.power, level=0.05),
    "NormTest.corrected_power": example(TEST.corrected_power, level=0.05),
    "NormTest.corrected_level": example(TEST.corrected_level, level=0.05),
}

MEASUREMENTS = {
    "descended_accuracy": example(
        descended_accuracy, model=SIGNS, n=5, rng=rng(), width=3, rate=0.01, decay=0.1, n_epochs=2
    ),
    "draw_spike": example(draw_spike, model=SPHERE, rng=rng()),
    "enumerated_norm": example(enumerated_norm, model=SIGNS, n=3, repeats=5, rng=rng(), law="null"),
    "enumerated_wishart_norm": example(enumerated_wishart_norm, model=WISHART, n=3, repeats=5, rng=rng()),
    "fit_random_features": example(fit_random_features, X=X, y=Y, width=5, rng=rng(), ridges=[0.1, 1.0]),
    "known_spike_accuracy": example(known_spike_accuracy, model=SIGNS, n=5, rng=rng()),
    "labeled_samples": example(labeled_samples, model=SIGNS, spike=SPIKE, n=5, rng=rng()),
    "network_accuracy": example(
        network_accuracy, model=SIGNS, n=5, rng=rng(), width=3, n_steps=2, rate=0.01, batch_size=3
    ),
    "network_gradient": example(network_gradient, network=NETWORK, X=X, y=Y),
    "norm_statistics": example(norm_statistics, model=SIGNS, n=5, repeats=3, rng=rng()),
    "random_features_accuracy": example(random_features_accuracy, model=SIGNS, n=5, rng=rng(), width=3, ridges=[0.1]),
    "sample_null": example(sample_null, model=SIGNS, n=5, rng=rng()),
    "sample_spiked": example(sample_spiked, model=SIGNS, spike=SPIKE, n=5, rng=rng()),
    "sample_wishart": example(sample_wishart, model=WISHART, spike=SPIKE, n=5, rng=rng()),
    "train_network": example(train_network, network=NETWORK, X=X, y=Y, n_steps=2, rng=rng(), rate=0.01, batch_size=3),
}

NETWORKS = {
    "ReluNetwork": example(ReluNetwork, first_layer=np.eye(4), first_bias=X[0], readout=X[1], offset=0.5),
    "ReluNetwork.random": example(ReluNetwork.random, width=3, d=4, rng=rng()),
    "ReluNetwork.output": example(NETWORK.output, X=X),
    "ReluNetwork.accuracy": example(NETWORK.accuracy, X=X, y=Y),
    "NormStatistics.level": example(STATISTICS.level, threshold=-1.0),
    "NormStatistics.power": example(STATISTICS.power, threshold=-1.0),
}

EXAMPLES = {"theory": THEORY, "records": RECORDS, "measurements": MEASUREMENTS, "networks": NETWORKS}


@pytest.mark.parametrize("room", EXAMPLES)
def test_bad_arguments_are_refused_by_name(room):
    assert_all_refused(EXAMPLES[room], n=200, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("room", EXAMPLES)
def test_many_bad_arguments_are_refused_by_name(room):
    assert_all_refused(EXAMPLES[room], n=5_000, seed=1)


def test_every_public_function_has_an_example():
    assert {name for name in cumulants.__all__ if name[0].islower()} == set(THEORY)
    assert {name for name in simulate.cumulants.__all__ if name[0].islower()} == set(MEASUREMENTS)
