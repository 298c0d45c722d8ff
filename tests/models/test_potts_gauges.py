"""Gauge transformations leave the distribution as it is; their forbidden relatives do not; graphs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.models import DensePottsModel, PottsModel, SquareLatticePotts
from theory.models.potts import (
    color_gauge,
    complete_graph,
    random_color_couplings,
    random_graph,
    rescaled,
    ring_graph,
    shifted,
    torus_graph,
    zero_sum,
    zero_sum_blocks,
)

L, C = 4, 3
STATES = np.stack(np.unravel_index(np.arange(C**L), (C,) * L), axis=1)


def model_of(seed: int, sparse: bool = False) -> PottsModel:
    rng = np.random.default_rng(seed)
    J = np.triu(rng.standard_normal((L, L)), 1)
    J = ring_graph(L) * rng.uniform(0.5, 2) if sparse else J + J.T
    return PottsModel(J, random_color_couplings(C, rng), rng.standard_normal((L, C)), beta=0.8)


def dense_of(seed: int) -> DensePottsModel:
    rng = np.random.default_rng(seed)
    upper = rng.standard_normal((L, L, C, C)) * np.triu(np.ones((L, L)), 1)[:, :, None, None]
    return DensePottsModel(upper + upper.transpose(1, 0, 3, 2), rng.standard_normal((L, C)), beta=0.8)


def distribution(model: PottsModel | DensePottsModel) -> np.ndarray:
    weights = np.exp(model.beta * model.score(STATES))
    return weights / weights.sum()


@settings(max_examples=12)
@given(st.integers(0, 30), st.booleans(), st.sampled_from([-2.0, -0.1, 0.3, 5.0]))
def test_the_distribution_stays(seed, sparse, number):
    model = model_of(seed, sparse)
    expected = distribution(model)
    v = np.random.default_rng(seed).standard_normal(C)
    for same in (rescaled(model, number), shifted(model, number), color_gauge(model, v), zero_sum(model)):
        assert distribution(same) == pytest.approx(expected, abs=1e-13)
        assert same.conditionals(STATES) == pytest.approx(model.conditionals(STATES), abs=1e-12)


@given(st.integers(0, 30))
def test_zero_sum_gauge_of_dense_couplings(seed):
    model = dense_of(seed)
    gauged = zero_sum(model)
    assert distribution(gauged) == pytest.approx(distribution(model), abs=1e-13)
    assert gauged.couplings.sum(axis=2) == pytest.approx(0, abs=1e-12)
    assert gauged.couplings.sum(axis=3) == pytest.approx(0, abs=1e-12)
    assert gauged.fields.sum(axis=1) == pytest.approx(0, abs=1e-12)
    again = zero_sum(gauged)
    assert again.couplings == pytest.approx(gauged.couplings, abs=1e-13)
    assert again.fields == pytest.approx(gauged.fields, abs=1e-13)


@given(st.integers(0, 30))
def test_gauge_of_factored_and_dense_couplings_commute(seed):
    model = model_of(seed)
    written, gauged = zero_sum(DensePottsModel.of(model)), DensePottsModel.of(zero_sum(model))
    assert written.couplings == pytest.approx(gauged.couplings, abs=1e-12)
    assert written.fields == pytest.approx(gauged.fields, abs=1e-12)


def test_what_is_no_gauge_changes_the_distribution():
    model, v = model_of(0), np.array([0.5, 0.0, -0.3])
    without_fields = PottsModel(model.site_couplings, model.color_couplings + v + v[:, None], model.fields, model.beta)
    only_couplings = PottsModel(model.site_couplings, zero_sum_blocks(model.color_couplings), model.fields, model.beta)
    for other in (without_fields, only_couplings, model.at(0.7)):
        assert abs(distribution(other) - distribution(model)).max() > 1e-3


def test_fields_of_a_site_may_be_shifted():
    model = model_of(1)
    moved = PottsModel(model.site_couplings, model.color_couplings, model.fields + np.arange(L)[:, None], model.beta)
    assert distribution(moved) == pytest.approx(distribution(model), abs=1e-14)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: rescaled(m, 0), "factor must not be zero"),
        (lambda m: rescaled(m, np.nan), "factor must be finite, got nan"),
        (lambda m: shifted(m, "a"), "constant must be a real number"),
        (lambda m: color_gauge(m, [1.0, 2.0]), r"shift must have shape \(3,\) \(colors\), got \(2,\)"),
        (lambda m: color_gauge(m, [1.0, np.inf, 2.0]), "shift must be finite"),
        (lambda m: zero_sum(m.color_couplings), "model must be a record"),
    ],
)
def test_bad_gauges(call, message):
    with pytest.raises(ValueError, match=message):
        call(model_of(0))


def test_graphs():
    assert ring_graph(4).toarray().tolist() == [[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]
    assert complete_graph(3).tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    torus = torus_graph(3, 4).toarray()
    assert torus.sum(axis=0).tolist() == [4] * 12
    assert set(np.flatnonzero(torus[5])) == {4, 6, 1, 9}  # row 1, column 1
    assert torus_graph(2, 3).toarray()[0, 3] == 2  # both bonds to the one neighbor
    graph = random_graph(200, 6, np.random.default_rng(0)).toarray()
    assert np.array_equal(graph, graph.T)
    assert not graph.diagonal().any()
    assert set(np.unique(graph)) == {0, 1}
    assert graph.sum(axis=0).mean() == pytest.approx(6, abs=0.8)
    assert random_graph(5, 4, np.random.default_rng(0)).toarray() == pytest.approx(complete_graph(5))
    assert random_graph(5, 0, np.random.default_rng(0)).nnz == 0


def test_random_color_couplings_are_normal_and_symmetric():
    U = random_color_couplings(300, np.random.default_rng(0))
    assert np.array_equal(U, U.T)
    assert np.std(U[np.triu_indices(300)]) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rng: ring_graph(2), "n_sites must be an integer of at least 3"),
        (lambda rng: torus_graph(1, 3), "rows must be an integer of at least 2"),
        (lambda rng: torus_graph(3, 1), "columns must be an integer of at least 2"),
        (lambda rng: complete_graph(0), "n_sites must be an integer of at least 1"),
        (lambda rng: random_graph(5, 5, rng), r"mean_degree must lie in \[0, n_sites - 1 = 4\], got 5"),
        (lambda rng: random_graph(1, 0, rng), "n_sites must be an integer of at least 2"),
        (lambda rng: random_color_couplings(0, rng), "n_colors must be an integer of at least 1"),
    ],
)
def test_bad_graphs(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.random.default_rng(0))


@pytest.mark.parametrize(
    "change", [lambda m: rescaled(m, 2), lambda m: shifted(m, 2), lambda m: color_gauge(m, [1, 2])]
)
def test_gauges_of_other_records(change):
    for model in (SquareLatticePotts(3, 3, 2), None):
        with pytest.raises(ValueError, match=r"model must be a record of theory.models \(PottsModel\)"):
            change(model)


def test_zero_sum_blocks_of_other_shapes():
    assert zero_sum_blocks([[1, 2], [3, 4]]) == pytest.approx(0)
    for blocks in (np.zeros(3), np.zeros((2, 3)), np.zeros((4, 0, 0))):
        with pytest.raises(ValueError, match=r"blocks must have shape \(..., colors, colors\), got"):
            zero_sum_blocks(blocks)
