"""Potts records: scores and conditionals from their definitions, and what they refuse."""

import pickle
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from theory.core import checks
from theory.models import DensePottsModel, Interaction, ManyBodyPottsModel, PottsModel, SquareLatticePotts
from theory.models.potts import complete_graph, curie_weiss, random_color_couplings, random_graph, ring_graph

L, C = 5, 3
SYMMETRIC = np.array([[1.0, 0.2, -0.3], [0.2, 0.5, 0.1], [-0.3, 0.1, -1.0]])


def pair_model(seed: int) -> PottsModel:
    rng = np.random.default_rng(seed)
    J = np.triu(rng.standard_normal((L, L)), 1)
    return PottsModel(J + J.T, random_color_couplings(C, rng), rng.standard_normal((L, C)), beta=0.8)


def dense_model(seed: int) -> DensePottsModel:
    rng = np.random.default_rng(seed)
    upper = rng.standard_normal((L, L, C, C)) * np.triu(np.ones((L, L)), 1)[:, :, None, None]
    return DensePottsModel(upper + upper.transpose(1, 0, 3, 2), rng.standard_normal((L, C)), beta=0.8)


def many_body_model(seed: int) -> ManyBodyPottsModel:
    rng = np.random.default_rng(seed)
    three = np.indices((C,) * 3).sum(axis=0)
    groups = [rng.permutation(g) for g in combinations(range(L), 3)]
    interactions = [
        Interaction([(0, 1), (3, 2)], rng.standard_normal(2), random_color_couplings(C, rng)),
        Interaction(groups, rng.standard_normal(len(groups)), np.cos(three) + three),
    ]
    return ManyBodyPottsModel(L, interactions, rng.standard_normal((L, C)), beta=0.8)


def score_by_definition(model, s) -> float:
    total = sum(h[a] for h, a in zip(model.fields, s, strict=True))
    if isinstance(model, ManyBodyPottsModel):
        for each in model.interactions:
            for sites, strength in zip(each.sites, each.strengths, strict=True):
                total += strength * each.colors[tuple(s[i] for i in sites)]
        return total
    for i, j in combinations(range(L), 2):
        if isinstance(model, PottsModel):
            total += model.site_couplings[i, j] * model.color_couplings[s[i], s[j]]
        else:
            total += model.couplings[i, j, s[i], s[j]]
    return total


MODELS = pytest.mark.parametrize("make", [pair_model, dense_model, many_body_model])


@MODELS
@pytest.mark.parametrize("seed", [0, 1])
def test_scores_and_local_scores(make, seed):
    """z_ia are differences of S between colors of site i, and S is its definition."""
    model, states = make(seed), np.random.default_rng(seed).integers(C, size=(6, L))
    scores, local = model.score(states), model.local_scores(states)
    for s, score, z in zip(states, scores, local, strict=True):
        assert score == pytest.approx(score_by_definition(model, s), abs=1e-12)
        for i in range(L):
            changed = [score_by_definition(model, [*s[:i], a, *s[i + 1 :]]) for a in range(C)]
            assert np.subtract(changed, changed[0]) == pytest.approx(z[i] - z[i, 0], abs=1e-12)


@MODELS
def test_conditionals(make):
    model, states = make(3), np.random.default_rng(3).integers(C, size=(4, 2, L))
    weights = np.exp(0.8 * model.local_scores(states))
    p = model.conditionals(states)
    assert p.shape == (4, 2, L, C)
    assert p == pytest.approx(weights / weights.sum(axis=-1, keepdims=True), abs=1e-14)
    assert np.exp(model.log_conditionals(states)) == pytest.approx(p, abs=1e-15)
    one_by_one = [[model.conditionals(s) for s in row] for row in states]
    assert np.asarray(one_by_one) == pytest.approx(p, abs=1e-14)


@MODELS
def test_batches_of_every_shape(make, monkeypatch):
    model, states = make(4), np.random.default_rng(4).integers(C, size=(7, L))
    whole = model.score(states)
    assert model.score(states[0]).shape == ()
    assert model.score(states[:0]).shape == (0,)
    assert model.conditionals(states[:0]).shape == (0, L, C)
    assert model.score(states.tolist()) == pytest.approx(whole)
    assert model.score(states.astype(np.uint8)) == pytest.approx(whole)
    monkeypatch.setattr("theory.core.blocks.BLOCK", 2 * L * C)  # two states at a time
    assert model.score(states) == pytest.approx(whole)


@MODELS
def test_other_betas_and_pickles(make):
    model, states = make(5), np.random.default_rng(5).integers(C, size=(3, L))
    assert model.at(2.0).beta == 2.0
    assert model.at(2.0).score(states) == pytest.approx(model.score(states))
    assert model.at(0.0).conditionals(states) == pytest.approx(1 / C)
    assert pickle.loads(pickle.dumps(model)).score(states) == pytest.approx(model.score(states))


@settings(max_examples=10)
@given(st.integers(0, 20))
def test_representations_agree(seed):
    model, states = pair_model(seed), np.random.default_rng(seed).integers(C, size=(5, L))
    dense = DensePottsModel.of(model)
    as_sparse = PottsModel(sparse.csr_array(model.site_couplings), model.color_couplings, model.fields, 0.8)
    i, j = np.triu_indices(L, 1)
    edges = np.stack([j, i], axis=1)
    listed = PottsModel.from_edges(L, edges, model.site_couplings[i, j], model.color_couplings, model.fields, 0.8)
    many = ManyBodyPottsModel(
        L, [Interaction(edges, model.site_couplings[i, j], model.color_couplings)], model.fields, 0.8
    )
    for other in (dense, as_sparse, listed, many):
        assert other.score(states) == pytest.approx(model.score(states), abs=1e-12)
        assert other.local_scores(states) == pytest.approx(model.local_scores(states), abs=1e-12)


def test_edges():
    model = PottsModel.from_edges(4, [(2, 0), (1, 3), (0, 2)], [1.0, 0.5, 2.0], SYMMETRIC)
    assert model.edges.tolist() == [[0, 2], [1, 3]]
    assert model.strengths.tolist() == [3.0, 0.5]
    assert model.density == pytest.approx(2 / 6)
    assert PottsModel.from_edges(3, [], 1.0, SYMMETRIC).density == 0
    assert PottsModel.from_edges(3, [(0, 1)], 2, SYMMETRIC).strengths.tolist() == [2.0]
    assert PottsModel(np.zeros((1, 1)), SYMMETRIC).density == 0


def test_square_lattice_is_its_pair_model():
    lattice = SquareLatticePotts(3, 4, 3, beta=0.7)
    states = np.random.default_rng(0).integers(3, size=(5, 12))
    grid = states.reshape(5, 3, 4)
    bonds = sum((grid == np.roll(grid, 1, axis=axis)).sum(axis=(1, 2)) for axis in (1, 2))
    assert lattice.score(states) == pytest.approx(bonds)
    assert lattice.pair_model.score(states) == pytest.approx(bonds)
    assert DensePottsModel.of(lattice).score(states) == pytest.approx(bonds)
    assert not lattice.fields.any()


def test_curie_weiss_counts_pairs_of_one_color():
    states = np.random.default_rng(1).integers(3, size=(4, 7))
    counts = (states[:, :, None] == np.arange(3)).sum(axis=1)
    assert curie_weiss(7, 3, 1.0).score(states) == pytest.approx((counts * (counts - 1)).sum(axis=1) / 14)


def test_inputs_are_copied_and_kept_from_change():
    J, U = complete_graph(L), SYMMETRIC.copy()
    model = PottsModel(J, U)
    J[0, 1] = U[0, 0] = 99
    assert model.site_couplings[0, 1] == 1
    assert model.color_couplings[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        model.color_couplings[0, 0] = 2
    kept = PottsModel(ring_graph(L), SYMMETRIC).site_couplings
    for part in (kept.data, kept.indices, kept.indptr):
        with pytest.raises(ValueError, match="read-only"):
            part[0] = 2


def test_contact_maps_of_truth_values():
    contacts = ring_graph(L).toarray() > 0
    for matrix in (contacts, sparse.csr_array(contacts)):
        assert np.array_equal(PottsModel(matrix, SYMMETRIC).edges, PottsModel(ring_graph(L), SYMMETRIC).edges)


def test_models_say_their_sizes():
    assert repr(pair_model(0)) == "PottsModel(n_sites=5, n_colors=3, beta=0.8)"
    assert repr(dense_model(0)) == "DensePottsModel(n_sites=5, n_colors=3, beta=0.8)"
    assert repr(many_body_model(0).interactions[1]) == "Interaction(order=3, groups=10, n_colors=3)"
    assert repr(SquareLatticePotts(3, 4, 2)) == "SquareLatticePotts(rows=3, columns=4, n_colors=2, beta=1.0)"


@MODELS
def test_scores_that_might_overflow_are_refused(make):
    with pytest.raises(
        ValueError, match=r"(couplings|interactions) and fields must add up to less than 1e\+300, also times beta"
    ):
        make(0).at(1e300)
    assert make(0).at(1e290).beta == 1e290


def test_symmetry_of_many_bodies_is_checked_by_exchanges_of_neighbors():
    """All 10! permutations of ten axes would take minutes."""
    tensor = np.indices((2,) * 10).sum(axis=0) % 3.0
    assert Interaction([list(range(10))], [1.0], tensor).order == 10
    tensor[(0,) * 9 + (1,)] += 1
    with pytest.raises(
        ValueError, match="colors must be symmetric under permutations of its axes, got a difference of 1"
    ):
        Interaction([list(range(10))], [1.0], tensor)


@pytest.mark.parametrize("rng", [0, None])
def test_graphs_need_a_generator(rng):
    with pytest.raises(ValueError, match="rng must be a Generator"):
        random_graph(5, 2, rng)
    with pytest.raises(ValueError, match="rng must be a Generator"):
        random_color_couplings(3, rng)


def test_a_graph_too_large_for_the_machine():
    with pytest.raises(MemoryError, match="a complete graph of 10000000 sites needs"):
        complete_graph(10**7)


def test_rounding_in_the_symmetry_is_removed():
    J = complete_graph(L)
    J[0, 1] += 1e-14
    assert np.array_equal(PottsModel(J, SYMMETRIC).site_couplings, PottsModel(J, SYMMETRIC).site_couplings.T)


ASYMMETRIC = complete_graph(L) + np.triu(np.ones((L, L)), 1)
NAN = np.where(np.eye(3), np.nan, 0.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((ASYMMETRIC, SYMMETRIC), r"site_couplings must be symmetric, got 2.0 at \(0, 1\) and 1.0 at \(1, 0\)"),
        ((sparse.csr_array(ASYMMETRIC), SYMMETRIC), "site_couplings must be symmetric, got a sparse matrix"),
        ((np.ones((3, 3)), SYMMETRIC), r"site_couplings must have a zero diagonal, got 1.0 at \(0, 0\)"),
        ((sparse.eye_array(3), SYMMETRIC), "site_couplings must have a zero diagonal"),
        ((np.zeros((3, 4)), SYMMETRIC), r"site_couplings must be square, got shape \(3, 4\)"),
        ((sparse.csr_array((3, 4)), SYMMETRIC), r"site_couplings must be square, got shape \(3, 4\)"),
        ((np.zeros(3), SYMMETRIC), "site_couplings must be a non-empty array with 2 axes"),
        ((NAN, SYMMETRIC), r"site_couplings must be finite, got nan at index \(0, 0\)"),
        ((sparse.csr_array(NAN), SYMMETRIC), "site_couplings must be finite, got nan"),
        ((sparse.csr_array(1j * complete_graph(3)), SYMMETRIC), "site_couplings must be real numbers, got dtype compl"),
        ((complete_graph(3), np.triu(SYMMETRIC)), r"color_couplings must be symmetric, got -0.3 at \(0, 2\)"),
        ((complete_graph(3), SYMMETRIC[:2]), "color_couplings must be square"),
        ((complete_graph(3), NAN), "color_couplings must be finite"),
        (
            (complete_graph(3), SYMMETRIC, np.zeros((3, 2))),
            r"fields must have shape \(3, 3\) \(sites, colors\) as .*, got",
        ),
        ((complete_graph(3), SYMMETRIC, NAN), "fields must be finite"),
        ((complete_graph(3), SYMMETRIC, None, -0.1), r"beta must lie in \[0, inf\), got -0.1"),
        ((complete_graph(3), SYMMETRIC, None, np.inf), "beta must be finite, got inf"),
        ((complete_graph(3), SYMMETRIC, None, np.nan), "beta must be finite, got nan"),
        ((complete_graph(3), SYMMETRIC, None, "1"), "beta must be a real number"),
    ],
)
def test_bad_pair_models(arguments, message):
    with pytest.raises(ValueError, match=message):
        PottsModel(*arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, [(0, 3)], 1.0), "edges must name sites from 0 to n_sites - 1 = 2, got 0 to 3"),
        ((3, [(-1, 0)], 1.0), "edges must name sites from 0 to n_sites - 1 = 2, got -1 to 0"),
        ((3, [(0, 1, 2)], 1.0), r"edges must be integers of shape \(edges, 2\), got int64 \(1, 3\)"),
        ((3, [(0.0, 1.0)], 1.0), "edges must be an array of integers"),
        ((3, [(1, 1)], 1.0), r"site_couplings must have a zero diagonal, got 2.0 at \(1, 1\)"),
        ((3, [(0, 1)], [1.0, 2.0]), "strengths must be one number or one for each of 1 edges, got 2"),
        ((3, [(0, 1)], np.nan), "strengths must be finite"),
        ((0, [], 1.0), "n_sites must be an integer of at least 1"),
    ],
)
def test_bad_edges(arguments, message):
    with pytest.raises(ValueError, match=message):
        PottsModel.from_edges(*arguments, SYMMETRIC)


def test_fields_of_other_sites_are_named_beside_the_number_of_sites():
    with pytest.raises(ValueError, match=r"a row for each of n_sites = 7 sites, got the shape \(3, 2\)"):
        PottsModel.from_edges(7, [(0, 1)], 1.0, np.eye(2), np.zeros((3, 2)))


BLOCKS = DensePottsModel.of(PottsModel(complete_graph(3), SYMMETRIC)).couplings


@pytest.mark.parametrize(
    ("couplings", "message"),
    [
        (BLOCKS[0], r"couplings must have shape \(sites, sites, colors, colors\), got \(3, 3, 3\)"),
        (BLOCKS[:, :2], "couplings must have shape"),
        (BLOCKS + np.triu(np.ones((3, 3)))[:, :, None, None], r"couplings must satisfy J\[i, j\] = J\[j, i\].T"),
        (BLOCKS + 1, r"couplings must have zero blocks J\[i, i\], got 1.0 at i = 0"),
        (np.full((2, 2, 2, 2), np.nan), "couplings must be finite"),
    ],
)
def test_bad_dense_models(couplings, message):
    with pytest.raises(ValueError, match=message):
        DensePottsModel(couplings)
    with pytest.raises(ValueError, match="model must be a record"):
        DensePottsModel.of(many_body_model(0))


@pytest.mark.parametrize(
    ("sites", "strengths", "colors", "message"),
    [
        ([[0, 0]], [1.0], SYMMETRIC, r"sites must be distinct within a group, got \[0, 0\] at 0"),
        ([[0, -1]], [1.0], SYMMETRIC, "sites must be >= 0, got -1"),
        ([[0.0, 1.0]], [1.0], SYMMETRIC, "sites must be an array of integers"),
        ([[0]], [1.0], np.ones(3), "two bodies or more"),
        ([[0, 1]], [1.0, 2.0], SYMMETRIC, "strengths must have one number for each of the 1 groups of sites, got 2"),
        ([[0, 1]], [np.inf], SYMMETRIC, "strengths must be finite"),
        ([[0, 1]], [1.0], np.triu(SYMMETRIC), "colors must be symmetric under permutations of its axes"),
        ([[0, 1, 2]], [1.0], SYMMETRIC, "colors must be a non-empty array with 3 axes"),
        ([[0, 1]], [1.0], np.ones((2, 3)), "colors must have 2 axes of the same length"),
    ],
)
def test_bad_interactions(sites, strengths, colors, message):
    with pytest.raises(ValueError, match=message):
        Interaction(sites, strengths, colors)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, []), "interactions must have at least one Interaction, got none"),
        ((3, [SYMMETRIC]), r"interactions\[0\] must be a record of theory.models"),
        ((3, None), "interactions must be a sequence, got None"),
        ((3, Interaction([[0, 1]], [1.0], SYMMETRIC)), "interactions must be a sequence, got Interaction"),
        ((2, [Interaction([[0, 2]], [1.0], SYMMETRIC)]), "interactions must name sites below n_sites = 2, got 2"),
        (
            (3, [Interaction([[0, 1]], [1.0], SYMMETRIC), Interaction([[0, 1]], [1.0], np.eye(2))]),
            r"interactions must have the same number of colors, got \[2, 3\]",
        ),
        ((2, [Interaction([[0, 1]], [1.0], SYMMETRIC)], np.zeros((3, 3))), r"fields must have shape \(2, 3\)"),
    ],
)
def test_bad_many_body_models(arguments, message):
    with pytest.raises(ValueError, match=message):
        ManyBodyPottsModel(*arguments)


@MODELS
@pytest.mark.parametrize(
    ("states", "message"),
    [
        (np.zeros((2, L)), "states must be integers"),
        (np.zeros((2, L), dtype=bool), "states must be integers"),
        (np.zeros((2, L + 1), dtype=int), rf"states must have shape \(..., {L}\), got \(2, {L + 1}\)"),
        (np.int64(0), "states must have shape"),
        (np.full((2, L), C), rf"states must be colors from 0 to {C - 1}, got {C} at index \(0, 0\)"),
        (np.full((2, L), -1), "states must be colors from 0"),
        ([["A"] * L], "states must be integers"),
    ],
)
def test_bad_states(make, states, message):
    model = make(0)
    for method in (model.score, model.local_scores, model.conditionals, model.log_conditionals):
        with pytest.raises(ValueError, match=message):
            method(states)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 3, 2), "rows must be an integer of at least 2"),
        ((3, 2.5, 2), "columns must be an integer of at least 2"),
        ((3, 3, 1), "n_colors must be an integer of at least 2"),
        ((3, 3, 2, -1.0), "beta must lie in"),
    ],
)
def test_bad_lattices(arguments, message):
    with pytest.raises(ValueError, match=message):
        SquareLatticePotts(*arguments)


def test_a_model_too_large_for_the_machine_is_refused_before_anything_is_allocated(monkeypatch):
    """The situation L = 2800, q = 21: 27.7 GB of couplings; the array of the test occupies one number."""
    monkeypatch.setattr(checks.os, "sysconf", lambda name: {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 2 * 10**6}[name])
    couplings = np.broadcast_to(0.0, (2800, 2800, 21, 21))
    size = r"couplings of 2800 sites and 21 colors needs 27\.7 GB, this machine has 8\.19 GB"
    with pytest.raises(MemoryError, match=size):
        DensePottsModel(couplings)
    with pytest.raises(MemoryError, match=size):
        DensePottsModel.of(PottsModel(ring_graph(2800), np.eye(21)))


def test_large_sparse_models_stay_small():
    model = PottsModel(random_graph(3000, 4, np.random.default_rng(0)), np.eye(21))
    states = np.random.default_rng(1).integers(21, size=(2, 3000), dtype=np.int8)
    agree = states[:, model.edges[:, 0]] == states[:, model.edges[:, 1]]
    assert model.score(states) == pytest.approx(agree.sum(axis=1))
    assert model.density == pytest.approx(4 / 2999, rel=0.05)
