"""Parallel tempering: the law at every temperature, ladders with useful swap rates, resumed runs, bad ladders."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import erfc
from scipy.stats import chisquare

from simulate.core import stream
from simulate.potts import TemperedDynamics, sample, temper_ladder, tempering
from simulate.potts.tempering import swap_advice
from theory.models import PottsModel, SquareLatticePotts
from theory.models.potts import complete_graph, curie_weiss

BETAS = (0.4, 1.0, 2.0)
TRIANGLE = PottsModel(complete_graph(3), np.array([[1.0, -0.5], [-0.5, 0.3]]), beta=2.0)


def p_value(model, states):
    """Chi-square against enumeration."""
    every = np.array(list(itertools.product(range(model.n_colors), repeat=model.n_sites)))
    weights = np.exp(model.beta * model.score(every))
    codes = states.astype(np.int64) @ model.n_colors ** np.arange(model.n_sites)[::-1]
    return chisquare(np.bincount(codes, minlength=len(every)), len(states) * weights / weights.sum()).pvalue


@pytest.mark.parametrize("k", range(3))
def test_law_at_every_temperature(k):
    model = TRIANGLE.at(BETAS[k])
    dynamics = TemperedDynamics(model, 5000, stream(0, "law", k), betas=BETAS)
    dynamics.run(12)
    assert p_value(model, dynamics.states) > 1e-6
    assert p_value(model.at(0.8 * model.beta), dynamics.states) < 1e-6
    np.testing.assert_allclose(dynamics.scores(), model.score(dynamics.states), atol=1e-12)
    np.testing.assert_array_equal(dynamics.all_scores()[:, k], dynamics.scores())


def test_swap_rates_are_those_of_the_definition():
    """Exact: the acceptance min(1, exp(...)) averaged over both enumerated laws, in equilibrium."""
    dynamics = TemperedDynamics(TRIANGLE, 1000, stream(1), betas=BETAS)
    dynamics.run(200)
    every = np.array(list(itertools.product(range(2), repeat=3)))
    scores = TRIANGLE.score(every)
    laws = [np.exp(beta * scores) / np.exp(beta * scores).sum() for beta in BETAS]
    for k in range(2):
        accepted = np.minimum(1, np.exp((BETAS[k] - BETAS[k + 1]) * (scores[None, :] - scores[:, None])))
        assert dynamics.swap_rates[k] == pytest.approx(laws[k] @ accepted @ laws[k + 1], abs=0.01)


@pytest.mark.slow
def test_cold_states_are_reached_that_local_moves_do_not_reach():
    """Curie-Weiss deep in its ordered phase: every ladder visits all colors at the target."""
    model = curie_weiss(20, 3, 3.6)
    chains = sample(model, 1000, seed=2, betas="auto", n_chains=8)
    assert chains.converged
    assert np.all(chains.swap_rates > 0.15)
    commonest = np.array([np.bincount(state, minlength=3).argmax() for state in chains.states])
    assert all(set(commonest[k::8]) == {0, 1, 2} for k in range(8))


def test_snapshot_goes_on_with_the_same_numbers():
    one = TemperedDynamics(TRIANGLE, 6, stream(3), betas=BETAS)
    one.run(5)
    kept = one.snapshot()
    one.run(7)
    other = TemperedDynamics(TRIANGLE, 6, stream(4), betas=BETAS)
    other.restore(kept)
    other.run(7)
    np.testing.assert_array_equal(one.states, other.states)
    np.testing.assert_array_equal(one.all_scores(), other.all_scores())
    np.testing.assert_array_equal(one.swap_rates, other.swap_rates)


def test_ladder_of_a_lattice():
    model = SquareLatticePotts(6, 6, 3, 1.4)
    ladder = temper_ladder(model, seed=5)
    assert (ladder.reason, ladder.residual, ladder.converged) == ("", 0, True)
    assert (ladder.betas[0], ladder.betas[-1]) == (0.0, 1.4)
    assert np.all(np.diff(ladder.betas) > 0)
    assert np.all((ladder.swap_rates >= 0.2) & (ladder.swap_rates <= 0.9))


@pytest.mark.parametrize(("n_pairs", "hottest"), [(100, 0.0), (1000, 0.0), (300, 1.0)])
def test_spacing_of_a_ladder_in_closed_form(n_pairs, hottest):
    """Independent pairs of two colors: <S> = N p with p = 1/(1 + exp(-beta)), whose sum of sqrt(K) is an integral.

    It is sqrt(N) times the difference of 2 arcsin(sqrt(p)) between the ends, and neighbors at equal distances in it
    exchange with the wanted probability erfc(sqrt(K)/2) = 0.45, or a little more since their number is an integer.
    """
    grid = np.linspace(hottest, 6.0, 4000)
    share = 1 / (1 + np.exp(-grid))
    made = tempering._evenly(grid, n_pairs * share)
    angle = 2 * np.arcsin(np.sqrt(share[[0, -1]]))
    steps = math.ceil(math.sqrt(n_pairs) * np.ptp(angle) / 1.0683)  # erfc(1.0683/2) = 0.45
    expected = np.sin(np.linspace(*angle, steps + 1) / 2) ** 2
    assert erfc(1.0683 / 2) == pytest.approx(0.45, abs=1e-4)
    assert len(made) == steps + 1
    assert (made[0], made[-1]) == (hottest, 6.0)
    np.testing.assert_allclose(1 / (1 + np.exp(-made)), expected, atol=1e-5)


def test_ladder_reports_rates_out_of_range():
    tiny = PottsModel(complete_graph(2), np.eye(2), beta=0.1)  # two temperatures always exchange
    ladder = temper_ladder(tiny, n_chains=100, n_sweeps=20, rounds=2)
    assert "swap rates outside 0.2 to 0.9: pair 0" in ladder.reason
    assert ladder.residual > 0
    assert ladder.residual == pytest.approx(ladder.swap_rates.max() - 0.9)
    assert (ladder.iterations, ladder.converged) == (2, False)


def test_ladder_that_would_be_too_long():
    glass = PottsModel(100 * complete_graph(40), np.eye(2), beta=50.0)
    with pytest.raises(ValueError, match="hottest must be nearer to beta: the ladder needs"):
        temper_ladder(glass, hottest=1e-4, n_chains=2, n_sweeps=20)


def test_advice_names_the_gap():
    assert "betas 1 and 2 is 0.05: put a temperature between" in swap_advice([0.5, 0.05, 0.4])
    assert "raise max_sweeps" in swap_advice([0.5, 0.4])


@pytest.mark.parametrize(
    ("betas", "message"),
    [
        ([2.0], "two or more increasing"),
        ([-1.0, 2.0], "two or more increasing numbers >= 0"),
        ([1.0, 1.0, 2.0], "two or more increasing"),
        ([1.0, math.nan, 2.0], "betas must be finite"),
        ([0.5, 1.0], "must contain the model's beta = 2.0"),
    ],
)
def test_bad_ladders(betas, message):
    with pytest.raises(ValueError, match=message):
        TemperedDynamics(TRIANGLE, 2, stream(6), betas=betas)


def test_bad_hottest():
    with pytest.raises(ValueError, match=r"hottest must lie in \[0, 2\)"):
        temper_ladder(TRIANGLE, hottest=2.0)
