"""Every wrong value in every argument of the public functions on narrow networks is refused by name."""

import numpy as np
import pytest

from simulate.feedforward import narrow_risk, sample_narrow
from tests.bad_arguments import Example, assert_all_refused
from theory import feedforward
from theory.models import NarrowNetwork

MODEL = NarrowNetwork(alpha=3.0, activation="erf", noise=0.1)
KERNEL = feedforward.activation_kernel("erf")


def example(function, **keywords):
    return Example(function, keywords)


THEORY = {
    "NarrowNetwork": example(NarrowNetwork, alpha=3.0, activation="erf", noise=0.1, labels="linear"),
    "activation_kernel": example(feedforward.activation_kernel, activation=np.tanh),
    "ActivationKernel.kernel": example(KERNEL.kernel, q=0.5),
    "bayes_optimal": example(feedforward.bayes_optimal, model=MODEL, state="largest_q"),
    "stable_states": example(feedforward.stable_states, model=MODEL),
    "bayes_curve": example(feedforward.bayes_curve, activation="relu", alphas=[1.0, 2.0], noise=0.1, labels="sign"),
    "specialization": example(feedforward.specialization, activation="sign", noise=0.1, labels="linear"),
    "tempered_orders": example(
        feedforward.tempered_orders,
        model=MODEL,
        beta=8.0,
        lam=1.0,
        start="random",
        tol=1e-8,
        max_iter=500,
        check=False,
    ),
}
SIMULATION = {
    "sample_narrow": example(
        sample_narrow,
        model=MODEL,
        n_inputs=8,
        n_units=2,
        rng=np.random.default_rng(0),
        start="random",
        beta=5.0,
        lam=1.0,
        derivative=None,
        n_chains=2,
        n_samples=8,
        n_test=20,
        r_hat_limit=1.5,
        check=False,
    ),
    "narrow_risk": example(
        narrow_risk, model=NarrowNetwork(alpha=2.0, activation="erf", noise=1.0), d=2, rng=np.random.default_rng(0)
    ),
}
EXAMPLES = {"theory": THEORY, "simulation": SIMULATION}


@pytest.mark.parametrize("room", EXAMPLES)
def test_bad_arguments_are_refused_by_name(room):
    assert_all_refused(EXAMPLES[room], n=200, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("room", EXAMPLES)
def test_many_bad_arguments_are_refused_by_name(room):
    assert_all_refused(EXAMPLES[room], n=5_000, seed=1)
