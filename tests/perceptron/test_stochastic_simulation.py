"""Sampling and descent of stochastic binary weights, against theory, enumeration and their own definitions."""

import numpy as np
import pytest
from scipy.special import log_ndtr

from simulate.core import Estimate, replicate_values, stream
from simulate.perceptron import descend_stochastic_weights, sample_stochastic_weights, stochastic_gibbs
from simulate.perceptron.stochastic_descent import _fields, _gradient
from simulate.perceptron.stochastic_kernel import LOG_PHI, log_phi, run
from simulate.potts import MixingError
from theory.models import StochasticPerceptron
from theory.perceptron import stochastic_saddle_point


def measured(model, d, rng):
    sample = sample_stochastic_weights(model, d, rng, n_sweeps=400)
    return np.array([sample.loss, sample.binarized_error, sample.overlap])


@pytest.mark.parametrize(("alpha", "squared_norm", "beta"), [(0.4, 0.5, 5), (0.55, 0.7, 10)])
def test_the_equilibrium_is_that_of_theory(agrees, alpha, squared_norm, beta):
    model = StochasticPerceptron(alpha=alpha, squared_norm=squared_norm, beta=beta)
    point, d = stochastic_saddle_point(model), 60
    values = replicate_values(measured, model, d, 40, names=("stochastic equilibrium", alpha))
    # Over 400 instances of 20, 40 and 80 weights no correction was seen beyond 1/d of these numbers.
    for column, predicted, resolves in zip(
        values.T, (point.loss, point.binarized_error, point.q), (0.35, 0.8, 0.15), strict=True
    ):
        agrees(Estimate.of(column), predicted, resolves=resolves, bias=predicted / d)


def test_three_weights_have_their_exact_distribution():
    """On the sphere |m|^2 = 3 Q the Gibbs average of the loss is an integral over two angles."""
    Q, beta, N = 0.3, 4.0, 3
    patterns = np.array([[1.0, -0.5], [0.7, 1.5], [-0.3, 0.4]])
    width = np.sqrt(1 - Q)

    def loss(m):
        return -log_ndtr(m @ patterns / (np.sqrt(N) * width)).sum(axis=-1)

    height, turn = np.meshgrid((np.arange(400) + 0.5) / 200 - 1, np.arange(400) * np.pi / 200, indexing="ij")
    radius = np.sqrt(1 - height**2)
    m = np.sqrt(N * Q) * np.stack([radius * np.cos(turn), radius * np.sin(turn), height], axis=-1)
    density = np.exp(-beta * loss(m)) * (abs(m) <= 1).all(axis=-1)
    exact = np.sum(density * loss(m)) / np.sum(density) / N
    first = np.tensordot(density, m, 2) / np.sum(density)
    rng = stream(0, "three weights")
    values, means = [], []
    for _ in range(60):
        losses, errors, states = np.empty(4000), np.empty(4000), np.empty((4000, N))
        start = np.sqrt(Q) * rng.choice([-1.0, 1.0], N)
        run(rng, start, patterns, width, beta, 1.0, 100, 5, LOG_PHI, losses, errors, states)
        assert np.sum(states**2, axis=1) == pytest.approx(N * Q)
        assert abs(states).max() <= 1 + 1e-12
        assert losses[-1] == pytest.approx(loss(states[-1]) / N, abs=1e-6)
        assert errors[-1] == np.mean(np.sign(states[-1]) @ patterns < 0)
        values.append(losses.mean())
        means.append(states.mean(axis=0))
    # Five standard errors: one false alarm in 1e5; together they are less than one percent.
    assert abs(Estimate.of(values).z(exact)) < 5
    assert Estimate.of(values).stderr < 0.0025 * exact
    for k in range(N):
        assert abs(Estimate.of(np.array(means)[:, k]).z(first[k])) < 5


def test_without_energy_all_small_rotations_are_accepted_and_the_sphere_is_uniform():
    """At infinite temperature, with a cube that does not bind: E m_1^4 = 3 (N Q)^2/(N (N + 2)) on the sphere."""
    N, Q = 4, 0.2
    rng, values = stream(0, "no energy"), []
    for _ in range(60):
        losses, errors, states = np.empty(2000), np.empty(2000), np.empty((2000, N))
        start = np.sqrt(Q) * rng.choice([-1.0, 1.0], N)
        arrays = LOG_PHI, losses, errors, states
        acceptance, _ = run(rng, start, np.ones((N, 1)), np.sqrt(1 - Q), 0.0, 0.3, 30, 5, *arrays)
        assert acceptance == 1
        values.append(np.mean(states**4))
    few = np.empty(1), np.empty(1), np.empty((1, 40))
    start = np.sqrt(0.05) * rng.choice([-1.0, 1.0], 40)
    _, angle = run(rng, start, np.ones((40, 1)), np.sqrt(0.95), 0.0, 0.3, 30, 5, LOG_PHI, *few)
    assert angle == pytest.approx(0.3 * np.exp(0.1 * 0.6 * 30))  # in thirty sweeps that accept more than the aim of 0.4
    found, exact = Estimate.of(values), 3 * (N * Q) ** 2 / (N * (N + 2))
    assert abs(found.z(exact)) < 5
    assert found.stderr < 0.002 * exact


@pytest.mark.parametrize(("n_sweeps", "recorded"), [(100, 20), (43, 8)])
def test_every_count_of_a_sample_is_that_of_the_sweeps_made(monkeypatch, n_sweeps, recorded):
    model, made = StochasticPerceptron(alpha=0.4, squared_norm=0.5, beta=5), []

    def counted(rng, m, patterns, width, beta, angle, anneal, every, table, losses, errors, means):
        made.append((anneal, every, len(losses)))
        found = run(rng, m, patterns, width, beta, angle, anneal, every, table, losses, errors, means)
        kept.append((losses, errors, means, found[0]))
        return found

    monkeypatch.setattr(stochastic_gibbs, "run", counted)
    for memory, doublings in ((1e9, 0), (-1e9, 2)):  # with the second one no chain is ever called mixed
        monkeypatch.setattr(stochastic_gibbs, "MAX_REMEMBERED_SHARE", memory)
        made.clear()
        kept = []
        sample = sample_stochastic_weights(
            model, 12, stream(0, "counted"), n_chains=3, n_sweeps=n_sweeps, r_hat_limit=9.0, max_doublings=doublings,
            check=False,
        )  # fmt: skip
        runs = doublings + 1
        assert made == [(n_sweeps * (k == 0), 5, n_sweeps * 2**k // 5) for k in range(runs) for _ in range(3)]
        assert made[0][2] == recorded
        assert sample.n_sweeps == 5 * made[-1][2]
        assert sample.iterations == sum(anneal + every * count for anneal, every, count in made) / 3
        losses, errors, means, acceptances = (np.array([one[k] for one in kept[-3:]]) for k in range(4))
        assert sample.loss == losses.mean()
        assert sample.binarized_error == errors.mean()
        assert sample.acceptance == pytest.approx(acceptances.mean())
        averages = means.mean(axis=1)
        pairs = [averages[a] @ averages[b] / 12 for a, b in ((0, 1), (0, 2), (1, 2))]
        assert sample.overlap == pytest.approx(np.mean(pairs))
        half = means.shape[1] // 2
        own = [one[:half].mean(axis=0) @ one[half:].mean(axis=0) / 12 for one in means]
        assert sample.self_overlap == pytest.approx(np.mean(own))
        assert sample.residual == sample.r_hat - 1


def test_the_default_run_has_two_chains_of_a_thousand_sweeps():
    model = StochasticPerceptron(alpha=0.4, squared_norm=0.5, beta=5)
    sample = sample_stochastic_weights(model, 10, stream(0, "defaults"), r_hat_limit=9.0, check=False, max_doublings=0)
    assert sample.n_sweeps == 1000
    assert sample.iterations == 2000
    assert sample.means.shape == (2, 10)


def test_the_table_of_the_kernel():
    x = np.concatenate([np.linspace(-60, 12, 3001), [-40.0, 9.0, 0.0]])
    assert [log_phi(each, LOG_PHI) for each in x] == pytest.approx(log_ndtr(x), rel=1e-6, abs=1e-6)


def test_chains_that_have_not_mixed_are_refused():
    model, options = StochasticPerceptron(alpha=0.55, squared_norm=0.95, beta=100), {"n_sweeps": 40, "max_doublings": 1}
    with pytest.raises(MixingError, match=r"R-hat of the loss must be below 1\.05"):
        sample_stochastic_weights(model, 50, np.random.default_rng(0), **options)
    sample = sample_stochastic_weights(model, 50, np.random.default_rng(0), check=False, **options)
    assert not sample.converged
    assert sample.r_hat > 1.05
    assert sample.self_overlap > sample.overlap


def test_chains_frozen_at_the_same_loss_are_noticed():
    """At a replicon of 0.18 chains keep their first place; here R-hat of the loss is below any limit."""
    model, options = StochasticPerceptron(alpha=0.55, squared_norm=0.9, beta=20), {"r_hat_limit": 1e6, "n_sweeps": 200}
    for seed in range(3):
        sample = sample_stochastic_weights(
            model, 80, stream(0, "frozen", seed), check=False, max_doublings=0, **options
        )
        assert sample.converged == (sample.self_overlap - sample.overlap < 0.045)

    def sample_six_times():
        for seed in range(6):
            sample_stochastic_weights(model, 80, stream(0, "frozen", seed), max_doublings=0, **options)

    with pytest.raises(MixingError, match="what a chain remembers"):
        sample_six_times()


def test_a_run_is_repeated_by_its_stream_and_ends_on_the_sphere():
    model = StochasticPerceptron(alpha=0.4, squared_norm=0.6, beta=5)
    one, two = (sample_stochastic_weights(model, 30, stream(0, "repeated"), n_sweeps=100) for _ in range(2))
    assert one.loss == two.loss
    assert one.means.shape == (2, 30)
    assert one.patterns.shape == (12, 30)
    assert np.mean(one.means**2, axis=1) == pytest.approx(0.6)


def test_gradient_of_the_descent():
    rng = np.random.default_rng(0)
    xi, m, h = rng.choice([-1.0, 1.0], (7, 11)), rng.uniform(-0.9, 0.9, 11), 1e-6

    def loss(m):
        return -log_ndtr(_fields(xi, m)[0]).sum()

    assert _fields(xi, m)[0] == pytest.approx(xi @ m / np.sqrt(np.sum(1 - m**2)))
    slopes = [(loss(m + h * unit) - loss(m - h * unit)) / (2 * h) for unit in np.eye(11)]
    assert _gradient(xi, m) == pytest.approx(slopes, rel=1e-6)


def test_descent_solves_few_patterns_and_fails_for_many():
    few = [descend_stochastic_weights(0.3, 201, stream(0, "few", seed)) for seed in range(4)]
    assert all(each.solved and each.errors == 0 and 0 < each.squared_norm < 0.9 for each in few)
    # Above the capacity 0.833 of binary weights there is no solution.
    many = descend_stochastic_weights(1.2, 101, stream(0, "many"), max_epochs=300)
    assert not many.solved
    assert many.epochs == 300
    assert many.errors == round(many.residual * 121) > 0


def test_the_descent_starts_small_and_counts_its_epochs():
    start = descend_stochastic_weights(0.001, 20_001, stream(0, "start"), learning_rate=1e-12, max_epochs=1)
    assert np.std(start.means) == pytest.approx(0.1, rel=0.02)  # of theta, with errors of half a percent
    assert start.epochs == start.iterations == 1
    found = descend_stochastic_weights(0.4, 101, stream(0, "epochs"))
    assert found.epochs == found.iterations
    assert found.epochs % 10 == 0
    again = descend_stochastic_weights(0.4, 101, stream(0, "epochs"), max_epochs=found.epochs)
    np.testing.assert_array_equal(again.means, found.means)
    for fewer in (found.epochs - 10, 7):  # tested every ten epochs and after the last one
        before = descend_stochastic_weights(0.4, 101, stream(0, "epochs"), max_epochs=fewer)
        assert before.epochs == fewer
        assert not before.solved
        assert before.squared_norm == pytest.approx(np.mean(before.means**2))


def test_the_signs_of_a_solution_classify_every_pattern():
    rng = stream(0, "solution")
    state = rng.bit_generator.state
    found = descend_stochastic_weights(0.4, 101, rng)
    again = stream(0, "solution")
    assert again.bit_generator.state == state
    patterns = again.choice([-1.0, 1.0], (40, 101))
    assert (patterns @ np.sign(found.means) > 0).all()
    fields = patterns @ found.means / np.sqrt(np.sum(1 - found.means**2))
    assert found.loss == pytest.approx(-log_ndtr(fields).sum() / 101)
