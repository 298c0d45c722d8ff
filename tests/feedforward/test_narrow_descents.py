"""Students of least energy and of version spaces: gradients of centered outputs, exact laws, what is refused."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

from figures.feedforward.narrow_cold import PERCEPTRON
from simulate.core import stream
from simulate.feedforward import fit_narrow, sample_narrow, sample_version_space
from simulate.feedforward.narrow_task import Task, activation_and_slope
from simulate.feedforward.narrow_version_space import RELU, SIGN, _sweep, _truncated_normal, _values
from theory.models import NarrowNetwork


@pytest.mark.parametrize("activation", ["erf", "relu", "quadratic"])
def test_gradients_of_outputs_without_their_mean(activation):
    model = NarrowNetwork(alpha=2.0, activation=activation, noise=0.1, readout="equal")
    rng = stream(0, "centered", activation)
    task = Task.draw(model, (4, 3, 10), 1.3, 0.7, activation_and_slope(model, None), rng)
    W, D, h = rng.standard_normal((4, 2, 3)), rng.standard_normal((4, 2, 3)), 1e-6
    energies, gradients, losses = task.energy(W)
    s = task.value(np.einsum("ni,ick->nck", task.inputs, W)).sum(axis=2) / math.sqrt(3)
    gaps = task.labels[:, None] - (s - s.mean(axis=0))
    assert abs(task.labels.mean()) < 1e-12
    assert losses == pytest.approx((gaps**2).mean(axis=0), rel=1e-10)
    assert energies == pytest.approx(0.65 * (gaps**2).sum(axis=0) + 0.35 * (W**2).sum(axis=(0, 2)), rel=1e-10)
    slope = (task.energy(W + h * D)[0] - task.energy(W - h * D)[0]) / (2 * h)
    assert slope == pytest.approx((gradients * D).sum(axis=(0, 2)), rel=1e-5)


def test_a_descent_ends_where_the_gradient_vanishes():
    model = NarrowNetwork(alpha=4.0, activation="erf", readout="equal")
    found = fit_narrow(model, 20, 5, stream(0, "ends"), lam=0.02, n_test=100)
    assert found.residual < 1e-3
    assert found.converged
    with pytest.raises(RuntimeError, match="raise max_evaluations"):
        fit_narrow(model, 20, 5, stream(0, "ends"), lam=0.02, n_test=100, max_evaluations=5)
    assert not fit_narrow(model, 20, 5, stream(0, "ends"), lam=0.02, max_evaluations=5, check=False).converged


def test_few_samples_are_fitted_from_both_starts():
    model = NarrowNetwork(alpha=0.3, activation="erf")
    for start in ("teacher", "random"):
        found = fit_narrow(model, 30, 4, stream(0, "fitted"), lam=1e-3, start=start)
        assert found.train_error < 1e-4
        assert found.start == start


@pytest.mark.parametrize("low", [-math.inf, -0.3, 1.0, 3.0])
@pytest.mark.parametrize("high", [3.5, math.inf])
def test_truncated_normal_numbers_have_the_moments_of_their_law(low, high):
    from scipy.stats import truncnorm

    rng = np.random.default_rng(0)
    drawn = np.array([_truncated_normal(low, high, rng) for _ in range(20_000)])
    law = truncnorm(low, high)
    assert (drawn >= low).all()
    assert (drawn <= high).all()
    assert abs(drawn.mean() - law.mean()) < 4.5 * law.std() / math.sqrt(len(drawn))
    assert drawn.std() == pytest.approx(law.std(), rel=0.04)


@pytest.mark.parametrize(("kind", "K"), [(RELU, 2), (SIGN, 3)])
def test_sweeps_have_the_law_of_weights_that_are_rejected_until_all_signs_are_right(kind, K):
    rng = stream(0, "rejection", kind)
    N, n = 2, 5
    readout = np.ones(K) / math.sqrt(K) if kind == SIGN else np.array([1.0, -1.0]) / math.sqrt(2)
    X, teacher = rng.standard_normal((N, n)), rng.standard_normal((K, N))

    def outputs(W):
        return np.einsum("k,wkn->wn", readout, _values(kind, W @ X))

    labels = np.where(outputs(teacher[None])[0] > 0, 1.0, -1.0)
    prior = rng.standard_normal((200_000, K, N))
    exact = prior[((outputs(prior) > 0) == (labels > 0)).all(axis=1)].reshape(-1, K * N)
    weights, kept = teacher.copy(), []
    for t in range(24_000):
        _sweep(weights, weights @ X, X, labels, readout, kind, rng)
        if t % 4 == 0:
            kept.append(weights.ravel().copy())
    chain = np.array(kept)
    assert ((outputs(chain.reshape(-1, K, N)) > 0) == (labels > 0)).all()
    batches = chain.reshape(40, -1, K * N)
    for power in (1, 2):
        error = np.sqrt((batches**power).mean(axis=1).var(axis=0) / 39 + (exact**power).var(axis=0) / len(exact))
        z = ((chain**power).mean(axis=0) - (exact**power).mean(axis=0)) / error
        assert abs(z).max() < 5
    wrong = prior[: len(chain)].reshape(-1, K * N)  # the prior itself
    assert abs(((chain - wrong).mean(axis=0)) / error).max() > 8


def test_students_of_a_version_space_are_told_from_the_teacher_and_from_guesses():
    model = NarrowNetwork(alpha=6.0, activation="sign", labels="sign", readout="equal")
    found = sample_version_space(model, 12, 5, stream(0, "version space"), n_sweeps=60, n_test=500)
    assert 0 < found.bayes_risk <= found.gibbs_risk < 0.3
    assert found.series.shape == (2, 30)
    assert found.iterations == 120


@pytest.mark.parametrize(
    ("keywords", "units", "message"),
    [
        ({"labels": "linear"}, 6, "model must have signs as labels and no noise"),
        ({"noise": 0.1}, 6, "model must have signs as labels and no noise"),
        ({"readout": "equal"}, 6, "model must have a balanced readout for relu"),
        ({"activation": "sign"}, 5, "model must have a balanced readout for relu, an equal one for sign"),
        ({"activation": "sign", "readout": "equal"}, 6, "n_units must be odd for sign"),
        ({}, 5, "n_units must be odd for sign, whose outputs may vanish else, and even for relu"),
        ({"activation": "erf"}, 6, "model must have a monotone activation, one of sign, relu"),
        ({"hidden_units": 8}, 6, "n_units must be the hidden_units of the model, 8, got 6"),
    ],
)
def test_version_spaces_that_cannot_be_sampled_are_refused(keywords, units, message):
    model = NarrowNetwork(**{"alpha": 3.0, "activation": "relu", "labels": "sign", **keywords})
    with pytest.raises(ValueError, match=message):
        sample_version_space(model, 10, units, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("keywords", "units", "message"),
    [
        ({"labels": "sign"}, 6, "model must have linear labels"),
        ({}, 5, "n_units must be even"),
        ({"hidden_units": 8}, 6, "n_units must be the hidden_units of the model, 8, got 6"),
        ({"activation": "sign"}, 6, "model must have an activation with a gradient"),
    ],
)
def test_descents_that_cannot_be_made_are_refused(keywords, units, message):
    model = NarrowNetwork(**{"alpha": 3.0, "activation": "erf", **keywords})
    with pytest.raises(ValueError, match=message):
        fit_narrow(model, 10, units, np.random.default_rng(0), lam=0.01)


def test_signs_with_an_equal_readout_have_no_probit_here():
    model = NarrowNetwork(alpha=3.0, activation="erf", noise=0.1, labels="sign", readout="equal")
    with pytest.raises(ValueError, match="model must have a balanced readout for signs as labels"):
        sample_narrow(model, 10, 6, np.random.default_rng(0))


def test_the_error_of_one_perceptron_that_the_figure_draws():
    """A sample of its version space has the overlap R with R/(1-R)^(1/2) = alpha/pi E exp(-R x^2/2)/H(R^(1/2) x)."""

    def surplus(log_rest, alpha):
        R = -np.expm1(log_rest)

        def density(x):
            return norm.pdf(x) * np.exp(-R * x * x / 2) / norm.sf(np.sqrt(R) * x)

        return R * np.exp(-log_rest / 2) - alpha / np.pi * quad(density, -40, 12, limit=400)[0]

    for alpha, within in ((14.0, 0.02), (1e4, 1e-3)):
        R = -np.expm1(brentq(surplus, -25, -0.05, args=(alpha,)))
        assert alpha * np.arccos(R) / np.pi == pytest.approx(PERCEPTRON, rel=within)
