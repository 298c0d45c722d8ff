"""Hamiltonian Monte Carlo of narrow networks against exact moments at one percent, and every count that it returns."""

import math
from dataclasses import replace

import numpy as np
import pytest

from simulate.core import Estimate, stream
from simulate.feedforward import sample_narrow
from simulate.feedforward.narrow import _recorded
from simulate.feedforward.narrow_chains import Chains
from simulate.feedforward.narrow_task import Task, activation_and_slope
from theory.models import NarrowNetwork


def assert_near(values, exact):
    """Four standard errors of at most 0.4 %, one false alarm in ten thousand; most are less than 0.25 %."""
    found = Estimate.of(np.asarray(values))
    assert found.stderr < 0.004 * abs(exact), f"{found} is too uncertain beside {exact}"
    assert abs(found.z(exact)) < 4, f"{found}, exact {exact}"


@pytest.mark.parametrize(("activation", "labels"), [("erf", "linear"), ("relu", "sign")])
def test_second_moments_of_two_weights_are_those_of_a_grid(activation, labels):
    """A network of one input and two units, whose posterior is integrated on a grid; 3000 chains in one array."""
    one = NarrowNetwork(alpha=3.0, activation=activation, noise=0.2, labels=labels)
    task = Task.draw(one, (1, 2, 10), None, 1.0, activation_and_slope(one, None), stream(1, "narrow grid"))
    axis = np.linspace(-6, 6, 301)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(1, -1, 2)
    energies = task.energy(grid)[0]
    weight = np.exp(energies.min() - energies)
    exact = (weight / weight.sum()) @ grid[0] ** 2
    rng = stream(0, "narrow moments", activation, labels)
    chains = Chains(task, rng.standard_normal((1, 3000, 2)), rng)
    chains.burn_in(60)
    total = np.zeros((3000, 2))
    for _ in range(240):
        chains.trajectory()
        total += chains.weights[0] ** 2 / 240
    for k in range(2):
        assert_near(total[:, k], exact[k])


def linear(alpha, noise):
    return NarrowNetwork(alpha=alpha, activation=lambda h: h, noise=noise)


def test_linear_units_have_a_gaussian_posterior_and_every_field_of_a_sample_its_exact_mean():
    """Only u = sum_k v_k w_k/sqrt(K) is seen by the labels; all other combinations keep their prior."""
    model, sizes, beta, lam = linear(2.0, 0.3), (8, 2, 60), 5.0, 1.5
    slope = np.ones_like
    task = Task.draw(model, sizes, beta, lam, activation_and_slope(model, slope), stream(0, "linear units"))
    # The noise of the labels is 0.3, so that this student is at another temperature than the teacher's.
    found = sample_narrow(
        model, 8, 2, stream(0, "linear units"),
        **{"beta": beta, "lam": lam, "derivative": slope, "n_chains": 64, "n_samples": 700, "n_test": 60},
        start="random",
    )  # fmt: skip
    covariance = np.linalg.inv(lam * np.eye(8) + beta * task.inputs.T @ task.inputs)
    mean, truth = covariance @ (beta * task.inputs.T @ task.labels), task.teacher @ task.readout
    spread = np.einsum("ni,ij,nj->n", task.test_inputs, covariance, task.test_inputs).mean()
    mean_risk = np.mean((task.test_inputs @ (mean - truth)) ** 2)
    fitted = np.mean((task.labels - task.inputs @ mean) ** 2)
    train = fitted + np.einsum("ni,ij,nj->n", task.inputs, covariance, task.inputs).mean()
    assert found.converged
    assert_near(found.gibbs_series.mean(axis=1), mean_risk + spread)
    assert_near(found.train_series.mean(axis=1), train)
    assert found.gibbs_risk == found.gibbs_series.mean()
    assert found.train_error == found.train_series.mean()
    assert found.mean_risk == pytest.approx(mean_risk, rel=0.01)
    assert found.self_overlap == pytest.approx(((mean @ mean + np.trace(covariance)) / 8 + 1 / lam) / 2, rel=0.01)
    assert found.teacher_overlap == pytest.approx(mean @ truth / 16, rel=0.01)
    assert found.chain_overlap == pytest.approx(mean @ mean / 16, rel=0.01)
    assert abs(found.separation) < 0.01


def test_without_data_the_weights_have_their_prior_to_one_percent():
    model = NarrowNetwork(alpha=0.1, activation="erf", noise=0.1)
    found = sample_narrow(
        model, 40, 4, stream(0, "prior moments"), beta=1e-9, lam=4.0, start="random", n_chains=32, n_test=2
    )
    assert found.self_overlap == pytest.approx(0.25, rel=0.01)  # 5000 weights in 120 nearly independent states
    assert abs(found.teacher_overlap) < 0.005
    assert abs(found.chain_overlap) < 0.0025


def test_every_count_of_a_sample(monkeypatch):
    calls, chances = [], []
    energy, trajectory = Task.energy, Chains.trajectory

    def counted(self, weights):
        calls.append(weights.shape)
        return energy(self, weights)

    def recorded(self):
        chances.append(trajectory(self))
        return chances[-1]

    monkeypatch.setattr(Task, "energy", counted)
    monkeypatch.setattr(Chains, "trajectory", recorded)
    model = NarrowNetwork(alpha=3.0, activation="erf", noise=0.1)
    for options, doublings in (({"r_hat_limit": 9e5}, 0), ({"r_hat_limit": 1.000001, "check": False}, 3)):
        calls.clear()
        chances.clear()
        found = sample_narrow(
            model, 10, 2, stream(0, "counts"), n_chains=3, n_samples=8, n_test=5, start="random", **options
        )
        assert found.iterations == len(calls)
        assert set(calls) == {(10, 3, 2)}
        assert found.n_samples == 8 << doublings
        assert found.gibbs_series.shape == found.train_series.shape == (3, found.n_samples)
        assert len(chances) == 20 + 8 * (2 ** (doublings + 1) - 1)
        assert found.acceptance == pytest.approx(np.mean(chances[-found.n_samples :]), rel=1e-12)
        assert found.residual == found.r_hat - 1
        assert found.start == "random"
    default = sample_narrow(model, 10, 2, stream(0, "counts"), r_hat_limit=9e5, start="random")
    assert default.gibbs_series.shape == (2, 120)


def test_a_trajectory_is_reversible_and_its_steps_are_counted():
    """The same momenta turned round lead back, and energies are kept to second order in the step."""
    model = NarrowNetwork(alpha=2.0, activation="erf", noise=0.2)
    task = Task.draw(model, (3, 2, 5), None, 1.0, activation_and_slope(model, None), stream(0, "reversible"))
    losses = []
    for step in (0.02, 0.01):
        rng = stream(0, "small steps")
        chains = Chains(task, np.repeat(task.teacher[:, None, :], 400, axis=1), rng, step=step)
        chance = chains.trajectory()
        losses.append(np.mean(1 - chance))
    assert losses[0] < 0.01
    assert losses[1] < losses[0] / 2


def test_chains_that_still_move_apart_from_the_teacher_are_not_called_converged():
    """Chains at the teacher, with steps so small that they creep: R-hat alone, with a high limit, would pass them."""
    model = NarrowNetwork(alpha=1.0, activation="erf", noise=0.1)
    task = Task.draw(model, (30, 4, 20), None, 1.0, activation_and_slope(model, None), stream(0, "creeping"))

    def sample(start, burn_in):
        rng = stream(0, "creeping chains")
        chains = Chains(task, np.repeat(task.teacher[:, None, :], 2, axis=1), rng, step=0.02)
        if burn_in:
            chains.burn_in(burn_in)
        return _recorded(chains, 20 if not burn_in else 150, 1e6, start)

    creeping = sample("teacher", 0)
    assert creeping.separation > 0.1
    assert not creeping.converged
    assert creeping.start == "teacher"
    assert sample("random", 0).converged  # the same numbers, of chains that say that they began apart
    settled = sample("teacher", 150)
    assert settled.converged
    assert settled.separation < 0.091
    assert replace(settled, start="random").chain_overlap < math.sqrt(settled.self_overlap)
