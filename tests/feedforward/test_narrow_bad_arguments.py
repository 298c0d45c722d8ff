"""Every wrong value in every argument of the public functions on narrow networks is refused by name."""

import numpy as np
import pytest

from simulate.feedforward import fit_narrow, narrow_risk, sample_narrow, sample_version_space
from tests.bad_arguments import Example, assert_all_refused
from theory import feedforward
from theory.models import NarrowNetwork

MODEL = NarrowNetwork(alpha=3.0, activation="erf", noise=0.1)
KERNEL = feedforward.activation_kernel("erf")


def example(function, **keywords):
    return Example(function, keywords)


THEORY = {
    "NarrowNetwork": example(
        NarrowNetwork, alpha=3.0, activation="erf", noise=0.1, labels="linear", hidden_units=10, readout="equal"
    ),
    "activation_kernel": example(feedforward.activation_kernel, activation=np.tanh),
    "ActivationKernel.kernel": example(KERNEL.kernel, q=0.5),
    "bayes_optimal": example(feedforward.bayes_optimal, model=MODEL, state="largest_q"),
    "stable_states": example(feedforward.stable_states, model=MODEL),
    "bayes_curve": example(
        feedforward.bayes_curve,
        activation="relu",
        alphas=[1.0, 2.0],
        noise=0.1,
        labels="sign",
        hidden_units=6,
        readout="equal",
    ),
    "specialization": example(
        feedforward.specialization, activation="sign", noise=0.1, labels="linear", hidden_units=6, readout="balanced"
    ),
    "ground_state": example(
        feedforward.ground_state, model=MODEL, lam=0.5, start="random", tol=1e-8, max_iter=500, check=False
    ),
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
    "fit_narrow": example(
        fit_narrow,
        model=MODEL,
        n_inputs=8,
        n_units=2,
        rng=np.random.default_rng(0),
        lam=0.5,
        start="random",
        n_test=20,
        max_evaluations=50,
        check=False,
    ),
    "sample_version_space": example(
        sample_version_space,
        model=NarrowNetwork(alpha=2.0, activation="relu", labels="sign"),
        n_inputs=6,
        n_units=2,
        rng=np.random.default_rng(0),
        n_chains=2,
        n_sweeps=8,
        n_test=20,
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


@pytest.mark.parametrize(
    ("activation", "message"),
    [
        (
            lambda h: 1e-200 * h**2,
            r"activation must vary by numbers from 1e-100 to 1e\+100, got values",
        ),
        (lambda h: 1e160 * np.tanh(h), r"activation must vary by numbers from 1e-100 to 1e\+100"),
        (lambda h: h * h + 1e8, "activation must not be nearly constant: subtract the constant"),
        (lambda h: np.tanh(h.astype(np.float32)), "activation must be a function in double precision"),
        (lambda h: np.random.default_rng(int(1e6 * abs(h[0]))).standard_normal(h.shape), "activation must be a func"),
    ],
    ids=["tiny", "huge", "constant", "single precision", "random"],
)
def test_activations_without_a_series_in_double_precision_are_refused(activation, message):
    """Without these checks their kernels were infinite, lost their digits, or took hours."""
    with pytest.raises(ValueError, match=message):
        feedforward.activation_kernel(activation)


@pytest.mark.parametrize("name", ["n_chains", "n_sweeps"])
def test_errors_of_more_sweeps_than_the_memory_holds_are_refused_before_they_are_made(name):
    example = SIMULATION["sample_version_space"]
    with pytest.raises(MemoryError, match=r"the errors of .* chains in .* sweeps needs .* GB, this machine has"):
        example.function(**{**example.keywords, name: 10**12})
