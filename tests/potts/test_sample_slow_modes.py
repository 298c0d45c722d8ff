"""Models made to fool the certificate of `sample`: slow modes on few sites, hidden order, alternating dynamics."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom, chi2

from simulate.core import stream
from simulate.potts import MixingError, make_dynamics, sample, sampling
from simulate.potts import site_counts as sites
from simulate.potts.observables import N_PROJECTIONS, Observables
from simulate.potts.site_counts import SiteCounts
from theory.models import Interaction, ManyBodyPottsModel, PottsModel, SquareLatticePotts

LEVEL = 1e-6  # false alarms of each bound


def pair_among_many(K, n_sites):
    """A chain of weak couplings with fields; the sites 0 and 1 have no fields and agree with strength K."""
    edges = [(0, 1), *((i, i + 1) for i in range(2, n_sites - 1))]
    fields = 0.2 * stream(0, "fields of many").standard_normal((n_sites, 2))
    fields[:2] = 0.0
    strengths = np.array([K] + [0.3] * (n_sites - 3))
    return PottsModel.from_edges(n_sites, np.array(edges), strengths, np.eye(2), fields)


@pytest.mark.parametrize("seed", range(3))
def test_a_pair_that_hardly_ever_flips_is_seen_among_400_sites(seed):
    """Sums over all sites may have R-hat 1.002; the pair flips once in 8000 sweeps."""
    with pytest.raises(MixingError):
        sample(pair_among_many(9.0, 400), 100, seed=seed, max_sweeps=1000)


@pytest.mark.parametrize("n_chains", [2, 3])
def test_so_few_chains_that_all_may_be_in_one_phase_certify_nothing(n_chains):
    """Two chains of a pair with K = 12 were certified for 5 of 8 seeds, with shares of 0 or 1 for 1/2."""
    with pytest.raises(ValueError, match=r"n_chains must be at least 4.*fewer than four chains"):
        sample(pair_among_many(12.0, 400), 100, seed=0, n_chains=n_chains, max_sweeps=1000)
    apart = np.array([[0, 0], [1, 1]])  # starts that are given are the caller's, who may know the phases
    assert sample(PottsModel(0.1 * (1 - np.eye(2)), np.eye(2)), 100, seed=0, n_chains=2, start=apart).converged


def test_shares_of_a_slow_pair_have_the_error_that_is_claimed():
    """Without the counts of single sites the pair is thinned by 2, and chi-square is 8 times too large."""
    model, total, runs = pair_among_many(3.5, 40), 0.0, 8
    for seed in range(runs):
        chains = sample(model, 200, seed=seed)
        assert any(name.startswith(("site 0", "site 1")) for name in chains.diagnoses)
        assert chains.thin > 8
        total += (2 * np.mean(chains.states[:, 0] == 0) - 1) ** 2 * chains.effective_sample_size
    assert total < chi2.isf(LEVEL, runs)


def test_a_single_frozen_site_is_seen(monkeypatch):
    """Every chain keeps the color that its first site has at the start; all other sites are independent."""

    def frozen(*arguments, **options):
        chains = make_dynamics(*arguments, **options)
        first, run = chains.states[:, 0], chains.run

        def run_and_put_back(n_sweeps):
            run(n_sweeps)
            chains._states[:, 0] = first

        chains.run = run_and_put_back
        return chains

    monkeypatch.setattr(sampling, "make_dynamics", frozen)
    # So many sites that neither a projection nor the score shows one of them.
    free = PottsModel.from_edges(600, np.array([[0, 1]]), np.array([1e-9]), np.eye(3))
    with pytest.raises(MixingError, match=r"site 0\b.*R-hat inf"):
        sample(free, 100, seed=1, max_sweeps=2200)
    with pytest.raises(MixingError, match=r"site 0, color \d: shares from 0 to 1 among the chains"):
        sample(free, 2400, seed=1, n_chains=8, burn_in=600, thin=1)


def products_in_two_phases(n_pairs, beta):
    """S = (1/N) sum_{i<j} a_i b_i a_j b_j of spins: a_i b_i = +-m in two phases, and <a_i> = <b_i> = 0 in both."""
    groups = np.array([(i, i + n_pairs, j, j + n_pairs) for i, j in itertools.combinations(range(n_pairs), 2)])
    spins = np.array([1.0, -1.0])
    product = np.einsum("a,b,c,d->abcd", spins, spins, spins, spins)
    return ManyBodyPottsModel(2 * n_pairs, [Interaction(groups, np.full(len(groups), 1 / n_pairs), product)], beta=beta)


@pytest.mark.parametrize("seed", range(3))
def test_order_that_only_pairs_of_sites_show_is_seen(seed):
    """No score, no site and no projection differs between the phases; chains that never change sides are refused."""
    with pytest.raises(MixingError, match="pair order"):
        sample(products_in_two_phases(24, 2.2), 64, seed=seed, max_sweeps=2100)


def test_disordered_products_are_not_refused():
    assert sample(products_in_two_phases(24, 0.5), 64, seed=1, max_sweeps=2100).converged


@pytest.mark.parametrize("beta", [0.0, 0.2])
def test_metropolis_of_two_colors_has_the_effective_size_that_is_claimed(beta):
    """Against the law of all 512 states. Proposals of the other color alone made chi-square half as large again."""
    model = SquareLatticePotts(3, 3, 2, beta)
    every = np.array(list(itertools.product(range(2), repeat=9)))
    law = np.exp(beta * model.score(every))
    law /= law.sum()
    chains = sample(model, 4000, seed=1, method="metropolis")
    shares = np.bincount(chains.states @ 2 ** np.arange(9)[::-1], minlength=512) / 4000
    chi_square = ((shares - law) ** 2 / law).sum() * chains.effective_sample_size
    assert chi2.isf(1 - LEVEL, 511) < chi_square < chi2.isf(LEVEL, 511)


def test_a_free_site_of_two_colors_forgets_its_color_under_metropolis():
    chains = make_dynamics(PottsModel(np.zeros((2, 2)), np.eye(2)), 4000, stream(2, "free"), method="metropolis")
    before = chains.states
    chains.run(1)
    changed = int((chains.states != before).sum())
    assert binom.isf(1 - LEVEL, 8000, 0.5) < changed < binom.isf(LEVEL, 8000, 0.5)
    assert chains.acceptance == 1.0


def counted(shares, stay, n_chains, n_records, rng):
    """Count of sites that keep their color with the probabilities `stay` (L,), else draw one from `shares` (L, C)."""
    limits, n_sites = shares.cumsum(axis=1)[:, :-1], len(shares)

    def drawn():
        return (rng.random((n_chains, n_sites, 1)) > limits).sum(axis=2).astype(np.int16)

    counts, states = SiteCounts(n_chains, n_sites, shares.shape[1]), drawn()
    counts.begin(n_records // sites.N_BATCHES)
    for _ in range(n_records):
        states = np.where(rng.random((n_chains, n_sites)) < stay, states, drawn())
        counts.add(states)
    return counts


@pytest.mark.parametrize(("n_colors", "concentration", "n_chains"), [(2, 2.0, 8), (21, 0.1, 8), (5, 1.0, 2)])
def test_sites_are_called_slow_by_chance_as_rarely_as_promised(monkeypatch, n_colors, concentration, n_chains):
    """Chains of known time (1 + r)/(2 (1 - r)), with colors of all frequencies, rare ones too."""
    rng, runs, level, r = stream(3, n_colors, n_chains), 40, 0.05, 0.5
    monkeypatch.setattr(sites, "FALSE_ALARM_RATE", level)
    alarms = 0
    for _ in range(runs):
        shares = rng.dirichlet(np.full(n_colors, concentration), size=20)
        counts = counted(shares, np.full(20, r), n_chains, 512, rng)
        alarms += bool(counts.slow_sites((1 + r) / (2 * (1 - r))))
    assert alarms <= binom.isf(LEVEL, runs, level)


def test_sites_three_times_slower_are_found():
    rng = stream(4)
    stay = np.full(20, 1 / 3)  # a time of one record
    stay[7] = 5 / 7  # three
    shares = rng.dirichlet(np.full(3, 5.0), size=20)
    found = counted(shares, stay, 16, 2048, rng).slow_sites(1.0)
    assert [slow.site for slow in found] == [7]
    assert 2.0 < found[0].factor < 5.0
    assert "site 7, color" in str(found[0])


def test_counts_go_on_from_a_snapshot():
    rng = stream(5)
    counts = counted(np.full((4, 3), 1 / 3), np.full(4, 0.5), 2, 70, rng)
    again = SiteCounts(2, 4, 3)
    again.restore(counts.snapshot())
    states = rng.integers(3, size=(2, 4))
    for each in (counts, again):
        each.add(states)
    assert all(np.array_equal(again.snapshot()[name], array) for name, array in counts.snapshot().items())


@pytest.mark.slow
def test_chains_that_mix_well_are_not_refused():
    """At a rate of refusals of 1 % this would fail for 95 of 100 seeds; none of 1000 was refused where it was made."""
    model = pair_among_many(0.5, 30)
    for seed in range(300):
        assert sample(model, 64, seed=seed).converged


def test_forms_of_pair_order_are_centered_in_the_state_and_in_the_reference():
    """1[a = r] less its means over both: 1[a = r] - p_a - p_r + sum p^2, with the shares p of all chains at a site."""
    model = PottsModel.from_edges(4, np.array([[0, 1]]), np.ones(1), np.eye(3))
    states = stream(6, "first states").choice(3, size=(20, 4), p=[0.6, 0.3, 0.1])
    watched = Observables(model, stream(6, "projections"))
    watched.begin(states)
    forms = watched.values(states, np.zeros(20))[[watched.names.index(f"pair order {k}") for k in (1, 2)]]
    p = np.stack([(states == color).mean(axis=0) for color in range(3)])
    for form, r in zip(forms, states, strict=False):
        y = [sum((s[i] == r[i]) - p[s[i], i] - p[r[i], i] + np.sum(p[:, i] ** 2) for i in range(4)) for s in states]
        assert form == pytest.approx(np.square(y) / 4, abs=1e-12)
    assert watched.values(states, np.zeros(20)).shape[0] == len(watched.names) == 1 + N_PROJECTIONS + 2 + 2
