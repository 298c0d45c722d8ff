"""The starts of chains: phases that no ordinary start reaches are found, whatever their color and the kind of model."""

import numpy as np
import pytest
from scipy.special import gammaln

from simulate.core import stream
from simulate.potts import MixingError, sample
from simulate.potts.starts import ordered_and_random, separated_starts
from theory.models import DensePottsModel, Interaction, ManyBodyPottsModel, PottsModel, SquareLatticePotts
from theory.models.potts import complete_graph, random_color_couplings, random_graph

L, C, COLOR = 80, 20, 7
ONLY = np.zeros((C, C))
ONLY[COLOR, COLOR] = 1.0  # one color attracts itself, and no other color does anything
ORDERED = PottsModel(complete_graph(L) / L, ONLY, beta=6.1)  # ordered with a share of 0.93, but random states stay
PATTERN = stream(0, "pattern").integers(C, size=L)


def four_bodies():
    rng, tensor = stream(0, "groups"), np.zeros((C,) * 4)
    tensor[(COLOR,) * 4] = 1.0
    groups = np.stack([np.sort(rng.choice(L, 4, replace=False)) for _ in range(4 * L)])
    return ManyBodyPottsModel(L, [Interaction(groups, np.ones(len(groups)), tensor)])


def hidden_pattern():
    """The couplings J_ij(a, b) favor the colors of one pattern at every pair of sites: a phase of no single color."""
    favored = np.eye(C)[PATTERN] / np.sqrt(L)
    blocks = np.einsum("ia,jb->ijab", favored, favored)
    blocks[np.arange(L), np.arange(L)] = 0
    return DensePottsModel(blocks, beta=6.1)


KINDS = {
    "product": ORDERED,
    "sparse": PottsModel(random_graph(L, 8.0, stream(0, "graph")), ONLY, -2.0 * np.eye(C)[np.full(L, COLOR)], beta=2.0),
    "dense": DensePottsModel.of(ORDERED),
    "four bodies": four_bodies(),
}


def exact_share(n_sites, beta):
    """The mean share of the color that orders, by the number of sites that have it."""
    n = np.arange(n_sites + 1)
    logs = -gammaln(n + 1) - gammaln(n_sites - n + 1) + (n_sites - n) * np.log(C - 1) + beta * n * (n - 1) / 2 / n_sites
    weights = np.exp(logs - logs.max())
    return weights @ n / weights.sum() / n_sites


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        ("product", "heat_bath"),
        ("four bodies", "heat_bath"),
        pytest.param("sparse", "heat_bath", marks=pytest.mark.slow),
        pytest.param("dense", "heat_bath", marks=pytest.mark.slow),
        pytest.param("product", "metropolis", marks=pytest.mark.slow),
    ],
)
def test_a_phase_of_another_color_is_not_overlooked(kind, method):
    """Ordinary starts have the colors 0 to 3, and all chains from them agree that color 7 is rare, or is not there."""
    model = KINDS[kind]
    options = {"seed": 1, "method": method, "max_sweeps": 4000}
    ordinary = ordered_and_random(8, L, C, stream(1, "sample"))
    assert sample(model, 80, start=ordinary, **options).converged
    with pytest.raises(MixingError, match="score: R-hat"):
        sample(model, 80, **options)


def test_a_phase_of_another_color_is_not_overlooked_by_tempering():
    """Both phases hold at all three temperatures, so that no replica of a ladder goes from one to the other."""
    betas = [5.9, 6.0, 6.1]
    ordinary = ordered_and_random(8, L, C, stream(1, "sample"))
    assert sample(ORDERED, 80, seed=1, betas=betas, start=ordinary, max_sweeps=1000).converged
    with pytest.raises(MixingError, match="R-hat"):
        sample(ORDERED, 80, seed=1, betas=betas, max_sweeps=1000)


def test_the_share_of_the_color_that_orders_is_exact():
    small = PottsModel(complete_graph(24) / 24, ONLY, beta=7.0)
    chains = sample(small, 16_000, seed=2)
    error = np.sqrt(np.var((chains.states == COLOR).mean(axis=1)) / chains.effective_sample_size)
    assert error < 0.002
    assert (chains.states == COLOR).mean() == pytest.approx(exact_share(24, 7.0), abs=4 * error)
    assert abs(exact_share(24, 7.2) - exact_share(24, 7.0)) > 6 * error  # a few percent of beta would be seen


@pytest.mark.parametrize("kind", KINDS)
def test_the_color_that_orders_takes_the_place_of_one_that_does_not(kind):
    made = separated_starts(KINDS[kind], 8, stream(1, "sample"), stream(1, "starts"))
    ordinary = ordered_and_random(8, L, C, stream(1, "sample"))
    changed = (made != ordinary).any(axis=1)
    assert changed.tolist().count(True) == 1
    assert np.all(made[changed] == COLOR)
    assert not changed[1::2].any()  # the random starts stay


def test_two_equal_phases_are_both_started_from():
    """Colors 0 and 7 attract themselves alike: the first of them is among the ordinary starts, the other is not."""
    both = ONLY.copy()
    both[0, 0] = 1.0
    model = PottsModel(complete_graph(L) / L, both, beta=6.1)
    made = separated_starts(model, 8, stream(1, "sample"), stream(1, "starts"))
    assert sorted(made[::2, 0].tolist())[0] == 0
    assert COLOR in made[::2, 0]


def test_a_phase_that_is_not_of_one_color_is_found():
    model = hidden_pattern()
    made = separated_starts(model, 8, stream(1, "sample"), stream(1, "starts"))
    assert (made[::2] == PATTERN).mean(axis=1).max() > 0.95
    with pytest.raises(MixingError, match="R-hat"):
        sample(model, 80, seed=1, max_sweeps=1000)


def test_starts_stay_where_one_phase_is_all_there_is():
    rng = stream(0, "one phase")
    J = np.triu(rng.standard_normal((30, 30)), 1) / np.sqrt(30)
    U = random_color_couplings(12, rng)
    models = [PottsModel(J + J.T, U, beta=0.5), ORDERED.at(2.0), ORDERED.at(0.0), SquareLatticePotts(4, 4, 6, 2.0)]
    models += [PottsModel(complete_graph(40) / 40, np.eye(3), beta=3.2)]  # all of its phases are among the starts
    for seed, model in enumerate(models):
        made = separated_starts(model, 8, stream(seed, "sample"), stream(seed, "starts"))
        np.testing.assert_array_equal(
            made, ordered_and_random(8, model.n_sites, model.n_colors, stream(seed, "sample"))
        )
