"""Floors of the masked loss: reference values, the conditionals themselves, other optimizers, order of the floors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_softmax

from simulate.core import Estimate, stream
from tests.potts.reference import four_body_model, pair_model
from theory import ConvergenceError, potts
from theory.models import PottsModel
from theory.models.potts import complete_graph, random_color_couplings

PAIR = pair_model(6, 3, 0.3, beta=0.8)
FOUR = four_body_model(5, 3, 0.5, beta=1.0)


def random_model(seed: int, beta: float = 0.9) -> PottsModel:
    rng = np.random.default_rng(seed)
    J = np.triu(rng.standard_normal((4, 4)), 1)
    return PottsModel(J + J.T, random_color_couplings(3, rng), rng.standard_normal((4, 3)), beta)


def test_reference_values():
    assert potts.masked_loss_floor(PAIR) == pytest.approx(0.797026199763, abs=1e-12)
    assert potts.masked_loss_floor(FOUR) == pytest.approx(1.02794889424, abs=1e-11)


@pytest.mark.parametrize(("order", "floor"), [(1, 1.09751406), (2, 1.04110080), (3, 1.03508002)])
def test_reference_values_of_k_bodies(order, floor):
    result = potts.k_body_floor(FOUR, order)
    assert result.loss == pytest.approx(floor, abs=1e-8)
    assert result.converged
    assert result.residual <= 1e-13


@given(st.integers(0, 20))
def test_floor_is_the_mean_loss_of_the_conditionals(seed):
    states = potts.enumerate_states(random_model(seed))
    log_conditionals = states.model.log_conditionals(states.states)
    losses = -np.take_along_axis(log_conditionals, states.states[..., None].astype(int), axis=2)[..., 0]
    assert potts.masked_loss_floors_by_site(states) == pytest.approx(states.probabilities @ losses, abs=1e-13)


def test_floor_against_independent_samples(agrees):
    states = potts.enumerate_states(PAIR)

    def replicate(r: int) -> float:
        drawn = states.states[stream(0, "floor", r).choice(len(states.states), 20_000, p=states.probabilities)]
        log_p = PAIR.log_conditionals(drawn)
        return float(-(np.exp(log_p) * log_p).sum(axis=2).mean())

    agrees(Estimate.of([replicate(r) for r in range(10)]), potts.masked_loss_floor(PAIR), resolves=0.02)


@settings(max_examples=4)
@given(st.integers(0, 20))
def test_floors_fall_with_the_order_and_end_at_the_bayes_floor(seed):
    states = potts.enumerate_states(random_model(seed))
    free = [potts.k_body_floor(states, k).loss for k in (1, 2, 3, 4)]
    tied = [potts.k_body_floor(states, k, symmetric=True).loss for k in (1, 2, 3, 4)]
    entropies = [-np.sum(p * np.log(p)) for p in map(states.marginals, range(4))]
    assert free[0] == pytest.approx(np.mean(entropies), abs=1e-12)
    assert all(np.diff(free) <= 1e-12)
    assert all(np.diff(tied) <= 1e-12)
    assert all(np.subtract(tied, free) >= -1e-12)
    bayes = potts.masked_loss_floor(states)
    for exact in (free[1], free[3], tied[1], tied[3]):  # a pair model needs pairs only
        assert exact == pytest.approx(bayes, abs=1e-11)


def test_tied_conditionals_of_a_four_body_model_lose_a_little():
    free, tied = (potts.k_body_floor(FOUR, 3, symmetric=s) for s in (False, True))
    assert 1e-6 < tied.loss - free.loss < 1e-5
    assert potts.k_body_floor(FOUR, 4, symmetric=True).loss == pytest.approx(potts.masked_loss_floor(FOUR), abs=1e-12)


def test_two_body_floor_by_another_optimizer():
    states = potts.enumerate_states(FOUR)
    x = np.eye(3)[states.states]
    others = np.concatenate([x[:, 1:, 1:].reshape(len(x), -1), np.ones((len(x), 1))], axis=1)  # site 0 from the rest
    target = states.probabilities[:, None] * x[:, 0]

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        log_p = log_softmax(others @ weights.reshape(-1, 3), axis=1)
        gradient = others.T @ (states.probabilities[:, None] * np.exp(log_p) - target)
        return float(-np.sum(target * log_p)), gradient.ravel()

    found = minimize(
        loss, np.zeros(others.shape[1] * 3), jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9}
    )
    assert potts.k_body_floor(states, 2).by_site[0] == pytest.approx(found.fun, abs=1e-10)


def test_derivatives_of_the_fit_against_finite_differences():
    from theory.potts.floors import _derivatives, _log_conditional, _losses, energy_features

    states = potts.enumerate_states(random_model(3))
    features, _ = energy_features(states, 2)
    at, step = np.random.default_rng(0).standard_normal(features.shape[1]), 1e-5

    def evaluate(parameters: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        conditionals = [_log_conditional(states, features @ parameters, i) for i in range(4)]
        return _losses(states, conditionals).sum(), *_derivatives(states, features, conditionals)

    _, gradient, hessian = evaluate(at)
    for k in (0, 5, 20):
        up, down = (evaluate(at + sign * step * np.eye(len(at))[k]) for sign in (1, -1))
        assert gradient[k] == pytest.approx((up[0] - down[0]) / (2 * step), abs=1e-9)
        assert hessian[k] == pytest.approx((up[1] - down[1]) / (2 * step), abs=1e-8)


@settings(max_examples=30)
@given(st.floats(0.1, 5), st.integers(0, 10))
def test_floor_lies_between_zero_and_that_of_one_body(beta, seed):
    states = potts.enumerate_states(random_model(seed, beta))
    by_site = potts.masked_loss_floors_by_site(states)
    assert (by_site >= 0).all()
    assert (by_site <= [-np.sum(p * np.log(p)) + 1e-12 for p in map(states.marginals, range(4))]).all()


@pytest.mark.parametrize("beta", [10.0, 100.0])
@pytest.mark.parametrize("symmetric", [False, True])
def test_low_temperatures(beta, symmetric):
    """Nearly certain predictions: parameters run off to infinity, a bare Newton step overshoots."""
    states = potts.enumerate_states(pair_model(4, 3, 0.3, beta))
    result = potts.k_body_floor(states, 2, symmetric)
    assert result.loss == pytest.approx(potts.masked_loss_floor(states), abs=1e-11)


def test_limits():
    assert potts.masked_loss_floor(random_model(0, beta=0.0)) == pytest.approx(np.log(3), abs=1e-14)
    assert potts.k_body_floor(random_model(0, beta=0.0), 2).loss == pytest.approx(np.log(3), abs=1e-13)
    assert potts.masked_loss_floor(random_model(0, beta=1e4)) == pytest.approx(0, abs=1e-12)
    one = PottsModel(np.zeros((1, 1)), np.eye(2), [[0.0, 1.0]])
    assert potts.k_body_floor(one, 1).loss == pytest.approx(potts.masked_loss_floor(one), abs=1e-13)
    single = PottsModel(complete_graph(3), np.ones((1, 1)))
    assert potts.k_body_floor(single, 2).loss == potts.masked_loss_floor(single) == 0


@pytest.mark.parametrize("order", [0, 5, 1.5, True, "2"])
def test_orders_that_make_no_sense(order):
    with pytest.raises(ValueError, match="order must"):
        potts.k_body_floor(random_model(0), order)


def test_too_many_features():
    states = potts.enumerate_states(PottsModel(complete_graph(14), np.eye(2)))
    with pytest.raises(ValueError, match=r"order must be smaller for a system of 16384 states: order 6 has 6475 param"):
        potts.k_body_floor(states, 6)


def test_too_large_systems():
    with pytest.raises(ValueError, match=r"3\^40 = 10\^19.1 states"):
        potts.masked_loss_floor(PottsModel(complete_graph(40), np.eye(3)))


def test_unfinished_fits_are_errors():
    with pytest.raises(ConvergenceError, match="k_body_floor of 5 sites: max_iter after 1 iterations") as failure:
        potts.k_body_floor(FOUR, 3, max_iter=1)
    assert failure.value.solution.residual > 1e-13
