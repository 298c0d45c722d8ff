"""`sample`: draws from the law of the model, their evidence, refusals, and the same numbers for a seed."""

import itertools
import pickle

import numpy as np
import pytest
from scipy.stats import binom, chisquare

from simulate.core import Estimate, stream
from simulate.potts import MixingError, make_dynamics, observables, run, sample, sampling
from simulate.potts.observables import color_symmetry, is_color_symmetric
from simulate.potts.starts import ordered_and_random
from theory.models import DensePottsModel, Interaction, ManyBodyPottsModel, PottsModel, SquareLatticePotts
from theory.models.potts import complete_graph, curie_weiss, ring_graph

TORUS = SquareLatticePotts(4, 4, 3, 1.0050525)  # at its critical temperature
FIELDS = 0.3 * stream(0, "fields").standard_normal((3, 3))
TRIANGLE = PottsModel(complete_graph(3), np.cos(np.add.outer(range(3), range(3))), FIELDS, beta=0.9)


def counts_and_expected(model, states):
    """Of every state of a small model."""
    every = np.array(list(itertools.product(range(model.n_colors), repeat=model.n_sites)))
    weights = np.exp(model.beta * model.score(every))
    codes = states.astype(np.int64) @ model.n_colors ** np.arange(model.n_sites)[::-1]
    return np.bincount(codes, minlength=len(every)), len(states) * weights / weights.sum()


def test_law_of_the_samples():
    chains = sample(TRIANGLE, 20_000, seed=1)
    assert chains.converged
    assert chisquare(*counts_and_expected(TRIANGLE, chains.states)).pvalue > 1e-6
    assert chisquare(*counts_and_expected(TRIANGLE.at(0.8), chains.states)).pvalue < 1e-6


def test_energy_of_the_critical_torus(agrees):
    chains = sample(TORUS, 6400, seed=2, n_chains=32)
    agrees(Estimate.of(-chains.scores.reshape(-1, 32).mean(axis=0) / 16), -1.71006228, resolves=0.06)


def test_evidence_of_a_mixed_run():
    chains = sample(TORUS, 1000, seed=3)
    assert chains.states.shape == (1000, 16)
    np.testing.assert_array_equal(chains.scores, TORUS.score(chains.states))
    assert chains.thin >= 2 * chains.autocorrelation_time * 0.8
    assert 650 < chains.effective_sample_size < 900  # exp(-2) of the slowest mode is left after two of its times
    assert 0.99 < chains.r_hat < 1.01
    pairs = ("projection 1", "projection 2", "pair order 1", "pair order 2")
    assert set(chains.diagnoses) == {"score", *pairs, "commonest color", "mean color"}
    assert chains.acceptance == 1.0
    assert chains.burn_in < chains.sweeps
    assert "mixed; autocorrelation time" in str(chains)
    assert list(chains.to_frame()["observable"]) == list(chains.diagnoses)
    assert chains.swap_rates.size == chains.betas.size == 0


def test_same_seed_same_states_with_any_number_of_threads():
    given = {"burn_in": 50, "thin": 2, "n_chains": 40, "check": False}
    one, two, other = (sample(TORUS, 100, seed=s, n_threads=n, **given).states for s, n in ((4, 1), (4, 2), (5, 1)))
    np.testing.assert_array_equal(one, two)
    assert np.any(one != other)


@pytest.mark.parametrize("betas", [None, (0.0, 0.3, 0.6, 0.9, 1.2, 1.5)])
def test_ordered_lattice_is_refused_unless_tempered(betas):
    """At beta = 1.5 single sites keep the commonest color for ages; every chain looks fine by its score alone."""
    cold = SquareLatticePotts(4, 4, 3, 1.5)
    if betas is None:
        with pytest.raises(MixingError, match=r"mean color: R-hat .* parallel tempering") as failure:
            sample(cold, 100, seed=6, max_sweeps=2000)
        assert failure.value.diagnoses["mean color"].r_hat > 1.01
        assert str(pickle.loads(pickle.dumps(failure.value))) == str(failure.value)
    else:
        chains = sample(cold, 1000, seed=6, betas=betas)
        assert chains.converged
        assert np.all((chains.swap_rates > 0.2) & (chains.swap_rates < 0.98))
        assert "score at beta = 0.3" in chains.diagnoses


def test_unmixed_chains_on_request():
    chains = sample(SquareLatticePotts(4, 4, 3, 1.6), 100, seed=7, max_sweeps=1000, check=False)
    assert not chains.converged
    assert "R-hat" in chains.reason
    assert "NOT MIXED" in str(chains)
    assert chains.states.shape == (100, 16)


def test_frozen_chains_are_refused_soon():
    frozen = PottsModel(ring_graph(6), np.eye(2), [[0.0, 9.0]] * 6, beta=1e3)
    with pytest.raises(MixingError, match="frozen: no observable ever changed") as failure:
        sample(frozen, 10, seed=8)
    assert failure.value.sweeps < 3000
    assert not sample(frozen, 10, seed=8, check=False).states[:, 0].std()


def test_one_color_needs_no_chains():
    chains = sample(PottsModel(complete_graph(3), [[2.0]]), 5, seed=8)
    assert chains.converged
    assert chains.sweeps == 0
    assert chains.states.tolist() == [[0] * 3] * 5
    assert chains.scores.tolist() == [6.0] * 5
    assert "mixed" in str(chains)


@pytest.mark.parametrize("options", [{"start": np.zeros(100, dtype=int)}, {"n_chains": 1}])
def test_chains_of_one_start_are_not_certified(options):
    """Two modes far apart: a chain sees one of them, and all observables agree with themselves."""
    two_modes = PottsModel(complete_graph(100) / 100, np.diag([1.0, 1.0]), beta=3.0)
    with pytest.raises(ValueError, match=r"a given start differ between chains.*check=False"):
        sample(two_modes, 50, seed=8, **options)
    chains = sample(two_modes, 50, seed=8, check=False, max_sweeps=600, **options)
    assert not chains.converged
    assert chains.reason.startswith("all chains started from one state")


def test_color_symmetry_is_checked():
    """All chains stuck in the one ordered state that they were started in: R-hat sees nothing."""
    with pytest.raises(MixingError, match=r"color symmetry: color \d has a share of .* not 1/3"):
        sample(
            SquareLatticePotts(6, 6, 3, 1.6),
            2000,
            seed=9,
            start=np.eye(8, 36, dtype=int),
            burn_in=200,
            thin=2,
            n_chains=8,
        )


def test_burn_in_and_thin_are_taken_as_given():
    chains = sample(TRIANGLE, 2400, seed=10, burn_in=1000, thin=3, n_chains=8)
    assert (chains.thin, chains.burn_in, chains.sweeps) == (3, 1000, 1000 + 3 * 300)
    assert chains.converged
    assert sample(TRIANGLE, 50, seed=10, thin=30).thin == 30
    pilot = sample(TRIANGLE, 80, seed=10, burn_in=5, n_chains=8)
    assert pilot.burn_in == 5
    assert (pilot.sweeps - 5 - 10 * pilot.thin) % run.FIRST_ROUND_SWEEPS == 0


@pytest.mark.parametrize(("length", "thin", "stride"), [
    (256, 30, 1), (2048, 2, 2), (2048, 3, 1), (2047, 2, 1), (4096, 6, 3), (4096, 10, 2), (5120, 6, 3), (10240, 7, 7),
])  # fmt: skip
def test_records_are_as_rare_as_a_round_and_the_samples_allow(length, thin, stride):
    """At least 1024 in a long round, on which R-hat and the autocorrelation times rest, and one at each sample."""
    assert run._stride(length, thin) == stride
    assert thin % stride == 0
    assert length // run._stride(length, None) >= min(length, run.ROUND_RECORDS)
    assert length // stride >= min(length, run.ROUND_RECORDS)


@pytest.mark.parametrize(("n_samples", "plain", "tempered"), [
    (1, 8, 8), (4608, 9, 9), (8704, 17, 16), (70_000, 128, 16),
])  # fmt: skip
def test_the_number_of_chains_where_none_is_given(n_samples, plain, tempered):
    """One for each 512 samples, at least 8 for R-hat, and at most 128, or 16 that exchange their temperatures."""
    assert sampling._number_of_chains(n_samples, None) == plain
    assert sampling._number_of_chains(n_samples, np.array([0.5, 1.0])) == tempered


def test_a_pilot_after_a_given_burn_in_grows_until_it_is_mixed():
    chains = sample(SquareLatticePotts(6, 6, 3, 1.0), 8, seed=10, burn_in=5, n_chains=4)
    pilot = chains.sweeps - 5 - 2 * chains.thin
    assert chains.converged
    assert chains.burn_in == 5
    assert pilot > run.ROUND_RECORDS
    assert pilot / run.FIRST_ROUND_SWEEPS == 2 ** round(np.log2(pilot / run.FIRST_ROUND_SWEEPS))


def test_too_few_sweeps_to_tell():
    with pytest.raises(MixingError, match="too few"):
        sample(TRIANGLE, 4, seed=11, burn_in=0, thin=1, n_chains=4)
    assert not sample(TRIANGLE, 2, seed=11, burn_in=4, thin=1, n_chains=2, check=False).converged


def test_starts_are_far_apart():
    starts = ordered_and_random(12, 10, 3, stream(12))
    assert [np.unique(state).tolist() for state in starts[::2]] == [[0], [1], [2]] * 2
    assert np.all(np.ptp(starts[1::2], axis=1) > 0)


def test_many_body_and_dense_models():
    groups = ManyBodyPottsModel(
        3, [Interaction(np.array([[0, 1, 2]]), [0.5], np.ones((2, 2, 2)) + np.zeros((2, 2, 2)))]
    )
    assert sample(groups, 20, seed=13).states.shape == (20, 3)
    assert sample(DensePottsModel.of(TRIANGLE), 20, seed=13).states.shape == (20, 3)


def test_which_models_are_color_symmetric():
    assert is_color_symmetric(TORUS)
    assert is_color_symmetric(curie_weiss(5, 4, 1.0))
    assert is_color_symmetric(DensePottsModel.of(curie_weiss(5, 4, 1.0)))
    assert not is_color_symmetric(TRIANGLE)
    assert not is_color_symmetric(DensePottsModel.of(TRIANGLE))
    assert not is_color_symmetric(PottsModel(ring_graph(4), np.diag([1.0, 2.0])))


def test_color_symmetry_within_errors():
    states = stream(14).integers(3, size=(4000, 5))
    assert color_symmetry(states, 3, 4000) == ""
    assert color_symmetry(states % 2, 3, 4000) != ""


@pytest.mark.parametrize(("size", "chance"), [(1, 0.5), (10, 1 / 300), (40, 0.5), (500, 1 / 3)])
def test_tails_of_a_count_are_those_of_the_binomial_law(size, chance):
    k = np.arange(size + 1)
    tails = observables._binomial_tails(k / size, size, chance)
    expected = np.minimum(binom.cdf(k, size, chance), binom.sf(k - 1, size, chance))
    np.testing.assert_allclose(tails, expected, rtol=1e-9)


def test_the_level_of_a_broken_color_symmetry_is_the_union_bound():
    """One of three sites always has the color 0: 1/2^40, for two tails of two colors at three sites."""
    states = np.arange(40)[:, None] % 2 * np.array([[1, 0, 1]])
    assert f"at site 1, not 1/2 (by chance in less than {2 * 2 * 3 / 2**40:.1g} of" in color_symmetry(states, 2, 40)


@pytest.mark.parametrize(("n_colors", "n_samples"), [(300, 10), (3, 500)])
def test_false_alarms_of_the_color_symmetry(monkeypatch, n_colors, n_samples):
    """At most the promised share of correct samples; a normal law refused every third of 10 states of 300 colors."""
    rng, runs = stream(15, n_colors), 300
    monkeypatch.setattr(observables, "FALSE_ALARM_RATE", 0.05)
    alarms = sum(
        color_symmetry(rng.integers(n_colors, size=(n_samples, 3)), n_colors, n_samples) != "" for _ in range(runs)
    )
    assert alarms <= 0.05 * runs + 4 * np.sqrt(0.05 * runs)
    assert n_colors == 300 or alarms > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_samples": 0}, "n_samples must be an integer of at least 1, got 0"),
        ({"n_samples": 2.5}, "n_samples must be an integer"),
        ({"seed": -1}, "seed must be an integer >= 0"),
        ({"method": "wolff"}, "method must be"),
        ({"n_chains": 0}, "n_chains must be an integer of at least 1"),
        ({"burn_in": -1}, "burn_in must be an integer of at least 0"),
        ({"thin": 0}, "thin must be an integer of at least 1"),
        ({"max_sweeps": 0}, "max_sweeps must be"),
        ({"max_sweeps": 511}, "max_sweeps must be at least 512, burn_in and the first round after it, got 511"),
        ({"max_sweeps": 99, "burn_in": 100, "thin": 1}, "max_sweeps must be at least 100"),
        ({"progress": "x"}, "progress must be True or False, got 'x'"),
        ({"check": 1}, "check must be True or False, got 1"),
        ({"start": np.full(16, 3)}, "start must be colors from 0 to 2"),
        ({"start": np.zeros(5, dtype=int)}, r"start must have shape \(..., 16\)"),
        (
            {"start": np.zeros((3, 16), dtype=int), "n_chains": 4},
            r"start must have shape \(16,\) or \(n_chains, L\) = \(4, 16\)",
        ),
        ({"start": np.zeros(16)}, "start must be an array of integers, got dtype float64"),
        ({"betas": "cold"}, "betas must be an array of real numbers or one of 'auto' or None, got 'cold'"),
        ({"betas": [0.5, 0.2]}, "betas must be two or more increasing numbers"),
        ({"betas": [0.5, np.inf]}, "betas must be finite"),
        ({"betas": [0.5, 0.7]}, "betas must contain the model's beta = 1.0050525"),
        ({"model": "ring"}, "model must be a record"),
        ({"thin": 10**6}, "thin must be at most max_sweeps = 300000, got 1000000"),
        ({"n_threads": 0}, "n_threads must be"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        sample(**({"model": TORUS, "n_samples": 10, "seed": 0} | options))


def test_too_many_samples_are_refused_before_anything_is_done():
    with pytest.raises(MemoryError, match="samples of 16 sites needs"):
        sample(TORUS, 10**15, seed=0)
    with pytest.raises(MemoryError, match="1000000000000 chains of 16 sites needs"):
        sample(TORUS, 10, seed=0, n_chains=10**12)


def test_public_names():
    assert callable(make_dynamics)
