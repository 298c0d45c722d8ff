"""Full pseudo-likelihood: exact populations, gradients, an independent solver, invariances, threads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from simulate.potts import masked_loss, pseudo_likelihood
from simulate.potts.inference import FitError, asymmetric, symmetric
from simulate.potts.inference.descent import independent_fields
from simulate.potts.inference.objective import ROW_NUMBERS, site_groups
from simulate.potts.inference.pair_blocks import pack, unpack
from simulate.potts.inference.sequences import Sequences
from tests.potts.populations import identifiable, population
from tests.potts.reference import pair_model
from theory.models import DensePottsModel
from theory.models.potts import zero_sum

PAIR = pair_model(6, 3, 0.3, beta=0.8)
FLOOR = 0.797026199763  # of the masked loss of PAIR, by enumeration of its 729 states
EXACT = {"tol": 1e-9, "l2": 0.0, "field_l2": 0.0}
L2, FIELD_L2 = 0.02, 0.003


def random_states(seed, n_samples=40, n_sites=5, n_colors=3):
    """Correlated sequences: every site copies its left neighbor in half of the samples."""
    rng = np.random.default_rng(seed)
    states = rng.integers(0, n_colors, (n_samples, n_sites))
    for i in range(1, n_sites):
        copied = rng.random(n_samples) < 0.5
        states[copied, i] = states[copied, i - 1]
    return states


def random_couplings(seed, n_sites, n_colors):
    rng = np.random.default_rng(seed)
    J = rng.standard_normal((n_sites, n_sites, n_colors, n_colors))
    J *= np.triu(np.ones((n_sites, n_sites)), 1)[:, :, None, None]
    return J + J.transpose(1, 0, 3, 2), rng.standard_normal((n_sites, n_colors))


@pytest.mark.parametrize(("is_symmetric", "allowed"), [(True, 5e-8), (False, 3e-7)])
def test_exact_probabilities_give_back_the_model_and_the_floor(is_symmetric, allowed):
    states, p = population(PAIR)
    couplings, fields = identifiable(PAIR)
    fit = pseudo_likelihood(states, 3, weights=p, symmetric=is_symmetric, **EXACT)
    assert abs(fit.couplings - couplings).max() < allowed
    assert abs(fit.fields - fields).max() < allowed
    assert masked_loss(fit.model, states, p).loss == pytest.approx(FLOOR, abs=1e-11)
    assert fit.objective == pytest.approx(6 * FLOOR, abs=1e-10)  # a sum over sites


def test_the_objective_is_the_masked_loss_of_its_model_plus_penalties():
    states, weights = random_states(0), np.random.default_rng(1).random(40)
    couplings, fields = random_couplings(2, 5, 3)
    data = Sequences.of(states, 3, weights)
    tables = couplings.transpose(0, 2, 1, 3)
    centered = fields + np.tensordot(couplings, data.frequencies(), axes=((1, 3), (0, 1)))
    value, _ = symmetric.objective(data, L2, FIELD_L2)(pack(centered, tables))
    plain = 5 * masked_loss(DensePottsModel(couplings, fields), states, weights).loss
    assert value == pytest.approx(plain + L2 * np.sum(couplings**2) / 2 + FIELD_L2 * np.sum(fields**2), rel=1e-14)


def objectives(data, dtype=np.float64):
    L, C = data.n_sites, data.n_colors
    pairs = L * (L - 1) // 2 * C * C
    yield symmetric.objective(data, L2, FIELD_L2, dtype=dtype), L * C + pairs
    for sites in (slice(0, 2), slice(3, L)):
        n = sites.stop - sites.start
        yield asymmetric.objective(data, L2, FIELD_L2, sites, dtype=dtype), n * C * (1 + L * C)


def test_gradients_are_those_of_central_differences():
    data = Sequences.of(random_states(3), 3, np.random.default_rng(4).random(40))
    rng = np.random.default_rng(5)
    for objective, size in objectives(data):
        x, step = rng.standard_normal(size), 1e-5
        gradient = objective(x)[1]
        for _ in range(5):
            along = rng.standard_normal(size)
            difference = (objective(x + step * along)[0] - objective(x - step * along)[0]) / (2 * step)
            assert gradient @ along == pytest.approx(difference, rel=1e-8, abs=1e-8)
        for k in rng.choice(size, 5):
            difference = (objective(x + step * (np.arange(size) == k))[0] - objective(x)[0]) / step
            assert gradient[k] == pytest.approx(difference, abs=1e-4)


def test_single_precision_is_close_to_double():
    data = Sequences.of(random_states(6, 500), 3)
    for (single, size), (double, _) in zip(objectives(data, np.float32), objectives(data), strict=True):
        x = np.random.default_rng(7).standard_normal(size)
        (rough, rough_gradient), (value, gradient) = single(x), double(x)
        assert rough == pytest.approx(value, rel=1e-6)
        assert np.linalg.norm(rough_gradient - gradient) < 1e-6 * np.linalg.norm(gradient)


def test_chunks_of_samples_do_not_show(monkeypatch):
    states = random_states(17, 400)
    whole = pseudo_likelihood(states, 3, tol=1e-8)
    monkeypatch.setattr("simulate.potts.inference.codes.SINGLE_PRECISION_SAMPLES", 70)
    np.testing.assert_allclose(pseudo_likelihood(states, 3, tol=1e-8).couplings, whole.couplings, atol=1e-7)


def test_the_gradient_norm_is_relative_to_the_start():
    states = random_states(18)
    fit = pseudo_likelihood(states, 3, l2=L2, field_l2=FIELD_L2, gauge="none", tol=1e-6)
    data = Sequences.of(states, 3)
    start, centered = independent_fields(data.frequencies(), FIELD_L2), fit.fields.copy()
    centered += np.tensordot(fit.couplings, data.frequencies(), axes=((1, 3), (0, 1)))
    points = [(start, np.zeros((5, 3, 5, 3))), (centered, fit.couplings.transpose(0, 2, 1, 3))]
    first, last = (np.linalg.norm(next(objectives(data))[0](pack(*point))[1]) for point in points)
    assert fit.gradient_norm == pytest.approx(last / first, rel=1e-5)


def test_another_optimizer_from_another_start_ends_at_the_same_point():
    states = random_states(8)
    data = Sequences.of(states, 3)
    objective, size = next(objectives(data))
    other = minimize(objective, np.ones(size), jac=True, method="L-BFGS-B", options={"gtol": 1e-9, "ftol": 1e-15})
    fit = pseudo_likelihood(states, 3, l2=L2, field_l2=FIELD_L2, gauge="none", tol=1e-8)
    _, tables = unpack(other.x, 5, 3)
    assert fit.objective == pytest.approx(other.fun, rel=1e-10)
    assert abs(fit.couplings - tables.transpose(0, 2, 1, 3)).max() < 1e-5


def test_every_site_of_an_asymmetric_fit_is_a_multinomial_regression():
    linear_model = pytest.importorskip("sklearn.linear_model", reason="the peer, scikit-learn, is not installed")
    states = random_states(9, 60, 4)
    weights = np.random.default_rng(10).random(60) + 0.1
    fit = pseudo_likelihood(states, 3, l2=L2, field_l2=1e-9, weights=weights, symmetric=False, tol=1e-9, check=False)
    blocks = np.zeros((4, 4, 3, 3))
    for i in range(4):
        others = [j for j in range(4) if j != i]
        x = np.eye(3)[states[:, others]].reshape(60, -1)
        peer = linear_model.LogisticRegression(C=1 / (2 * L2), tol=1e-10, max_iter=10_000)
        peer.fit(x, states[:, i], weights / weights.sum())  # it minimizes C sum of losses + |w|^2/2
        rows = peer.coef_.reshape(3, 3, 3).transpose(1, 0, 2)
        blocks[i, others] = rows - rows.mean(axis=2, keepdims=True) - rows.mean(axis=1, keepdims=True)
    mean = (blocks + blocks.transpose(1, 0, 3, 2)) / 2
    assert abs(fit.couplings - mean).max() < 1e-5


def test_integer_weights_repeat_samples_and_equal_weights_are_none():
    states, copies = random_states(11, 20), np.random.default_rng(12).integers(0, 4, 20)
    options = {"l2": L2, "tol": 1e-8}
    weighted = pseudo_likelihood(states, 3, weights=copies, **options)
    repeated = pseudo_likelihood(np.repeat(states, copies, axis=0), 3, **options)
    np.testing.assert_allclose(weighted.couplings, repeated.couplings, atol=1e-7)
    np.testing.assert_array_equal(
        pseudo_likelihood(states, 3, weights=np.full(20, 0.3), **options).couplings,
        pseudo_likelihood(states, 3, **options).couplings,
    )


@given(seed=st.integers(0, 100), is_symmetric=st.booleans(), data=st.data())
@settings(max_examples=10)
def test_names_of_sites_and_colors_do_not_matter(seed, is_symmetric, data):
    sites, colors = data.draw(st.permutations(range(4))), np.array(data.draw(st.permutations(range(3))))
    states = random_states(seed, 30, 4)
    options = {"l2": L2, "symmetric": is_symmetric, "tol": 1e-8}
    fit = pseudo_likelihood(states, 3, **options)
    renamed = pseudo_likelihood(colors[states][:, sites], 3, **options)
    expected = fit.couplings[np.ix_(sites, sites)]
    np.testing.assert_allclose(renamed.couplings[:, :, colors[:, None], colors], expected, atol=1e-6)
    np.testing.assert_allclose(renamed.fields[:, colors], fit.fields[sites], atol=1e-5)


@pytest.mark.parametrize("is_symmetric", [True, False])
def test_threads_do_not_change_a_bit(is_symmetric):
    states = random_states(13, 700, 100)  # three groups of sites, three blocks of samples
    options = {"symmetric": is_symmetric, "tol": 1e-2}
    one, two = (pseudo_likelihood(states, 3, n_threads=n, **options) for n in (1, 2))
    np.testing.assert_array_equal(one.couplings, two.couplings)
    assert one.objective == two.objective


def test_pieces_of_vectors_do_not_show_nor_the_threads_that_share_them(monkeypatch):
    states = random_states(15, 200, 12)
    whole = pseudo_likelihood(states, 3, tol=1e-8)
    monkeypatch.setattr("simulate.potts.inference.symmetric.CHUNK_NUMBERS", 50)  # of 12 rows of pairs, in four parts
    one, three = (pseudo_likelihood(states, 3, tol=1e-8, n_threads=n) for n in (1, 3))
    np.testing.assert_array_equal(one.couplings, three.couplings)
    np.testing.assert_allclose(one.couplings, whole.couplings, atol=1e-7)


@given(n_sites=st.integers(1, 300), n_colors=st.integers(2, 40))
def test_groups_of_sites_are_as_large_as_each_other(n_sites, n_colors):
    groups = site_groups(n_sites, n_colors)
    sizes = [sites.stop - sites.start for sites in groups]
    assert [i for sites in groups for i in range(n_sites)[sites]] == list(range(n_sites))
    assert max(sizes) - min(sizes) <= 1
    assert len(groups) % 4 == 0 or len(groups) <= 6 or len(groups) == n_sites
    assert max(sizes) == 1 or max(sizes) * n_colors <= 2 * ROW_NUMBERS


def test_the_gauge_does_not_change_the_conditionals():
    states = random_states(14)
    options = {
        "l2": L2,
        "field_l2": 0.05,
        "tol": 1e-6,
    }  # penalties on fields pull the optimum out of the zero-sum gauge
    fixed, free = pseudo_likelihood(states, 3, **options), pseudo_likelihood(states, 3, gauge="none", **options)
    assert abs(fixed.couplings.sum(axis=2)).max() < 1e-13
    assert abs(fixed.fields.sum(axis=1)).max() < 1e-13
    assert abs(free.couplings.sum(axis=2)).max() > 1e-3
    np.testing.assert_allclose(zero_sum(free.model).couplings, fixed.couplings, atol=1e-13)
    np.testing.assert_allclose(fixed.model.conditionals(states), free.model.conditionals(states), atol=1e-13)


@pytest.mark.parametrize("is_symmetric", [True, False])
def test_strong_penalties_leave_independent_sites(is_symmetric):
    states = random_states(15)
    fit = pseudo_likelihood(states, 3, l2=1e6, field_l2=1e-9, symmetric=is_symmetric, tol=1e-7)
    assert abs(fit.couplings).max() < 1e-6
    P = np.exp(fit.fields) / np.exp(fit.fields).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(P, Sequences.of(states, 3).frequencies(), atol=1e-5)


def test_one_site_and_one_sample():
    alone = pseudo_likelihood(np.array([[0], [1], [1], [2]]), 3, field_l2=1e-9, tol=1e-7)
    np.testing.assert_allclose(np.exp(alone.fields[0] - alone.fields[0, 0]), [1, 2, 1], rtol=1e-5)
    single = pseudo_likelihood(np.array([[0, 1, 2]]), 3)
    assert single.converged
    assert single.model.conditionals([0, 1, 2])[range(3), [0, 1, 2]].min() > 0.5


@pytest.mark.slow  # compiles for another type of integers
def test_colors_above_a_byte():
    states = np.array([[0, 299], [299, 0], [1, 2]] * 5)
    fit = pseudo_likelihood(states, 300, l2=0.1, tol=1e-2)
    assert fit.couplings[0, 1, 299, 0] > 0.01


def test_a_fit_that_stops_early_is_an_error_that_carries_it():
    states = random_states(16)
    with pytest.raises(FitError, match="max_iter after 3 iterations") as failure:
        pseudo_likelihood(states, 3, l2=1e-4, max_iter=3)
    assert failure.value.fit.gradient_norm > 1e-4
    fit = pseudo_likelihood(states, 3, l2=1e-4, max_iter=3, check=False)
    assert (fit.converged, fit.iterations) == (False, 3)
    assert fit.reason == "max_iter"
    assert "converged=False" in repr(fit)


@pytest.mark.parametrize("symmetric", [True, False])
def test_equal_sequences_count_as_one_with_the_sum_of_their_weights(symmetric):
    """A fit to copies in any order is the fit to the different sequences with weights, down to rounding."""
    rng = np.random.default_rng(0)
    states, copies = rng.integers(0, 3, (60, 4)), rng.integers(1, 6, 60)
    states[:, 1] = np.where(rng.random(60) < 0.6, states[:, 0], states[:, 1])
    repeated = rng.permutation(np.repeat(np.arange(60), copies))
    options = {"l2": 0.01, "field_l2": 1e-3, "tol": 1e-12, "symmetric": symmetric}
    once = pseudo_likelihood(states, 3, weights=copies, **options)
    again = pseudo_likelihood(states[repeated], 3, **options)
    assert again.couplings == pytest.approx(once.couplings, abs=1e-10)
    assert again.fields == pytest.approx(once.fields, abs=1e-10)
    assert again.objective == pytest.approx(once.objective, abs=1e-12)
    assert again.n_samples == copies.sum()
    data = Sequences.of(states[repeated], 3)
    merged = data.merged()
    assert merged.n_samples == len(np.unique(states, axis=0))
    assert merged.frequencies() == pytest.approx(data.frequencies(), abs=1e-14)
    assert merged.pair_frequencies(0, 1) == pytest.approx(data.pair_frequencies(0, 1), abs=1e-14)
    assert np.array_equal(merged.columns.T[0], states[repeated][0])
    assert merged.merged() is merged
