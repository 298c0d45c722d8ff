"""Sample thresholds of one layer and of stacks: reference values, sampled spiked matrices, limits, ascents."""

import math
from itertools import product

import numpy as np
import pytest

from simulate.core import Estimate, stream
from simulate.potts import make_dynamics, sample
from tests.nets.references import FOUR, small_law
from tests.potts.reference import four_body_model, pair_model
from theory import ConvergenceError, nets, potts
from theory.models import DensePottsModel, FactoredStack, PottsModel, Sequences
from theory.models.potts import helmert, zero_sum_blocks


def test_reference_values():
    assert nets.spectral_threshold(60, 10, 0.1342).n_samples == pytest.approx(313.413612, abs=1e-6)
    one, two = (nets.spectral_overlaps(60, 10, 0.1342, M) for M in (800, 1600))
    assert (one.colors, one.sites, one.top_value) == pytest.approx((0.796748481, 0.244869635, 0.25719406), abs=1e-8)
    assert (two.colors, two.sites, two.top_value) == pytest.approx((0.932504485, 0.431512624, 0.203440842), abs=1e-8)


def spiked(n_samples, rng):
    """The top pair of a matrix of noise with the variance of the law, plus a spike, for L = 80 sites and C = 10."""
    n1, n2, noise = 80 * 79 // 2, 45, np.sqrt(2 / n_samples) / 10
    u, v = rng.standard_normal(n1), rng.standard_normal(n2)
    u, v = u / np.linalg.norm(u), v / np.linalg.norm(v)
    left, values, right = np.linalg.svd(
        noise * rng.standard_normal((n1, n2)) + 0.12 * np.outer(u, v), full_matrices=False
    )
    return (right[0] @ v) ** 2, (left[:, 0] @ u) ** 2, values[0]


def test_overlaps_against_sampled_matrices(agrees):
    drawn = np.array([spiked(1500, stream(0, "spiked", r)) for r in range(40)])
    found = nets.spectral_overlaps(80, 10, 0.12, 1500)
    agrees(Estimate.of(drawn[:, 0]), found.colors, resolves=0.1, bias=0.01)
    agrees(Estimate.of(drawn[:, 1]), found.sites, resolves=0.2, bias=0.01)
    agrees(Estimate.of(drawn[:, 2]), found.top_value, resolves=0.05, bias=0.002)


def test_the_transition_is_continuous():
    M = nets.spectral_threshold(60, 10, 0.1).n_samples
    below, above = (nets.spectral_overlaps(60, 10, 0.1, factor * M) for factor in (1 - 1e-9, 1 + 1e-9))
    assert (below.colors, below.sites) == (0, 0)
    assert 0 < above.colors < 1e-6
    assert 0 < above.sites < 1e-6
    assert above.top_value == pytest.approx(below.top_value, rel=1e-8)


def test_limits():
    assert nets.spectral_threshold(60, 10, 0.0).n_samples == math.inf
    many = nets.spectral_overlaps(60, 10, 0.1, 1e15)
    assert (many.colors, many.sites, many.top_value) == pytest.approx((1, 1, 0.1))
    # M_c = 2 sqrt(n1 n2)/(C^2 theta^2) is C/v, with v = theta^2 C^2/L, for many sites and colors.
    L, C, theta = 10**6, 10**3, 0.01
    assert nets.spectral_threshold(L, C, theta).n_samples == pytest.approx(L / C / theta**2, rel=2e-3)


def test_the_signal_of_weak_couplings():
    for beta, correction in ((1e-2, 0.005), (1e-3, 0.0005)):
        model = pair_model(5, 3, 0.3, beta)
        assert nets.population_signal(model) == pytest.approx(nets.linear_response_signal(model), rel=correction)


def test_the_signal_is_the_largest_bilinear_form():
    """theta is the maximum of <A, Cov, V> over unit symmetric A (ordered pairs, no diagonal) and zero-sum V."""
    model = pair_model(4, 3, 0.3, 0.8)
    states = potts.enumerate_states(model)
    covariance = states.covariance.reshape(4, 3, 4, 3) * (1 - np.eye(4))[:, None, :, None]
    rng = np.random.default_rng(0)
    V = rng.standard_normal((3, 3))
    for _ in range(500):
        A = np.einsum("iajb,ab->ij", covariance, V)
        A = (A + A.T) / np.linalg.norm(A + A.T)
        V = np.einsum("iajb,ij->ab", covariance, A)
        V = V + V.T
        value, V = np.linalg.norm(V) / 2, V / np.linalg.norm(V)
    assert nets.population_signal(states) == pytest.approx(value, rel=1e-9)
    assert nets.population_signal(Sequences(states.states, 3, states.probabilities)) == pytest.approx(value, rel=1e-9)


def test_whitening_does_nothing_where_the_colors_are_equally_frequent():
    model = PottsModel(np.array([[0.0, 0.4, -0.2], [0.4, 0.0, 0.3], [-0.2, 0.3, 0.0]]), np.eye(3))
    assert nets.population_signal(model, whitened=True) == pytest.approx(nets.population_signal(model), rel=1e-12)


def test_colors_that_never_occur_are_left_out_of_the_whitening():
    states = np.array([[0, 0], [0, 0], [1, 1], [1, 0]])
    two, three = (nets.population_signal(Sequences(states, n), whitened=True, least_share=0) for n in (2, 3))
    assert three == pytest.approx(2 / 3 * two, rel=1e-9)


def whitened_matrix(states, n_colors):
    """The symmetric sector of the sample covariance of contrasts that are whitened site by site, divided by C."""
    y = (np.eye(n_colors)[states] - np.eye(n_colors)[states].mean(axis=0)) @ helmert(n_colors)
    for i in range(y.shape[1]):
        values, axes = np.linalg.eigh(y[:, i].T @ y[:, i] / len(y))
        y[:, i] = y[:, i] @ (axes / np.sqrt(values)) @ axes.T
    covariance = np.einsum("nik,njl->ijkl", y, y, optimize=True) / len(y) / n_colors
    pairs = np.triu_indices(y.shape[1], 1)
    k, m = np.triu_indices(n_colors - 1)
    symmetric = (covariance + covariance.swapaxes(2, 3))[pairs] / 2
    return np.sqrt(2) * symmetric[:, k, m] * np.where(k == m, 1, np.sqrt(2))


@pytest.mark.slow
@pytest.mark.parametrize("local", [False, True])
def test_whitened_overlaps_with_unequal_marginals(agrees, local):
    """Marginals from 0.04 to 0.42, of the same colors or of other colors at each site.

    Samples of six or seven thresholds, against a population of 40000 other samples, of which the allowance is.
    """
    rng, L, C = np.random.default_rng(1), 40, 6
    J, U = (np.triu(rng.standard_normal((n, n)), 1) for n in (L, C))
    fields = np.tile([12, 6, 0, 0, -6, -12], (L, 1))
    model = PottsModel(J + J.T, U + U.T, rng.permuted(fields, axis=1) if local else fields, beta=0.1)
    strength = 0.1 * np.linalg.norm(J + J.T) * np.linalg.norm(zero_sum_blocks(U + U.T)) / C**2
    model = PottsModel((J + J.T) * 0.19 / strength, U + U.T, model.fields, beta=0.1)
    M = 1900
    states = sample(model, n_samples=40_000 + 25 * M, seed=5).states
    population, chunks = states[25 * M :], states[: 25 * M].reshape(M, 25, L).swapaxes(0, 1)
    u, values, v = np.linalg.svd(whitened_matrix(population, C), full_matrices=False)
    theta = nets.population_signal(Sequences(population, C), whitened=True)
    assert theta == pytest.approx(values[0], rel=1e-9)
    found = nets.spectral_overlaps(L, C, theta, M)
    pairs = [np.linalg.svd(whitened_matrix(chunk, C), full_matrices=False) for chunk in chunks]
    agrees(Estimate.of([(w[0] @ v[0]) ** 2 for _, _, w in pairs]), found.colors, resolves=0.2, bias=0.03)
    agrees(Estimate.of([(a[:, 0] @ u[:, 0]) ** 2 for a, _, _ in pairs]), found.sites, resolves=0.4, bias=0.04)
    agrees(Estimate.of([b[0] for _, b, _ in pairs]), found.top_value, resolves=0.1, bias=0.003)


def test_independent_sites_have_no_signal():
    model = PottsModel(np.zeros((3, 3)), np.eye(2), [[0.0, 1.0]] * 3)
    assert nets.population_signal(model) == 0
    assert nets.spectral_threshold(3, 2, nets.population_signal(model)).n_samples == math.inf
    one_color = Sequences(np.zeros((5, 3), dtype=int), 2)
    assert nets.population_signal(one_color) == 0


@pytest.mark.parametrize("whitened", [False, True])
def test_samples_of_independent_sites_have_no_signal_above_noise(whitened):
    """Their top value is near the noise, which at most 5 in 100 exceed: 7 of 40 or more do in one of 500 runs."""
    found = []
    for seed in range(40):
        rng = stream(seed, "independent sites")
        marginals = rng.dirichlet(np.full(4, 3.0), 6)
        states = np.stack([rng.choice(4, 300, p=p) for p in marginals], axis=1)
        found.append(nets.spectral_signal(Sequences(states, 4), whitened=whitened))
    assert sum(each.is_above_noise for each in found) < 7
    assert np.median([each.signal / each.noise for each in found]) > 0.4  # the bound is not far above
    one = next(each for each in found if not each.is_above_noise)
    assert math.isnan(one.share)
    with pytest.raises(ValueError, match="share must be finite, got nan"):
        nets.spectral_threshold(6, 4, one.signal, share=one.share)
    with pytest.raises(ValueError, match=r"above those of independent sites.*take more samples"):
        nets.population_signal(Sequences(stream(0, "no signal").integers(4, size=(200, 6)), 4), whitened=whitened)


def test_the_noise_of_equal_frequencies_is_that_of_a_white_matrix():
    """With s = sqrt(2/M)/C the edge is s (sqrt(n1) + sqrt(n2)), and 2.45 s more are exceeded in 5 % at most."""
    L, C, M = 5, 3, 3**5
    states = np.array(list(product(range(C), repeat=L)))
    found = nets.spectral_signal(Sequences(states, C))
    edge = math.sqrt(10) + math.sqrt(3) + math.sqrt(2 * math.log(20))
    assert found.noise == pytest.approx(math.sqrt(2 / M) / C * edge, rel=1e-9)
    assert not found.is_above_noise


def test_constant_data_and_one_sequence_have_nothing_to_learn():
    for states in (np.zeros((50, 4), int), [[0, 1, 2]]):
        found = nets.spectral_signal(Sequences(states, 3))
        assert (found.signal, found.is_above_noise) == (0, False)
        assert math.isnan(found.share)
    independent = nets.spectral_signal(PottsModel(np.zeros((3, 3)), np.eye(2), [[0.0, 1.0]] * 3))
    assert not independent.is_above_noise
    assert math.isnan(independent.share)
    coupled = nets.spectral_signal(pair_model(5, 3, 0.3, 0.05))
    assert (coupled.noise, coupled.is_above_noise) == (0.0, True)


@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_the_best_direction_is_stationary_and_of_unit_norm(n_layers):
    found = nets.best_direction(FOUR, n_layers, np.random.default_rng(0), n_starts=3)
    A, V = found.direction.attentions, found.direction.values
    degrees = np.array([2.0 ** (n_layers - 1 - layer) for layer in range(n_layers)]) / found.direction.degree
    assert np.sum(A**2, axis=(1, 2)) == pytest.approx(degrees, abs=1e-5)
    assert np.sum(V**2, axis=(1, 2)) == pytest.approx(degrees, abs=1e-5)
    assert nets.leading_gain(FOUR, found.direction) == pytest.approx(found.gain, rel=1e-12)
    if n_layers == 1:
        assert found.gain == pytest.approx(nets.plateau_rate(FOUR).rate / 2, rel=1e-9)
    else:  # the flow from any start ends at a gain that is no larger
        assert nets.escape_time(FOUR, found.direction).gain == pytest.approx(found.gain, rel=1e-6)


def test_noise_falls_with_the_root_of_the_samples():
    rng = np.random.default_rng(3)
    few, many = (nets.structureless_gain(5, 3, 2, M, rng) for M in (100, 1600))
    # The mean of four draws has a relative standard deviation near 0.1: five of them are passed once in a million.
    assert few.mean() == pytest.approx(0.0085, rel=0.5)
    assert many.mean() == pytest.approx(0.0085, rel=0.5)


def color_blind(states, n_colors, n_layers):
    """The best weights whose hidden units do not depend on the state, and their gain by its formula."""
    (M, L), C, D = states.shape, n_colors, 2 * (2**n_layers - 1)
    frequencies = np.array([np.bincount(column, minlength=C) for column in states.T]) / M
    sites, tops, colors = np.linalg.svd(frequencies - 1 / C)
    sizes = np.sqrt([2.0 ** (n_layers - 1 - layer) / D for layer in range(n_layers)])
    A, V = np.zeros((n_layers, L, L)), np.zeros((n_layers, C, C))
    A[0, 0], V[0, 0] = sizes[0] / np.sqrt(L), sizes[0] / np.sqrt(C)
    A[1:-1, 0, 0] = V[1:-1, 0, 0] = sizes[1:-1]
    A[-1, :, 0], V[-1, :, 0] = sizes[-1] * sites[:, 0], sizes[-1] * colors[0]
    hidden = (sizes[0] ** 2 * (1 - 1 / L)) ** 2 * L / C
    for size in sizes[1:-1]:
        hidden = (size**2 * hidden) ** 2
    return FactoredStack(A, V), hidden * sizes[-1] ** 2 * tops[0] / L


@pytest.mark.parametrize(("n_layers", "n_sites", "excess"), [(2, 5, 1.6), (2, 14, 1.1), (3, 5, 4.0)])
def test_noise_of_the_marginals_offers_most_to_many_sites(n_layers, n_sites, excess):
    """The gain of weights that read no color bounds the largest one from below, closely where sites are many."""
    rng = np.random.default_rng(4)
    states = rng.integers(0, 3, (300, n_sites))
    stack, bound = color_blind(states, 3, n_layers)
    assert sum(np.sum(w**2) for w in (*stack.attentions, *stack.values)) == pytest.approx(1)
    assert nets.leading_gain(Sequences(states, 3), stack) == pytest.approx(bound, rel=1e-9)
    with_fields = FactoredStack(stack.attentions, stack.values, np.zeros((n_sites, 3)))
    assert nets.leading_gain(Sequences(states, 3), with_fields) == pytest.approx(0, abs=1e-12 * bound)
    if n_layers == 2:  # as the docstring of structureless_gain says
        tops = np.linalg.norm(np.eye(3)[states].mean(axis=0) - 1 / 3, ord=2)
        assert bound == pytest.approx((1 - 1 / n_sites) ** 2 * tops / (54 * 3), rel=1e-12)
    found = nets.best_direction(Sequences(states, 3), n_layers, rng).gain
    assert bound < found < excess * bound


def test_learning_threshold():
    assert nets.learning_threshold(0.001346073, 0.0076).n_samples == pytest.approx((0.0076 / 0.001346073) ** 2)
    assert nets.learning_threshold(0.0, 0.1).n_samples == math.inf
    assert nets.learning_threshold(0.1, 0.0).n_samples == 0
    assert nets.learning_threshold(1e-300, 0.1).n_samples == math.inf


def test_data_without_structure_have_no_direction():
    found = nets.best_direction(four_body_model(5, 3, 0.5, beta=0.0), 2, np.random.default_rng(0))
    assert found.gain == 0
    assert not found.converged


def with_own_tables(share, L=12, C=4):
    """Gaussian couplings J_ij U_ab, and tables of every pair alone that have this share of the squared couplings."""
    rng = stream(0, "own tables")
    J, U = np.triu(rng.standard_normal((L, L)), 1), zero_sum_blocks(rng.standard_normal((C, C)))
    product = (J + J.T)[:, :, None, None] * (U + U.T)
    tables = zero_sum_blocks(rng.standard_normal((L, L, C, C))) * np.triu(np.ones((L, L)), 1)[:, :, None, None]
    tables = tables + tables.transpose(1, 0, 3, 2)
    scaled = [each * 0.12 / np.sqrt(np.mean(each**2)) for each in (product, tables)]
    return DensePottsModel(np.sqrt(1 - share) * scaled[0] + np.sqrt(share) * scaled[1])


def test_the_share_of_one_product_is_that_of_the_couplings():
    """For weak couplings covariances are proportional to them. Tables of their own contain some of the product too."""
    M = 40_000
    for own in (0.0, 0.3, 0.9):
        chains = make_dynamics(with_own_tables(own), M, stream(0, "own tables", own))
        chains.run(12)
        found = nets.spectral_signal(Sequences(chains.states, 4))
        # The best product of tables that were drawn for every pair alone has a fifth of them at this size.
        assert found.share == pytest.approx(max(1 - own, 0.22), abs=0.06)
        # Of a tenth of the samples, whose noise would take a tenth off the share if it were not subtracted.
        few = nets.spectral_signal(Sequences(chains.states[:4000], 4))
        assert few.share == pytest.approx(found.share, abs=0.05)
        if own == 0.9:
            with pytest.raises(ValueError, match=r"one product A_ij V_ab is a share of at least 0\.5, got 0\.2"):
                nets.population_signal(Sequences(chains.states, 4))
            taken = nets.population_signal(Sequences(chains.states, 4), least_share=0.0)
            assert taken == found.signal
            with pytest.raises(ValueError, match=r"share must be at least 0\.5, got 0\.2"):
                nets.spectral_threshold(12, 4, taken, share=found.share)
    assert nets.spectral_threshold(12, 4, 0.1, share=0.7).share == 0.7
    assert nets.spectral_threshold(12, 4, 0.1).share == 1.0


def test_the_share_counts_what_no_symmetric_product_expresses():
    """A law of three states of two sites: all of its covariances written out, with their antisymmetric part."""
    states, weights = np.array([[0, 1], [1, 2], [2, 0], [0, 0]]), np.array([0.4, 0.3, 0.2, 0.1])
    one, two = (np.eye(3)[states[:, site]] for site in (0, 1))
    C = (one - weights @ one).T @ (weights[:, None] * two)
    symmetric = (C + C.T) / 2
    found = nets.spectral_signal(Sequences(np.repeat(states, (weights * 100_000).round().astype(int), axis=0), 3))
    assert found.share == pytest.approx(np.sum(symmetric**2) / np.sum(C**2), rel=1e-3)
    assert found.share < 0.8
    assert found.signal == pytest.approx(np.sqrt(2 * np.sum(symmetric**2)), rel=1e-3)


def test_unequal_frequencies_and_strong_couplings_have_no_linear_response():
    weak = pair_model(5, 3, 0.3, 0.05)
    assert nets.linear_response_signal(weak) == pytest.approx(nets.population_signal(weak), rel=0.05)
    strong = pair_model(5, 3, 0.3, 0.8)  # 0.598 for the exact 0.743
    with pytest.raises(ValueError, match=r"model must have colors of equal frequency, within 10%.*whitened=True"):
        nets.linear_response_signal(strong)
    ring = np.roll(np.eye(4), 1, axis=0) + np.roll(np.eye(4), -1, axis=0)
    with pytest.raises(ValueError, match=r"weak couplings, a variance of at most 0\.1 of every logit, got 0\.5"):
        nets.linear_response_signal(PottsModel(ring, np.eye(2)))
    fields = np.outer(np.ones(4), [0.3, 0.0])
    with pytest.raises(ValueError, match="a frequency that its fields move by 15%"):
        nets.linear_response_signal(PottsModel(ring, np.eye(2), fields, beta=1.0).at(1.0))
    near = PottsModel(0.05 * ring, np.eye(2), fields / 2)
    assert nets.linear_response_signal(near) == pytest.approx(nets.population_signal(near), rel=0.02)


def test_bad_input():
    states, weights = small_law(0)
    data = Sequences(states, 2, weights)
    with pytest.raises(ValueError, match="n_sites must be an integer of at least 2"):
        nets.spectral_threshold(1, 3, 0.1)
    with pytest.raises(ValueError, match="signal must lie in"):
        nets.spectral_threshold(3, 3, -0.1)
    with pytest.raises(ValueError, match="n_samples must lie in"):
        nets.spectral_overlaps(3, 3, 0.1, 0)
    with pytest.raises(ValueError, match="model must have at least two sites and two colors"):
        nets.population_signal(Sequences([[0], [1]], 2))
    with pytest.raises(ValueError, match="n_layers must be an integer of at least 1"):
        nets.best_direction(data, 0, np.random.default_rng(0))
    with pytest.raises(ConvergenceError, match="raise max_iter or n_starts"):
        nets.best_direction(data, 2, np.random.default_rng(0), max_iter=1)
